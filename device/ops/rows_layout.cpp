#include <algorithm>

#include "device/ops/view_row.hpp"

namespace moxzi::device {

namespace {

// -- flatten -------------------------------------------------------------------

/// A tensor of no dimensions becomes one of one.
result<register_type> infer_flatten(const rule_context& c) {
  auto& x = c.operand(0);
  auto from = c.integer(0), to = c.integer(1);
  if (x.dims.rank() == 0 && from == 0 && to == 0)
    return register_type{x.type, x.storage, {1}, {c.fresh_axis(1)}};
  for (auto dim : {from, to})
    if (auto ok = want_dim(dim, "x", x); !ok) return ok.error();
  if (from > to)
    return complain(device_errc::dim_range, "from {} is after to {} of x {}", from, to,
                    to_string(x.dims));
  shape dims;
  for (int64_t i = 0; i < static_cast<int64_t>(x.dims.rank()); ++i) {
    auto size = x.dims[static_cast<size_t>(i)];
    if (i > from && i <= to)
      dims[static_cast<size_t>(from)] *= size;
    else
      dims.push(size);
  }
  return register_type{x.type, x.storage, dims, regrouped(x, dims, c)};
}

std::optional<look> look_flatten(const typed_call& call, const shape& strides) {
  auto seen = reshaped_strides(call.operands[0]->dims, strides, call.result->dims);
  if (!seen) return std::nullopt;
  return look{0, *seen};
}

void flatten_gradient(gradient_context& g) {
  g.give(0, g.emit(op::reshape, {g.upstream()}, {sizes_of(g.type_of(g.operand(0)).dims)}));
}

/// Of the merged dimensions only the outermost.
std::vector<split_axis> split_flatten(const typed_call& call) {
  std::vector<split_axis> axes;
  auto from = static_cast<int>(integer(call.attributes[0]));
  auto to = static_cast<int>(integer(call.attributes[1]));
  for (int i = 0; i < static_cast<int>(call.operands[0]->dims.rank()); ++i)
    if (i <= from || i > to) axes.push_back({{i}, i <= from ? i : i - (to - from), join::none});
  return axes;
}

sample flatten_example(sampler& random) {
  auto dims = random.dims(0, 4);
  auto from = random.below(static_cast<int64_t>(dims.rank()));
  auto to = from + random.below(static_cast<int64_t>(dims.rank()) - from);
  return {{random.tensor(dims)}, {from, to}};
}

wrong_sample wrong_flatten(sampler& random) {
  return {{{random.tensor({2, 3})}, {int64_t{1}, int64_t{0}}}, device_errc::dim_range};
}

// -- permute, transpose --------------------------------------------------------

register_type permuted(const register_type& x, std::span<const uint32_t> order) {
  register_type out{x.type, x.storage, {}, {}};
  for (auto dim : order) {
    out.dims.push(x.dims[dim]);
    out.factors.push_back(x.factors[dim]);
  }
  return out;
}

shape permuted(const shape& from, std::span<const uint32_t> order) {
  shape out;
  for (auto dim : order) out.push(from[dim]);
  return out;
}

result<register_type> infer_permute(const rule_context& c) {
  auto& x = c.operand(0);
  auto& order = c.list(0);
  uint32_t seen = 0;
  for (auto dim : order) {
    if (auto ok = want_dim(dim, "x", x); !ok) return ok.error();
    if (seen >> dim & 1)
      return complain(device_errc::dim_range, "dim {} is there twice in [{}]", dim,
                      fmt::join(order, ", "));
    seen |= uint32_t{1} << dim;
  }
  if (order.size() != x.dims.rank())
    return complain(device_errc::shape_mismatch, "dims [{}] don't name all {} dimensions of x {}",
                    fmt::join(order, ", "), x.dims.rank(), to_string(x.dims));
  return permuted(x, order);
}

std::optional<look> look_permute(const typed_call& call, const shape& strides) {
  return look{0, permuted(strides, list(call.attributes[0]))};
}

void permute_gradient(gradient_context& g) {
  auto& order = list(g.attr(0));
  std::vector<uint32_t> back(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  g.give(0, g.emit(op::permute, {g.upstream()}, {back}));
}

std::vector<split_axis> split_permute(const typed_call& call) {
  std::vector<split_axis> axes;
  auto& order = list(call.attributes[0]);
  for (size_t i = 0; i < order.size(); ++i)
    axes.push_back({{static_cast<int>(order[i])}, static_cast<int>(i), join::none});
  return axes;
}

sample permute_example(sampler& random) {
  auto dims = random.dims(0, 4);
  std::vector<uint32_t> order(dims.rank());
  for (uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    std::swap(order[i], order[static_cast<size_t>(random.below(i + 1))]);
  }
  return {{random.tensor(dims)}, {order}};
}

wrong_sample wrong_permute(sampler& random) {
  return {{{random.tensor({2, 3})}, {std::vector<uint32_t>{0, 0}}}, device_errc::dim_range};
}

/// All dimensions in order, but a and b in each other's place.
std::vector<uint32_t> swapped(size_t rank, const attribute& a, const attribute& b) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < rank; ++i) order.push_back(i);
  std::swap(order[dim_at(a)], order[dim_at(b)]);
  return order;
}

result<register_type> infer_transpose(const rule_context& c) {
  auto& x = c.operand(0);
  for (size_t n : {0, 1})
    if (auto ok = want_dim(c.integer(n), "x", x); !ok) return ok.error();
  return permuted(x, swapped(x.dims.rank(), c.attr(0), c.attr(1)));
}

std::optional<look> look_transpose(const typed_call& call, const shape& strides) {
  return look{0,
              permuted(strides, swapped(strides.rank(), call.attributes[0], call.attributes[1]))};
}

void transpose_gradient(gradient_context& g) {
  g.give(0, g.emit(op::transpose, {g.upstream()}, {g.attr(0), g.attr(1)}));
}

std::vector<split_axis> split_transpose(const typed_call& call) {
  std::vector<split_axis> axes;
  auto order = swapped(call.result->dims.rank(), call.attributes[0], call.attributes[1]);
  for (size_t i = 0; i < order.size(); ++i)
    axes.push_back({{static_cast<int>(order[i])}, static_cast<int>(i), join::none});
  return axes;
}

sample transpose_example(sampler& random) {
  auto dims = random.dims(1, 4);
  auto rank = static_cast<int64_t>(dims.rank());
  return {{random.tensor(dims)}, {random.below(rank), random.below(rank)}};
}

wrong_sample wrong_transpose(sampler& random) {
  return {{{random.tensor({2, 3})}, {int64_t{0}, int64_t{2}}}, device_errc::dim_range};
}

// -- expand --------------------------------------------------------------------

result<register_type> infer_expand(const rule_context& c) {
  auto& x = c.operand(0);
  auto to = checked_sizes("shape", c.list(0));
  if (!to) return to.error();
  register_type out{x.type, x.storage, *to, {}};
  bool fits = to->rank() >= x.dims.rank();
  for (size_t i = 0; i < to->rank() && fits; ++i) {
    auto missing = to->rank() - x.dims.rank();
    bool same = i >= missing && x.dims[i - missing] == (*to)[i];
    fits = same || i < missing || x.dims[i - missing] == 1;
    if (fits) out.factors.push_back(same ? x.factors[i - missing] : c.fresh_axis((*to)[i]));
  }
  if (fits) return out;
  return complain(device_errc::shape_mismatch,
                  "x {} does not expand to {}: sizes from the end must be equal, or x's 1",
                  to_string(x.dims), to_string(*to));
}

std::optional<look> look_expand(const typed_call& call, const shape& strides) {
  auto &from = call.operands[0]->dims, &to = call.result->dims;
  auto missing = to.rank() - from.rank();
  look out{0, to};
  for (size_t i = 0; i < to.rank(); ++i)
    out.strides[i] = i < missing || from[i - missing] != to[i] ? 0 : strides[i - missing];
  return out;
}

/// The context sums it to x's shape.
void expand_gradient(gradient_context& g) {
  g.give(0, g.upstream());
}

/// Where x is repeated it is whole on each device.
std::vector<split_axis> split_expand(const typed_call& call) {
  std::vector<split_axis> axes;
  auto &from = call.operands[0]->dims, &to = call.result->dims;
  auto missing = static_cast<int>(to.rank() - from.rank());
  for (int i = 0; i < static_cast<int>(to.rank()); ++i) {
    auto at = static_cast<size_t>(i);
    bool same = i >= missing && from[static_cast<size_t>(i - missing)] == to[at];
    axes.push_back({{same ? i - missing : -1}, i, join::none, 0, i});
  }
  return axes;
}

sample expand_example(sampler& random) {
  auto dims = random.dims(0, 4);
  return {{random.tensor(random.broadcast_to(dims))}, {sizes_of(dims)}};
}

wrong_sample wrong_expand(sampler& random) {
  return {{{random.tensor({2})}, {std::vector<uint32_t>{2, 3}}}, device_errc::shape_mismatch};
}

} // namespace

std::vector<row> layout_rows() {
  auto expand = with_rules(
    view(op::expand, "expand",
         "x repeated, where its size is 1 or it has no such dimension, up to the shape.",
         {{"shape", field_kind::nat32s}}, "x.expand(shape)"),
    {infer_expand, look_expand, expand_gradient, split_expand, expand_example, wrong_expand});
  expand.reference = "torch.Tensor.expand";
  return {
    with_rules(view(op::flatten, "flatten", "Dimensions `from` to `to` merged into one.",
                    {{"from", field_kind::nat32}, {"to", field_kind::nat32}},
                    "torch.flatten(x, from_, to)"),
               {infer_flatten, look_flatten, flatten_gradient, split_flatten, flatten_example,
                wrong_flatten}),
    with_rules(view(op::permute, "permute", "The dimensions of x in another order.",
                    {{"dims", field_kind::nat32s}}, "torch.permute(x, dims)"),
               {infer_permute, look_permute, permute_gradient, split_permute, permute_example,
                wrong_permute}),
    with_rules(view(op::transpose, "transpose", "Dimensions a and b in each other's place.",
                    {{"a", field_kind::nat32}, {"b", field_kind::nat32}},
                    "torch.transpose(x, a, b)"),
               {infer_transpose, look_transpose, transpose_gradient, split_transpose,
                transpose_example, wrong_transpose}),
    expand,
  };
}

} // namespace moxzi::device
