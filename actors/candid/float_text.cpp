#include "actors/candid/float_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace moxzi::candid {

namespace {

template <class T>
std::string print(T number) {
  if (std::isnan(number)) return "nan";
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

bool parse_float(std::string_view text, double& out) {
  return parse(text, out);
}

bool parse_float(std::string_view text, float& out) {
  return parse(text, out);
}

} // namespace moxzi::candid
