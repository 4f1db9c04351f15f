#include "device/initialize.hpp"

#include <cmath>
#include <cstring>

#include "device/check.hpp"
#include "device/half.hpp"

namespace moxzi::device {

namespace {

template <class T>
T load(byte_view from, size_t n) noexcept {
  T value;
  std::memcpy(&value, from.data() + n * sizeof(T), sizeof(T));
  return value;
}

double number_at(const tensor& from, size_t n) noexcept {
  switch (from.type) {
    case elem::f64:
      return load<double>(from.data, n);
    case elem::f16:
      return from_f16(load<uint16_t>(from.data, n));
    case elem::bf16:
      return from_bf16(load<uint16_t>(from.data, n));
    default:
      return load<float>(from.data, n);
  }
}

template <class T, class Draw>
byte_string filled(size_t elements, Draw draw) {
  byte_string out(elements * sizeof(T), '\0');
  for (size_t i = 0; i < elements; ++i) {
    auto value = static_cast<T>(draw(i));
    std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
  }
  return out;
}

result<void> check_data(const tensor& contents, const shape& dims) {
  if (!is_float(contents.type))
    return complain(device_errc::dtype_mismatch, "data is {}; floats wanted",
                    name_of(contents.type));
  auto given = checked_shape(contents.dims);
  if (!given) return given.error();
  if (*given != dims)
    return complain(device_errc::shape_mismatch, "data {} does not fit the parameter's {}",
                    to_string(*given), to_string(dims));
  auto wanted = static_cast<uint64_t>(dims.elements()) * size_of(contents.type);
  if (contents.data.size() != wanted)
    return complain(device_errc::input_bytes, "{} bytes for {} {}; {} wanted", contents.data.size(),
                    name_of(contents.type), to_string(dims), wanted);
  return {};
}

// Beyond what Box-Muller gives from 53-bit uniforms: sqrt(2 ln 2^53) is below 9.
constexpr double normal_magnitude_max = 9;

} // namespace

result<void> check_initializer(const initializer& how, const shape& dims, dtype type) {
  const auto fits = [type](double value) {
    return std::isfinite(type == dtype::f64 ? value : static_cast<float>(value));
  };
  if (auto normal = std::get_if<init_normal>(&how)) {
    if (!fits(normal->deviation * normal_magnitude_max) || normal->deviation < 0)
      return complain(device_errc::invalid_value,
                      "normal {}: draws finite in {} and not negative wanted", normal->deviation,
                      name_of(type));
  } else if (auto uniform = std::get_if<init_uniform>(&how)) {
    if (!std::isfinite(uniform->high - uniform->low) || !fits(uniform->low) || !fits(uniform->high)
        || uniform->high < uniform->low)
      return complain(device_errc::invalid_value,
                      "uniform {} to {}: finite in {} and in order wanted", uniform->low,
                      uniform->high, name_of(type));
  } else if (auto constant = std::get_if<init_constant>(&how)) {
    if (!fits(constant->value))
      return complain(device_errc::invalid_value, "constant {}: finite in {} wanted",
                      constant->value, name_of(type));
  } else {
    return check_data(std::get<init_data>(how).contents, dims);
  }
  return {};
}

byte_string initial_contents(const initializer& how, const shape& dims, elem type,
                             const random_stream& random) {
  auto draw = [&](size_t n) -> double {
    if (auto normal = std::get_if<init_normal>(&how)) return normal->deviation * random.normal(n);
    if (auto uniform = std::get_if<init_uniform>(&how))
      return uniform->low + (uniform->high - uniform->low) * random.uniform(n);
    if (auto constant = std::get_if<init_constant>(&how)) return constant->value;
    return number_at(std::get<init_data>(how).contents, n);
  };
  auto elements = static_cast<size_t>(dims.elements());
  return type == elem::f64 ? filled<double>(elements, draw) : filled<float>(elements, draw);
}

} // namespace moxzi::device
