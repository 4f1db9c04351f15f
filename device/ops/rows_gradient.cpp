#include "device/ops/pointwise_rows.hpp"

namespace moxzi::device {

namespace {

result<register_type> like(const rule_context& c, size_t operand) {
  auto out = c.operand(operand);
  out.storage = stored_as(out.type);
  return out;
}

result<register_type> like_first(const rule_context& c) {
  return like(c, 0);
}

// -- gradients of gradients ----------------------------------------------------

/// What was summed gets the same gradient in every place.
void sum_to_gradient(gradient_context& g) {
  g.give(0, g.emit(op::expand, {g.upstream()}, {sizes_of(g.type_of(g.operand(0)).dims)}));
}

// -- sum_to --------------------------------------------------------------------

result<register_type> infer_sum_to(const rule_context& c) {
  auto& x = c.operand(0);
  auto& wanted = c.list(0);
  auto out = register_type{x.type, stored_as(x.type), {}, {}};
  auto missing = x.dims.rank() - wanted.size();
  for (size_t i = 0; i < wanted.size(); ++i) {
    out.dims.push(wanted[i]);
    out.factors.push_back(x.dims[i + missing] == wanted[i] ? x.factors[i + missing]
                                                           : c.fresh_axis(1));
  }
  return out;
}

/// Along a dimension that stays, or one that is summed.
std::vector<split_axis> split_sum_to(const typed_call& call) {
  std::vector<split_axis> axes;
  auto &x = call.operands[0]->dims, &to = call.result->dims;
  auto missing = x.rank() - to.rank();
  for (size_t i = 0; i < x.rank(); ++i) {
    auto at = static_cast<int>(i) - static_cast<int>(missing);
    bool stays = at >= 0 && to[static_cast<size_t>(at)] == x[i];
    axes.push_back(
      {{static_cast<int>(i)}, stays ? at : -1, stays ? join::none : join::sum, stays ? 0 : -1, at});
  }
  return axes;
}

cost sum_to_cost(const typed_call& call) {
  auto sum = traffic(call, 0);
  sum.flops = static_cast<double>(call.operands[0]->dims.elements());
  return sum;
}

sample sum_to_example(sampler& random) {
  auto dims = random.dims(1, 4);
  std::vector<uint32_t> to;
  for (auto size : random.broadcast_to(dims).sizes()) to.push_back(static_cast<uint32_t>(size));
  return {{random.tensor(dims)}, {to}};
}

// -- grad ----------------------------------------------------------------------

result<register_type> infer_grad(const rule_context& c) {
  auto& loss = c.operand(0);
  if (loss.dims.elements() != 1 || !is_float(loss.type))
    return complain(device_errc::loss_not_scalar, "loss is {}; one floating-point number wanted",
                    loss.text());
  if (auto ok = want_float("x", c.operand(1)); !ok) return ok.error();
  return like(c, 1);
}

row grad_row() {
  return {
    .id = op::grad,
    .name = "grad",
    .sentence = "The gradient of a loss, one number, with respect to any register before it: "
                "operations like others, which have gradients too. Zeros where the loss does not "
                "depend on x.",
    .reference = "torch.autograd.grad",
    .fields = {{"loss", field_kind::reg}, {"x", field_kind::reg}},
    .runs = row_runs::bound,
    .infer = infer_grad,
    .no_gradient = "the operations that it stands for have theirs",
    .pytorch = "torch.zeros_like(x)",
    .example = [](sampler& random) -> sample {
      return {{random.tensor({}), random.tensor(random.dims(0, 4))}, {}};
    },
    .wrong = [](sampler& random) -> wrong_sample {
      return {{{random.tensor({2}), random.tensor({3})}, {}}, device_errc::loss_not_scalar};
    },
  };
}

// -- rows ----------------------------------------------------------------------

row alike(op id, std::string_view name, std::string_view sentence,
          std::vector<std::string_view> operands, void (*gradient)(gradient_context&)) {
  auto out = unary(id, name, sentence, "internal", gradient, gradient ? "" : "it is constant");
  out.fields.clear();
  for (auto operand : operands) out.fields.push_back({operand, field_kind::reg});
  out.form = operands.size() == 1 ? field_form::bare : field_form::record;
  out.infer = like_first;
  out.example = [](sampler& random) -> sample {
    auto dims = random.dims(0, 4);
    return {{random.tensor(dims), random.tensor(dims)}, {}};
  };
  out.wrong = nullptr;
  out.pytorch = {};
  return out;
}

} // namespace

std::vector<row> gradient_rows() {
  auto ones = alike(op::ones_like, "ones_like",
                    "Ones in the shape of x, whose values don't matter.", {"x"}, nullptr);
  ones.example = unary_example<contents::any>;
  auto nonzero =
    alike(op::nonzero, "nonzero", "True where x is not 0: a cast to boolean.", {"x"}, nullptr);
  nonzero.infer = [](const rule_context& c) -> result<register_type> {
    auto out = c.operand(0);
    out.type = dtype::boolean;
    out.storage = elem::boolean;
    return out;
  };
  nonzero.example = unary_example<contents::any>;
  return {
    grad_row(),
    {
      .id = op::second_of,
      .name = "second_of",
      .sentence = "The second result of the operation that made x.",
      .reference = "internal",
      .fields = {{"x", field_kind::reg}},
      .runs = row_runs::bound,
      .infer = [](const rule_context& c) { return c.second(0); },
      .no_gradient = "the second derivative of what made it has no rule",
    },
    ones,
    nonzero,
    {
      .id = op::sum_to,
      .name = "sum_to",
      .sentence = "The sum over what was broadcast to get x from `shape`.",
      .reference = "torch.Tensor.sum_to_size",
      .fields = {{"x", field_kind::reg}, {"shape", field_kind::nat32s}},
      .strided = true,
      .infer = infer_sum_to,
      .gradient = sum_to_gradient,
      .split = split_sum_to,
      .costs = sum_to_cost,
      .example = sum_to_example,
      .tolerance = 8,
    },
  };
}

} // namespace moxzi::device
