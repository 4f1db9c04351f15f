#include "actors/keys/key_ring.hpp"

#include <algorithm>

#include <openssl/crypto.h>

#include "actors/keys/ed25519.hpp"
#include "actors/keys/hash.hpp"
#include "actors/keys/secp256k1.hpp"
#include "base/limits.hpp"
#include "base/nearest.hpp"

namespace moxzi::actors::keys {

namespace {

constexpr size_t hash_bytes = 32;

std::string_view name_of(key_algorithm what) noexcept {
  switch (what) {
    case key_algorithm::ecdsa_secp256k1:
      return "ecdsa:secp256k1";
    case key_algorithm::schnorr_bip340:
      return "schnorr:bip340secp256k1";
    default:
      return "schnorr:ed25519";
  }
}

} // namespace

key_ring::key_ring(const sha256_hash& seed) : seed_(as_bytes(seed)) {
  // nop
}

key_ring::~key_ring() {
  OPENSSL_cleanse(seed_.data(), seed_.size());
}

result<extended_secret> key_ring::find(const key_place& where) const {
  if (std::ranges::find(key_names, where.name) == std::end(key_names)) {
    return fail(base_errc::malformed,
                "there is no {} key '{}'{}; there are dfx_test_key, "
                "test_key_1 and key_1",
                name_of(where.algorithm), where.name, did_you_mean(where.name, key_names));
  }
  if (where.path.size() > limits::derivation_path_max) {
    return fail(base_errc::over_limit, "the derivation path has {} parts; at most {}",
                where.path.size(), limits::derivation_path_max);
  }
  byte_string what{"moxzi-signing-key"};
  what.push_back('\0');
  what.append(name_of(where.algorithm));
  what.push_back('\0');
  what.append(where.name);
  const auto entropy = hmac_sha512(seed_, what);
  const bool is_edwards = where.algorithm == key_algorithm::schnorr_ed25519;
  extended_secret key{is_edwards ? ed25519::make_secret(entropy) : secp256k1::make_secret(entropy),
                      byte_string(hash_bytes, '\0')};
  derivation_path path{byte_string{where.owner.bytes()}};
  path.insert(path.end(), where.path.begin(), where.path.end());
  return is_edwards ? ed25519::derive(std::move(key), path)
                    : secp256k1::derive(std::move(key), path);
}

result<extended_public> key_ring::public_key(const key_place& where) const {
  const auto key = find(where);
  if (!key) return key.error();
  const bool is_edwards = where.algorithm == key_algorithm::schnorr_ed25519;
  return extended_public{is_edwards ? ed25519::public_key(key->secret)
                                    : secp256k1::public_key(key->secret),
                         key->chain_code};
}

result<byte_string> key_ring::sign(const key_place& where, byte_view message, byte_view fresh,
                                   const taproot_root& root) const {
  const auto key = find(where);
  if (!key) return key.error();
  if (root && where.algorithm != key_algorithm::schnorr_bip340) {
    return fail(base_errc::malformed, "bip341 is for bip340secp256k1 keys");
  }
  switch (where.algorithm) {
    case key_algorithm::ecdsa_secp256k1:
      if (message.size() != hash_bytes) {
        return fail(base_errc::malformed, "message_hash has {} bytes, not {}", message.size(),
                    hash_bytes);
      }
      return secp256k1::sign_ecdsa(key->secret, message);
    case key_algorithm::schnorr_bip340:
      if (!root) return secp256k1::sign_bip340(key->secret, message, fresh);
      if (!root->empty() && root->size() != hash_bytes) {
        return fail(base_errc::malformed, "merkle_root_hash has {} bytes, not 0 or {}",
                    root->size(), hash_bytes);
      }
      return secp256k1::sign_bip340(secp256k1::tweak_bip341(key->secret, *root), message, fresh);
    default:
      return ed25519::sign(key->secret, message, fresh);
  }
}

} // namespace moxzi::actors::keys
