#pragma once

#include <memory>

#include <openssl/bn.h>

#include "base/assert.hpp"
#include "base/bytes.hpp"

/// OpenSSL's whole numbers, owned. For this folder's sources only.
namespace moxzi::actors::keys {

/// Wipes, then frees.
struct free_bignum {
  void operator()(BIGNUM* what) const noexcept {
    BN_clear_free(what);
  }
};
using bignum = std::unique_ptr<BIGNUM, free_bignum>;

struct free_context {
  void operator()(BN_CTX* what) const noexcept {
    BN_CTX_free(what);
  }
};
using bignum_context = std::unique_ptr<BN_CTX, free_context>;

/// OpenSSL only refuses what is used here for want of memory.
inline void must(bool succeeded) {
  moxzi_assert(succeeded, "libcrypto refuses a calculation");
}

/// Zero.
inline bignum make_bignum() {
  bignum made{BN_new()};
  must(made != nullptr);
  return made;
}

/// From bytes, most significant first. Calculations with it take a time that does not depend on it,
/// as far as OpenSSL can.
inline bignum read_big_endian(byte_view bytes) {
  bignum made{BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()),
                        static_cast<int>(bytes.size()), nullptr)};
  must(made != nullptr);
  BN_set_flags(made.get(), BN_FLG_CONSTTIME);
  return made;
}

/// From bytes, least significant first.
inline bignum read_little_endian(byte_view bytes) {
  return read_big_endian(byte_string{bytes.rbegin(), bytes.rend()});
}

/// 32 bytes, most significant first.
inline byte_string to_big_endian(const bignum& what) {
  byte_string bytes(32, '\0');
  must(BN_bn2binpad(what.get(), reinterpret_cast<unsigned char*>(bytes.data()), 32) == 32);
  return bytes;
}

/// 32 bytes, least significant first.
inline byte_string to_little_endian(const bignum& what) {
  const auto bytes = to_big_endian(what);
  return {bytes.rbegin(), bytes.rend()};
}

} // namespace moxzi::actors::keys
