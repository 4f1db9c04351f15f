#include <algorithm>

#include "shapescript/check/align.hpp"
#include "shapescript/lower/lowering.hpp"

namespace shapescript {

std::optional<int64_t> whole_of(token_kind operation, int64_t x, int64_t y) {
  int64_t out = 0;
  switch (operation) {
    case token_kind::plus:
      return __builtin_add_overflow(x, y, &out) ? std::nullopt : std::optional{out};
    case token_kind::minus:
      return __builtin_sub_overflow(x, y, &out) ? std::nullopt : std::optional{out};
    case token_kind::times:
      return __builtin_mul_overflow(x, y, &out) ? std::nullopt : std::optional{out};
    case token_kind::modulo: {
      if (y == 0 || y == -1) return y == 0 ? std::nullopt : std::optional<int64_t>{0};
      const auto rest = x % y;
      return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
    }
    default: {
      if (y < 0) return std::nullopt;
      if (x == -1) return y % 2 == 0 ? 1 : -1;
      out = 1;
      for (int64_t i = 0; i < y; ++i) {
        if (__builtin_mul_overflow(out, x, &out)) return std::nullopt;
        if (out == 0 || (out == 1 && x == 1)) break;
      }
      return out;
    }
  }
}

namespace {

std::vector<int64_t> sizes_in(const moxzi::device::shape& dims) {
  return {dims.sizes().begin(), dims.sizes().end()};
}

op operation_of(token_kind operation) {
  switch (operation) {
    case token_kind::plus:
      return op::add;
    case token_kind::minus:
      return op::sub;
    case token_kind::times:
      return op::mul;
    case token_kind::divide:
      return op::div;
    case token_kind::modulo:
      return op::rem;
    case token_kind::power:
      return op::pow;
    case token_kind::equal:
      return op::eq;
    case token_kind::not_equal:
      return op::ne;
    case token_kind::less:
      return op::lt;
    case token_kind::less_equal:
      return op::le;
    case token_kind::greater:
      return op::gt;
    default:
      return op::ge;
  }
}

} // namespace

// x with dimensions of size 1 where it lacks an axis of `to`, as the checker aligns.
reg lowering::aligned(reg x, const std::vector<axis>& axes, const std::vector<axis>& to) {
  if (failed() || axes.size() == to.size() || axes.empty()) return x;
  auto have = sizes_in(dims(x));
  if (have.size() < axes.size()) have.insert(have.begin(), axes.size() - have.size(), 1);
  const auto how = align_axes(to, axes);
  if (!how.complete) return x; // the operation says what does not fit
  std::vector<int64_t> sizes(to.size(), 1);
  for (size_t j = 0; j < axes.size(); ++j) sizes[how.places[j]] = have[j];
  // Leading ones are broadcast as they are.
  size_t first = 0;
  while (first < sizes.size() && sizes[first] == 1 && sizes.size() - first > axes.size()) ++first;
  sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(first));
  return reshape(x, sizes);
}

value lowering::arithmetic(token_kind operation, const value& x, const type& x_type, const value& y,
                           const type& y_type, const type& known, span where) {
  where_ = where;
  using moxzi::device::dtype;
  const auto id = operation_of(operation);
  const bool compares = id >= op::eq && id <= op::ge;
  // A number takes the type of the tensor that it meets.
  auto element = lowered_dtype(known.element);
  const bool hosts = !is_tensor(known);
  if (hosts || compares) {
    const auto a =
      x.base == base_type::tensor && !x_type.literal ? std::optional{kind(x.at)} : std::nullopt;
    const auto b = y.base == base_type::tensor ? std::optional{kind(y.at)} : std::nullopt;
    const bool real = x.base == base_type::real || y.base == base_type::real;
    element = a ? *a : b ? *b : real || id == op::div ? dtype::f32 : dtype::i64;
  }
  const bool powers = id == op::pow && y.at == no_register && moxzi::device::is_float(element)
                      && x.base == base_type::tensor;
  if (powers) {
    const auto by = y.base == base_type::integer ? static_cast<double>(y.integer) : y.real;
    const auto base = cast(x.at, element);
    return as_value(by == 2 ? emit(op::square, {base}) : emit(op::pow_scalar, {base}, {by}));
  }
  auto a = tensor(x, element);
  auto b = tensor(y, element);
  if (is_tensor(x_type) && is_tensor(y_type)) {
    const auto& longer = x_type.axes.size() >= y_type.axes.size() ? x_type.axes : y_type.axes;
    a = aligned(a, x_type.axes, longer);
    b = aligned(b, y_type.axes, longer);
  }
  auto out = as_value(emit(id, {a, b}));
  if (hosts) out.base = known.base;
  return out;
}

// `x @ y` contracts x's last axis with y's last but one, or its only one.
value lowering::matmul(const value& x, const type& x_type, const value& y, const type& y_type,
                       const type& known) {
  const auto element = lowered_dtype(known.element);
  auto a = tensor(x, element);
  auto b = tensor(y, element);
  if (failed()) return {};
  const auto x_rank = dims(a).rank();
  const auto y_rank = dims(b).rank();
  if (x_rank == 1) a = emit(op::unsqueeze, {a}, {int64_t{0}});
  if (y_rank == 1) b = emit(op::unsqueeze, {b}, {int64_t{1}});
  if (y_rank > 2) {
    // Further leading axes go with x's by name.
    auto lead = [](std::vector<axis> axes) {
      axes.resize(axes.size() >= 2 ? axes.size() - 2 : 0);
      return axes;
    };
    const auto x_lead = lead(x_type.axes);
    const auto y_lead = lead(y_type.axes);
    const auto& longer = x_lead.size() >= y_lead.size() ? x_lead : y_lead;
    const auto matrix = [&](reg at, const std::vector<axis>& own) {
      if (own.size() == longer.size()) return at;
      // The last two stay as they are: axes that nothing else is called by.
      auto from = own;
      auto to = longer;
      for (const auto* name : {"@1", "@2"}) {
        from.push_back({name, {}});
        to.push_back({name, {}});
      }
      return aligned(at, from, to);
    };
    a = matrix(a, x_lead);
    b = matrix(b, y_lead);
  }
  auto out = emit(op::matmul, {a, b}, {{}, {}});
  if (failed()) return {};
  auto sizes = sizes_in(dims(out));
  if (y_rank == 1) sizes.pop_back();
  if (x_rank == 1) sizes.erase(sizes.end() - (y_rank == 1 ? 1 : 2));
  return as_value(reshape(out, sizes));
}

} // namespace shapescript
