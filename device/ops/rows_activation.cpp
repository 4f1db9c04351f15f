#include "device/ops/pointwise_rows.hpp"

namespace moxzi::device {

namespace {

// -- gradients -----------------------------------------------------------------

/// Nothing flows back where x is 0, as in PyTorch.
void relu_gradient(gradient_context& g) {
  g.give(0, g.emit(op::keep_positive, {g.upstream(), g.operand(0)}));
}

void sigmoid_gradient(gradient_context& g) {
  words w(g);
  auto s = g.self();
  g.give(0, w.mul(g.upstream(), w.sub(s, w.square(s))));
}

/// σ(x) · (1 + x · (1 - σ(x))).
void silu_gradient(gradient_context& g) {
  words w(g);
  auto x = g.operand(0), s = w.unary(op::sigmoid, x);
  auto rest = w.mul(x, w.plus(w.neg(s), 1));
  g.give(0, w.mul(g.upstream(), w.mul(s, w.plus(rest, 1))));
}

void gelu_gradient(gradient_context& g) {
  words w(g);
  g.give(0, w.mul(g.upstream(), w.unary(op::gelu_slope, g.operand(0))));
}

/// φ(x) · (2 - x²), where φ is the normal density.
void gelu_slope_gradient(gradient_context& g) {
  words w(g);
  auto square = w.square(g.operand(0));
  auto density = w.times(w.unary(op::exp, w.times(square, -0.5)), 0.39894228040143268);
  g.give(0, w.mul(g.upstream(), w.mul(density, w.plus(w.neg(square), 2))));
}

void gelu_tanh_gradient(gradient_context& g) {
  words w(g);
  g.give(0, w.mul(g.upstream(), w.unary(op::gelu_tanh_slope, g.operand(0))));
}

void softplus_gradient(gradient_context& g) {
  words w(g);
  g.give(0, w.mul(g.upstream(), w.unary(op::sigmoid, g.operand(0))));
}

/// With t = tanh(softplus(x)): t + x · (1 - t²) · σ(x).
void mish_gradient(gradient_context& g) {
  words w(g);
  auto x = g.operand(0), t = w.unary(op::tanh, w.unary(op::softplus, x));
  auto inner = w.mul(w.plus(w.neg(w.square(t)), 1), w.unary(op::sigmoid, x));
  g.give(0, w.mul(g.upstream(), w.add(t, w.mul(x, inner))));
}

void leaky_relu_gradient(gradient_context& g) {
  auto below = words(g).times(g.upstream(), std::get<double>(g.attr(0)));
  g.give(0, g.emit(op::choose_positive, {g.operand(0), g.upstream(), below}));
}

/// α · eˣ below 0, which is the result + α.
void elu_gradient(gradient_context& g) {
  words w(g);
  auto below = w.mul(g.upstream(), w.plus(g.self(), std::get<double>(g.attr(0))));
  g.give(0, g.emit(op::choose_positive, {g.operand(0), g.upstream(), below}));
}

void clamp_gradient(gradient_context& g) {
  g.give(0, g.emit(op::keep_between, {g.upstream(), g.operand(0)}, {g.attr(0), g.attr(1)}));
}

// -- gradients of what gradients use -------------------------------------------

void keep_positive_gradient(gradient_context& g) {
  g.give(0, g.emit(op::keep_positive, {g.upstream(), g.operand(1)}));
}

void choose_positive_gradient(gradient_context& g) {
  auto x = g.operand(0);
  if (g.wants(1)) g.give(1, g.emit(op::keep_positive, {g.upstream(), x}));
  if (!g.wants(2)) return;
  auto nothing = words(g).times(g.upstream(), 0);
  g.give(2, g.emit(op::choose_positive, {x, nothing, g.upstream()}));
}

void keep_between_gradient(gradient_context& g) {
  g.give(0, g.emit(op::keep_between, {g.upstream(), g.operand(1)}, {g.attr(0), g.attr(1)}));
}

void share_of_less_gradient(gradient_context& g) {
  g.give(2, g.emit(op::share_of_less, {g.operand(0), g.operand(1), g.upstream()}));
}

// -- rules and samples ---------------------------------------------------------

result<register_type> infer_clamp(const rule_context& c) {
  auto low = std::get_if<double>(&c.attr(0)), high = std::get_if<double>(&c.attr(1));
  if (low && high && *low > *high)
    return complain(device_errc::invalid_value, "min {} is above max {}", *low, *high);
  return infer_number_unary(c);
}

sample clamp_example(sampler& random) {
  auto some = 1 + random.below(3);
  return {{random.tensor(random.dims(0, 4))},
          {some & 1 ? attribute{random.type() == dtype::u8 ? 1.0 : -1.0} : attribute{},
           some & 2 ? attribute{2.0} : attribute{}}};
}

wrong_sample wrong_clamp(sampler& random) {
  return {{{random.tensor({2})}, {1.0, -1.0}}, device_errc::invalid_value};
}

template <int TimesTen>
sample with_constant(sampler& random) {
  return {{random.tensor(random.dims(0, 4))}, {TimesTen / 10.0}};
}

wrong_sample wrong_with_constant(sampler& random) {
  return {{{random.mask({2})}, {0.1}}, device_errc::dtype_mismatch};
}

row function(row out) {
  out.costs = function_cost;
  out.tolerance = 8;
  return out;
}

row with_field(row out, std::string_view name, sample (*example)(sampler&)) {
  out.fields = {{"x", field_kind::reg}, {name, field_kind::float64}};
  out.form = field_form::record;
  out.example = example;
  out.wrong = wrong_with_constant;
  return out;
}

/// A row that only gradients use: operands of the same shape, the result like the first.
row internal(op id, std::string_view name, std::string_view sentence,
             std::vector<std::string_view> operands, void (*gradient)(gradient_context&)) {
  auto out = unary(id, name, sentence, "internal", gradient);
  out.fields.clear();
  for (auto operand : operands) out.fields.push_back({operand, field_kind::reg});
  out.form = field_form::record;
  out.wrong = nullptr;
  out.pytorch = {};
  return out;
}

sample two_alike(sampler& random) {
  auto dims = random.dims(0, 4);
  return {{random.tensor(dims), random.tensor(dims)}, {}};
}

sample three_alike(sampler& random) {
  auto dims = random.dims(0, 4);
  return {{random.tensor(dims), random.tensor(dims), random.tensor(dims)}, {}};
}

/// The type of the operand that is passed on, over the shape that all broadcast to.
template <size_t Passed>
result<register_type> infer_choice(const rule_context& c) {
  auto out = c.operand(Passed);
  for (size_t i = 0; i < c.operand_count(); ++i) {
    auto next = broadcast("x", out, "y", c.operand(i));
    if (!next) return next;
    out = *next;
  }
  out.type = c.operand(Passed).type;
  out.storage = stored_as(out.type);
  return out;
}

std::vector<row> used_by_gradients() {
  auto slope = function(
    internal(op::gelu_slope, "gelu_slope", "The derivative of gelu.", {"x"}, gelu_slope_gradient));
  auto tanh_slope = function(internal(op::gelu_tanh_slope, "gelu_tanh_slope",
                                      "The derivative of gelu_tanh.", {"x"}, nullptr));
  tanh_slope.no_gradient = "second derivatives of gelu_tanh have no rule";
  auto keep_positive = internal(op::keep_positive, "keep_positive", "a where b is above 0, else 0.",
                                {"a", "b"}, keep_positive_gradient);
  keep_positive.example = two_alike;
  keep_positive.infer = infer_choice<0>;
  auto choose_positive =
    internal(op::choose_positive, "choose_positive", "b where a is above 0, else c.",
             {"a", "b", "c"}, choose_positive_gradient);
  choose_positive.example = three_alike;
  choose_positive.infer = infer_choice<1>;
  auto keep_between =
    internal(op::keep_between, "keep_between", "a where b is from min to max, else 0.", {"a", "b"},
             keep_between_gradient);
  keep_between.fields.push_back({"min", field_kind::float64, true});
  keep_between.fields.push_back({"max", field_kind::float64, true});
  keep_between.infer = infer_choice<0>;
  keep_between.example = [](sampler& random) {
    auto out = two_alike(random);
    out.attributes = {-1.0, attribute{}};
    return out;
  };
  auto share = internal(op::share_of_less, "share_of_less",
                        "c where a < b, half of it where they are equal, else 0.", {"a", "b", "c"},
                        share_of_less_gradient);
  share.example = three_alike;
  share.infer = infer_choice<2>;
  return {slope, tanh_slope, keep_positive, choose_positive, keep_between, share};
}

} // namespace

std::vector<row> activation_rows() {
  auto relu =
    unary(op::relu, "relu", "x, but 0 where that is below 0.", "F.relu(x)", relu_gradient);
  relu.takes = number_types;
  relu.infer = infer_number_unary;
  auto clamp = unary(op::clamp, "clamp", "x, but no less than `min` and no more than `max`.",
                     "torch.clamp(x, like(min, x), like(max, x))", clamp_gradient);
  clamp.fields = {
    {"x", field_kind::reg}, {"min", field_kind::float64, true}, {"max", field_kind::float64, true}};
  clamp.form = field_form::record;
  clamp.takes = number_types;
  clamp.infer = infer_clamp;
  clamp.example = clamp_example;
  clamp.wrong = wrong_clamp;
  std::vector<row> rows{
    relu,
    clamp,
    function(unary(op::sigmoid, "sigmoid", "1 / (1 + e to the power of -x).", "torch.sigmoid(x)",
                   sigmoid_gradient)),
    function(unary(op::silu, "silu", "x · sigmoid(x).", "F.silu(x)", silu_gradient)),
    function(unary(op::gelu, "gelu", "x times the normal distribution's share below x.",
                   "F.gelu(x)", gelu_gradient)),
    function(unary(op::gelu_tanh, "gelu_tanh", "gelu by its approximation with tanh.",
                   "F.gelu(x, approximate='tanh')", gelu_tanh_gradient)),
    function(unary(op::softplus, "softplus", "log(1 + e to the power of x).", "F.softplus(x)",
                   softplus_gradient)),
    function(unary(op::mish, "mish", "x · tanh(softplus(x)).", "F.mish(x)", mish_gradient)),
    with_field(unary(op::leaky_relu, "leaky_relu", "x, but slope · x where that is below 0.",
                     "F.leaky_relu(x, slope)", leaky_relu_gradient),
               "slope", with_constant<1>),
    with_field(function(unary(op::elu, "elu",
                              "x, but alpha · (e to the power of x, less 1) where that is below 0.",
                              "F.elu(x, alpha)", elu_gradient)),
               "alpha", with_constant<15>),
  };
  for (auto& more : used_by_gradients()) rows.push_back(std::move(more));
  return rows;
}

} // namespace moxzi::device
