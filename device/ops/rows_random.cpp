#include <cmath>

#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

result<void> want_probability(std::string_view name, double value) {
  if (value >= 0 && value <= 1) return {};
  return complain(device_errc::invalid_value, "{} is {}; 0 to 1 wanted", name, value);
}

attribute some_seed(sampler& random) {
  return random.coin() ? attribute{random.below(1000)} : attribute{};
}

// -- random --------------------------------------------------------------------

result<register_type> infer_random(const rule_context& c) {
  auto& wanted = c.list(0);
  if (wanted.size() > rank_max)
    return complain(device_errc::shape_mismatch, "shape has {} dimensions; at most {}",
                    wanted.size(), rank_max);
  if (auto p = std::get_if<double>(&c.attr(1)))
    if (auto ok = want_probability("bernoulli", *p); !ok) return ok.error();
  register_type out;
  for (auto size : wanted) {
    out.dims.push(size);
    out.factors.push_back(c.fresh_axis(size));
  }
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

sample random_example(sampler& random) {
  auto dims = random.dims(0, 4);
  auto kind = random.below(3);
  return {{},
          {std::vector<uint32_t>{dims.sizes().begin(), dims.sizes().end()},
           kind < 2 ? attribute{kind} : attribute{0.25}, some_seed(random)}};
}

row random_row() {
  return {
    .id = op::random,
    .name = "random",
    .sentence =
      "Random f32 numbers: uniform from 0 to below 1, standard normal, or 1 with the "
      "probability `bernoulli` and else 0; others in each run, unless the run or this has "
      "a seed.",
    .reference = "Philox-4x32-10 (Salmon et al.)",
    .fields = {{"shape", field_kind::nat32s},
               {"kind", field_kind::distribution},
               {"seed", field_kind::nat64, true}},
    .takes = all_types,
    .pure = false,
    .infer = infer_random,
    .no_gradient = "random numbers have no gradient",
    .costs = [](const typed_call& call) { return traffic(call, 10); },
    .pytorch = "torch.rand(shape)",
    .example = random_example,
    .wrong = [](sampler&) -> wrong_sample {
      return {{{}, {std::vector<uint32_t>{2}, 1.5, attribute{}}}, device_errc::invalid_value};
    },
  };
}

// -- dropout -------------------------------------------------------------------

result<register_type> infer_dropout(const rule_context& c) {
  auto& x = c.operand(0);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  if (auto ok = want_probability("p", std::get<double>(c.attr(0))); !ok) return ok.error();
  return x;
}

/// The same elements are dropped from the gradient.
void dropout_gradient(gradient_context& g) {
  g.give(0, g.emit(op::dropout_active, {g.upstream()}, {g.attr(0), g.attr(1)}));
}

sample dropout_example(sampler& random) {
  return {{random.tensor(random.dims(0, 4))},
          {0.25 * static_cast<double>(random.below(5)), some_seed(random)}};
}

row dropout_row() {
  return {
    .id = op::dropout,
    .name = "dropout",
    .sentence = "In a run with `train`, x with each element 0 with probability p and else divided "
                "by 1 - p; otherwise x. Others are dropped in each step; the run's or this "
                "operation's own seed says which.",
    .reference = "torch.nn.functional.dropout",
    .fields = {{"x", field_kind::reg},
               {"p", field_kind::float64},
               {"seed", field_kind::nat64, true}},
    .runs = row_runs::view,
    .settle =
      [](operation& what, bool trains) {
        if (trains) what.id = op::dropout_active;
      },
    .infer = infer_dropout,
    .gradient = [](gradient_context& g) { g.give(0, g.upstream()); },
    .split = [](const typed_call& call) { return leading_axes(call.result->dims.rank(), 1); },
    .costs = [](const typed_call&) { return cost{}; },
    .look = [](const typed_call&, const shape& strides) -> std::optional<look> {
      return look{0, strides};
    },
    .pytorch = "F.dropout(x, p, False)",
    .example = dropout_example,
    .wrong = [](sampler& random) -> wrong_sample {
      return {{{random.tensor({2})}, {1.5, attribute{}}}, device_errc::invalid_value};
    },
  };
}

row dropout_active_row() {
  auto out = dropout_row();
  out.id = op::dropout_active;
  out.name = "dropout_active";
  out.sentence = "dropout in a run with `train`.";
  out.runs = row_runs::kernel;
  out.pure = false;
  out.settle = nullptr;
  out.gradient = dropout_gradient;
  out.split = nullptr; // the place of an element in the whole tensor counts
  out.costs = [](const typed_call& call) { return traffic(call, 10); };
  out.look = nullptr;
  out.pytorch = {};
  out.wrong = nullptr;
  return out;
}

// -- categorical ---------------------------------------------------------------

result<register_type> infer_categorical(const rule_context& c) {
  auto& logits = c.operand(0);
  if (auto ok = want_float("logits", logits); !ok) return ok.error();
  auto out = register_type{dtype::i64, elem::i64, {}, {}};
  if (logits.dims.rank() == 0 || logits.dims.last() == 0)
    return complain(device_errc::shape_mismatch, "logits {} has no classes to choose from",
                    to_string(logits.dims));
  auto temperature = std::get_if<double>(&c.attr(0)), top_p = std::get_if<double>(&c.attr(2));
  if (temperature && !(*temperature >= 0 && std::isfinite(*temperature)))
    return complain(device_errc::invalid_value,
                    "temperature is {}; a finite number not below 0 "
                    "wanted",
                    *temperature);
  if (auto k = std::get_if<int64_t>(&c.attr(1)); k && *k < 1)
    return complain(device_errc::invalid_value, "top_k is 0; at least 1 wanted");
  if (top_p)
    if (auto ok = want_probability("top_p", *top_p); !ok) return ok.error();
  for (size_t i = 0; i + 1 < logits.dims.rank(); ++i) {
    out.dims.push(logits.dims[i]);
    out.factors.push_back(logits.factors[i]);
  }
  return out;
}

sample categorical_example(sampler& random) {
  auto dims = random.dims(0, 3);
  dims.push(random.some());
  constexpr double temperatures[] = {0, 0.5, 2};
  auto temperature = random.below(4);
  return {{random.tensor(dims)},
          {temperature < 3 ? attribute{temperatures[temperature]} : attribute{},
           random.coin() ? attribute{1 + random.below(5)} : attribute{},
           random.coin() ? attribute{0.125 * static_cast<double>(random.below(9))} : attribute{},
           some_seed(random)}};
}

row categorical_row() {
  return {
    .id = op::categorical,
    .name = "categorical",
    .sentence = "For each row of logits [.., classes] a class drawn from softmax(logits / "
                "temperature), of the `top_k` likeliest, and of the likeliest that together have "
                "probability `top_p`; a temperature of 0 always takes the likeliest.",
    .reference = "torch.multinomial",
    .fields = {{"logits", field_kind::reg},
               {"temperature", field_kind::float64, true},
               {"top_k", field_kind::nat32, true},
               {"top_p", field_kind::float64, true},
               {"seed", field_kind::nat64, true}},
    .pure = false,
    .infer = infer_categorical,
    .no_gradient = "what was drawn has no gradient",
    .costs =
      [](const typed_call& call) {
        auto sum = traffic(call, 0);
        sum.flops = 30 * static_cast<double>(call.operands[0]->dims.elements());
        return sum;
      },
    .pytorch = "logits.argmax(-1)",
    .example = categorical_example,
    .wrong = [](sampler& random) -> wrong_sample {
      return {{{random.tensor({2, 3})}, {-1.0, attribute{}, attribute{}, attribute{}}},
              device_errc::invalid_value};
    },
  };
}

} // namespace

std::vector<row> random_rows() {
  return {random_row(), dropout_row(), dropout_active_row(), categorical_row()};
}

} // namespace moxzi::device
