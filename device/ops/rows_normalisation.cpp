#include "device/ops/norm_rows.hpp"

namespace moxzi::device {

namespace {

cost norm_cost(const typed_call& call) {
  return traffic(call, 8);
}

// -- normalisation of the last dimensions --------------------------------------

/// How many trailing dimensions a call of layer_norm takes together.
int64_t taken(const attribute& dims) {
  auto given = std::get_if<int64_t>(&dims);
  return given ? *given : 1;
}

result<register_type> infer_layer_norm(const rule_context& c) {
  auto& x = c.operand(0);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  if (auto ok = want_positive("eps", c.attr(0)); !ok) return ok.error();
  auto dims = taken(c.attr(1));
  if (dims < 1 || dims > static_cast<int64_t>(x.dims.rank()))
    return complain(device_errc::dim_range, "the last {} dimensions of x {}, which has {}", dims,
                    to_string(x.dims), x.dims.rank());
  if (auto ok = want_weights(c, 1, trailing(x.dims, dims)); !ok) return ok.error();
  return x;
}

register_type layer_norm_statistics(const rule_context& c) {
  auto& x = c.operand(0);
  auto kept = leading(x.dims, taken(c.attr(1)));
  kept.push(2);
  auto out = statistics_of(x, kept);
  out.factors.assign(x.factors.begin(), x.factors.begin() + static_cast<int64_t>(kept.rank() - 1));
  out.factors.push_back(c.fresh_axis(2));
  return out;
}

void layer_norm_gradient(gradient_context& g) {
  auto kept = g.emit(op::second_of, {g.self()});
  auto x = g.emit(op::layer_norm_backward,
                  {g.upstream(), g.operand(0), kept, weights_or_none(g, 1)}, {taken(g.attr(1))});
  g.give(0, x);
  give_weights(g, x, 1);
}

/// Operands g, x, …: the result is like x.
result<register_type> infer_like_x(const rule_context& c) {
  return c.operand(1);
}

std::vector<split_axis> split_layer_norm(const typed_call& call) {
  auto rows = call.result->dims.rank() - static_cast<size_t>(taken(call.attributes[1]));
  return leading_axes(rows, call.operands.size());
}

/// Sizes, and those of the last `taken` dimensions. One more must have room.
sample normalised_example(sampler& random, int64_t& count) {
  auto dims = random.dims(1, 4);
  count = 1 + random.below(static_cast<int64_t>(dims.rank()));
  return {{random.tensor(dims)}, {}};
}

sample layer_norm_example(sampler& random) {
  int64_t count = 0;
  auto out = normalised_example(random, count);
  auto dims = trailing(out.operands[0]->dims, count);
  for (int i = 0; i < 2; ++i)
    out.operands.push_back(random.coin() ? std::optional(random.tensor(dims)) : std::nullopt);
  out.attributes = {random.coin() ? attribute{1e-3} : attribute{},
                    count > 1 || random.coin() ? attribute{count} : attribute{}};
  return out;
}

sample layer_norm_backward_example(sampler& random) {
  int64_t count = 0;
  auto out = normalised_example(random, count);
  auto x = *out.operands[0];
  auto kept = leading(x.dims, count);
  kept.push(2);
  sample_operand statistics{random.type() == dtype::f64 ? dtype::f64 : dtype::f32, kept,
                            contents::positive};
  out.operands = {x, x, statistics,
                  random.coin() ? std::optional(random.tensor(trailing(x.dims, count)))
                                : std::nullopt};
  out.attributes = {count};
  return out;
}

wrong_sample wrong_layer_norm(sampler& random) {
  return {{{random.tensor({2, 3}), random.tensor({2}), std::nullopt}, {attribute{}, attribute{}}},
          device_errc::shape_mismatch};
}

row layer_norm_row() {
  return {
    .id = op::layer_norm,
    .name = "layer_norm",
    .sentence = "x less its mean, over its deviation, taken over the last `dims` dimensions (1), "
                "then times w, plus b; eps is 1e-5.",
    .reference = "torch.nn.functional.layer_norm",
    .fields = {{"x", field_kind::reg},
               {"w", field_kind::opt_reg},
               {"b", field_kind::opt_reg},
               {"eps", field_kind::float64, true},
               {"dims", field_kind::nat32, true}},
    .infer = infer_layer_norm,
    .gradient = layer_norm_gradient,
    .training_form = op::layer_norm_train,
    .split = split_layer_norm,
    .costs = norm_cost,
    .pytorch =
      "F.layer_norm(x, x.shape[x.dim() - (dims or 1):], w, b, 1e-5 if eps is None else eps)",
    .example = layer_norm_example,
    .wrong = wrong_layer_norm,
    .tolerance = 16,
  };
}

row layer_norm_backward_row() {
  return {
    .id = op::layer_norm_backward,
    .name = "layer_norm_backward",
    .sentence = "The gradient of layer_norm for x; the second result has those for w and b.",
    .reference = "internal",
    .fields = {{"g", field_kind::reg},
               {"x", field_kind::reg},
               {"statistics", field_kind::reg},
               {"w", field_kind::opt_reg},
               {"dims", field_kind::nat32}},
    .infer = infer_like_x,
    .infer_second =
      [](const rule_context& c) { return pair_of(c, trailing(c.operand(1).dims, c.integer(0))); },
    .no_gradient = no_second_derivative,
    .split =
      [](const typed_call& call) {
        auto taken = static_cast<size_t>(std::get<int64_t>(call.attributes[0]));
        return backward_axes(call, call.result->dims.rank() - taken, 3);
      },
    .costs = norm_cost,
    .example = layer_norm_backward_example,
    .tolerance = 64,
  };
}

// -- rms_norm ------------------------------------------------------------------

result<register_type> infer_rms_norm(const rule_context& c) {
  auto& x = c.operand(0);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  if (auto ok = want_positive("eps", c.attr(0)); !ok) return ok.error();
  if (x.dims.rank() == 0)
    return complain(device_errc::shape_mismatch, "x has no dimension to normalise");
  if (auto ok = want_weights(c, 1, trailing(x.dims, 1)); !ok) return ok.error();
  return x;
}

void rms_norm_gradient(gradient_context& g) {
  auto kept = g.emit(op::second_of, {g.self()});
  auto x =
    g.emit(op::rms_norm_backward, {g.upstream(), g.operand(0), kept, weights_or_none(g, 1)}, {});
  g.give(0, x);
  if (g.wants(1)) g.give(1, g.emit(op::second_of, {x}));
}

sample rms_norm_example(sampler& random) {
  auto dims = random.dims(1, 4);
  return {{random.tensor(dims),
           random.coin() ? std::optional(random.tensor(trailing(dims, 1))) : std::nullopt},
          {random.coin() ? attribute{1e-3} : attribute{}}};
}

sample rms_norm_backward_example(sampler& random) {
  auto x = random.tensor(random.dims(1, 4));
  sample_operand kept{random.type() == dtype::f64 ? dtype::f64 : dtype::f32, leading(x.dims, 1),
                      contents::positive};
  return {
    {x, x, kept, random.coin() ? std::optional(random.tensor(trailing(x.dims, 1))) : std::nullopt},
    {}};
}

row rms_norm_row() {
  return {
    .id = op::rms_norm,
    .name = "rms_norm",
    .sentence = "x over the root of the mean of its squares (plus eps) along the last dimension, "
                "times w; eps is the step from 1 to the next number of f32, or of f64.",
    .reference = "torch.nn.functional.rms_norm",
    .fields = {{"x", field_kind::reg},
               {"w", field_kind::opt_reg},
               {"eps", field_kind::float64, true}},
    .infer = infer_rms_norm,
    .gradient = rms_norm_gradient,
    .training_form = op::rms_norm_train,
    .split =
      [](const typed_call& call) {
        return leading_axes(call.result->dims.rank() - 1, call.operands.size());
      },
    .costs = norm_cost,
    .pytorch = "F.rms_norm(x, x.shape[-1:], w, eps)",
    .example = rms_norm_example,
    .wrong = [](sampler& random) -> wrong_sample {
      return {{{random.tensor({2, 3}), random.tensor({2})}, {attribute{}}},
              device_errc::shape_mismatch};
    },
    .tolerance = 16,
  };
}

row rms_norm_backward_row() {
  return {
    .id = op::rms_norm_backward,
    .name = "rms_norm_backward",
    .sentence = "The gradient of rms_norm for x; the second result is that for w.",
    .reference = "internal",
    .fields = {{"g", field_kind::reg},
               {"x", field_kind::reg},
               {"statistics", field_kind::reg},
               {"w", field_kind::opt_reg}},
    .infer = infer_like_x,
    .infer_second =
      [](const rule_context& c) {
        auto& x = c.operand(1);
        return register_type{x.type, x.storage, trailing(x.dims, 1), {x.factors.back()}};
      },
    .no_gradient = no_second_derivative,
    .split =
      [](const typed_call& call) { return backward_axes(call, call.result->dims.rank() - 1, 3); },
    .costs = norm_cost,
    .example = rms_norm_backward_example,
    .tolerance = 64,
  };
}

// -- group_norm ----------------------------------------------------------------

result<register_type> infer_group_norm(const rule_context& c) {
  auto& x = c.operand(0);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  if (auto ok = want_positive("eps", c.attr(1)); !ok) return ok.error();
  if (x.dims.rank() < 2)
    return complain(device_errc::shape_mismatch, "x is {}; [batch, channels, ..] wanted",
                    to_string(x.dims));
  auto groups = c.integer(0);
  if (groups < 1 || x.dims[1] % groups != 0)
    return complain(device_errc::invalid_value, "{} groups don't divide the {} channels of x {}",
                    groups, x.dims[1], to_string(x.dims));
  if (auto ok = want_weights(c, 1, {x.dims[1]}); !ok) return ok.error();
  return x;
}

void group_norm_gradient(gradient_context& g) {
  auto kept = g.emit(op::second_of, {g.self()});
  auto x = g.emit(op::group_norm_backward,
                  {g.upstream(), g.operand(0), kept, weights_or_none(g, 1)}, {g.attr(0)});
  g.give(0, x);
  give_weights(g, x, 1);
}

/// [batch, channels, ..] with channels that some number of groups divides.
shape grouped(sampler& random, int64_t& groups) {
  groups = 1 + random.below(4);
  shape dims{random.size(), groups * random.some()};
  for (auto more = random.below(3); more > 0; --more) dims.push(random.size());
  return dims;
}

sample group_norm_example(sampler& random) {
  int64_t groups = 0;
  auto dims = grouped(random, groups);
  sample out{{random.tensor(dims)}, {groups, random.coin() ? attribute{1e-3} : attribute{}}};
  for (int i = 0; i < 2; ++i)
    out.operands.push_back(random.coin() ? std::optional(random.tensor({dims[1]})) : std::nullopt);
  return out;
}

sample group_norm_backward_example(sampler& random) {
  int64_t groups = 0;
  auto x = random.tensor(grouped(random, groups));
  sample_operand kept{random.type() == dtype::f64 ? dtype::f64 : dtype::f32,
                      {x.dims[0], groups, 2},
                      contents::positive};
  return {{x, x, kept, random.coin() ? std::optional(random.tensor({x.dims[1]})) : std::nullopt},
          {groups}};
}

row group_norm_row() {
  return {
    .id = op::group_norm,
    .name = "group_norm",
    .sentence =
      "x [batch, channels, ..] less its mean, over its deviation, taken over each group of "
      "channels of each sample, then times w [channels], plus b; eps is 1e-5.",
    .reference = "torch.nn.functional.group_norm",
    .fields = {{"x", field_kind::reg},
               {"groups", field_kind::nat32},
               {"w", field_kind::opt_reg},
               {"b", field_kind::opt_reg},
               {"eps", field_kind::float64, true}},
    .infer = infer_group_norm,
    .gradient = group_norm_gradient,
    .training_form = op::group_norm_train,
    .split = [](const typed_call& call) { return leading_axes(1, call.operands.size()); },
    .costs = norm_cost,
    .pytorch = "group_norm(x, groups, w, b, 1e-5 if eps is None else eps)",
    .example = group_norm_example,
    .wrong = [](sampler& random) -> wrong_sample {
      return {{{random.tensor({2, 5}), std::nullopt, std::nullopt}, {int64_t{2}, attribute{}}},
              device_errc::invalid_value};
    },
    .tolerance = 16,
  };
}

row group_norm_backward_row() {
  return {
    .id = op::group_norm_backward,
    .name = "group_norm_backward",
    .sentence = "The gradient of group_norm for x; the second result has those for w and b.",
    .reference = "internal",
    .fields = {{"g", field_kind::reg},
               {"x", field_kind::reg},
               {"statistics", field_kind::reg},
               {"w", field_kind::opt_reg},
               {"groups", field_kind::nat32}},
    .infer = infer_like_x,
    .infer_second = [](const rule_context& c) { return pair_of(c, {c.operand(1).dims[1]}); },
    .no_gradient = no_second_derivative,
    .split = [](const typed_call& call) { return backward_axes(call, 1, 3); },
    .costs = norm_cost,
    .example = group_norm_backward_example,
    .tolerance = 64,
  };
}

/// The row that takes the place of `forward` where its gradient is wanted.
row kept(row forward, std::string_view name, std::string_view sentence,
         register_type (*second)(const rule_context&)) {
  forward.id = forward.training_form;
  forward.name = name;
  forward.sentence = sentence;
  forward.infer_second = second;
  return forward;
}

} // namespace

std::vector<row> normalisation_rows() {
  return {
    layer_norm_row(),
    kept(layer_norm_row(), "layer_norm_train",
         "layer_norm, and as second result the mean and 1 / deviation of each row.",
         layer_norm_statistics),
    layer_norm_backward_row(),
    rms_norm_row(),
    kept(rms_norm_row(), "rms_norm_train", "rms_norm, and as second result 1 / root of each row.",
         [](const rule_context& c) {
           auto& x = c.operand(0);
           auto out = statistics_of(x, leading(x.dims, 1));
           out.factors.assign(x.factors.begin(), x.factors.end() - 1);
           return out;
         }),
    rms_norm_backward_row(),
    group_norm_row(),
    kept(group_norm_row(), "group_norm_train",
         "group_norm, and as second result the mean and 1 / deviation of each group.",
         [](const rule_context& c) {
           auto& x = c.operand(0);
           auto out = statistics_of(x, {x.dims[0], c.integer(0), 2});
           out.factors = {x.factors[0], c.fresh_axis(c.integer(0)), c.fresh_axis(2)};
           return out;
         }),
    group_norm_backward_row(),
  };
}

} // namespace moxzi::device
