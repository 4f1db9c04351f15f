#include "shapescript/source.hpp"

#include <algorithm>

namespace shapescript {

source::source(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  line_starts_.push_back(0);
  for (size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(static_cast<uint32_t>(i + 1));
  }
}

std::string_view source::text(span where) const noexcept {
  const auto begin = std::min<size_t>(where.begin, text_.size());
  const auto end = std::clamp<size_t>(where.end, begin, text_.size());
  return std::string_view{text_}.substr(begin, end - begin);
}

std::string_view source::line(uint32_t number) const noexcept {
  if (number == 0 || number > line_count()) return {};
  const size_t begin = line_starts_[number - 1];
  size_t end = number < line_count() ? line_starts_[number] - 1 : text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view{text_}.substr(begin, end - begin);
}

position source::position_of(uint32_t offset) const noexcept {
  const auto at = std::min<size_t>(offset, text_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), at);
  const auto line = static_cast<uint32_t>(next - line_starts_.begin());
  const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  const auto begin = text_.begin() + line_starts_[line - 1];
  const auto end = text_.begin() + static_cast<std::ptrdiff_t>(at);
  uint32_t column = 1 + static_cast<uint32_t>(std::count_if(begin, end, is_start));
  if (at < text_.size() && !is_start(text_[at])) --column; // inside a character
  return {line, column};
}

} // namespace shapescript
