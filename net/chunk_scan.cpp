#include "net/chunk_scan.hpp"

#include <algorithm>

namespace moxzi::net {

namespace {

// A chunk of one byte takes five more.
constexpr size_t framing_per_byte_max = 8;

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_control(char c) noexcept {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

} // namespace

chunk_scan::state chunk_scan::scan(std::string_view bytes) noexcept {
  while (!bytes.empty() && place_ != place::end) {
    if (place_ == place::data) {
      const auto taken = std::min<uint64_t>(size_, bytes.size());
      data_bytes_ += taken;
      size_ -= taken;
      bytes.remove_prefix(taken);
      if (size_ == 0) place_ = place::data_end;
      continue;
    }
    if (const auto found = take_line_byte(bytes.front()); found != state::fine) return found;
    bytes.remove_prefix(1);
  }
  return state::fine;
}

bool chunk_scan::is_too_long() const noexcept {
  return line_bytes_ > line_bytes_max_
         || framing_bytes_ > line_bytes_max_ + framing_per_byte_max * data_bytes_;
}

chunk_scan::state chunk_scan::take_line_byte(char c) noexcept {
  ++framing_bytes_;
  ++line_bytes_;
  if (is_too_long()) return state::too_long;
  if (has_cr_) return c == '\n' ? end_line() : state::bad_line_ending;
  if (c == '\n') return state::bad_line_ending;
  if (c == '\r') {
    has_cr_ = true;
    return state::fine;
  }
  if (is_control(c)) return state::bad_byte;
  if (place_ == place::size) return take_size_digit(c);
  if (place_ == place::extension) take_extension_byte(c);
  if (place_ == place::data_end) return state::bad_line_ending;
  if (place_ == place::trailer && line_bytes_ == 1 && (c == ' ' || c == '\t')) return state::folded;
  return state::fine;
}

chunk_scan::state chunk_scan::take_size_digit(char c) noexcept {
  const auto digit = hex_value(c);
  if (digit < 0) {
    if (line_bytes_ == 1) return state::bad_byte;
    place_ = place::extension;
    return state::fine;
  }
  if (size_ >> 60 != 0) return state::bad_byte;
  size_ = size_ * 16 + static_cast<uint64_t>(digit);
  return state::fine;
}

// A parser may read a quoted text to its end, over lines.
void chunk_scan::take_extension_byte(char c) noexcept {
  if (is_escaped_)
    is_escaped_ = false;
  else if (is_quoted_ && c == '\\')
    is_escaped_ = true;
  else if (c == '"')
    is_quoted_ = !is_quoted_;
}

chunk_scan::state chunk_scan::end_line() noexcept {
  if (is_quoted_) return state::open_quote;
  const bool is_empty = line_bytes_ == 2;
  has_cr_ = false;
  line_bytes_ = 0;
  switch (place_) {
    case place::size:
    case place::extension:
      if (is_empty) return state::bad_byte;
      place_ = size_ == 0 ? place::trailer : place::data;
      break;
    case place::data_end:
      place_ = place::size;
      break;
    default:
      if (is_empty) place_ = place::end;
      break;
  }
  return state::fine;
}

} // namespace moxzi::net
