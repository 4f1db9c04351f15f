#include "actors/keys/ed25519.hpp"

#include <utility>

#include "actors/keys/bignum.hpp"
#include "actors/keys/hash.hpp"

namespace moxzi::actors::keys::ed25519 {

namespace {

bignum from_hex_digits(const char* digits) {
  BIGNUM* made = nullptr;
  must(BN_hex2bn(&made, digits) > 0);
  return bignum{made};
}

/// A point (X : Y : Z : T) with x = X/Z, y = Y/Z, xy = T/Z.
struct point {
  bignum x, y, z, t;
};

/// The curve −x² + y² = 1 + d·x²·y² over the integers modulo 2²⁵⁵ − 19 (RFC 8032, 5.1). One a call:
/// nothing is shared by threads. OpenSSL has the signatures but not the group.
class curve {
public:
  curve() {
    must(context_ != nullptr);
  }

  point zero() const {
    point made{make_bignum(), make_bignum(), make_bignum(), make_bignum()};
    must(BN_one(made.y.get()) == 1 && BN_one(made.z.get()) == 1);
    return made;
  }

  // "add-2008-hwcd-3" of the Explicit-Formulas Database: complete, so it doubles too.
  point add(const point& p, const point& q) const {
    const auto a = times(minus(p.y, p.x), minus(q.y, q.x));
    const auto b = times(plus(p.y, p.x), plus(q.y, q.x));
    const auto c = times(times(p.t, twice_d_), q.t);
    const auto zz = times(p.z, q.z);
    const auto d = plus(zz, zz);
    const auto e = minus(b, a);
    const auto f = minus(d, c);
    const auto g = plus(d, c);
    const auto h = plus(b, a);
    return {times(e, f), times(g, h), times(f, g), times(e, h)};
  }

  /// `n` times the base point; the same steps whatever `n` is.
  point times_base(const bignum& n) const {
    auto sum = zero();
    const auto base = read_point(base_bytes());
    must(base.has_value());
    for (int bit = 252; bit >= 0; --bit) {
      sum = add(sum, sum);
      auto with = add(sum, *base);
      if (BN_is_bit_set(n.get(), bit) == 1) std::swap(sum, with);
    }
    return sum;
  }

  byte_string to_bytes(const point& p) const {
    auto inverse = make_bignum();
    must(BN_mod_inverse(inverse.get(), p.z.get(), prime_.get(), context_.get()) != nullptr);
    const auto x = times(p.x, inverse);
    auto bytes = to_little_endian(times(p.y, inverse));
    if (BN_is_odd(x.get()) == 1) bytes[31] = static_cast<char>(bytes[31] | '\x80');
    return bytes;
  }

  result<point> read_point(byte_view bytes) const {
    const auto refused = fail(base_errc::malformed, "the key is no point of Ed25519");
    if (bytes.size() != 32) return refused;
    byte_string plain{bytes};
    const bool is_odd = (plain[31] & '\x80') != 0;
    plain[31] = static_cast<char>(plain[31] & '\x7f');
    auto y = read_little_endian(plain);
    if (BN_cmp(y.get(), prime_.get()) >= 0) return refused;
    auto one = make_bignum();
    must(BN_one(one.get()) == 1);
    const auto yy = times(y, y);
    auto divisor = plus(times(yy, d_), one);
    must(BN_mod_inverse(divisor.get(), divisor.get(), prime_.get(), context_.get()) != nullptr);
    const auto xx = times(minus(yy, one), divisor);
    auto x = make_bignum();
    if (BN_mod_sqrt(x.get(), xx.get(), prime_.get(), context_.get()) == nullptr) return refused;
    if ((BN_is_odd(x.get()) == 1) != is_odd) {
      if (BN_is_zero(x.get()) == 1) return refused;
      must(BN_sub(x.get(), prime_.get(), x.get()) == 1);
    }
    auto t = times(x, y);
    return point{std::move(x), std::move(y), std::move(one), std::move(t)};
  }

  // -- numbers below the order of the base point -------------------------------

  bignum remainder(const bignum& n) const {
    auto rest = make_bignum();
    must(BN_nnmod(rest.get(), n.get(), order_.get(), context_.get()) == 1);
    return rest;
  }
  bignum add(const bignum& x, const bignum& y) const {
    auto sum = make_bignum();
    must(BN_mod_add(sum.get(), x.get(), y.get(), order_.get(), context_.get()) == 1);
    return sum;
  }
  bignum multiply(const bignum& x, const bignum& y) const {
    auto product = make_bignum();
    must(BN_mod_mul(product.get(), x.get(), y.get(), order_.get(), context_.get()) == 1);
    return product;
  }

private:
  static const byte_string& base_bytes() {
    static const byte_string bytes = 'X' + byte_string(31, 'f'); // y = 4/5: 58 66 66 … 66
    return bytes;
  }
  bignum plus(const bignum& x, const bignum& y) const {
    auto sum = make_bignum();
    must(BN_mod_add_quick(sum.get(), x.get(), y.get(), prime_.get()) == 1);
    return sum;
  }
  bignum minus(const bignum& x, const bignum& y) const {
    auto rest = make_bignum();
    must(BN_mod_sub_quick(rest.get(), x.get(), y.get(), prime_.get()) == 1);
    return rest;
  }
  bignum times(const bignum& x, const bignum& y) const {
    auto product = make_bignum();
    must(BN_mod_mul(product.get(), x.get(), y.get(), prime_.get(), context_.get()) == 1);
    return product;
  }

  bignum_context context_{BN_CTX_new()};
  bignum prime_ =
    from_hex_digits("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed");
  bignum order_ =
    from_hex_digits("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed");
  bignum d_ = from_hex_digits("52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3");
  bignum twice_d_ = plus(d_, d_);
};

/// One step of a derivation: what is added to the secret, and the child's chain code.
struct child_step {
  bignum tweak;
  byte_string chain_code;
};

child_step step_of(const curve& on, byte_view parent, byte_view chain_code, byte_view index) {
  const auto material = byte_string{parent} + byte_string{index};
  const auto out = hkdf_sha512(chain_code, material, "Ed25519", 96);
  return {on.remainder(read_big_endian(byte_view{out}.substr(0, 64))), out.substr(64)};
}

} // namespace

byte_string make_secret(byte_view entropy) {
  const curve on;
  auto secret = on.remainder(read_big_endian(entropy));
  if (BN_is_zero(secret.get()) == 1) must(BN_one(secret.get()) == 1);
  return to_little_endian(secret);
}

byte_string public_key(byte_view secret) {
  const curve on;
  return on.to_bytes(on.times_base(read_little_endian(secret)));
}

extended_secret derive(extended_secret from, const derivation_path& path) {
  const curve on;
  for (const auto& index : path) {
    const auto step = step_of(on, public_key(from.secret), from.chain_code, index);
    from.secret = to_little_endian(on.add(read_little_endian(from.secret), step.tweak));
    from.chain_code = step.chain_code;
  }
  return from;
}

result<extended_public> derive(extended_public from, const derivation_path& path) {
  const curve on;
  auto read = on.read_point(from.key);
  if (!read) return read.error();
  auto at = *std::move(read);
  for (const auto& index : path) {
    const auto step = step_of(on, on.to_bytes(at), from.chain_code, index);
    at = on.add(at, on.times_base(step.tweak));
    from.chain_code = step.chain_code;
  }
  from.key = on.to_bytes(at);
  return from;
}

byte_string sign(byte_view secret, byte_view message, byte_view fresh) {
  const curve on;
  const auto own = public_key(secret);
  const auto nonce_key =
    hmac_sha512("moxzi-ed25519-nonce", byte_string{secret} + byte_string{fresh});
  const auto nonce_hash = sha512(nonce_key + byte_string{message});
  const auto r = on.remainder(read_little_endian(nonce_hash));
  const auto nonce_point = on.to_bytes(on.times_base(r));
  const auto challenge = sha512(nonce_point + own + byte_string{message});
  const auto e = on.remainder(read_little_endian(challenge));
  return nonce_point + to_little_endian(on.add(r, on.multiply(e, read_little_endian(secret))));
}

} // namespace moxzi::actors::keys::ed25519
