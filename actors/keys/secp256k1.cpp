#include "actors/keys/secp256k1.hpp"

#include <utility>

#include <openssl/ec.h>
#include <openssl/obj_mac.h>

#include "actors/keys/bignum.hpp"
#include "actors/keys/hash.hpp"

namespace moxzi::actors::keys::secp256k1 {

namespace {

struct free_group {
  void operator()(EC_GROUP* what) const noexcept {
    EC_GROUP_free(what);
  }
};
struct free_point {
  void operator()(EC_POINT* what) const noexcept {
    EC_POINT_free(what);
  }
};
using point = std::unique_ptr<EC_POINT, free_point>;

/// The group, its order, and where OpenSSL calculates. One a call: nothing is shared by threads.
struct curve {
  std::unique_ptr<EC_GROUP, free_group> group{EC_GROUP_new_by_curve_name(NID_secp256k1)};
  bignum_context context{BN_CTX_new()};

  curve() {
    must(group != nullptr && context != nullptr);
  }
  const BIGNUM* order() const noexcept {
    return EC_GROUP_get0_order(group.get());
  }
  point make_point() const {
    point made{EC_POINT_new(group.get())};
    must(made != nullptr);
    return made;
  }
  /// `n` times the base point.
  point times_base(const bignum& n) const {
    auto made = make_point();
    must(EC_POINT_mul(group.get(), made.get(), n.get(), nullptr, nullptr, context.get()) == 1);
    return made;
  }
  byte_string to_bytes(const point& what) const {
    byte_string out(33, '\0');
    must(EC_POINT_point2oct(group.get(), what.get(), POINT_CONVERSION_COMPRESSED,
                            reinterpret_cast<unsigned char*>(out.data()), out.size(), context.get())
         == out.size());
    return out;
  }
  bignum add(const bignum& x, const bignum& y) const {
    auto sum = make_bignum();
    must(BN_mod_add(sum.get(), x.get(), y.get(), order(), context.get()) == 1);
    return sum;
  }
  bignum multiply(const bignum& x, const bignum& y) const {
    auto product = make_bignum();
    must(BN_mod_mul(product.get(), x.get(), y.get(), order(), context.get()) == 1);
    return product;
  }
  bignum inverse(const bignum& x) const {
    auto made = make_bignum();
    must(BN_mod_inverse(made.get(), x.get(), order(), context.get()) != nullptr);
    return made;
  }
  bignum negative(const bignum& x) const {
    auto made = make_bignum();
    must(BN_sub(made.get(), order(), x.get()) == 1);
    return made;
  }
  bignum remainder(byte_view bytes) const {
    auto whole = read_big_endian(bytes);
    auto rest = make_bignum();
    must(BN_nnmod(rest.get(), whole.get(), order(), context.get()) == 1);
    return rest;
  }
};

constexpr char even_y = 2; // how SEC1 begins

/// One step of a derivation: what is added to the secret, and the child's chain code.
struct child_step {
  bignum tweak;
  byte_string chain_code;
};

// SLIP-10: where the left half is no number below the order, the right half is tried.
child_step step_of(const curve& on, byte_view parent, byte_view chain_code, byte_view index) {
  byte_string data{parent};
  while (true) {
    const auto hash = hmac_sha512(chain_code, data + byte_string{index});
    auto tweak = read_big_endian(byte_view{hash}.substr(0, 32));
    auto rest = hash.substr(32);
    if (BN_cmp(tweak.get(), on.order()) < 0) return {std::move(tweak), std::move(rest)};
    data = '\1' + rest;
  }
}

} // namespace

byte_string make_secret(byte_view entropy) {
  const curve on;
  auto secret = on.remainder(entropy);
  if (BN_is_zero(secret.get()) == 1) must(BN_one(secret.get()) == 1);
  return to_big_endian(secret);
}

byte_string public_key(byte_view secret) {
  const curve on;
  return on.to_bytes(on.times_base(read_big_endian(secret)));
}

extended_secret derive(extended_secret from, const derivation_path& path) {
  const curve on;
  for (const auto& index : path) {
    const auto step = step_of(on, public_key(from.secret), from.chain_code, index);
    from.secret = to_big_endian(on.add(read_big_endian(from.secret), step.tweak));
    from.chain_code = step.chain_code;
  }
  return from;
}

result<extended_public> derive(extended_public from, const derivation_path& path) {
  const curve on;
  const auto* bytes = reinterpret_cast<const unsigned char*>(from.key.data());
  auto at = on.make_point();
  if (EC_POINT_oct2point(on.group.get(), at.get(), bytes, from.key.size(), on.context.get()) != 1) {
    return fail(base_errc::malformed, "the key is no point of secp256k1");
  }
  for (const auto& index : path) {
    const auto step = step_of(on, on.to_bytes(at), from.chain_code, index);
    const auto added = on.times_base(step.tweak);
    must(EC_POINT_add(on.group.get(), at.get(), at.get(), added.get(), on.context.get()) == 1);
    from.chain_code = step.chain_code;
  }
  from.key = on.to_bytes(at);
  return from;
}

namespace {

/// The nonces of RFC 6979 for a secret and a hash, one after the other.
class nonce_source {
public:
  nonce_source(const curve& on, byte_view secret, byte_view hash)
      : on_(on), key_(32, '\0'), value_(32, '\1') {
    const auto seed = byte_string{secret} + to_big_endian(on.remainder(hash));
    mix('\0', seed);
    mix('\1', seed);
  }

  bignum next() {
    while (true) {
      value_ = hmac_sha256(key_, value_);
      auto nonce = read_big_endian(value_);
      if (BN_is_zero(nonce.get()) == 0 && BN_cmp(nonce.get(), on_.order()) < 0) return nonce;
      mix('\0', {});
    }
  }
  /// To be called where the nonce could not be used.
  void refuse() {
    mix('\0', {});
  }

private:
  void mix(char tag, byte_view seed) {
    key_ = hmac_sha256(key_, value_ + tag + byte_string{seed});
    value_ = hmac_sha256(key_, value_);
  }

  const curve& on_;
  byte_string key_;
  byte_string value_;
};

/// The x coordinate of a point.
byte_string x_of(const byte_string& compressed) {
  return compressed.substr(1);
}

} // namespace

byte_string sign_ecdsa(byte_view secret, byte_view hash) {
  const curve on;
  const auto d = read_big_endian(secret);
  const auto z = on.remainder(hash);
  nonce_source nonces{on, secret, hash};
  while (true) {
    const auto k = nonces.next();
    const auto r = on.remainder(x_of(on.to_bytes(on.times_base(k))));
    auto s = on.multiply(on.inverse(k), on.add(z, on.multiply(r, d)));
    if (BN_is_zero(r.get()) == 1 || BN_is_zero(s.get()) == 1) {
      nonces.refuse();
      continue;
    }
    auto other = on.negative(s);
    if (BN_cmp(other.get(), s.get()) < 0) s = std::move(other);
    return to_big_endian(r) + to_big_endian(s);
  }
}

byte_string sign_bip340(byte_view secret, byte_view message, byte_view fresh) {
  const curve on;
  const auto own = public_key(secret);
  auto d = read_big_endian(secret);
  if (own[0] != even_y) d = on.negative(d);
  auto masked = to_big_endian(d);
  const auto mask = tagged_hash("BIP0340/aux", fresh);
  for (size_t i = 0; i < masked.size(); ++i) masked[i] = static_cast<char>(masked[i] ^ mask[i]);
  auto k = on.remainder(tagged_hash("BIP0340/nonce", masked + x_of(own) + byte_string{message}));
  must(BN_is_zero(k.get()) == 0);
  const auto nonce_point = on.to_bytes(on.times_base(k));
  if (nonce_point[0] != even_y) k = on.negative(k);
  const auto e = on.remainder(
    tagged_hash("BIP0340/challenge", x_of(nonce_point) + x_of(own) + byte_string{message}));
  return x_of(nonce_point) + to_big_endian(on.add(k, on.multiply(e, d)));
}

byte_string tweak_bip341(byte_view secret, byte_view merkle_root) {
  const curve on;
  const auto internal = public_key(secret);
  auto d = read_big_endian(secret);
  if (internal[0] != even_y) d = on.negative(d);
  const auto tweak = tagged_hash("TapTweak", x_of(internal) + byte_string{merkle_root});
  return to_big_endian(on.add(d, on.remainder(tweak)));
}

} // namespace moxzi::actors::keys::secp256k1
