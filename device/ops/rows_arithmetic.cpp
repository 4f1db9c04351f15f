#include <cmath>

#include "device/ops/pointwise_rows.hpp"

namespace moxzi::device {

namespace {

double number(const attribute& from) {
  return std::get<double>(from);
}

// -- gradients of one operand --------------------------------------------------

void neg_gradient(gradient_context& g) {
  g.give(0, words(g).neg(g.upstream()));
}

void abs_gradient(gradient_context& g) {
  words w(g);
  g.give(0, w.mul(g.upstream(), w.unary(op::sign, g.operand(0))));
}

void square_gradient(gradient_context& g) {
  words w(g);
  g.give(0, w.mul(g.upstream(), w.times(g.operand(0), 2)));
}

void reciprocal_gradient(gradient_context& g) {
  words w(g);
  g.give(0, w.neg(w.mul(g.upstream(), w.square(g.self()))));
}

void sqrt_gradient(gradient_context& g) {
  words w(g);
  g.give(0, w.div(w.times(g.upstream(), 0.5), g.self()));
}

void rsqrt_gradient(gradient_context& g) {
  words w(g);
  auto cube = w.mul(w.square(g.self()), g.self());
  g.give(0, w.times(w.mul(g.upstream(), cube), -0.5));
}

void exp_gradient(gradient_context& g) {
  g.give(0, words(g).mul(g.upstream(), g.self()));
}

void expm1_gradient(gradient_context& g) {
  words w(g);
  g.give(0, w.mul(g.upstream(), w.plus(g.self(), 1)));
}

void log_gradient(gradient_context& g) {
  g.give(0, words(g).div(g.upstream(), g.operand(0)));
}

void log1p_gradient(gradient_context& g) {
  words w(g);
  g.give(0, w.div(g.upstream(), w.plus(g.operand(0), 1)));
}

void sin_gradient(gradient_context& g) {
  words w(g);
  g.give(0, w.mul(g.upstream(), w.unary(op::cos, g.operand(0))));
}

void cos_gradient(gradient_context& g) {
  words w(g);
  g.give(0, w.neg(w.mul(g.upstream(), w.unary(op::sin, g.operand(0)))));
}

void tanh_gradient(gradient_context& g) {
  words w(g);
  g.give(0, w.mul(g.upstream(), w.plus(w.neg(w.square(g.self())), 1)));
}

void erf_gradient(gradient_context& g) {
  words w(g);
  auto bell = w.unary(op::exp, w.neg(w.square(g.operand(0))));
  g.give(0, w.times(w.mul(g.upstream(), bell), 2 / std::sqrt(M_PI)));
}

// -- gradients of two ----------------------------------------------------------

void add_gradient(gradient_context& g) {
  g.give(0, g.upstream());
  g.give(1, g.upstream());
}

void sub_gradient(gradient_context& g) {
  g.give(0, g.upstream());
  if (g.wants(1)) g.give(1, words(g).neg(g.upstream()));
}

void mul_gradient(gradient_context& g) {
  words w(g);
  if (g.wants(0)) g.give(0, w.mul(g.upstream(), g.operand(1)));
  if (g.wants(1)) g.give(1, w.mul(g.upstream(), g.operand(0)));
}

void div_gradient(gradient_context& g) {
  words w(g);
  auto part = w.div(g.upstream(), g.operand(1));
  g.give(0, part);
  if (g.wants(1)) g.give(1, w.neg(w.mul(part, g.self())));
}

/// a - b · ⌊a / b⌋.
void rem_gradient(gradient_context& g) {
  words w(g);
  g.give(0, g.upstream());
  if (!g.wants(1)) return;
  auto times = w.unary(op::floor, w.div(g.operand(0), g.operand(1)));
  g.give(1, w.neg(w.mul(g.upstream(), times)));
}

void pow_gradient(gradient_context& g) {
  words w(g);
  auto a = g.operand(0), b = g.operand(1);
  auto type = static_cast<int64_t>(g.type_of(g.self()).type);
  auto nothing = g.emit(op::full, {}, {std::vector<uint32_t>{}, 0.0, type});
  auto is_zero = [&](reg x) { return w.unary(op::logical_not, x); };
  if (g.wants(0)) {
    auto below = g.emit(op::pow, {a, w.plus(b, -1)});
    auto slope = w.mul(g.upstream(), w.mul(b, below));
    // Whatever a is: a to the power of -1 may be infinite.
    g.give(0, g.emit(op::where, {is_zero(b), nothing, slope}));
  }
  if (!g.wants(1)) return;
  // Integers have no logarithm of their own.
  auto base = is_float(g.type_of(a).type) ? a : g.emit(op::cast, {a}, {type});
  auto slope = w.mul(g.upstream(), w.mul(g.self(), w.unary(op::log, base)));
  auto still =
    g.emit(op::logical_and, {is_zero(a), g.emit(op::ge, {b, g.emit(op::mul_scalar, {b}, {0.0})})});
  g.give(1, g.emit(op::where, {still, nothing, slope}));
}

void pow_scalar_gradient(gradient_context& g) {
  words w(g);
  auto by = number(g.attr(0));
  if (by == 0) return g.give(0, w.times(g.upstream(), 0));
  auto below = g.emit(op::pow_scalar, {g.operand(0)}, {by - 1});
  g.give(0, w.mul(g.upstream(), w.times(below, by)));
}

/// Half each where the two are equal, as PyTorch has it.
void minimum_gradient(gradient_context& g) {
  auto a = g.operand(0), b = g.operand(1);
  if (g.wants(0)) g.give(0, g.emit(op::share_of_less, {a, b, g.upstream()}));
  if (g.wants(1)) g.give(1, g.emit(op::share_of_less, {b, a, g.upstream()}));
}

void maximum_gradient(gradient_context& g) {
  auto a = g.operand(0), b = g.operand(1);
  if (g.wants(0)) g.give(0, g.emit(op::share_of_less, {b, a, g.upstream()}));
  if (g.wants(1)) g.give(1, g.emit(op::share_of_less, {a, b, g.upstream()}));
}

void add_scalar_gradient(gradient_context& g) {
  g.give(0, g.upstream());
}

void mul_scalar_gradient(gradient_context& g) {
  g.give(0, words(g).times(g.upstream(), number(g.attr(0))));
}

// -- with a number -------------------------------------------------------------

/// Integers stay integers, so the number must be one too.
result<register_type> infer_with_number(const rule_context& c) {
  auto out = infer_number_unary(c);
  auto by = number(c.attr(0));
  if (out && is_integer(out->type) && by != std::trunc(by))
    return complain(device_errc::dtype_mismatch, "x is {} and by {}; cast x to a float first",
                    c.operand(0).text(), by);
  return out;
}

template <int Least, int Most>
sample with_number(sampler& random) {
  auto by = static_cast<double>(Least + random.below(Most - Least + 1));
  if (is_float(random.type())) by += 0.25;
  return {{random.tensor(random.dims(0, 4), contents::positive)}, {by}};
}

wrong_sample wrong_with_number(sampler& random) {
  return {{{random.mask(random.dims(0, 3))}, {1.0}}, device_errc::dtype_mismatch};
}

row with_scalar(op id, std::string_view name, std::string_view sentence, std::string_view pytorch,
                void (*gradient)(gradient_context&)) {
  auto out = unary(id, name, sentence, pytorch, gradient);
  out.fields = {{"x", field_kind::reg}, {"by", field_kind::float64}};
  out.form = field_form::record;
  out.takes = number_types;
  out.infer = infer_with_number;
  out.example = with_number<-3, 3>;
  out.wrong = wrong_with_number;
  return out;
}

row of_numbers(row out) {
  out.takes = number_types;
  out.infer = infer_number_unary;
  return out;
}

row of_positive(row out) {
  out.example = unary_example<contents::positive>;
  return out;
}

row function(row out) {
  out.costs = function_cost;
  out.tolerance = 4;
  return out;
}

row of_floats(row out, sample (*example)(sampler&)) {
  out.takes = float_types;
  out.infer = infer_float_binary;
  out.example = example;
  return out;
}

constexpr std::string_view flat = "its derivative is 0 wherever there is one";

std::vector<row> with_one_operand() {
  return {
    of_numbers(unary(op::neg, "neg", "-x.", "torch.neg(x)", neg_gradient)),
    of_numbers(unary(op::abs, "abs", "x without its sign.", "torch.abs(x)", abs_gradient)),
    of_numbers(unary(op::sign, "sign", "-1, 0 or 1, as x is.", "torch.sign(x)", nullptr, flat)),
    function(unary(op::exp, "exp", "e to the power of x.", "torch.exp(x)", exp_gradient)),
    function(unary(op::expm1, "expm1", "e to the power of x, less 1, exact near 0.",
                   "torch.expm1(x)", expm1_gradient)),
    function(
      of_positive(unary(op::log, "log", "The natural logarithm.", "torch.log(x)", log_gradient))),
    function(of_positive(unary(op::log1p, "log1p", "The natural logarithm of 1 + x, exact near 0.",
                               "torch.log1p(x)", log1p_gradient))),
    of_positive(unary(op::sqrt, "sqrt", "The square root.", "torch.sqrt(x)", sqrt_gradient)),
    of_positive(
      unary(op::rsqrt, "rsqrt", "1 / the square root.", "torch.rsqrt(x)", rsqrt_gradient)),
    of_numbers(unary(op::square, "square", "x · x.", "torch.square(x)", square_gradient)),
    of_positive(
      unary(op::reciprocal, "reciprocal", "1 / x.", "torch.reciprocal(x)", reciprocal_gradient)),
    function(unary(op::sin, "sin", "The sine of radians.", "torch.sin(x)", sin_gradient)),
    function(unary(op::cos, "cos", "The cosine of radians.", "torch.cos(x)", cos_gradient)),
    function(unary(op::tanh, "tanh", "The hyperbolic tangent.", "torch.tanh(x)", tanh_gradient)),
    function(unary(op::erf, "erf", "The error function.", "torch.erf(x)", erf_gradient)),
    unary(op::floor, "floor", "The largest integer not above x.", "torch.floor(x)", nullptr, flat),
    unary(op::ceil, "ceil", "The smallest integer not below x.", "torch.ceil(x)", nullptr, flat),
    unary(op::round, "round", "The nearest integer, half to even.", "torch.round(x)", nullptr,
          flat),
  };
}

} // namespace

std::vector<row> arithmetic_rows() {
  auto rows = with_one_operand();
  auto more = {
    binary(op::add, "add", "a + b.", "torch.add(a, b)", add_gradient),
    binary(op::sub, "sub", "a - b.", "torch.sub(a, b)", sub_gradient),
    binary(op::mul, "mul", "a · b.", "torch.mul(a, b)", mul_gradient),
    of_floats(binary(op::div, "div", "a / b.", "torch.div(a, b)", div_gradient),
              binary_example<contents::any, contents::positive>),
    [] {
      auto out = binary(op::rem, "rem", "The remainder of a / b, with the sign of b.",
                        "torch.remainder(a, b)", rem_gradient);
      out.example = binary_example<contents::any, contents::positive>;
      return out;
    }(),
    function(
      of_floats(binary(op::pow, "pow", "a to the power of b.", "torch.pow(a, b)", pow_gradient),
                binary_example<contents::positive, contents::any>)),
    binary(op::minimum, "minimum", "The lesser of a and b; NaN if one is.", "torch.minimum(a, b)",
           minimum_gradient),
    binary(op::maximum, "maximum", "The greater of a and b; NaN if one is.", "torch.maximum(a, b)",
           maximum_gradient),
    with_scalar(op::add_scalar, "add_scalar", "x + by.", "x + like(by, x)", add_scalar_gradient),
    with_scalar(op::mul_scalar, "mul_scalar", "x · by.", "x * like(by, x)", mul_scalar_gradient),
    [] {
      auto out = function(with_scalar(op::pow_scalar, "pow_scalar", "x to the power of `by`.",
                                      "torch.pow(x, by)", pow_scalar_gradient));
      out.takes = float_types;
      out.infer = infer_float_unary;
      return out;
    }(),
  };
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

} // namespace moxzi::device
