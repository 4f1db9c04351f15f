#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

result<register_type> infer_linear(const rule_context& c) {
  auto &x = c.operand(0), &w = c.operand(1);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  if (auto ok = want_same_type("x", x, "w", w); !ok) return ok.error();
  if (x.dims.rank() == 0 || w.dims.rank() != 2 || x.dims.last() != w.dims[1])
    return complain(device_errc::shape_mismatch,
                    "x {} does not fit w {}: x [.., in] and w [out, in] wanted", to_string(x.dims),
                    to_string(w.dims));
  if (c.has(2)) {
    auto& b = c.operand(2);
    if (auto ok = want_same_type("w", w, "b", b); !ok) return ok.error();
    if (b.dims != shape{w.dims[0]})
      return complain(device_errc::shape_mismatch, "b {} does not fit w {}: b [out] wanted",
                      to_string(b.dims), to_string(w.dims));
  }
  auto out = x;
  out.dims[out.dims.rank() - 1] = w.dims[0];
  out.factors.back() = w.factors[0];
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

/// x is read first: its place may be free then for its own gradient.
void linear_gradient(gradient_context& g) {
  if (g.wants(1)) g.give(1, g.emit(op::linear_weight_backward, {g.upstream(), g.operand(0)}));
  if (g.has(2) && g.wants(2)) g.give(2, g.emit(op::linear_bias_backward, {g.upstream()}));
  if (g.wants(0)) g.give(0, g.emit(op::linear_input_backward, {g.upstream(), g.operand(1)}));
}

/// Along x's leading dimensions, along the outputs, or along what is summed over. A bias would be
/// added once by each device in the last case, so it rules that one out.
std::vector<split_axis> split_linear(const typed_call& call) {
  auto last = static_cast<int>(call.result->dims.rank()) - 1;
  auto axes = leading_axes(static_cast<size_t>(last), 3);
  axes.push_back({{-1, 0, 0}, last, join::none});
  if (!call.operands[2]) axes.push_back({{last, 1, -1}, -1, join::sum});
  return axes;
}

result<register_type> infer_input_backward(const rule_context& c) {
  auto out = c.operand(0);
  out.dims[out.dims.rank() - 1] = c.operand(1).dims[1];
  out.factors.back() = c.operand(1).factors[1];
  return out;
}

std::vector<split_axis> split_input_backward(const typed_call& call) {
  auto last = static_cast<int>(call.result->dims.rank()) - 1;
  auto axes = leading_axes(static_cast<size_t>(last), 2);
  axes.push_back({{-1, 1}, last, join::none});
  axes.push_back({{last, 0}, -1, join::sum});
  return axes;
}

result<register_type> infer_weight_backward(const rule_context& c) {
  auto &upstream = c.operand(0), &x = c.operand(1);
  return register_type{upstream.type,
                       upstream.storage,
                       {upstream.dims.last(), x.dims.last()},
                       {upstream.factors.back(), x.factors.back()}};
}

std::vector<split_axis> split_weight_backward(const typed_call& call) {
  std::vector<split_axis> axes;
  auto last = static_cast<int>(call.operands[0]->dims.rank()) - 1;
  for (int i = 0; i < last; ++i) axes.push_back({{i, i}, -1, join::sum});
  axes.push_back({{last, -1}, 0, join::none});
  axes.push_back({{-1, last}, 1, join::none});
  return axes;
}

result<register_type> infer_bias_backward(const rule_context& c) {
  auto& upstream = c.operand(0);
  return register_type{
    upstream.type, upstream.storage, {upstream.dims.last()}, {upstream.factors.back()}};
}

std::vector<split_axis> split_bias_backward(const typed_call& call) {
  std::vector<split_axis> axes;
  auto last = static_cast<int>(call.operands[0]->dims.rank()) - 1;
  for (int i = 0; i < last; ++i) axes.push_back({{i}, -1, join::sum});
  axes.push_back({{last}, 0, join::none});
  return axes;
}

// -- samples -------------------------------------------------------------------

shape with_last(shape dims, int64_t last) {
  dims.push(last);
  return dims;
}

sample linear_example(sampler& random) {
  auto in = random.size(), out = random.size();
  sample made{{random.tensor(with_last(random.dims(0, 3), in)), random.tensor({out, in}), {}}, {}};
  if (random.coin()) made.operands[2] = random.tensor({out});
  return made;
}

wrong_sample wrong_linear(sampler& random) {
  return {{{random.tensor({2, 3}), random.tensor({4, 5}), {}}, {}}, device_errc::shape_mismatch};
}

sample input_backward_example(sampler& random) {
  auto in = random.size(), out = random.size();
  return {{random.tensor(with_last(random.dims(0, 3), out)), random.tensor({out, in})}, {}};
}

sample weight_backward_example(sampler& random) {
  auto dims = random.dims(0, 3);
  return {
    {random.tensor(with_last(dims, random.size())), random.tensor(with_last(dims, random.size()))},
    {}};
}

sample bias_backward_example(sampler& random) {
  return {{random.tensor(random.dims(1, 3))}, {}};
}

// -- gradients of gradients ----------------------------------------------------

/// g · w: linear in both.
void input_backward_gradient(gradient_context& g) {
  if (g.wants(0)) g.give(0, g.emit(op::linear, {g.upstream(), g.operand(1), no_register}));
  if (g.wants(1)) g.give(1, g.emit(op::linear_weight_backward, {g.operand(0), g.upstream()}));
}

/// The transpose of g times x.
void weight_backward_gradient(gradient_context& g) {
  if (g.wants(0)) g.give(0, g.emit(op::linear, {g.operand(1), g.upstream(), no_register}));
  if (g.wants(1)) g.give(1, g.emit(op::linear_input_backward, {g.operand(0), g.upstream()}));
}

void bias_backward_gradient(gradient_context& g) {
  auto like = g.emit(op::ones_like, {g.operand(0)});
  g.give(0, g.emit(op::mul, {like, g.upstream()}));
}

cost product(const typed_call& call, double rows, double in, double out) {
  auto sum = traffic(call, 0);
  sum.flops = 2 * rows * in * out;
  return sum;
}

double rows_of(const shape& dims) {
  double rows = 1;
  for (size_t i = 0; i + 1 < dims.rank(); ++i) rows *= static_cast<double>(dims[i]);
  return rows;
}

/// linear and linear_input_backward: the second operand is w [out, in].
cost product_with_weight(const typed_call& call) {
  auto& w = call.operands[1]->dims;
  return product(call, rows_of(call.result->dims), static_cast<double>(w[1]),
                 static_cast<double>(w[0]));
}

/// The result is [out, in].
cost product_of_rows(const typed_call& call) {
  auto& w = call.result->dims;
  return product(call, rows_of(call.operands[0]->dims), static_cast<double>(w[1]),
                 static_cast<double>(w[0]));
}

cost column_sums(const typed_call& call) {
  auto sum = traffic(call, 0);
  sum.flops = static_cast<double>(call.operands[0]->dims.elements());
  return sum;
}

} // namespace

std::vector<row> linear_rows() {
  return {
    {
      .id = op::linear,
      .name = "linear",
      .sentence = "x [.., in] times the transpose of w [out, in], plus b [out] if given.",
      .reference = "torch.nn.functional.linear",
      .fields = {{"x", field_kind::reg}, {"w", field_kind::reg}, {"b", field_kind::opt_reg, true}},
      .infer = infer_linear,
      .gradient = linear_gradient,
      .split = split_linear,
      .costs = product_with_weight,
      .pytorch = "F.linear(x, w, b)",
      .example = linear_example,
      .wrong = wrong_linear,
      .tolerance = 8,
    },
    {
      .id = op::linear_input_backward,
      .name = "linear_input_backward",
      .sentence = "gradient [.., out] times w [out, in].",
      .reference = "torch.nn.functional.linear",
      .fields = {{"gradient", field_kind::reg}, {"w", field_kind::reg}},
      .infer = infer_input_backward,
      .gradient = input_backward_gradient,
      .split = split_input_backward,
      .costs = product_with_weight,
      .example = input_backward_example,
      .tolerance = 8,
    },
    {
      .id = op::linear_weight_backward,
      .name = "linear_weight_backward",
      .sentence = "The transpose of gradient [.., out] times x [.., in], over all leading places.",
      .reference = "torch.nn.functional.linear",
      .fields = {{"gradient", field_kind::reg}, {"x", field_kind::reg}},
      .infer = infer_weight_backward,
      .gradient = weight_backward_gradient,
      .split = split_weight_backward,
      .costs = product_of_rows,
      .example = weight_backward_example,
      .tolerance = 8,
    },
    {
      .id = op::linear_bias_backward,
      .name = "linear_bias_backward",
      .sentence = "The sum of gradient [.., out] over all leading places.",
      .reference = "torch.nn.functional.linear",
      .fields = {{"gradient", field_kind::reg}},
      .infer = infer_bias_backward,
      .gradient = bias_backward_gradient,
      .split = split_bias_backward,
      .costs = column_sums,
      .example = bias_backward_example,
      .tolerance = 8,
    },
  };
}

} // namespace moxzi::device
