#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/http_limits.hpp"

namespace moxzi::net {

/// Looks at the bytes of a chunked body (RFC 9112, 7.1) as they come, before the parser: as
/// `header_scan` does for headers, it refuses lines that another reader might end elsewhere, and
/// bodies that are mostly lines about chunks. Pure.
class chunk_scan {
public:
  enum class state : uint8_t {
    fine,
    bad_line_ending, ///< LF without CR, or CR without LF
    folded,          ///< a trailer continues the line before it
    bad_byte,        ///< a control character in a line, or a line that begins with no size
    open_quote,      ///< a quoted extension goes on behind its line
    too_long,        ///< a line, or all lines for so few bytes of data
  };

  explicit chunk_scan(const http_limits& limits) noexcept
      : line_bytes_max_(limits.header_bytes_max) {
    // nop
  }

  /// Takes the bytes behind those of the last call. Nothing behind the body's end is looked at.
  state scan(std::string_view bytes) noexcept;

private:
  enum class place : uint8_t { size, extension, data, data_end, trailer, end };

  state take_line_byte(char c) noexcept;
  state take_size_digit(char c) noexcept;
  void take_extension_byte(char c) noexcept;
  state end_line() noexcept;
  bool is_too_long() const noexcept;

  size_t line_bytes_max_;
  place place_ = place::size;
  bool has_cr_ = false;
  bool is_quoted_ = false;   // within `"…"` of an extension
  bool is_escaped_ = false;  // behind its backslash
  uint64_t size_ = 0;        // of the chunk, or what is left of it
  size_t line_bytes_ = 0;    // of the line so far
  size_t framing_bytes_ = 0; // all that is not data
  size_t data_bytes_ = 0;
};

} // namespace moxzi::net
