#include "shapescript/report/render_line.hpp"

#include <algorithm>
#include <array>

#include "shapescript/report/render.hpp"

namespace shapescript {

namespace {

struct interval {
  char32_t first, last;
};

constexpr std::array combining{
  interval{0x0300, 0x036F}, interval{0x0483, 0x0489},  interval{0x0591, 0x05BD},
  interval{0x0610, 0x061A}, interval{0x064B, 0x065F},  interval{0x0900, 0x0902},
  interval{0x093C, 0x093C}, interval{0x0941, 0x0948},  interval{0x0E31, 0x0E31},
  interval{0x0E34, 0x0E3A}, interval{0x1AB0, 0x1AFF},  interval{0x1DC0, 0x1DFF},
  interval{0x200B, 0x200F}, interval{0x202A, 0x202E},  interval{0x2060, 0x2064},
  interval{0x20D0, 0x20FF}, interval{0xFE00, 0xFE0F},  interval{0xFE20, 0xFE2F},
  interval{0xFEFF, 0xFEFF}, interval{0xE0100, 0xE01EF}};

constexpr std::array wide{
  interval{0x1100, 0x115F},   interval{0x231A, 0x231B},   interval{0x2329, 0x232A},
  interval{0x23E9, 0x23EC},   interval{0x25FD, 0x25FE},   interval{0x2614, 0x2615},
  interval{0x2648, 0x2653},   interval{0x26A1, 0x26A1},   interval{0x26BD, 0x26BE},
  interval{0x2705, 0x2705},   interval{0x274C, 0x274C},   interval{0x2753, 0x2755},
  interval{0x2795, 0x2797},   interval{0x2B1B, 0x2B1C},   interval{0x2B50, 0x2B50},
  interval{0x2E80, 0x303E},   interval{0x3041, 0x33FF},   interval{0x3400, 0x4DBF},
  interval{0x4E00, 0x9FFF},   interval{0xA000, 0xA4CF},   interval{0xA960, 0xA97F},
  interval{0xAC00, 0xD7A3},   interval{0xF900, 0xFAFF},   interval{0xFE30, 0xFE6F},
  interval{0xFF00, 0xFF60},   interval{0xFFE0, 0xFFE6},   interval{0x16FE0, 0x18AFF},
  interval{0x1B000, 0x1B2FF}, interval{0x1F004, 0x1F004}, interval{0x1F0CF, 0x1F0CF},
  interval{0x1F18E, 0x1F19A}, interval{0x1F200, 0x1F320}, interval{0x1F32D, 0x1F335},
  interval{0x1F337, 0x1F64F}, interval{0x1F680, 0x1F6FF}, interval{0x1F7E0, 0x1F7EB},
  interval{0x1F90C, 0x1F9FF}, interval{0x1FA70, 0x1FAFF}, interval{0x20000, 0x3FFFD}};

template <size_t N>
bool in(const std::array<interval, N>& all, char32_t character) noexcept {
  const auto next = std::upper_bound(all.begin(), all.end(), character,
                                     [](char32_t x, const interval& one) { return x < one.first; });
  return next != all.begin() && character <= std::prev(next)->last;
}

struct decoded {
  char32_t character;
  size_t bytes; // 0: malformed
};

decoded decode(std::string_view text) noexcept {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {0, 0};
  char32_t value = lead & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    value = value << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
    return {0, 0};
  return {value, length};
}

} // namespace

int columns_of(char32_t character) noexcept {
  if (character < 0x300) return 1;
  if (in(combining, character)) return 0;
  return in(wide, character) ? 2 : 1;
}

drawn_line::drawn_line(std::string_view line) {
  uint32_t column = 0;
  for (size_t i = 0; i < line.size();) {
    const auto [character, bytes] = decode(line.substr(i));
    const size_t taken = std::max<size_t>(1, bytes);
    columns.insert(columns.end(), taken, column);
    if (character == '\t') {
      shown += "    ";
      column += 4;
    } else if (bytes == 0 || character < 0x20 || (character >= 0x7F && character < 0xA0)) {
      shown += "\uFFFD";
      column += 1;
    } else {
      shown += line.substr(i, bytes);
      column += static_cast<uint32_t>(columns_of(character));
    }
    i += taken;
  }
  columns.push_back(column);
}

void drawn_line::cut(uint32_t begin, uint32_t end) {
  const auto total = width();
  if (begin == 0 && end >= total) return;
  std::string kept = begin > 0 ? "..." : "";
  const uint32_t shift = begin > 0 ? 3 : 0;
  uint32_t column = 0;
  uint32_t first = 0; // the column where what is kept begins
  bool any = false;
  for (size_t i = 0; i < shown.size();) {
    const auto [character, bytes] = decode(std::string_view{shown}.substr(i));
    if (column >= begin && column < end) {
      if (!any) first = column;
      any = true;
      kept += shown.substr(i, bytes);
    }
    column += static_cast<uint32_t>(columns_of(character));
    i += std::max<size_t>(1, bytes);
  }
  if (end < total) kept += "...";
  for (auto& one : columns) one = std::clamp(one, first, std::max(first, end)) - first + shift;
  shown = std::move(kept);
}

} // namespace shapescript
