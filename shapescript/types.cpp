#include "shapescript/types.hpp"

#include <array>
#include <utility>

namespace shapescript {

void axis::resize(size_form now) {
  resized |= !(now == size);
  size = std::move(now);
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

namespace {

// The value of an integer, -1 if it is not known.
int64_t number_or_none(const type& t) noexcept {
  return t.value ? t.value->number().value_or(-1) : -1;
}

} // namespace

bool known_pos(const type& t) noexcept {
  return t.known == refinement::pos || t.number > 0 || number_or_none(t) > 0;
}

bool known_unit(const type& t) noexcept {
  const auto number = number_or_none(t);
  return implies(t.known, refinement::unit) || (t.number >= 0 && t.number <= 1) || number == 0
         || number == 1;
}

bool known_nonneg(const type& t) noexcept {
  return implies(t.known, refinement::nonneg) || known_pos(t) || known_unit(t);
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

type plain(type t) {
  if (t.known != refinement::index) t.known = refinement::none;
  t.value.reset();
  t.number = -1;
  return t;
}

type join_known(type x, const type& y) {
  x.value.reset();
  x.number = -1;
  x.literal = x.literal && y.literal;
  if (x.known == y.known) {
    const bool same = x.known != refinement::index && x.known != refinement::prob;
    const bool along = x.known == refinement::index || x.bound.name == y.bound.name;
    if (same || (along && x.bound.size == y.bound.size)) return x;
  }
  if (implies(x.known, y.known) && y.known != refinement::prob)
    x.known = y.known;
  else if (!implies(y.known, x.known) || x.known == refinement::prob)
    x.known = implies(x.known, refinement::nonneg) && implies(y.known, refinement::nonneg)
                ? refinement::nonneg
                : refinement::none;
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
