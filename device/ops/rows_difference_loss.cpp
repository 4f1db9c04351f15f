#include "device/ops/options.hpp"
#include "device/ops/pointwise_rows.hpp"

// Losses of two tensors of one shape, element by element.

namespace moxzi::device {

namespace {

result<register_type> infer_difference(const rule_context& c, std::string_view a_name,
                                       std::string_view b_name) {
  auto &a = c.operand(0), &b = c.operand(1);
  if (auto ok = want_float(a_name, a); !ok) return ok.error();
  if (auto ok = want_same_type(a_name, a, b_name, b); !ok) return ok.error();
  if (a.dims != b.dims)
    return complain(device_errc::shape_mismatch, "{} {} and {} {}; the same shape wanted", a_name,
                    to_string(a.dims), b_name, to_string(b.dims));
  return a;
}

/// `reduce` is the last attribute.
result<register_type> reduced(result<register_type> all, const attribute& reduce) {
  if (!all || reduction_of(reduce) == reduction::none) return all;
  return register_type{all->type, all->storage, {}, {}};
}

result<register_type> infer_pair(const rule_context& c) {
  return reduced(infer_difference(c, "a", "b"), c.attr(0));
}

result<register_type> infer_bce(const rule_context& c) {
  return reduced(infer_difference(c, "logits", "targets"), c.attr(0));
}

result<register_type> infer_kl(const rule_context& c) {
  return reduced(infer_difference(c, "log_q", "p"), c.attr(0));
}

result<register_type> infer_huber(const rule_context& c) {
  auto delta = std::get<double>(c.attr(0));
  if (!(delta > 0)) return complain(device_errc::invalid_value, "delta {} is not above 0", delta);
  return reduced(infer_difference(c, "a", "b"), c.attr(1));
}

// -- gradients -----------------------------------------------------------------

/// Times the upstream gradient, and by the number of elements if the loss is their mean.
reg times_upstream(gradient_context& g, reg slope, const attribute& reduce, double by = 1) {
  words w(g);
  auto how = reduction_of(reduce);
  if (how == reduction::mean) by /= static_cast<double>(g.type_of(slope).dims.elements());
  if (by != 1) slope = w.times(slope, by);
  if (how == reduction::none) return w.mul(slope, g.upstream());
  return g.upstream_is_one() ? slope : g.emit(op::mul, {slope, g.upstream()});
}

/// The slope with respect to a; that of b is its negative.
void give_both(gradient_context& g, reg slope) {
  g.give(0, slope);
  if (g.wants(1)) g.give(1, words(g).neg(slope));
}

void mse_gradient(gradient_context& g) {
  auto apart = words(g).sub(g.operand(0), g.operand(1));
  give_both(g, times_upstream(g, apart, g.attr(0), 2));
}

void l1_gradient(gradient_context& g) {
  words w(g);
  auto side = w.unary(op::sign, w.sub(g.operand(0), g.operand(1)));
  give_both(g, times_upstream(g, side, g.attr(0)));
}

void huber_gradient(gradient_context& g) {
  words w(g);
  auto delta = std::get<double>(g.attr(0));
  auto apart = w.sub(g.operand(0), g.operand(1));
  auto slope = g.emit(op::clamp, {apart}, {-delta, delta});
  give_both(g, times_upstream(g, slope, g.attr(1)));
}

void bce_gradient(gradient_context& g) {
  words w(g);
  auto x = g.operand(0), targets = g.operand(1);
  if (g.wants(0)) g.give(0, times_upstream(g, w.sub(w.unary(op::sigmoid, x), targets), g.attr(0)));
  if (g.wants(1)) g.give(1, times_upstream(g, w.neg(x), g.attr(0)));
}

void kl_gradient(gradient_context& g) {
  words w(g);
  auto log_q = g.operand(0), p = g.operand(1);
  if (g.wants(0)) g.give(0, times_upstream(g, w.neg(p), g.attr(0)));
  if (!g.wants(1)) return;
  auto slope = w.plus(w.sub(w.unary(op::log, p), log_q), 1);
  g.give(1, times_upstream(g, slope, g.attr(0)));
}

// -- splits and samples --------------------------------------------------------

std::vector<split_axis> split_losses(const typed_call& call) {
  std::vector<split_axis> axes;
  auto how = reduction_of(call.attributes.back());
  auto rank = static_cast<int>(call.operands[0]->dims.rank());
  for (int i = 0; i < rank; ++i)
    axes.push_back({{i, i},
                    how == reduction::none ? i : -1,
                    how == reduction::none  ? join::none
                    : how == reduction::sum ? join::sum
                                            : join::mean});
  return axes;
}

cost loss_cost(const typed_call& call) {
  auto sum = traffic(call, 0);
  sum.flops = 3 * static_cast<double>(call.operands[0]->dims.elements());
  return sum;
}

attribute any_reduction(sampler& random) {
  return random.coin() ? attribute{} : attribute{random.below(3)};
}

template <contents A, contents B>
sample pair_example(sampler& random) {
  auto dims = random.dims(0, 4);
  return {{random.tensor(dims, A), random.tensor(dims, B)}, {any_reduction(random)}};
}

sample huber_example(sampler& random) {
  auto dims = random.dims(0, 4);
  return {{random.tensor(dims), random.tensor(dims)},
          {0.25 * static_cast<double>(1 + random.below(8)), any_reduction(random)}};
}

wrong_sample wrong_pair(sampler& random) {
  return {{{random.tensor({2, 3}), random.tensor({3})}, {{}}}, device_errc::shape_mismatch};
}

wrong_sample wrong_huber(sampler& random) {
  return {{{random.tensor({2}), random.tensor({2})}, {0.0, {}}}, device_errc::invalid_value};
}

row loss(op id, std::string_view name, std::string_view sentence, std::string_view pytorch) {
  row out;
  out.id = id;
  out.name = name;
  out.sentence = sentence;
  out.reference = pytorch;
  out.fields = {{"a", field_kind::reg},
                {"b", field_kind::reg},
                {"reduce", field_kind::choice, true, {"mean", "sum", "none"}}};
  out.infer = infer_pair;
  out.split = split_losses;
  out.costs = loss_cost;
  out.example = pair_example<contents::any, contents::any>;
  out.wrong = wrong_pair;
  out.tolerance = 16;
  return out;
}

} // namespace

std::vector<row> difference_loss_rows() {
  auto mse = loss(op::mse, "mse", "(a - b)², of one shape, as mean unless `reduce` says else.",
                  "torch.nn.functional.mse_loss");
  mse.gradient = mse_gradient;
  mse.pytorch = "F.mse_loss(a, b, reduction=reduce or 'mean')";
  auto l1 = loss(op::l1, "l1", "|a - b|, of one shape, as mean unless `reduce` says else.",
                 "torch.nn.functional.l1_loss");
  l1.gradient = l1_gradient;
  l1.pytorch = "F.l1_loss(a, b, reduction=reduce or 'mean')";
  auto huber = loss(op::huber, "huber",
                    "(a - b)² / 2 where |a - b| ≤ delta, else delta · (|a - b| - delta / 2); as "
                    "mean unless `reduce` says else.",
                    "torch.nn.functional.huber_loss");
  huber.fields.insert(huber.fields.begin() + 2, {"delta", field_kind::float64});
  huber.infer = infer_huber;
  huber.gradient = huber_gradient;
  huber.pytorch = "F.huber_loss(a, b, reduction=reduce or 'mean', delta=delta)";
  huber.example = huber_example;
  huber.wrong = wrong_huber;
  auto bce = loss(op::bce_logits, "bce_logits",
                  "The binary cross entropy of sigmoid(logits) and targets from 0 to 1, of one "
                  "shape, as mean unless `reduce` says else.",
                  "torch.nn.functional.binary_cross_entropy_with_logits");
  bce.fields[0].name = "logits";
  bce.fields[1].name = "targets";
  bce.infer = infer_bce;
  bce.gradient = bce_gradient;
  bce.pytorch = "F.binary_cross_entropy_with_logits(logits, targets, reduction=reduce or 'mean')";
  bce.example = pair_example<contents::any, contents::unit>;
  auto kl = loss(op::kl, "kl",
                 "p · (log p - log_q), 0 where p is 0, of one shape, as mean over all elements "
                 "unless `reduce` says else.",
                 "torch.nn.functional.kl_div");
  kl.fields[0].name = "log_q";
  kl.fields[1].name = "p";
  kl.infer = infer_kl;
  kl.gradient = kl_gradient;
  kl.pytorch = "{'sum': torch.sum, 'none': torch.clone}.get(reduce, torch.mean)("
               "F.kl_div(log_q, p, reduction='none'))";
  kl.example = pair_example<contents::any, contents::unit>;
  return {mse, l1, huber, bce, kl};
}

} // namespace moxzi::device
