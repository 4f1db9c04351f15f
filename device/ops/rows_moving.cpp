#include <algorithm>

#include "device/ops/view_row.hpp"

// Rows that put elements into other places and compute nothing.

namespace moxzi::device {

namespace {

// -- concat, stack -------------------------------------------------------------

/// All operands have one type; stored as they are if all are stored alike.
result<register_type> common_type(const rule_context& c) {
  if (c.operand_count() == 0)
    return complain(device_errc::shape_mismatch, "xs is empty; one register or more wanted");
  auto out = c.operand(0);
  for (size_t i = 1; i < c.operand_count(); ++i) {
    auto& x = c.operand(i);
    if (auto ok = want_same_type("xs[0]", out, fmt::format("xs[{}]", i), x); !ok) return ok.error();
    if (x.storage != out.storage) out.storage = stored_as(out.type);
  }
  return out;
}

result<register_type> infer_concat(const rule_context& c) {
  auto out = common_type(c);
  if (!out) return out;
  if (auto ok = want_dim(c.integer(0), "xs[0]", *out); !ok) return ok.error();
  auto dim = static_cast<size_t>(c.integer(0));
  auto wanted = out->dims;
  for (size_t i = 1; i < c.operand_count(); ++i) {
    auto dims = c.operand(i).dims;
    if (dims.rank() == wanted.rank()) {
      out->dims[dim] += dims[dim];
      dims[dim] = wanted[dim];
    }
    if (dims != wanted)
      return complain(device_errc::shape_mismatch,
                      "xs[0] {} and xs[{}] {} must agree in every dimension but {}",
                      to_string(wanted), i, to_string(c.operand(i).dims), dim);
    if (auto ok = want_size(out->dims); !ok) return ok.error();
  }
  if (c.operand_count() > 1) out->factors[dim] = c.fresh_axis(out->dims[dim]);
  return out;
}

void concat_gradient(gradient_context& g) {
  int64_t start = 0;
  for (size_t i = 0; g.has(i); ++i) {
    auto len = g.type_of(g.operand(i)).dims[dim_at(g.attr(0))];
    if (g.wants(i)) g.give(i, g.emit(op::narrow, {g.upstream()}, {g.attr(0), start, len}));
    start += len;
  }
}

std::vector<split_axis> split_concat(const typed_call& call) {
  return other_axes(call, dim_at(call.attributes[0]));
}

sample concat_example(sampler& random) {
  auto dims = random.dims(1, 4);
  auto dim = random.below(static_cast<int64_t>(dims.rank()));
  sample out{{}, {dim}};
  for (auto n = 1 + random.below(3); n > 0; --n) {
    dims[static_cast<size_t>(dim)] = random.size();
    out.operands.push_back(random.tensor(dims));
  }
  return out;
}

wrong_sample wrong_concat(sampler& random) {
  return {{{random.tensor({2, 3}), random.tensor({2, 4})}, {int64_t{0}}},
          device_errc::shape_mismatch};
}

result<register_type> infer_stack(const rule_context& c) {
  auto out = common_type(c);
  if (!out) return out;
  auto dim = c.integer(0), rank = static_cast<int64_t>(out->dims.rank());
  if (dim > rank)
    return complain(device_errc::dim_range, "dim {} of the result, which has {} dimensions", dim,
                    rank + 1);
  if (out->dims.rank() == rank_max)
    return complain(device_errc::shape_mismatch, "xs[0] {} has {} dimensions already",
                    to_string(out->dims), rank);
  for (size_t i = 1; i < c.operand_count(); ++i)
    if (c.operand(i).dims != out->dims)
      return complain(device_errc::shape_mismatch, "xs[0] {} and xs[{}] {} must have one shape",
                      to_string(out->dims), i, to_string(c.operand(i).dims));
  auto count = static_cast<int64_t>(c.operand_count());
  shape dims;
  for (int64_t i = 0; i <= rank; ++i) {
    if (i == dim) dims.push(count);
    if (i < rank) dims.push(out->dims[static_cast<size_t>(i)]);
  }
  if (auto ok = want_size(dims); !ok) return ok.error();
  out->dims = dims;
  out->factors.insert(out->factors.begin() + dim, c.fresh_axis(count));
  return out;
}

void stack_gradient(gradient_context& g) {
  for (size_t i = 0; g.has(i); ++i)
    if (g.wants(i))
      g.give(i, g.emit(op::select, {g.upstream()}, {g.attr(0), static_cast<int64_t>(i)}));
}

std::vector<split_axis> split_stack(const typed_call& call) {
  std::vector<split_axis> axes;
  auto dim = static_cast<int>(integer(call.attributes[0]));
  for (int i = 0; i < static_cast<int>(call.operands[0]->dims.rank()); ++i)
    axes.push_back({std::vector<int>(call.operands.size(), i), i < dim ? i : i + 1, join::none});
  return axes;
}

sample stack_example(sampler& random) {
  auto dims = random.dims(0, 3);
  sample out{{}, {random.below(static_cast<int64_t>(dims.rank()) + 1)}};
  for (auto n = 1 + random.below(3); n > 0; --n) out.operands.push_back(random.tensor(dims));
  return out;
}

wrong_sample wrong_stack(sampler& random) {
  return {{{random.tensor({2}), random.tensor({3})}, {int64_t{0}}}, device_errc::shape_mismatch};
}

// -- repeat --------------------------------------------------------------------

result<register_type> infer_repeat(const rule_context& c) {
  auto& x = c.operand(0);
  auto times = checked_sizes("times", c.list(0));
  if (!times) return times.error();
  if (times->rank() < x.dims.rank())
    return complain(device_errc::shape_mismatch, "times {} has fewer entries than x {} dimensions",
                    to_string(*times), to_string(x.dims));
  register_type out{x.type, x.storage, *times, {}};
  auto missing = times->rank() - x.dims.rank();
  for (size_t i = 0; i < times->rank(); ++i) {
    if (i >= missing) out.dims[i] *= x.dims[i - missing];
    bool same = i >= missing && (*times)[i] == 1;
    out.factors.push_back(same ? x.factors[i - missing] : c.fresh_axis(out.dims[i]));
  }
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

void repeat_gradient(gradient_context& g) {
  g.give(0, g.emit(op::repeat_backward, {g.upstream()},
                   {g.attr(0), sizes_of(g.type_of(g.operand(0)).dims)}));
}

std::vector<split_axis> split_repeat(const typed_call& call) {
  std::vector<split_axis> axes;
  auto& times = list(call.attributes[0]);
  auto missing = times.size() - call.operands[0]->dims.rank();
  for (auto i = missing; i < times.size(); ++i)
    if (times[i] == 1)
      axes.push_back({{static_cast<int>(i - missing)}, static_cast<int>(i), join::none});
  return axes;
}

sample repeat_example(sampler& random) {
  auto dims = random.dims(0, 3);
  std::vector<uint32_t> times;
  for (size_t i = 0; i < dims.rank() + static_cast<size_t>(random.below(2)); ++i)
    times.push_back(random.coin() ? 1 : static_cast<uint32_t>(random.below(4)));
  return {{random.tensor(dims)}, {times}};
}

wrong_sample wrong_repeat(sampler& random) {
  return {{{random.tensor({2, 3})}, {std::vector<uint32_t>{2}}}, device_errc::shape_mismatch};
}

result<register_type> infer_repeat_backward(const rule_context& c) {
  auto& g = c.operand(0);
  auto &times = c.list(0), &sizes = c.list(1);
  register_type out{g.type, g.storage, {}, {}};
  auto missing = times.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    out.dims.push(sizes[i]);
    out.factors.push_back(times[i + missing] == 1 ? g.factors[i + missing]
                                                  : c.fresh_axis(sizes[i]));
  }
  return out;
}

void repeat_backward_gradient(gradient_context& g) {
  g.give(0, g.emit(op::repeat, {g.upstream()}, {g.attr(0)}));
}

sample repeat_backward_example(sampler& random) {
  auto sizes = random.dims(0, 3), dims = shape{};
  std::vector<uint32_t> times;
  if (random.coin()) {
    times.push_back(static_cast<uint32_t>(random.below(4)));
    dims.push(times[0]);
  }
  for (auto size : sizes.sizes()) {
    times.push_back(random.coin() ? 1 : static_cast<uint32_t>(random.below(4)));
    dims.push(times.back() * size);
  }
  return {{random.tensor(dims)}, {times, sizes_of(sizes)}};
}

std::vector<split_axis> split_repeat_backward(const typed_call& call) {
  std::vector<split_axis> axes;
  const auto &times = list(call.attributes[0]), &sizes = list(call.attributes[1]);
  const auto missing = times.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i)
    if (times[i + missing] == 1)
      axes.push_back({.operand_dims = {static_cast<int>(i + missing)},
                      .result_dim = static_cast<int>(i),
                      .attribute = 1,
                      .entry = static_cast<int>(i)});
  return axes;
}

cost repeat_backward_cost(const typed_call& call) {
  auto sum = traffic(call, 0);
  sum.flops = static_cast<double>(call.operands[0]->dims.elements());
  return sum;
}

// -- pad -----------------------------------------------------------------------

result<register_type> infer_pad(const rule_context& c) {
  auto out = c.operand(0);
  auto &before = c.list(0), &after = c.list(1);
  if (before.size() != out.dims.rank() || after.size() != out.dims.rank())
    return complain(device_errc::shape_mismatch,
                    "before has {} entries and after {}; one for each dimension of x {} wanted",
                    before.size(), after.size(), to_string(out.dims));
  if (auto ok = want_fitting("value", std::get<double>(c.attr(2)), out.type); !ok)
    return ok.error();
  out.storage = stored_as(out.type);
  for (size_t i = 0; i < out.dims.rank(); ++i) {
    if (before[i] == 0 && after[i] == 0) continue;
    out.dims[i] += int64_t{before[i]} + after[i];
    out.factors[i] = c.fresh_axis(out.dims[i]);
  }
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

void pad_gradient(gradient_context& g) {
  auto part = g.upstream();
  auto dims = g.type_of(g.operand(0)).dims;
  for (size_t i = 0; i < dims.rank(); ++i)
    if (dims[i] != g.type_of(part).dims[i])
      part =
        g.emit(op::narrow, {part}, {static_cast<int64_t>(i), int64_t{list(g.attr(0))[i]}, dims[i]});
  g.give(0, part);
}

std::vector<split_axis> split_pad(const typed_call& call) {
  std::vector<split_axis> axes;
  auto &before = list(call.attributes[0]), &after = list(call.attributes[1]);
  for (size_t i = 0; i < before.size(); ++i)
    if (before[i] == 0 && after[i] == 0)
      axes.push_back({{static_cast<int>(i)}, static_cast<int>(i), join::none});
  return axes;
}

sample pad_example(sampler& random) {
  auto dims = random.dims(0, 4);
  std::vector<uint32_t> before, after;
  for (size_t i = 0; i < dims.rank(); ++i) {
    before.push_back(random.coin() ? 0 : static_cast<uint32_t>(random.below(4)));
    after.push_back(random.coin() ? 0 : static_cast<uint32_t>(random.below(4)));
  }
  auto value = random.type() == dtype::boolean ? random.below(2) : random.below(9);
  return {{random.tensor(dims)}, {before, after, static_cast<double>(value)}};
}

wrong_sample wrong_pad(sampler& random) {
  return {{{random.tensor({2})}, {std::vector<uint32_t>{1}, std::vector<uint32_t>{}, 0.0}},
          device_errc::shape_mismatch};
}

// -- flip, roll ----------------------------------------------------------------

result<register_type> infer_flip(const rule_context& c) {
  auto& x = c.operand(0);
  uint32_t seen = 0;
  for (auto dim : c.list(0)) {
    if (auto ok = want_dim(dim, "x", x); !ok) return ok.error();
    if (seen >> dim & 1)
      return complain(device_errc::dim_range, "dim {} is there twice in [{}]", dim,
                      fmt::join(c.list(0), ", "));
    seen |= uint32_t{1} << dim;
  }
  return x;
}

void flip_gradient(gradient_context& g) {
  g.give(0, g.emit(op::flip, {g.upstream()}, {g.attr(0)}));
}

std::vector<split_axis> split_flip(const typed_call& call) {
  auto axes = leading_axes(call.result->dims.rank(), 1);
  auto& dims = list(call.attributes[0]);
  std::erase_if(axes, [&dims](const split_axis& axis) {
    return std::ranges::count(dims, static_cast<uint32_t>(axis.result_dim)) > 0;
  });
  return axes;
}

sample flip_example(sampler& random) {
  auto dims = random.dims(0, 4);
  std::vector<uint32_t> which;
  for (uint32_t i = 0; i < dims.rank(); ++i)
    if (random.coin()) which.push_back(i);
  return {{random.tensor(dims)}, {which}};
}

wrong_sample wrong_flip(sampler& random) {
  return {{{random.tensor({2, 3})}, {std::vector<uint32_t>{2}}}, device_errc::dim_range};
}

result<register_type> infer_roll(const rule_context& c) {
  if (auto ok = want_dim(c.integer(0), "x", c.operand(0)); !ok) return ok.error();
  return c.operand(0);
}

void roll_gradient(gradient_context& g) {
  auto size = std::max<int64_t>(g.type_of(g.operand(0)).dims[dim_at(g.attr(0))], 1);
  g.give(0, g.emit(op::roll, {g.upstream()}, {g.attr(0), -(integer(g.attr(1)) % size)}));
}

std::vector<split_axis> split_roll(const typed_call& call) {
  return other_axes(call, dim_at(call.attributes[0]));
}

sample roll_example(sampler& random) {
  auto dims = random.dims(1, 4);
  return {{random.tensor(dims)},
          {random.below(static_cast<int64_t>(dims.rank())), random.below(31) - 15}};
}

wrong_sample wrong_roll(sampler& random) {
  return {{{random.tensor({2})}, {int64_t{1}, int64_t{1}}}, device_errc::dim_range};
}

// -- tril, triu ----------------------------------------------------------------

result<register_type> infer_triangle(const rule_context& c) {
  auto& x = c.operand(0);
  if (x.dims.rank() >= 2) return x;
  return complain(device_errc::shape_mismatch, "x is {} of rank {}; a matrix, or several, wanted",
                  to_string(x.dims), x.dims.rank());
}

template <op Id>
void triangle_gradient(gradient_context& g) {
  g.give(0, g.emit(Id, {g.upstream()}, {g.attr(0)}));
}

std::vector<split_axis> split_triangle(const typed_call& call) {
  return leading_axes(call.result->dims.rank() - 2, 1);
}

sample triangle_example(sampler& random) {
  return {{random.tensor(random.dims(2, 4))}, {random.below(15) - 7}};
}

wrong_sample wrong_triangle(sampler& random) {
  return {{{random.tensor({3})}, {int64_t{0}}}, device_errc::shape_mismatch};
}

// -- rows ----------------------------------------------------------------------

row moving(row out, std::string_view reference) {
  out.runs = row_runs::kernel;
  out.strided = true;
  out.costs = moves;
  out.reference = reference;
  return out;
}

row of_several(row out) {
  out.fields = {{"xs", field_kind::regs}, {"dim", field_kind::nat32}};
  return out;
}

std::vector<row> joining() {
  return {
    of_several(moving(with_rules(view(op::concat, "concat",
                                      "All of xs, one after the other along "
                                      "dimension `dim`.",
                                      {{"dim", field_kind::nat32}}, "torch.cat(xs, dim)"),
                                 {infer_concat, nullptr, concat_gradient, split_concat,
                                  concat_example, wrong_concat}),
                      "torch.cat")),
    of_several(moving(
      with_rules(view(op::stack, "stack",
                      "All of xs, of one shape, along a new "
                      "dimension, number `dim` of the result.",
                      {{"dim", field_kind::nat32}}, "torch.stack(xs, dim)"),
                 {infer_stack, nullptr, stack_gradient, split_stack, stack_example, wrong_stack}),
      "torch.stack")),
    moving(with_rules(
             view(op::repeat, "repeat",
                  "x as often along each dimension as `times` says; new dimensions come "
                  "first.",
                  {{"times", field_kind::nat32s}}, "x.repeat(times)"),
             {infer_repeat, nullptr, repeat_gradient, split_repeat, repeat_example, wrong_repeat}),
           "torch.Tensor.repeat"),
    [] {
      auto out =
        moving(with_rules(view(op::repeat_backward, "repeat_backward",
                               "The sum of what flows back to each element.",
                               {{"times", field_kind::nat32s}, {"shape", field_kind::nat32s}}, {}),
                          {infer_repeat_backward, nullptr, repeat_backward_gradient,
                           split_repeat_backward, repeat_backward_example, nullptr}),
               "internal");
      out.fields[0].name = "gradient";
      out.takes = float_types;
      out.costs = repeat_backward_cost;
      out.tolerance = 8;
      return out;
    }(),
  };
}

} // namespace

std::vector<row> moving_rows() {
  auto rows = joining();
  auto more = {
    moving(
      with_rules(view(op::pad, "pad",
                      "x with so many places of `value` before and after it in each dimension.",
                      {{"before", field_kind::nat32s},
                       {"after", field_kind::nat32s},
                       {"value", field_kind::float64}},
                      "F.pad(x, [n for pair in zip(reversed(before), reversed(after)) for n "
                      "in pair], value=value)"),
                 {infer_pad, nullptr, pad_gradient, split_pad, pad_example, wrong_pad}),
      "torch.nn.functional.pad"),
    moving(with_rules(view(op::flip, "flip", "x with the order of these dimensions reversed.",
                           {{"dims", field_kind::nat32s}}, "torch.flip(x, dims)"),
                      {infer_flip, nullptr, flip_gradient, split_flip, flip_example, wrong_flip}),
           "torch.flip"),
    moving(
      with_rules(view(op::roll, "roll",
                      "x moved along dimension `dim` by `shift` places; what leaves at one end "
                      "comes in at the other.",
                      {{"dim", field_kind::nat32}, {"shift", field_kind::int32}},
                      "torch.roll(x, shift, dim)"),
                 {infer_roll, nullptr, roll_gradient, split_roll, roll_example, wrong_roll}),
      "torch.roll"),
    moving(
      with_rules(view(op::tril, "tril",
                      "Matrices with 0 above their diagonal, or another one that is `diagonal` "
                      "places to the right.",
                      {{"diagonal", field_kind::int32}}, "torch.tril(x, diagonal)"),
                 {infer_triangle, nullptr, triangle_gradient<op::tril>, split_triangle,
                  triangle_example, wrong_triangle}),
      "torch.tril"),
    moving(
      with_rules(view(op::triu, "triu",
                      "Matrices with 0 below their diagonal, or another one that is `diagonal` "
                      "places to the right.",
                      {{"diagonal", field_kind::int32}}, "torch.triu(x, diagonal)"),
                 {infer_triangle, nullptr, triangle_gradient<op::triu>, split_triangle,
                  triangle_example, wrong_triangle}),
      "torch.triu"),
  };
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

} // namespace moxzi::device
