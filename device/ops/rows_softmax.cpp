#include "device/ops/pointwise_rows.hpp"

namespace moxzi::device {

namespace {

cost softmax_cost(const typed_call& call) {
  return traffic(call, 12);
}

result<register_type> infer_along(const rule_context& c) {
  auto& x = c.operand(0);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  if (c.integer(0) >= static_cast<int64_t>(x.dims.rank()))
    return complain(device_errc::dim_range, "dim {} of x {}, which has {} dimensions", c.integer(0),
                    to_string(x.dims), x.dims.rank());
  return x;
}

/// Every dimension but the one that the operation goes along.
std::vector<split_axis> split_beside(const typed_call& call) {
  std::vector<split_axis> axes;
  auto along = std::get<int64_t>(call.attributes[0]);
  for (int i = 0; i < static_cast<int>(call.result->dims.rank()); ++i)
    if (i != along) axes.push_back({std::vector<int>(call.operands.size(), i), i, join::none});
  return axes;
}

void softmax_gradient(gradient_context& g) {
  g.give(0, g.emit(op::softmax_backward, {g.upstream(), g.self()}, {g.attr(0)}));
}

void log_softmax_gradient(gradient_context& g) {
  g.give(0, g.emit(op::log_softmax_backward, {g.upstream(), g.self()}, {g.attr(0)}));
}

/// The sum along the call's dimension, which stays with one place.
reg summed(gradient_context& g, reg x) {
  auto of = g.type_of(x).dims.sizes();
  std::vector<uint32_t> dims(of.begin(), of.end());
  dims[static_cast<size_t>(std::get<int64_t>(g.attr(0)))] = 1;
  return g.emit(op::sum_to, {x}, {dims});
}

/// Of y · (g - Σ g·y).
void softmax_backward_gradient(gradient_context& g) {
  words w(g);
  auto from = g.operand(0), y = g.operand(1), u = g.upstream();
  if (g.wants(0)) g.give(0, g.emit(op::softmax_backward, {u, y}, {g.attr(0)}));
  if (!g.wants(1)) return;
  auto own = w.mul(u, w.sub(from, summed(g, w.mul(from, y))));
  g.give(1, w.sub(own, w.mul(from, summed(g, w.mul(u, y)))));
}

/// Of g - eʸ · Σ g.
void log_softmax_backward_gradient(gradient_context& g) {
  words w(g);
  auto from = g.operand(0), u = g.upstream();
  auto weighted = w.mul(u, w.unary(op::exp, g.operand(1)));
  if (g.wants(0)) g.give(0, w.sub(u, summed(g, weighted)));
  if (g.wants(1)) g.give(1, w.neg(w.mul(weighted, summed(g, from))));
}

template <size_t Operands>
sample along_example(sampler& random) {
  auto dims = random.dims(1, 4);
  auto dim = random.below(static_cast<int64_t>(dims.rank()));
  sample out{{}, {dim}};
  while (out.operands.size() < Operands) out.operands.push_back(random.tensor(dims));
  return out;
}

wrong_sample wrong_dim(sampler& random) {
  return {{{random.tensor({2, 3})}, {int64_t{2}}}, device_errc::dim_range};
}

row along(op id, std::string_view name, std::string_view sentence, std::string_view pytorch,
          void (*gradient)(gradient_context&)) {
  return {
    .id = id,
    .name = name,
    .sentence = sentence,
    .reference = pytorch.substr(0, pytorch.find('(')),
    .fields = {{"x", field_kind::reg}, {"dim", field_kind::nat32}},
    .infer = infer_along,
    .gradient = gradient,
    .split = split_beside,
    .costs = softmax_cost,
    .pytorch = pytorch,
    .example = along_example<1>,
    .wrong = wrong_dim,
    .tolerance = 8,
  };
}

row along_backward(op id, std::string_view name, std::string_view sentence,
                   void (*gradient)(gradient_context&)) {
  auto out = along(id, name, sentence, "internal", gradient);
  out.fields = {{"g", field_kind::reg}, {"y", field_kind::reg}, {"dim", field_kind::nat32}};
  out.example = along_example<2>;
  out.wrong = nullptr;
  out.pytorch = {};
  out.tolerance = 32;
  return out;
}

} // namespace

std::vector<row> softmax_rows() {
  return {
    along(op::softmax, "softmax", "e to the power of x over the sum of these along `dim`.",
          "F.softmax(x, dim)", softmax_gradient),
    along(op::log_softmax, "log_softmax", "The natural logarithm of softmax along `dim`.",
          "F.log_softmax(x, dim)", log_softmax_gradient),
    along_backward(op::softmax_backward, "softmax_backward", "y · (g - Σ g·y).",
                   softmax_backward_gradient),
    along_backward(op::log_softmax_backward, "log_softmax_backward",
                   "g - (e to the power of y) · Σ g.", log_softmax_backward_gradient),
  };
}

} // namespace moxzi::device
