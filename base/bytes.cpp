#include "base/bytes.hpp"

#include <cstdint>
#include <cstring>

namespace moxzi {

std::string to_hex(byte_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

} // namespace

result<byte_string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) {
    return fail(base_errc::malformed, "hexadecimal of odd length ({} digits)", text.size());
  }
  byte_string bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]);
    const int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) {
      return fail(base_errc::malformed, "not a hexadecimal digit at position {}",
                  high < 0 ? i : i + 1);
    }
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

bool equal_in_constant_time(byte_view x, byte_view y) noexcept {
  if (x.size() != y.size()) return false;
  uint8_t difference = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    difference |= static_cast<uint8_t>(x[i]) ^ static_cast<uint8_t>(y[i]);
  }
  return difference == 0;
}

// The table of well-formed sequences is Unicode 15, table 3-7.
bool is_utf8(std::string_view text) noexcept {
  const auto* p = reinterpret_cast<const uint8_t*>(text.data());
  const auto* const end = p + text.size();
  const auto tail = [](uint8_t byte) { return (byte & 0xC0) == 0x80; };
  while (p != end) {
    // Most text is ASCII: eight bytes at a time.
    uint64_t eight = 0;
    while (end - p >= 8 && (std::memcpy(&eight, p, 8), (eight & 0x8080808080808080) == 0)) p += 8;
    if (p == end) break;
    const uint8_t lead = *p;
    const auto left = end - p;
    if (lead < 0x80) {
      ++p;
    } else if (lead >= 0xC2 && lead <= 0xDF) {
      if (left < 2 || !tail(p[1])) return false;
      p += 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      if (left < 3 || !tail(p[1]) || !tail(p[2])) return false;
      if (lead == 0xE0 && p[1] < 0xA0) return false;
      if (lead == 0xED && p[1] > 0x9F) return false;
      p += 3;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      if (left < 4 || !tail(p[1]) || !tail(p[2]) || !tail(p[3])) return false;
      if (lead == 0xF0 && p[1] < 0x90) return false;
      if (lead == 0xF4 && p[1] > 0x8F) return false;
      p += 4;
    } else {
      return false;
    }
  }
  return true;
}

} // namespace moxzi
