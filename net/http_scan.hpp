#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/http_limits.hpp"

namespace moxzi::net {

/// Looks at the bytes of a request's header as they come, stricter than the parser behind it: what
/// two readers of one byte stream could split into requests in two ways is refused before it is
/// parsed. Pure; works on views of one growing buffer.
class header_scan {
public:
  enum class state : uint8_t {
    need_more,
    complete,        ///< the header ends at `size()`
    bad_line_ending, ///< LF without CR, or CR without LF
    folded,          ///< a line continues the one before it (obs-fold)
    bad_byte,        ///< a control character
    target_too_long, ///< 414
    header_too_long, ///< 431
  };

  explicit header_scan(const http_limits& limits) noexcept
      : header_bytes_max_(limits.header_bytes_max), target_bytes_max_(limits.target_bytes_max) {
    // nop
  }

  /// Goes on where the last call stopped. `header` is all that has come since the request's first
  /// byte; it may hold more than the header.
  state scan(std::string_view header) noexcept;

  /// Bytes of the whole header with its final empty line, once complete.
  size_t size() const noexcept {
    return size_;
  }

private:
  bool target_fits(std::string_view line) const noexcept;

  size_t header_bytes_max_;
  size_t target_bytes_max_;
  size_t next_ = 0;       // first byte not yet looked at
  size_t line_start_ = 0; // of the line that `next_` is in
  size_t size_ = 0;
};

} // namespace moxzi::net
