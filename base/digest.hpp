#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.hpp"

namespace moxzi {

/// XXH3-128: fast, not cryptographic; for noticing a difference.
struct digest128 {
  uint64_t low = 0;
  uint64_t high = 0;
  auto operator<=>(const digest128&) const = default;
};

/// 32 lower-case hexadecimal digits, high half first.
std::string to_hex(const digest128& digest);

digest128 xxh3_128(byte_view bytes) noexcept;

/// XXH3-128 of bytes that come in pieces.
class digest_stream {
public:
  digest_stream();
  ~digest_stream();
  digest_stream(digest_stream&&) noexcept;
  digest_stream& operator=(digest_stream&&) noexcept;

  void reset() noexcept;
  void update(byte_view bytes) noexcept;
  digest128 value() const noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

using sha256_hash = std::array<uint8_t, 32>;

/// SHA-256 (FIPS 180-4), for names, modules and anything a stranger could forge.
sha256_hash sha256(byte_view bytes) noexcept;

/// The hash as bytes.
inline byte_view as_bytes(const sha256_hash& hash) noexcept {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

} // namespace moxzi
