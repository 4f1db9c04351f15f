#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace moxzi::device {

/// The value of an IEEE binary16.
inline float from_f16(uint16_t bits) noexcept {
  auto sign = (bits & 0x8000) ? -1.0f : 1.0f;
  int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 31)
    return std::bit_cast<float>((bits & 0x8000u) << 16 | 0x7f800000u
                                | static_cast<uint32_t>(fraction) << 13);
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
}

/// The bfloat16 nearest to a number, ties to even; NaN stays NaN.
inline uint16_t to_bf16(float value) noexcept {
  auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// The value of a bfloat16.
inline float from_bf16(uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// The nearest binary16, ties to even; infinite from 65520 on.
inline uint16_t to_f16(float value) noexcept {
  auto bits = std::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (bits >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
  if (bits < 0x38800000) {
    // Adding 0.5 puts the last bit that is left at the last bit of the float, which rounds.
    auto shifted = std::bit_cast<float>(bits) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  bits += 0xfff + (bits >> 13 & 1);
  return static_cast<uint16_t>(sign | ((bits - 0x38000000) >> 13));
}

} // namespace moxzi::device
