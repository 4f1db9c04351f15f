#include "device/ops/norm_rows.hpp"

namespace moxzi::device {

namespace {

// Attributes: mean, variance (names of stored values), momentum, eps, train.

cost batch_norm_cost(const typed_call& call) {
  return traffic(call, 8);
}

result<register_type> infer_batch_norm(const rule_context& c) {
  auto& x = c.operand(0);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  if (x.dims.rank() < 2)
    return complain(device_errc::shape_mismatch, "x is {}; [batch, channels, ..] wanted",
                    to_string(x.dims));
  if (auto ok = want_weights(c, 1, {x.dims[1]}); !ok) return ok.error();
  if (auto ok = want_positive("eps", c.attr(3)); !ok) return ok.error();
  auto momentum = std::get_if<double>(&c.attr(2));
  if (momentum && !(*momentum >= 0 && *momentum <= 1))
    return complain(device_errc::invalid_value, "momentum is {}; 0 to 1 wanted", *momentum);
  auto wanted = statistics_of(x, {x.dims[1]});
  for (size_t n = 0; n < 2; ++n) {
    auto known = c.value(c.text(n));
    if (known && (known->dims != wanted.dims || known->type != wanted.type))
      return complain(device_errc::shape_mismatch, "the stored value \"{}\" is {}; {} wanted",
                      c.text(n), known->text(), wanted.text());
  }
  return x;
}

result<register_type> infer_active(const rule_context& c) {
  auto out = infer_batch_norm(c);
  if (out && out->dims.elements() == out->dims[1] && out->dims[1] > 0)
    return complain(device_errc::shape_mismatch,
                    "x is {}, with one element a channel; more wanted for their deviation",
                    to_string(out->dims));
  return out;
}

/// The new running mean and variance, the batch's mean and its 1 / deviation.
register_type active_statistics(const rule_context& c) {
  auto& x = c.operand(0);
  auto out = statistics_of(x, {4, x.dims[1]});
  out.factors = {c.fresh_axis(4), x.factors[1]};
  return out;
}

void batch_norm_gradient(gradient_context& g) {
  auto x = g.emit(op::batch_norm_backward, {g.upstream(), g.operand(0), weights_or_none(g, 1)},
                  {g.attr(0), g.attr(1), g.attr(3)});
  g.give(0, x);
  give_weights(g, x, 1);
}

void active_gradient(gradient_context& g) {
  auto kept = g.emit(op::second_of, {g.self()});
  auto x = g.emit(op::batch_norm_active_backward,
                  {g.upstream(), g.operand(0), kept, weights_or_none(g, 1)}, {});
  g.give(0, x);
  give_weights(g, x, 1);
}

/// With at least two elements a channel, or none.
sample_operand sampled(sampler& random) {
  shape dims{2 + random.below(4), random.size()};
  for (auto more = random.below(3); more > 0; --more) dims.push(random.size());
  return random.tensor(dims);
}

std::optional<sample_operand> weight(sampler& random, const sample_operand& x) {
  if (random.coin()) return std::nullopt;
  return random.tensor({x.dims[1]});
}

sample batch_norm_example(sampler& random) {
  auto x = sampled(random);
  return {{x, weight(random, x), weight(random, x)},
          {std::string("mean"), std::string("variance"),
           random.coin() ? attribute{0.25} : attribute{},
           random.coin() ? attribute{1e-3} : attribute{},
           random.coin() ? attribute{random.coin()} : attribute{}}};
}

row batch_norm_row() {
  return {
    .id = op::batch_norm,
    .name = "batch_norm",
    .sentence =
      "x [batch, channels, ..] less a mean, over a deviation, times w [channels], plus b. "
      "In a run with `train`, or if `train` is true, these are the batch's own, and the "
      "stored values `mean` and `variance` move towards them by `momentum` (0.1) when the "
      "run succeeds; otherwise they are those values, which begin as 0 and 1. eps is 1e-5.",
    .reference = "torch.nn.functional.batch_norm",
    .fields = {{"x", field_kind::reg},
               {"w", field_kind::opt_reg},
               {"b", field_kind::opt_reg},
               {"mean", field_kind::text},
               {"variance", field_kind::text},
               {"momentum", field_kind::float64, true},
               {"eps", field_kind::float64, true},
               {"train", field_kind::boolean, true}},
    .reads_values = 2,
    .settle =
      [](operation& what, bool trains) {
        auto own = std::get_if<bool>(&what.attributes[4]);
        if (own ? *own : trains) what.id = op::batch_norm_active;
      },
    .infer = infer_batch_norm,
    .gradient = batch_norm_gradient,
    .split = [](const typed_call& call) { return leading_axes(1, call.operands.size()); },
    .costs = batch_norm_cost,
    .pytorch = "batch_norm(x, w, b, 1e-5 if eps is None else eps, train)",
    .example = batch_norm_example,
    .wrong = [](sampler& random) -> wrong_sample {
      return {
        {{random.tensor({2, 3}), random.tensor({2}), std::nullopt},
         {std::string("mean"), std::string("variance"), attribute{}, attribute{}, attribute{}}},
        device_errc::shape_mismatch};
    },
    .tolerance = 32,
  };
}

row active_row() {
  auto out = batch_norm_row();
  out.id = op::batch_norm_active;
  out.name = "batch_norm_active";
  out.sentence = "batch_norm by the batch's own statistics, with these as its second result.";
  out.pure = false;
  out.writes = row_writes::statistics;
  out.settle = nullptr;
  out.infer = infer_active;
  out.infer_second = active_statistics;
  out.gradient = active_gradient;
  out.split = nullptr; // the statistics are of the whole batch
  out.pytorch = {};
  out.wrong = nullptr;
  return out;
}

row backward_row() {
  return {
    .id = op::batch_norm_backward,
    .name = "batch_norm_backward",
    .sentence = "The gradient of batch_norm for x; the second result has those for w and b.",
    .reference = "internal",
    .fields = {{"g", field_kind::reg},
               {"x", field_kind::reg},
               {"w", field_kind::opt_reg},
               {"mean", field_kind::text},
               {"variance", field_kind::text},
               {"eps", field_kind::float64, true}},
    .reads_values = 2,
    .infer = [](const rule_context& c) -> result<register_type> { return c.operand(1); },
    .infer_second = [](const rule_context& c) { return pair_of(c, {c.operand(1).dims[1]}); },
    .no_gradient = no_second_derivative,
    .split = [](const typed_call& call) { return backward_axes(call, 1, 2); },
    .costs = batch_norm_cost,
    .example = [](sampler& random) -> sample {
      auto x = sampled(random);
      return {{x, x, weight(random, x)},
              {std::string("mean"), std::string("variance"), attribute{}}};
    },
    .tolerance = 64,
  };
}

row active_backward_row() {
  return {
    .id = op::batch_norm_active_backward,
    .name = "batch_norm_active_backward",
    .sentence = "The gradient of batch_norm_active for x; the second result has those for w and b.",
    .reference = "internal",
    .fields = {{"g", field_kind::reg},
               {"x", field_kind::reg},
               {"statistics", field_kind::reg},
               {"w", field_kind::opt_reg}},
    .infer = [](const rule_context& c) -> result<register_type> { return c.operand(1); },
    .infer_second = [](const rule_context& c) { return pair_of(c, {c.operand(1).dims[1]}); },
    .no_gradient = no_second_derivative,
    .costs = batch_norm_cost,
    .example = [](sampler& random) -> sample {
      auto x = sampled(random);
      sample_operand kept{
        random.type() == dtype::f64 ? dtype::f64 : dtype::f32, {4, x.dims[1]}, contents::positive};
      return {{x, x, kept, weight(random, x)}, {}};
    },
    .tolerance = 64,
  };
}

} // namespace

std::vector<row> batch_norm_rows() {
  return {batch_norm_row(), active_row(), backward_row(), active_backward_row()};
}

} // namespace moxzi::device
