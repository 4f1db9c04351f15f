#include "net/http_scan.hpp"

#include <algorithm>

namespace moxzi::net {

bool header_scan::target_fits(std::string_view line) const noexcept {
  auto begin = line.find(' ');
  if (begin == std::string_view::npos) return true;
  auto end = std::min(line.find(' ', begin + 1), line.size());
  return end - begin - 1 <= target_bytes_max_;
}

header_scan::state header_scan::scan(std::string_view header) noexcept {
  for (; next_ < header.size(); ++next_) {
    auto c = header[next_];
    if (next_ >= header_bytes_max_) return state::header_too_long;
    if (next_ == line_start_ && next_ > 0 && (c == ' ' || c == '\t')) return state::folded;
    if (c == '\n') return state::bad_line_ending;
    if (c != '\r') {
      if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) return state::bad_byte;
      continue;
    }
    if (next_ + 1 == header.size()) break; // its LF may still come
    if (header[next_ + 1] != '\n') return state::bad_line_ending;
    if (line_start_ == 0 && !target_fits(header.substr(0, next_))) return state::target_too_long;
    if (next_ == line_start_) {
      size_ = next_ + 2;
      return size_ > header_bytes_max_ ? state::header_too_long : state::complete;
    }
    ++next_;
    line_start_ = next_ + 1;
  }
  if (line_start_ == 0 && !target_fits(header)) return state::target_too_long;
  return state::need_more;
}

} // namespace moxzi::net
