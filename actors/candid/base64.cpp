#include "actors/candid/base64.hpp"

#include <cstdint>

#include "actors/candid/errc.hpp"

namespace moxzi::candid {

namespace {

constexpr std::string_view alphabet =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

} // namespace

std::string to_base64(byte_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t window = 0;
    const auto n = bytes.size() - i < 3 ? bytes.size() - i : 3;
    for (size_t k = 0; k < 3; ++k) {
      window = window << 8 | (k < n ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += k <= n ? alphabet[window >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

result<byte_string> from_base64(std::string_view text) {
  auto digits = text;
  for (int i = 0; i < 2 && digits.ends_with('='); ++i) digits.remove_suffix(1);
  const bool padded = digits.size() != text.size();
  if (digits.size() % 4 == 1 || (padded && text.size() % 4 != 0)) {
    return fail(candid_errc::syntax, "base64 of {} characters is cut off", text.size());
  }
  byte_string bytes;
  bytes.reserve(digits.size() * 3 / 4);
  uint32_t window = 0;
  int bits = 0;
  for (const char c : digits) {
    const auto digit = alphabet.find(c);
    if (digit == std::string_view::npos) {
      return fail(candid_errc::syntax, "byte {:#04x} is no character of base64",
                  static_cast<uint8_t>(c));
    }
    window = window << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(window >> bits & 0xFF);
    }
  }
  if ((window & ((1u << bits) - 1)) != 0) {
    return fail(candid_errc::syntax, "base64 with bits after the last byte");
  }
  return bytes;
}

} // namespace moxzi::candid
