#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

result<register_type> like_first(const rule_context& c) {
  return c.operand(0);
}

std::vector<split_axis> split_alike(const typed_call& call) {
  auto axes = leading_axes(call.result->dims.rank(), call.operands.size());
  for (auto& axis : axes)
    for (auto& dim : axis.operand_dims) dim = axis.result_dim;
  return axes;
}

std::vector<split_axis> split_first(const typed_call& call) {
  return leading_axes(call.result->dims.rank(), call.operands.size());
}

cost pointwise(const typed_call& call) {
  return traffic(call, 1);
}

} // namespace

std::vector<row> gradient_rows() {
  return {
    {
      .id = op::second_of,
      .name = "second_of",
      .sentence = "The second result of the operation that made x.",
      .reference = "internal",
      .fields = {{"x", field_kind::reg}},
      .runs = row_runs::bound,
      .infer = [](const rule_context& c) { return c.second(0); },
      .no_gradient = "internal",
    },
    {
      .id = op::ones_like,
      .name = "ones_like",
      .sentence = "Ones in the shape of x, whose values don't matter.",
      .reference = "torch.ones_like",
      .fields = {{"x", field_kind::reg}},
      .infer = like_first,
      .no_gradient = "internal",
      .split = split_alike,
      .costs = pointwise,
    },
    {
      .id = op::accumulate,
      .name = "accumulate",
      .sentence = "a + b, of one shape.",
      .reference = "torch.add",
      .fields = {{"a", field_kind::reg}, {"b", field_kind::reg}},
      .infer = like_first,
      .no_gradient = "internal",
      .split = split_alike,
      .costs = pointwise,
    },
    {
      .id = op::scale_by,
      .name = "scale_by",
      .sentence = "x times a register of one element.",
      .reference = "torch.mul",
      .fields = {{"x", field_kind::reg}, {"by", field_kind::reg}},
      .infer = like_first,
      .no_gradient = "internal",
      .split = split_first,
      .costs = pointwise,
    },
  };
}

} // namespace moxzi::device
