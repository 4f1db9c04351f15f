#include "actors/keys/hash.hpp"

#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "base/assert.hpp"
#include "base/digest.hpp"

namespace moxzi::actors::keys {

namespace {

const unsigned char* start(byte_view bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

byte_string hmac(const EVP_MD* with, byte_view key, byte_view data) {
  byte_string out(static_cast<size_t>(EVP_MD_get_size(with)), '\0');
  const auto* done = HMAC(with, start(key), static_cast<int>(key.size()), start(data), data.size(),
                          reinterpret_cast<unsigned char*>(out.data()), nullptr);
  moxzi_assert(done != nullptr, "libcrypto refuses an HMAC");
  return out;
}

} // namespace

byte_string hmac_sha256(byte_view key, byte_view data) {
  return hmac(EVP_sha256(), key, data);
}

byte_string hmac_sha512(byte_view key, byte_view data) {
  return hmac(EVP_sha512(), key, data);
}

byte_string sha512(byte_view data) {
  byte_string out(SHA512_DIGEST_LENGTH, '\0');
  SHA512(start(data), data.size(), reinterpret_cast<unsigned char*>(out.data()));
  return out;
}

byte_string hkdf_sha512(byte_view salt, byte_view key_material, byte_view info, size_t bytes) {
  const auto key = hmac_sha512(salt, key_material);
  byte_string out;
  byte_string block;
  for (uint8_t n = 1; out.size() < bytes; ++n) {
    block.append(info);
    block.push_back(static_cast<char>(n));
    block = hmac_sha512(key, block);
    out.append(block);
  }
  out.resize(bytes);
  return out;
}

byte_string tagged_hash(byte_view tag, byte_view data) {
  const auto prefix = sha256(tag);
  byte_string whole;
  whole.append(as_bytes(prefix));
  whole.append(as_bytes(prefix));
  whole.append(data);
  return byte_string{as_bytes(sha256(whole))};
}

} // namespace moxzi::actors::keys
