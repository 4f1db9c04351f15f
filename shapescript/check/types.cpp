#include "shapescript/check/types.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace shapescript {

void axis::resize(size_form now) {
  if (!(now == size)) {
    resized = !name.empty();
    written.clear();
  }
  size = std::move(now);
}

axis axis_written(std::string text, size_form size) {
  const auto in_word = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  axis out{{}, std::move(size)};
  const bool number = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (!std::all_of(text.begin(), text.end(), in_word))
    out.written = std::move(text);
  else if (!number)
    out.name = std::move(text);
  return out;
}

namespace {

constexpr std::array<std::string_view, 10> dtype_names{"f32", "f64", "f16", "bf16", "i8",
                                                       "i16", "i32", "i64", "u8",   "bool"};

} // namespace

std::string_view name_of(dtype type) noexcept {
  return dtype_names[static_cast<size_t>(type)];
}

std::optional<dtype> dtype_named(std::string_view name) noexcept {
  for (size_t i = 0; i < dtype_names.size(); ++i)
    if (dtype_names[i] == name) return static_cast<dtype>(i);
  return std::nullopt;
}

bool is_float(dtype type) noexcept {
  return type <= dtype::bf16;
}

bool implies(refinement have, refinement want) noexcept {
  if (have == want || want == refinement::none) return true;
  switch (want) {
    case refinement::nonneg:
      return have == refinement::pos || have == refinement::unit || have == refinement::prob;
    case refinement::unit:
      return have == refinement::prob;
    default:
      return false;
  }
}

bool is_number(const type& t) noexcept {
  return t.base == base_type::integer || t.base == base_type::real;
}

bool is_scalar(const type& t) noexcept {
  return is_number(t) || t.base == base_type::boolean;
}

bool is_float_tensor(const type& t) noexcept {
  return is_tensor(t) && is_float(t.element);
}

bool is_reference(const type& t) noexcept {
  switch (t.base) {
    case base_type::model:
    case base_type::optimizer:
    case base_type::layers:
      return true;
    case base_type::tuple:
      return std::any_of(t.parts.begin(), t.parts.end(), is_reference);
    default:
      return false;
  }
}

namespace {

std::optional<number_range> numbers_of(const type& t) noexcept {
  if (t.numbers || !t.value) return t.numbers;
  const auto number = t.value->number();
  if (!number) return std::nullopt;
  return number_range{static_cast<double>(*number), static_cast<double>(*number)};
}

} // namespace

bool known_pos(const type& t) noexcept {
  const auto numbers = numbers_of(t);
  return t.known == refinement::pos || (numbers && numbers->low > 0);
}

bool known_unit(const type& t) noexcept {
  const auto numbers = numbers_of(t);
  return implies(t.known, refinement::unit) || (numbers && numbers->low >= 0 && numbers->high <= 1);
}

bool known_nonneg(const type& t) noexcept {
  const auto numbers = numbers_of(t);
  return implies(t.known, refinement::nonneg) || (numbers && numbers->low >= 0);
}

bool same_sizes(const std::vector<axis>& x, const std::vector<axis>& y) noexcept {
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i)
    if (!(x[i].size == y[i].size)) return false;
  return true;
}

std::optional<size_t> find_axis(const std::vector<axis>& axes, std::string_view name) noexcept {
  for (size_t i = axes.size(); i-- > 0;)
    if (axes[i].name == name) return i;
  return std::nullopt;
}

std::optional<size_t> find_axis(const std::vector<axis>& axes, const axis& meant) noexcept {
  if (!meant.name.empty())
    if (const auto named = find_axis(axes, meant.name)) return named;
  std::optional<size_t> only;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i].name.empty() || !(axes[i].size == meant.size)) continue;
    if (only) return std::nullopt;
    only = i;
  }
  return only;
}

bool same_bound(const type& x, const type& y) noexcept {
  if (!(x.bound.size == y.bound.size)) return false;
  const auto here = find_axis(x.axes, x.bound);
  const auto there = find_axis(y.axes, y.bound);
  if (here && there && x.axes.size() == y.axes.size()) return here == there;
  return x.bound.name == y.bound.name;
}

bool bound_by(const type& prob, const axis& one) noexcept {
  const bool named = !prob.bound.name.empty() && !one.name.empty();
  return named ? prob.bound.name == one.name : prob.bound.size == one.size;
}

type plain(type t) {
  if (t.known != refinement::index) t.known = refinement::none;
  t.value.reset();
  t.numbers.reset();
  return t;
}

namespace {

refinement joined(const type& x, const type& y) noexcept {
  const bool along = x.known == refinement::prob ? same_bound(x, y) : x.bound.size == y.bound.size;
  const bool bound = x.known == refinement::index || x.known == refinement::prob;
  if (x.known == y.known && (!bound || along)) return x.known;
  if (known_pos(x) && known_pos(y)) return refinement::pos;
  if (known_unit(x) && known_unit(y)) return refinement::unit;
  return known_nonneg(x) && known_nonneg(y) ? refinement::nonneg : refinement::none;
}

// The larger of the bounds of two indices, if one is known to be.
std::optional<axis> joined_bound(const type& x, const type& y) {
  if (x.known != refinement::index || y.known != refinement::index) return std::nullopt;
  if (x.bound.size == y.bound.size) return x.bound;
  const auto a = x.bound.size.number();
  const auto b = y.bound.size.number();
  if (!a || !b) return std::nullopt;
  return *a > *b ? x.bound : y.bound;
}

} // namespace

type join_known(type x, const type& y) {
  const auto a = numbers_of(x);
  const auto b = numbers_of(y);
  const auto bound = joined_bound(x, y);
  x.known = bound ? refinement::index : joined(x, y);
  if (bound) x.bound = *bound;
  x.literal = x.literal && y.literal;
  x.numbers.reset();
  if (a && b) x.numbers = {std::min(a->low, b->low), std::max(a->high, b->high)};
  x.value.reset();
  return x;
}

type tensor_of(std::vector<axis> axes, dtype element, refinement known) {
  type t;
  t.base = base_type::tensor;
  t.element = element;
  t.known = known;
  t.axes = std::move(axes);
  return t;
}

type scalar_of(base_type base) {
  type t;
  t.base = base;
  return t;
}

} // namespace shapescript
