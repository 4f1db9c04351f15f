#include <algorithm>

#include "device/ops/view_row.hpp"

namespace moxzi::device {

namespace {

/// A register type without some dimension, or with one more.
register_type without(const register_type& from, size_t dim) {
  register_type out{from.type, from.storage, {}, {}};
  for (size_t i = 0; i < from.dims.rank(); ++i) {
    if (i == dim) continue;
    out.dims.push(from.dims[i]);
    out.factors.push_back(from.factors[i]);
  }
  return out;
}

shape without(const shape& from, size_t dim) {
  shape out;
  for (size_t i = 0; i < from.rank(); ++i)
    if (i != dim) out.push(from[i]);
  return out;
}

shape with(const shape& from, size_t dim, int64_t size) {
  shape out;
  for (size_t i = 0; i <= from.rank(); ++i) {
    if (i == dim) out.push(size);
    if (i < from.rank()) out.push(from[i]);
  }
  return out;
}

/// Every dimension of x but one, to where it is in the result.
std::vector<split_axis> split_without(const typed_call& call) {
  std::vector<split_axis> axes;
  auto dim = static_cast<int>(integer(call.attributes[0]));
  for (int i = 0; i < static_cast<int>(call.operands[0]->dims.rank()); ++i)
    if (i != dim) axes.push_back({{i}, i < dim ? i : i - 1, join::none});
  return axes;
}

// -- slice ---------------------------------------------------------------------

int64_t places(int64_t start, int64_t end, int64_t step) {
  return (end - start + step - 1) / step;
}

result<register_type> infer_slice(const rule_context& c) {
  auto out = c.operand(0);
  auto dim = c.integer(0), start = c.integer(1), end = c.integer(2), step = c.integer(3);
  if (auto ok = want_dim(dim, "x", out); !ok) return ok.error();
  auto at = static_cast<size_t>(dim);
  auto size = out.dims[at];
  if (step == 0) return complain(device_errc::dim_range, "step is 0; 1 or more wanted");
  if (start > end || end > size)
    return complain(device_errc::dim_range,
                    "start {} to end {} of dim {} of x {}, which has {} places", start, end, dim,
                    to_string(out.dims), size);
  auto len = places(start, end, step);
  if (len != size) {
    out.dims[at] = len;
    out.factors[at] = c.fresh_axis(len);
  }
  return out;
}

std::optional<look> look_slice(const typed_call& call, const shape& strides) {
  auto dim = dim_at(call.attributes[0]);
  look out{integer(call.attributes[1]) * strides[dim], strides};
  out.strides[dim] *= integer(call.attributes[3]);
  return out;
}

void slice_gradient(gradient_context& g) {
  auto size = g.type_of(g.operand(0)).dims[dim_at(g.attr(0))];
  g.give(0,
         integer(g.attr(3)) == 1
           ? g.emit(op::narrow_backward, {g.upstream()}, {g.attr(0), g.attr(1), size})
           : g.emit(op::slice_backward, {g.upstream()}, {g.attr(0), g.attr(1), g.attr(3), size}));
}

result<register_type> infer_slice_backward(const rule_context& c) {
  auto out = c.operand(0);
  auto dim = static_cast<size_t>(c.integer(0));
  out.dims[dim] = c.integer(3);
  out.factors[dim] = c.fresh_axis(c.integer(3));
  return out;
}

void slice_backward_gradient(gradient_context& g) {
  auto len = g.type_of(g.operand(0)).dims[dim_at(g.attr(0))];
  auto start = integer(g.attr(1)), step = integer(g.attr(2));
  auto end = len == 0 ? start : start + (len - 1) * step + 1;
  g.give(0, g.emit(op::slice, {g.upstream()}, {g.attr(0), start, end, step}));
}

std::vector<split_axis> split_slice(const typed_call& call) {
  return other_axes(call, dim_at(call.attributes[0]));
}

sample slice_example(sampler& random) {
  auto dims = random.dims(1, 4);
  auto dim = random.below(static_cast<int64_t>(dims.rank()));
  auto size = dims[static_cast<size_t>(dim)];
  auto start = random.below(size + 1), end = start + random.below(size - start + 1);
  return {{random.tensor(dims)}, {dim, start, end, 1 + random.below(3)}};
}

wrong_sample wrong_slice(sampler& random) {
  return {{{random.tensor({3})}, {int64_t{0}, int64_t{1}, int64_t{4}, int64_t{1}}},
          device_errc::dim_range};
}

sample slice_backward_example(sampler& random) {
  auto dims = random.dims(1, 4);
  auto dim = random.below(static_cast<int64_t>(dims.rank()));
  auto start = random.below(4), step = 1 + random.below(3);
  auto size = start + dims[static_cast<size_t>(dim)] * step + random.below(3);
  return {{random.tensor(dims)}, {dim, start, step, size}};
}

// -- select, squeeze, unsqueeze ------------------------------------------------

result<register_type> infer_select(const rule_context& c) {
  auto& x = c.operand(0);
  auto dim = c.integer(0), index = c.integer(1);
  if (auto ok = want_dim(dim, "x", x); !ok) return ok.error();
  if (index >= x.dims[static_cast<size_t>(dim)])
    return complain(device_errc::dim_range, "index {} of dim {} of x {}, which has {} places",
                    index, dim, to_string(x.dims), x.dims[static_cast<size_t>(dim)]);
  return without(x, static_cast<size_t>(dim));
}

std::optional<look> look_select(const typed_call& call, const shape& strides) {
  auto dim = dim_at(call.attributes[0]);
  return look{integer(call.attributes[1]) * strides[dim], without(strides, dim)};
}

void select_gradient(gradient_context& g) {
  auto size = g.type_of(g.operand(0)).dims[dim_at(g.attr(0))];
  auto row = g.emit(op::unsqueeze, {g.upstream()}, {g.attr(0)});
  g.give(0, g.emit(op::narrow_backward, {row}, {g.attr(0), g.attr(1), size}));
}

sample select_example(sampler& random) {
  auto dims = random.dims(1, 4);
  auto dim = random.below(static_cast<int64_t>(dims.rank()));
  auto& size = dims[static_cast<size_t>(dim)];
  size = std::max<int64_t>(size, 1);
  return {{random.tensor(dims)}, {dim, random.below(size)}};
}

wrong_sample wrong_select(sampler& random) {
  return {{{random.tensor({2, 3})}, {int64_t{1}, int64_t{3}}}, device_errc::dim_range};
}

result<register_type> infer_squeeze(const rule_context& c) {
  auto& x = c.operand(0);
  auto dim = c.integer(0);
  if (auto ok = want_dim(dim, "x", x); !ok) return ok.error();
  if (x.dims[static_cast<size_t>(dim)] != 1)
    return complain(device_errc::shape_mismatch, "dim {} of x {} has {} places; 1 wanted", dim,
                    to_string(x.dims), x.dims[static_cast<size_t>(dim)]);
  return without(x, static_cast<size_t>(dim));
}

std::optional<look> look_squeeze(const typed_call& call, const shape& strides) {
  return look{0, without(strides, dim_at(call.attributes[0]))};
}

void squeeze_gradient(gradient_context& g) {
  g.give(0, g.emit(op::unsqueeze, {g.upstream()}, {g.attr(0)}));
}

sample squeeze_example(sampler& random) {
  auto dims = random.dims(1, 4);
  auto dim = random.below(static_cast<int64_t>(dims.rank()));
  dims[static_cast<size_t>(dim)] = 1;
  return {{random.tensor(dims)}, {dim}};
}

wrong_sample wrong_squeeze(sampler& random) {
  return {{{random.tensor({2, 1})}, {int64_t{0}}}, device_errc::shape_mismatch};
}

result<register_type> infer_unsqueeze(const rule_context& c) {
  auto out = c.operand(0);
  auto dim = c.integer(0), rank = static_cast<int64_t>(out.dims.rank());
  if (dim > rank)
    return complain(device_errc::dim_range,
                    "dim {} before which x {} is to have another; at most {}", dim,
                    to_string(out.dims), rank);
  if (out.dims.rank() == rank_max)
    return complain(device_errc::shape_mismatch, "x {} has {} dimensions already",
                    to_string(out.dims), rank);
  out.dims = with(out.dims, static_cast<size_t>(dim), 1);
  out.factors.insert(out.factors.begin() + dim, c.fresh_axis(1));
  return out;
}

std::optional<look> look_unsqueeze(const typed_call& call, const shape& strides) {
  return look{0, with(strides, dim_at(call.attributes[0]), 1)};
}

void unsqueeze_gradient(gradient_context& g) {
  g.give(0, g.emit(op::squeeze, {g.upstream()}, {g.attr(0)}));
}

std::vector<split_axis> split_unsqueeze(const typed_call& call) {
  std::vector<split_axis> axes;
  auto dim = static_cast<int>(integer(call.attributes[0]));
  for (int i = 0; i < static_cast<int>(call.operands[0]->dims.rank()); ++i)
    axes.push_back({{i}, i < dim ? i : i + 1, join::none});
  return axes;
}

sample unsqueeze_example(sampler& random) {
  auto dims = random.dims(0, 4);
  return {{random.tensor(dims)}, {random.below(static_cast<int64_t>(dims.rank()) + 1)}};
}

wrong_sample wrong_unsqueeze(sampler& random) {
  return {{{random.tensor({2})}, {int64_t{2}}}, device_errc::dim_range};
}

// -- recompute, detach ---------------------------------------------------------

std::optional<look> look_alike(const typed_call&, const shape& strides) {
  return look{0, strides};
}

void alike_gradient(gradient_context& g) {
  g.give(0, g.upstream());
}

sample alike_example(sampler& random) {
  return {{random.tensor(random.dims(0, 4))}, {}};
}

wrong_sample wrong_alike(sampler&) {
  return {{}, device_errc::undecodable};
}

std::vector<split_axis> split_alike(const typed_call& call) {
  return leading_axes(call.result->dims.rank(), 1);
}

row alike(op id, std::string_view name, std::string_view sentence,
          void (*gradient)(gradient_context&)) {
  auto out =
    with_rules(view(id, name, sentence, {}, {}),
               {[](const rule_context& c) -> result<register_type> { return c.operand(0); },
                look_alike, gradient, split_alike, alike_example, wrong_alike});
  out.form = field_form::bare;
  return out;
}

} // namespace

std::vector<row> view_rows() {
  auto detach = alike(op::detach, "detach", "x, through which no gradient flows.", nullptr);
  detach.reference = "torch.Tensor.detach";
  detach.pytorch = "x.detach()";
  detach.no_gradient = "that is what it is for";
  auto recompute = alike(op::recompute, "recompute",
                         "x; for its gradient, what it was made from is made again, back to "
                         "inputs, parameters, other recomputes and what is random, and not kept.",
                         alike_gradient);
  recompute.reference = "torch.utils.checkpoint";
  recompute.pytorch = "x.clone()";
  recompute.pure = false; // or what is made again would be what was made before
  row slice_backward;
  slice_backward.id = op::slice_backward;
  slice_backward.name = "slice_backward";
  slice_backward.sentence = "The gradient in the places that were taken, zero elsewhere.";
  slice_backward.reference = "internal";
  slice_backward.fields = {{"gradient", field_kind::reg},
                           {"dim", field_kind::nat32},
                           {"start", field_kind::nat32},
                           {"step", field_kind::nat32},
                           {"size", field_kind::nat32}};
  slice_backward.strided = true;
  slice_backward.infer = infer_slice_backward;
  slice_backward.gradient = slice_backward_gradient;
  slice_backward.split = split_slice;
  slice_backward.costs = moves;
  slice_backward.example = slice_backward_example;
  auto slice = with_rules(
    view(op::slice, "slice", "Places start, start + step, … of dimension `dim`, before `end`.",
         {{"dim", field_kind::nat32},
          {"start", field_kind::nat32},
          {"end", field_kind::nat32},
          {"step", field_kind::nat32}},
         "x[(slice(None),) * dim + (slice(start, end, step),)]"),
    {infer_slice, look_slice, slice_gradient, split_slice, slice_example, wrong_slice});
  slice.reference = "NumPy's x[start:end:step]";
  return {
    slice,
    with_rules(
      view(op::select, "select", "Place `index` of dimension `dim`, which the result lacks.",
           {{"dim", field_kind::nat32}, {"index", field_kind::nat32}},
           "torch.select(x, dim, index)"),
      {infer_select, look_select, select_gradient, split_without, select_example, wrong_select}),
    with_rules(view(op::squeeze, "squeeze", "x without dimension `dim`, whose size is 1.",
                    {{"dim", field_kind::nat32}}, "torch.squeeze(x, dim)"),
               {infer_squeeze, look_squeeze, squeeze_gradient, split_without, squeeze_example,
                wrong_squeeze}),
    with_rules(view(op::unsqueeze, "unsqueeze",
                    "x with one more dimension, of size 1, which is number `dim`.",
                    {{"dim", field_kind::nat32}}, "torch.unsqueeze(x, dim)"),
               {infer_unsqueeze, look_unsqueeze, unsqueeze_gradient, split_unsqueeze,
                unsqueeze_example, wrong_unsqueeze}),
    detach,
    recompute,
    slice_backward,
  };
}

} // namespace moxzi::device
