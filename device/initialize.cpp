#include "device/initialize.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/limits.hpp"
#include "device/check.hpp"
#include "device/erfinv.hpp"
#include "device/half.hpp"
#include "device/orthogonal.hpp"

namespace moxzi::device {

namespace {

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

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

/// Elements of `begin` to `end`.
template <class T, class Draw>
byte_string filled(size_t begin, size_t end, const Draw& draw) {
  byte_string out((end - begin) * sizeof(T), '\0');
  for (size_t i = begin; i < end; ++i) {
    auto value = static_cast<T>(draw(i));
    std::memcpy(out.data() + (i - begin) * sizeof(T), &value, sizeof(T));
  }
  return out;
}

template <class Draw>
byte_string filled(size_t begin, size_t end, elem type, const Draw& draw) {
  return type == elem::f64 ? filled<double>(begin, end, draw) : filled<float>(begin, end, draw);
}

/// A piece's elements: few, so that contents never lie in memory a second time.
constexpr size_t piece_elements = 1 << 17;

template <class Draw>
void fill_pieces(size_t elements, elem type, const put_piece& put, const Draw& draw) {
  for (size_t begin = 0; begin < elements; begin += piece_elements) {
    auto piece = filled(begin, std::min(begin + piece_elements, elements), type, draw);
    if (!put(begin * size_of(type), piece)) return;
  }
}

// -- the rules of torch.nn.init ------------------------------------------------

/// Elements of what follows the first `from` dimensions.
double elements_from(const shape& dims, size_t from) noexcept {
  double count = 1;
  for (auto i = from; i < dims.rank(); ++i) count *= static_cast<double>(dims[i]);
  return count;
}

double fan_in(const shape& dims) noexcept {
  return elements_from(dims, 1);
}

double fan_out(const shape& dims) noexcept {
  return static_cast<double>(dims[0]) * elements_from(dims, 2);
}

double xavier_deviation(double gain, const shape& dims) noexcept {
  return gain * std::sqrt(2 / (fan_in(dims) + fan_out(dims)));
}

double kaiming_deviation(double slope, const shape& dims) noexcept {
  return std::sqrt(2 / (1 + slope * slope)) / std::sqrt(fan_in(dims));
}

init_uniform spread(double deviation) noexcept {
  auto bound = std::sqrt(3.0) * deviation;
  return {-bound, bound};
}

/// The same for a tensor of this shape, which has elements, without its size in it.
initializer resolved(const initializer& how, const shape& dims) {
  return std::visit(overloaded{[&](const init_xavier_uniform& x) -> initializer {
                                 return spread(xavier_deviation(x.gain, dims));
                               },
                               [&](const init_xavier_normal& x) -> initializer {
                                 return init_normal{xavier_deviation(x.gain, dims)};
                               },
                               [&](const init_kaiming_uniform& x) -> initializer {
                                 return spread(kaiming_deviation(x.slope, dims));
                               },
                               [&](const init_kaiming_normal& x) -> initializer {
                                 return init_normal{kaiming_deviation(x.slope, dims)};
                               },
                               [&](const auto& other) -> initializer { return other; }},
                    how);
}

// -- checks --------------------------------------------------------------------

// Beyond what Box-Muller gives from 53-bit uniforms: sqrt(2 ln 2^53) is below 9.
constexpr double normal_magnitude_max = 9;

bool fits(double value, dtype type) noexcept {
  return std::isfinite(type == dtype::f64 ? value : static_cast<float>(value));
}

template <class... Args>
error wrong(fmt::format_string<Args...> format, Args&&... args) {
  return complain(device_errc::invalid_value, format, std::forward<Args>(args)...);
}

/// The name of an initializer that looks at the shape, and how many dimensions it needs.
struct shape_need {
  std::string_view name;
  size_t rank = 0; ///< 0 = any
  bool exactly = false;
};

shape_need need_of(const initializer& how) {
  return std::visit(overloaded{[](const init_xavier_uniform&) {
                                 return shape_need{"xavier_uniform", 2};
                               },
                               [](const init_xavier_normal&) {
                                 return shape_need{"xavier_normal", 2};
                               },
                               [](const init_kaiming_uniform&) {
                                 return shape_need{"kaiming_uniform", 2};
                               },
                               [](const init_kaiming_normal&) {
                                 return shape_need{"kaiming_normal", 2};
                               },
                               [](const init_orthogonal&) {
                                 return shape_need{"orthogonal", 2};
                               },
                               [](const init_eye&) {
                                 return shape_need{"eye", 2, true};
                               },
                               [](const auto&) { return shape_need{}; }},
                    how);
}

result<void> check_rank(const initializer& how, const shape& dims) {
  auto need = need_of(how);
  if (need.exactly ? dims.rank() == need.rank : dims.rank() >= need.rank) return {};
  return complain(device_errc::shape_mismatch, "{} of {}; {}{} dimensions wanted", need.name,
                  to_string(dims), need.exactly ? "" : "at least ", need.rank);
}

/// How many vectors an orthogonal tensor has, and how long they are.
std::pair<size_t, size_t> vectors_of(const shape& dims) noexcept {
  auto rows = static_cast<size_t>(dims[0]);
  auto columns = static_cast<size_t>(dims.elements()) / std::max<size_t>(rows, 1);
  return {std::min(rows, columns), std::max(rows, columns)};
}

result<void> check_orthogonal(const init_orthogonal& how, const shape& dims, dtype type) {
  if (!fits(how.gain, type) || how.gain < 0)
    return wrong("orthogonal {}: finite in {} and not negative wanted", how.gain, name_of(type));
  auto [count, length] = vectors_of(dims);
  auto work = static_cast<double>(count) * static_cast<double>(count) * static_cast<double>(length);
  if (work <= limits::orthogonal_work_max) return {};
  return wrong("orthogonal of {} takes {:.2g} multiplications; at most {:.2g}", to_string(dims),
               work, limits::orthogonal_work_max);
}

result<void> check_gain(std::string_view name, double gain, bool negative_too) {
  if (std::isfinite(gain) && (gain >= 0 || negative_too)) return {};
  return wrong("{} {}: finite{} wanted", name, gain, negative_too ? "" : " and not negative");
}

/// What the caller gave, before the shape's sizes are put in.
result<void> check_given(const initializer& how, const shape& dims, dtype type) {
  auto gain = [&](double value, bool negative_too) {
    return check_gain(need_of(how).name, value, negative_too);
  };
  return std::visit(
    overloaded{[&](const init_trunc_normal& x) -> result<void> {
                 if (fits(x.deviation, type) && x.deviation >= 0 && fits(x.cut, type) && x.cut > 0)
                   return {};
                 return wrong(
                   "trunc_normal of {} cut at {}: finite in {}, not negative, and a cut above 0 "
                   "wanted",
                   x.deviation, x.cut, name_of(type));
               },
               [&](const init_constant& x) -> result<void> {
                 if (fits(x.value, type)) return {};
                 return wrong("constant {}: finite in {} wanted", x.value, name_of(type));
               },
               [&](const init_xavier_uniform& x) { return gain(x.gain, false); },
               [&](const init_xavier_normal& x) { return gain(x.gain, false); },
               [&](const init_kaiming_uniform& x) { return gain(x.slope, true); },
               [&](const init_kaiming_normal& x) { return gain(x.slope, true); },
               [&](const init_orthogonal& x) { return check_orthogonal(x, dims, type); },
               [&](const init_data& x) { return check_data(x.contents, dims); },
               [](const auto&) -> result<void> { return {}; }},
    how);
}

/// What is drawn from.
result<void> check_range(const initializer& how, dtype type) {
  if (auto normal = std::get_if<init_normal>(&how)) {
    if (!fits(normal->deviation * normal_magnitude_max, type) || normal->deviation < 0)
      return wrong("normal {}: draws finite in {} and not negative wanted", normal->deviation,
                   name_of(type));
  } else if (auto uniform = std::get_if<init_uniform>(&how)) {
    if (!std::isfinite(uniform->high - uniform->low) || !fits(uniform->low, type)
        || !fits(uniform->high, type) || uniform->high < uniform->low)
      return wrong("uniform {} to {}: finite in {} and in order wanted", uniform->low,
                   uniform->high, name_of(type));
  }
  return {};
}

// -- contents ------------------------------------------------------------------

double truncated(const init_trunc_normal& how, double uniform) noexcept {
  if (how.deviation == 0) return 0;
  auto scale = how.deviation * std::sqrt(2.0);
  // From strictly inside (-1, 1), so that nothing is infinite.
  auto place = std::erf(how.cut / scale) * (2 * uniform - 1 + 0x1p-53);
  return std::clamp(scale * erfinv(place), -how.cut, how.cut);
}

void orthogonal_contents(const init_orthogonal& how, const shape& dims, elem type,
                         const random_stream& random, const put_piece& put) {
  auto [count, length] = vectors_of(dims);
  auto rows = static_cast<size_t>(dims[0]), columns = count * length / rows;
  // The vectors are the rows where there are fewer of them, else the columns.
  auto place = [&, turned = rows > columns](size_t n) {
    return turned ? n % columns * rows + n / columns : n;
  };
  std::vector<double> vectors(count * length);
  for (size_t n = 0; n < vectors.size(); ++n) vectors[place(n)] = random.normal(n);
  make_orthonormal(vectors, count, length);
  fill_pieces(vectors.size(), type, put, [&](size_t n) { return how.gain * vectors[place(n)]; });
}

} // namespace

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

byte_string converted(const tensor& from, size_t elements, elem to) {
  if (from.type == to) return byte_string(from.data.view());
  return filled(0, elements, to, [&](size_t n) { return number_at(from, n); });
}

result<void> check_initializer(const initializer& how, const shape& dims, dtype type) {
  if (auto ok = check_rank(how, dims); !ok) return ok;
  if (auto ok = check_given(how, dims, type); !ok) return ok;
  return check_range(dims.elements() > 0 ? resolved(how, dims) : how, type);
}

void initial_contents(const initializer& how, const shape& dims, elem type,
                      const random_stream& random, const put_piece& put) {
  auto elements = static_cast<size_t>(dims.elements());
  if (elements == 0) return;
  auto fill = [&](const auto& draw) { fill_pieces(elements, type, put, draw); };
  std::visit(
    overloaded{
      [&](const init_normal& x) { fill([&](size_t n) { return x.deviation * random.normal(n); }); },
      [&](const init_uniform& x) {
        fill([&](size_t n) { return x.low + (x.high - x.low) * random.uniform(n); });
      },
      [&](const init_trunc_normal& x) {
        fill([&](size_t n) { return truncated(x, random.uniform(n)); });
      },
      [&](const init_constant& x) { fill([&](size_t) { return x.value; }); },
      [&](const init_orthogonal& x) { orthogonal_contents(x, dims, type, random, put); },
      [&](const init_eye&) {
        auto columns = static_cast<size_t>(dims[1]);
        fill([&](size_t n) { return n / columns == n % columns ? 1.0 : 0.0; });
      },
      [&](const init_data& x) { fill([&](size_t n) { return number_at(x.contents, n); }); },
      [](const auto&) {
        // nop
      }},
    resolved(how, dims));
}

} // namespace moxzi::device
