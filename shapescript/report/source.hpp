#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace shapescript {

/// A piece of a source text: byte offsets, `end` past the last byte.
struct span {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool operator==(const span&) const = default;
};

/// A place as people count: line and column from 1, the column in code points.
struct position {
  uint32_t line = 1;
  uint32_t column = 1;
  bool operator==(const position&) const = default;
};

/// A source text and where its lines begin. The text is kept as given; a line ends before `\n` or
/// `\r\n`; a byte order mark at the start counts for nothing. Offsets past the end, or inside a
/// character, count as the nearest place before.
class source {
public:
  /// `name` is shown in diagnostics: the path as the user gave it.
  source(std::string name, std::string text);

  const std::string& name() const noexcept {
    return name_;
  }
  std::string_view text() const noexcept {
    return text_;
  }
  std::string_view text(span where) const noexcept;
  uint32_t line_count() const noexcept {
    return static_cast<uint32_t>(line_starts_.size());
  }
  /// The line without its end, `number` from 1; empty past the last line.
  std::string_view line(uint32_t number) const noexcept;
  position position_of(uint32_t offset) const noexcept;
  /// Its line alone, which takes no time in a long line.
  uint32_t line_of(uint32_t offset) const noexcept;

private:
  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_starts_;
};

/// Reads a program; at most `program_bytes_max` bytes. The error names the file and the reason.
moxzi::result<source> read_source(const std::string& path);
/// The same of a file that a program names: what may never end, a pipe or a device, is refused.
moxzi::result<source> read_imported(const std::string& path);

/// Replaces a file's text as a whole: it holds the old text or the new one, whatever happens.
moxzi::result<void> write_source(const std::string& path, std::string_view text);

/// A program is held in memory several times over, and offsets are 32 bits.
inline constexpr size_t program_bytes_max = 16u << 20;

} // namespace shapescript
