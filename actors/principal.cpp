#include "actors/principal.hpp"

#include <array>

#include "base/digest.hpp"

namespace moxzi {

namespace {

constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz234567"; // RFC 4648, lower case

// CRC-32 of ISO 3309, the polynomial reflected.
uint32_t crc32(byte_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

result<byte_string> decode_base32(std::string_view text) {
  byte_string bytes;
  uint32_t window = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '-') continue;
    const auto digit = alphabet.find(c);
    if (digit == std::string_view::npos) {
      return fail(base_errc::malformed, "byte {:#04x} is not a character of a principal",
                  static_cast<uint8_t>(c));
    }
    window = window << 5 | static_cast<uint32_t>(digit);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(window >> bits & 0xFF);
    }
  }
  return bytes;
}

} // namespace

result<principal> principal::from_bytes(byte_view bytes) {
  if (bytes.size() > bytes_max) {
    return fail(base_errc::over_limit, "a principal has at most 29 bytes, not {}", bytes.size());
  }
  principal value;
  value.bytes_ = bytes;
  return value;
}

result<principal> principal::from_text(std::string_view text) {
  constexpr size_t text_max = 63; // 29 bytes and the checksum, dashes included
  if (text.size() > text_max) return fail(base_errc::malformed, "too long for a principal");
  auto decoded = decode_base32(text);
  if (!decoded) return decoded.error();
  if (decoded->size() < 4)
    return fail(base_errc::malformed, "'{}' is too short for a principal", text);
  auto value = from_bytes(byte_view{*decoded}.substr(4));
  if (!value) return value;
  if (value->to_text() != text) {
    return fail(base_errc::malformed,
                "'{}' is not a principal in its canonical form (checksum, "
                "lower case, a dash after every five characters)",
                text);
  }
  return value;
}

principal principal::of_actor(std::string_view name) {
  byte_string seed = "moxzi-actor";
  seed += '\0';
  seed += name;
  principal value;
  value.bytes_ = as_bytes(sha256(seed)).substr(0, 8);
  value.bytes_ += "\x01\x01";
  return value;
}

principal principal::of_made_actor(uint16_t node, uint64_t counter) {
  principal made;
  made.bytes_.push_back(static_cast<char>(node >> 8));
  made.bytes_.push_back(static_cast<char>(node));
  for (int shift = 40; shift >= 0; shift -= 8) {
    made.bytes_.push_back(static_cast<char>(counter >> shift));
  }
  made.bytes_ += "\x02\x01";
  return made;
}

principal principal::anonymous() {
  principal value;
  value.bytes_ = "\x04";
  return value;
}

std::string principal::to_text() const {
  const auto crc = crc32(bytes_);
  byte_string covered;
  for (int shift = 24; shift >= 0; shift -= 8) covered += static_cast<char>(crc >> shift & 0xFF);
  covered += bytes_;
  std::string text;
  uint32_t window = 0;
  int bits = 0;
  size_t digits = 0;
  const auto put = [&](uint32_t digit) {
    if (digits > 0 && digits % 5 == 0) text += '-';
    text += alphabet[digit & 31];
    ++digits;
  };
  for (const char c : covered) {
    window = window << 8 | static_cast<uint8_t>(c);
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      put(window >> bits);
    }
  }
  if (bits > 0) put(window << (5 - bits));
  return text;
}

} // namespace moxzi
