#include "device/ops/norm_rows.hpp"

#include <algorithm>

namespace moxzi::device {

register_type statistics_of(const register_type& x, const shape& dims) {
  auto type = x.type == dtype::f64 ? dtype::f64 : dtype::f32;
  return {type, stored_as(type), dims, {}};
}

shape trailing(const shape& dims, int64_t count) {
  return shape(dims.sizes().last(static_cast<size_t>(count)));
}

shape leading(const shape& dims, int64_t without) {
  return shape(dims.sizes().first(dims.rank() - static_cast<size_t>(without)));
}

result<void> want_weights(const rule_context& c, size_t first, const shape& dims) {
  auto& x = c.operand(0);
  for (auto i = first; i < c.operand_count(); ++i) {
    if (!c.has(i)) continue;
    auto name = i == first ? "w" : "b";
    auto& what = c.operand(i);
    if (auto ok = want_same_type("x", x, name, what); !ok) return ok.error();
    if (what.dims != dims)
      return complain(device_errc::shape_mismatch, "{} is {}; {} wanted for x {}", name,
                      to_string(what.dims), to_string(dims), to_string(x.dims));
  }
  return {};
}

result<void> want_positive(std::string_view name, const attribute& value) {
  auto given = std::get_if<double>(&value);
  if (!given || *given >= 0) return {};
  return complain(device_errc::invalid_value, "{} is {}; a number not below 0 wanted", name,
                  *given);
}

void give_weights(gradient_context& g, reg backward, size_t first) {
  if (!g.wants(first) && !g.wants(first + 1)) return;
  auto both = g.emit(op::second_of, {backward});
  for (auto n : {first, first + 1}) {
    if (!g.wants(n)) continue;
    auto part =
      g.emit(op::narrow, {both}, {int64_t{0}, static_cast<int64_t>(n - first), int64_t{1}});
    auto dims = g.type_of(g.operand(n)).dims;
    std::vector<uint32_t> sizes(dims.sizes().begin(), dims.sizes().end());
    g.give(n, g.emit(op::reshape, {part}, {sizes}));
  }
}

reg weights_or_none(gradient_context& g, size_t n) {
  return g.has(n) ? g.operand(n) : no_register;
}

std::vector<split_axis> backward_axes(const typed_call& call, size_t n, size_t operands) {
  auto axes = leading_axes(n, call.operands.size());
  for (auto& axis : axes) {
    std::fill_n(axis.operand_dims.begin(), operands, axis.result_dim);
    axis.second_dim = -1;
  }
  return axes;
}

register_type pair_of(const rule_context& c, const shape& dims) {
  auto& x = c.operand(1);
  register_type out{x.type, x.storage, {2}, {c.fresh_axis(2)}};
  for (auto size : dims.sizes()) {
    out.dims.push(size);
    out.factors.push_back(c.fresh_axis(size));
  }
  return out;
}

} // namespace moxzi::device
