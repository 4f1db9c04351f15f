#include "shapescript/lsp/document.hpp"

#include <algorithm>
#include <utility>

namespace shapescript::lsp {

namespace {

bool begins_character(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

// Units of the character that begins with this byte.
uint32_t units_of(char c, encoding unit) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  switch (unit) {
    case encoding::utf16:
      return byte >= 0xF0 ? 2 : 1;
    case encoding::utf8:
      return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    default:
      return 1;
  }
}

} // namespace

document::document(std::string text) : text_(std::move(text)) {
  find_lines();
}

void document::find_lines() {
  starts_.assign(1, 0);
  plain_.assign(1, true);
  for (size_t i = 0; i < text_.size(); ++i) {
    if (static_cast<unsigned char>(text_[i]) >= 0x80) plain_.back() = false;
    const bool lone = text_[i] == '\r' && (i + 1 == text_.size() || text_[i + 1] != '\n');
    if (text_[i] != '\n' && !lone) continue;
    starts_.push_back(static_cast<uint32_t>(i + 1));
    plain_.push_back(true);
  }
}

uint32_t document::line_end(uint32_t line) const noexcept {
  if (line + 1 >= line_count()) return static_cast<uint32_t>(text_.size());
  auto end = starts_[line + 1] - 1;
  if (text_[end] == '\n' && end > starts_[line] && text_[end - 1] == '\r') --end;
  return end;
}

uint32_t document::offset_of(place where, encoding unit) const noexcept {
  if (where.line >= line_count()) return static_cast<uint32_t>(text_.size());
  const auto end = line_end(where.line);
  auto at = starts_[where.line];
  if (plain_[where.line]) return at + std::min(where.column, end - at);
  auto left = where.column;
  while (at < end) {
    const auto units = units_of(text_[at], unit);
    if (units > left) break;
    left -= units;
    ++at;
    while (at < end && !begins_character(text_[at])) ++at;
  }
  return at;
}

place document::place_of(uint32_t offset, encoding unit) const noexcept {
  auto at = std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size()));
  while (at > 0 && at < text_.size() && !begins_character(text_[at])) --at;
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), at);
  const auto line = static_cast<uint32_t>(next - starts_.begin()) - 1;
  at = std::min(at, line_end(line));
  if (plain_[line]) return {line, at - starts_[line]};
  place out{line, 0};
  for (auto i = starts_[line]; i < at; ++i)
    if (begins_character(text_[i])) out.column += units_of(text_[i], unit);
  return out;
}

void document::replace(place_range where, std::string_view text, encoding unit) {
  auto begin = offset_of(where.start, unit);
  auto end = offset_of(where.end, unit);
  if (end < begin) std::swap(begin, end);
  text_.replace(begin, end - begin, text);
  find_lines();
}

void document::replace_all(std::string text) {
  text_ = std::move(text);
  find_lines();
}

} // namespace shapescript::lsp
