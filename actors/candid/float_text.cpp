#include "actors/candid/float_text.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace moxzi::candid {

namespace {

/// The bits of a float, and which of them are the fraction.
template <class T>
struct bits_of {
  using word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static constexpr word fraction = (word{1} << (std::numeric_limits<T>::digits - 1)) - 1;
  static constexpr word quiet = (fraction + 1) / 2;
  static constexpr word sign = word{1} << (8 * sizeof(T) - 1);
  static constexpr word exponent = sign - 1 - fraction;
};

template <class T>
std::string print_nan(T number) {
  using bits = bits_of<T>;
  const auto raw = std::bit_cast<typename bits::word>(number);
  const auto* sign = (raw & bits::sign) != 0 ? "-" : "";
  const auto fraction = raw & bits::fraction;
  if (fraction == bits::quiet) return fmt::format("{}nan", sign);
  return fmt::format("{}nan:{:#x}", sign, fraction);
}

template <class T>
bool parse_nan_of(std::string_view text, T& out) {
  using bits = bits_of<T>;
  auto raw = bits::exponent;
  if (text.starts_with('-')) {
    raw |= bits::sign;
    text.remove_prefix(1);
  }
  if (!text.starts_with("nan")) return false;
  text.remove_prefix(3);
  auto fraction = bits::quiet;
  if (!text.empty()) {
    if (!text.starts_with(":0x")) return false;
    text.remove_prefix(3);
    const auto* last = text.data() + text.size();
    const auto read = std::from_chars(text.data(), last, fraction, 16);
    if (read.ec != std::errc{} || read.ptr != last) return false;
    if (fraction == 0 || fraction > bits::fraction) return false;
  }
  out = std::bit_cast<T>(static_cast<typename bits::word>(raw | fraction));
  return true;
}

template <class T>
std::string print(T number) {
  if (std::isnan(number)) return print_nan(number);
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char raw[64];
  const auto shortest =
    std::to_chars(raw, raw + sizeof(raw), number, std::chars_format::scientific);
  std::string text{raw, shortest.ptr};
  int exponent = 0;
  const auto mark = text.find('e');
  const auto digits = std::string_view{text}.substr(mark + (text[mark + 1] == '+' ? 2 : 1));
  std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (exponent < -4 || exponent >= 16) return text;
  const auto plain = std::to_chars(raw, raw + sizeof(raw), number, std::chars_format::fixed);
  text.assign(raw, plain.ptr);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

// strtod and strtof give what from_chars leaves open: infinity or zero for what is out of range.
double out_of_range(const std::string& text, double) {
  return std::strtod(text.c_str(), nullptr);
}

float out_of_range(const std::string& text, float) {
  return std::strtof(text.c_str(), nullptr);
}

template <class T>
bool parse(std::string_view text, T& out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto* last = text.data() + text.size();
  const auto read = std::from_chars(text.data(), last, out);
  if (read.ptr != last || text.empty()) return false;
  if (read.ec == std::errc::result_out_of_range) out = out_of_range(std::string{text}, out);
  return !std::isinf(out);
}

} // namespace

std::string float_text(double number) {
  return print(number);
}

std::string float_text(float number) {
  return print(number);
}

bool parse_nan(std::string_view text, double& out) {
  return parse_nan_of(text, out);
}

bool parse_nan(std::string_view text, float& out) {
  return parse_nan_of(text, out);
}

bool parse_float(std::string_view text, double& out) {
  return parse(text, out);
}

bool parse_float(std::string_view text, float& out) {
  return parse(text, out);
}

} // namespace moxzi::candid
