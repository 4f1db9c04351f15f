#include "actors/management/numbers.hpp"

namespace moxzi::actors::management {

std::optional<cycles> to_cycles(const candid::integer& number) {
  if (number.is_negative()) return std::nullopt;
  if (const auto small = number.to_uint64()) return cycles{*small};
  byte_string digits; // seven bits each, the lowest first
  number.append_leb128(digits);
  uint128 value = 0;
  for (size_t i = digits.size(); i-- > 0;) {
    if (value >> 121 != 0) return std::nullopt;
    value = value << 7 | (static_cast<uint8_t>(digits[i]) & 0x7fu);
  }
  return cycles{value};
}

candid::integer to_integer(cycles amount) {
  byte_string bytes;
  for (auto rest = amount.value; rest != 0; rest >>= 8) {
    bytes.push_back(static_cast<char>(static_cast<uint8_t>(rest)));
  }
  return candid::integer::from_magnitude(false, bytes);
}

} // namespace moxzi::actors::management
