#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

result<register_type> infer_cross_entropy(const rule_context& c) {
  auto &logits = c.operand(0), &targets = c.operand(1);
  if (auto ok = want_float("logits", logits); !ok) return ok.error();
  if (auto ok = want_integer("targets", targets); !ok) return ok.error();
  if (logits.dims.rank() != 2 || targets.dims != shape{logits.dims[0]})
    return complain(device_errc::shape_mismatch,
                    "logits {} does not fit targets {}: logits [rows, classes] and targets [rows] "
                    "wanted",
                    to_string(logits.dims), to_string(targets.dims));
  return register_type{logits.type, logits.storage, {}, {}};
}

void cross_entropy_gradient(gradient_context& g) {
  auto unscaled = g.emit(op::second_of, {g.self()});
  g.give(0, g.upstream_is_one() ? unscaled : g.emit(op::scale_by, {unscaled, g.upstream()}));
}

std::vector<split_axis> split_rows(const typed_call&) {
  return {{{0, 0}, -1, join::mean}};
}

cost cross_entropy_cost(const typed_call& call) {
  // A maximum, a difference, an exponential (as 8) and a sum for each logit.
  auto sum = traffic(call, 0);
  sum.flops = 11 * static_cast<double>(call.operands[0]->dims.elements());
  return sum;
}

cost cross_entropy_train_cost(const typed_call& call) {
  auto sum = cross_entropy_cost(call);
  auto& logits = *call.operands[0];
  sum.bytes += static_cast<double>(logits.dims.elements()) * size_of(logits.storage);
  return sum;
}

sample cross_entropy_example(sampler& random) {
  auto rows = random.some(), classes = random.some();
  return {{random.tensor({rows, classes}), random.indices({rows}, classes)}, {}};
}

wrong_sample wrong_cross_entropy(sampler& random) {
  return {{{random.tensor({2, 3}), random.indices({3}, 3)}, {}}, device_errc::shape_mismatch};
}

} // namespace

std::vector<row> loss_rows() {
  row forward{
    .id = op::cross_entropy,
    .name = "cross_entropy",
    .sentence = "The mean over rows of -log softmax(logits [rows, classes]) at targets [rows], in "
                "natural logarithms.",
    .reference = "torch.nn.functional.cross_entropy",
    .fields = {{"logits", field_kind::reg}, {"targets", field_kind::reg}},
    .infer = infer_cross_entropy,
    .gradient = cross_entropy_gradient,
    .training_form = op::cross_entropy_train,
    .split = split_rows,
    .costs = cross_entropy_cost,
    .pytorch = "F.cross_entropy(logits, targets)",
    .example = cross_entropy_example,
    .wrong = wrong_cross_entropy,
    .tolerance = 8,
  };
  auto train = forward;
  train.id = train.training_form = op::cross_entropy_train;
  train.name = "cross_entropy_train";
  train.sentence = "cross_entropy, and as second result (softmax - one hot) / rows.";
  train.infer_second = [](const rule_context& c) { return c.operand(0); };
  train.costs = cross_entropy_train_cost;
  return {forward, train};
}

} // namespace moxzi::device
