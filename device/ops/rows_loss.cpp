#include "device/ops/options.hpp"
#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

const std::vector<std::string_view> reductions{"mean", "sum", "none"};

// -- cross_entropy -------------------------------------------------------------

result<register_type> infer_rows(const rule_context& c, std::string_view name) {
  auto &logits = c.operand(0), &targets = c.operand(1);
  if (auto ok = want_float(name, logits); !ok) return ok.error();
  if (auto ok = want_integer("targets", targets); !ok) return ok.error();
  if (logits.dims.rank() != 2 || targets.dims != shape{logits.dims[0]})
    return complain(device_errc::shape_mismatch,
                    "{} {} does not fit targets {}: {} [rows, classes] and targets [rows] wanted",
                    name, to_string(logits.dims), to_string(targets.dims), name);
  register_type out{logits.type, logits.storage, {}, {}};
  if (reduction_of(c.attr(0)) != reduction::none) return out;
  out.dims.push(logits.dims[0]);
  out.factors.push_back(logits.factors[0]);
  return out;
}

result<register_type> infer_cross_entropy(const rule_context& c) {
  auto out = infer_rows(c, "logits");
  if (!out) return out;
  auto smoothing = real_number(c.attr(2), 0);
  if (!(smoothing >= 0 && smoothing <= 1))
    return complain(device_errc::invalid_value, "smoothing {} is not between 0 and 1", smoothing);
  if (!c.has(2)) return out;
  auto &logits = c.operand(0), &weights = c.operand(2);
  if (auto ok = want_float("class_weights", weights); !ok) return ok.error();
  if (weights.type != logits.type && weights.type != dtype::f32)
    return complain(device_errc::dtype_mismatch,
                    "class_weights is {}, logits is {}; f32 or the same type wanted",
                    weights.text(), logits.text());
  if (weights.dims != shape{logits.dims[1]})
    return complain(device_errc::shape_mismatch,
                    "class_weights {} does not fit logits {}: one for each class wanted",
                    to_string(weights.dims), to_string(logits.dims));
  return out;
}

void cross_entropy_gradient(gradient_context& g) {
  auto unscaled = g.emit(op::second_of, {g.self()});
  if (g.upstream_is_one()) return g.give(0, unscaled);
  if (reduction_of(g.attr(0)) != reduction::none)
    return g.give(0, g.emit(op::mul, {unscaled, g.upstream()}));
  auto rows = static_cast<uint32_t>(g.type_of(g.upstream()).dims[0]);
  auto column = g.emit(op::reshape, {g.upstream()}, {std::vector<uint32_t>{rows, 1}});
  g.give(0, g.emit(op::mul, {unscaled, column}));
}

/// Along the rows. A mean with weights or ignored rows is over what the data says.
std::vector<split_axis> split_rows(const typed_call& call) {
  split_axis axis{std::vector<int>(call.operands.size(), -1), -1, join::sum};
  axis.operand_dims[0] = axis.operand_dims[1] = axis.second_dim = 0;
  bool plain = std::holds_alternative<std::monostate>(call.attributes[1])
               && (call.operands.size() < 3 || !call.operands[2]);
  switch (reduction_of(call.attributes[0])) {
    case reduction::mean:
      if (!plain) return {};
      axis.how = join::mean;
      break;
    case reduction::none:
      axis.how = join::none;
      axis.result_dim = 0;
      break;
    case reduction::sum:
      break;
  }
  return {axis};
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

attribute any_reduction(sampler& random) {
  return random.coin() ? attribute{} : attribute{random.below(3)};
}

/// Rows and classes; with an `ignored` class so many that some rows are left.
std::pair<int64_t, int64_t> some_rows(sampler& random, bool ignored) {
  if (!ignored) return {random.some(), random.some()};
  return {12 + random.below(8), 3 + random.below(5)};
}

sample cross_entropy_example(sampler& random) {
  bool ignored = random.coin();
  auto [rows, classes] = some_rows(random, ignored);
  sample out{{random.tensor({rows, classes}), random.indices({rows}, classes), {}},
             {any_reduction(random), {}, {}}};
  if (ignored) out.attributes[1] = random.below(classes);
  if (random.coin()) out.attributes[2] = 0.125 * static_cast<double>(random.below(9));
  // In f32, which takes no gradient that differences in f64 would show.
  if (random.coin())
    out.operands[2] = sample_operand{
      random.type() == dtype::f64 ? dtype::f32 : random.type(), {classes}, contents::positive, 0};
  return out;
}

wrong_sample wrong_cross_entropy(sampler& random) {
  return {{{random.tensor({2, 3}), random.indices({3}, 3), {}}, {{}, {}, {}}},
          device_errc::shape_mismatch};
}

// -- nll -----------------------------------------------------------------------

void nll_gradient(gradient_context& g) {
  auto classes = g.type_of(g.operand(0)).dims[1];
  g.give(0,
         g.emit(op::nll_backward, {g.upstream(), g.operand(1)}, {g.attr(0), g.attr(1), classes}));
}

result<register_type> infer_nll_backward(const rule_context& c) {
  auto &gradient = c.operand(0), &targets = c.operand(1);
  auto classes = c.integer(2);
  return register_type{gradient.type,
                       gradient.storage,
                       {targets.dims[0], classes},
                       {targets.factors[0], c.fresh_axis(classes)}};
}

/// nll is linear in the probabilities, so it is its gradient's gradient.
void nll_backward_gradient(gradient_context& g) {
  g.give(0, g.emit(op::nll, {g.upstream(), g.operand(1)}, {g.attr(0), g.attr(1)}));
}

cost nll_cost(const typed_call& call) {
  auto rows = static_cast<double>(call.operands[1]->dims.elements());
  return {rows, rows * (size_of(call.operands[0]->storage) + size_of(call.operands[1]->storage))};
}

cost nll_backward_cost(const typed_call& call) {
  return traffic(call, 0);
}

sample nll_example(sampler& random) {
  bool ignored = random.coin();
  auto [rows, classes] = some_rows(random, ignored);
  sample out{{random.tensor({rows, classes}), random.indices({rows}, classes)},
             {any_reduction(random), {}}};
  if (ignored) out.attributes[1] = random.below(classes);
  return out;
}

wrong_sample wrong_nll(sampler& random) {
  return {{{random.tensor({2, 3}), random.indices({3}, 3)}, {{}, {}}}, device_errc::shape_mismatch};
}

sample nll_backward_example(sampler& random) {
  bool ignored = random.coin();
  auto [rows, classes] = some_rows(random, ignored);
  auto how = random.below(3);
  sample out{{random.tensor(how == 2 ? shape{rows} : shape{}), random.indices({rows}, classes)},
             {how, {}, classes}};
  if (ignored) out.attributes[1] = random.below(classes);
  return out;
}

std::vector<row> nll_rows() {
  row forward{
    .id = op::nll,
    .name = "nll",
    .sentence = "-log_probs [rows, classes] at targets [rows], joined over the rows whose target "
                "is not `ignore_index`.",
    .reference = "torch.nn.functional.nll_loss",
    .fields = {{"log_probs", field_kind::reg},
               {"targets", field_kind::reg},
               {"reduce", field_kind::choice, true, reductions},
               {"ignore_index", field_kind::int64, true}},
    .infer = [](const rule_context& c) { return infer_rows(c, "log_probs"); },
    .gradient = nll_gradient,
    .split = split_rows,
    .costs = nll_cost,
    .pytorch = "F.nll_loss(log_probs, targets, reduction=reduce or 'mean', "
               "ignore_index=-100 if ignore_index is None else ignore_index)",
    .example = nll_example,
    .wrong = wrong_nll,
    .tolerance = 8,
  };
  auto backward = forward;
  backward.id = op::nll_backward;
  backward.name = "nll_backward";
  backward.sentence = "The gradient of nll: one entry a row that isn't ignored.";
  backward.fields = {{"gradient", field_kind::reg},
                     {"targets", field_kind::reg},
                     {"reduce", field_kind::choice, true, reductions},
                     {"ignore_index", field_kind::int64, true},
                     {"classes", field_kind::nat32}};
  backward.infer = infer_nll_backward;
  backward.gradient = nll_backward_gradient;
  backward.split = nullptr;
  backward.costs = nll_backward_cost;
  backward.pytorch = {};
  backward.example = nll_backward_example;
  backward.wrong = nullptr;
  return {forward, backward};
}

} // namespace

std::vector<row> loss_rows() {
  row forward{
    .id = op::cross_entropy,
    .name = "cross_entropy",
    .sentence = "-log softmax(logits [rows, classes]) at targets [rows], in natural logarithms, "
                "joined over the rows whose target is not `ignore_index`; a share `smoothing` of "
                "each target is given to all classes. class_weights take no gradient.",
    .reference = "torch.nn.functional.cross_entropy",
    .fields = {{"logits", field_kind::reg},
               {"targets", field_kind::reg},
               {"reduce", field_kind::choice, true, reductions},
               {"ignore_index", field_kind::int64, true},
               {"smoothing", field_kind::float64, true},
               {"class_weights", field_kind::opt_reg, true}},
    .infer = infer_cross_entropy,
    .gradient = cross_entropy_gradient,
    .training_form = op::cross_entropy_train,
    .split = split_rows,
    .costs = cross_entropy_cost,
    .pytorch = "F.cross_entropy(logits, targets, weight=None if class_weights is None else "
               "class_weights.detach().to(logits.dtype), reduction=reduce or 'mean', "
               "label_smoothing=smoothing or 0.0, ignore_index=-100 if ignore_index is None else "
               "ignore_index)",
    .example = cross_entropy_example,
    .wrong = wrong_cross_entropy,
    .tolerance = 8,
  };
  auto train = forward;
  train.id = train.training_form = op::cross_entropy_train;
  train.name = "cross_entropy_train";
  train.sentence = "cross_entropy, and as second result the gradient with respect to the logits of "
                   "the loss, or of each row's loss.";
  train.infer_second = [](const rule_context& c) { return c.operand(0); };
  train.costs = cross_entropy_train_cost;
  std::vector<row> out{forward, train};
  for (auto& one : nll_rows()) out.push_back(std::move(one));
  for (auto& one : difference_loss_rows()) out.push_back(std::move(one));
  return out;
}

} // namespace moxzi::device
