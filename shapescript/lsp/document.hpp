#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shapescript::lsp {

/// What a client counts columns in.
enum class encoding : uint8_t { utf8, utf16, utf32 };

/// A place as the protocol gives it: line and column from 0, the column in units of the encoding.
struct place {
  uint32_t line = 0;
  uint32_t column = 0;
  bool operator==(const place&) const = default;
};

struct place_range {
  place start;
  place end;
  bool operator==(const place_range&) const = default;
};

/// The text of an open file, kept in step with the editor's. A line ends in `\n`, `\r\n` or a lone
/// `\r`, as the protocol has it. Places outside the text count as the nearest one inside: a column
/// past its line as the line's end, a line past the last as the text's end, a column inside a
/// character as the character's begin.
class document {
public:
  explicit document(std::string text);

  const std::string& text() const noexcept {
    return text_;
  }
  uint32_t line_count() const noexcept {
    return static_cast<uint32_t>(starts_.size());
  }

  uint32_t offset_of(place where, encoding unit) const noexcept;
  place place_of(uint32_t offset, encoding unit) const noexcept;

  /// Puts `text` in place of a range; one whose end comes before its start is taken the other way
  /// round.
  void replace(place_range where, std::string_view text, encoding unit);
  void replace_all(std::string text);

private:
  void find_lines();
  uint32_t line_end(uint32_t line) const noexcept;

  std::string text_;
  std::vector<uint32_t> starts_; // of lines
  std::vector<bool> plain_;      // lines of ASCII alone: their bytes are their columns
};

} // namespace shapescript::lsp
