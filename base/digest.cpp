#include "base/digest.hpp"

#include <openssl/sha.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

namespace moxzi {

std::string to_hex(const digest128& digest) {
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

digest128 xxh3_128(byte_view bytes) noexcept {
  const auto hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

struct digest_stream::state {
  XXH3_state_t value;
};

digest_stream::digest_stream() : state_(std::make_unique<state>()) {
  reset();
}

digest_stream::~digest_stream() = default;
digest_stream::digest_stream(digest_stream&&) noexcept = default;
digest_stream& digest_stream::operator=(digest_stream&&) noexcept = default;

void digest_stream::reset() noexcept {
  XXH3_128bits_reset(&state_->value);
}

void digest_stream::update(byte_view bytes) noexcept {
  XXH3_128bits_update(&state_->value, bytes.data(), bytes.size());
}

digest128 digest_stream::value() const noexcept {
  const auto hash = XXH3_128bits_digest(&state_->value);
  return {hash.low64, hash.high64};
}

sha256_hash sha256(byte_view bytes) noexcept {
  sha256_hash hash;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.data());
  return hash;
}

} // namespace moxzi
