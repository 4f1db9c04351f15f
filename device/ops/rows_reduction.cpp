#include <cmath>

#include "device/ops/reduction.hpp"

namespace moxzi::device {

namespace {

// -- types ---------------------------------------------------------------------

/// Floats stay what they are; integers and booleans become i64.
result<register_type> infer_sum(const rule_context& c) {
  auto x = c.operand(0);
  if (!is_float(x.type)) x.type = dtype::i64;
  return infer_reduced(c, x, 0, 1);
}

result<register_type> infer_prod(const rule_context& c) {
  if (auto ok = want_number("x", c.operand(0)); !ok) return ok.error();
  return infer_sum(c);
}

result<register_type> infer_mean(const rule_context& c) {
  if (auto ok = want_float("x", c.operand(0)); !ok) return ok.error();
  return infer_reduced(c, c.operand(0), 0, 1);
}

result<register_type> infer_extreme(const rule_context& c) {
  if (auto ok = want_number("x", c.operand(0)); !ok) return ok.error();
  auto out = infer_reduced(c, c.operand(0), 0, 1);
  if (!out) return out;
  if (auto ok = want_some(c, "extreme", 0); !ok) return ok.error();
  return out;
}

result<register_type> infer_truth(const rule_context& c) {
  auto x = c.operand(0);
  x.type = dtype::boolean;
  return infer_reduced(c, x, 0, 1);
}

result<register_type> infer_norm(const rule_context& c) {
  if (auto ok = want_float("x", c.operand(0)); !ok) return ok.error();
  auto p = std::get<double>(c.attr(0));
  if (std::isnan(p)) return complain(device_errc::dtype_mismatch, "p is not a number");
  auto out = infer_reduced(c, c.operand(0), 1, 2);
  if (!out) return out;
  if (std::isinf(p) || p < 0)
    if (auto ok = want_some(c, "norm with such p", 1); !ok) return ok.error();
  return out;
}

// -- gradients -----------------------------------------------------------------

void sum_gradient(gradient_context& g) {
  reduction over(g, 0);
  g.give(0, over.spread(over.kept(g.upstream())));
}

void mean_gradient(gradient_context& g) {
  reduction over(g, 0);
  auto share = words(g).times(g.upstream(), 1 / static_cast<double>(over.count()));
  g.give(0, over.spread(over.kept(share)));
}

/// Equal shares for all that are the extreme.
void extreme_gradient(gradient_context& g) {
  reduction over(g, 0);
  words w(g);
  auto x = g.operand(0);
  auto same = g.emit(op::eq, {x, over.kept(g.self())});
  auto mine = g.emit(op::cast, {same}, {static_cast<int64_t>(g.type_of(x).type)});
  g.give(0, w.mul(mine, w.div(over.kept(g.upstream()), over.sum(mine))));
}

void logsumexp_gradient(gradient_context& g) {
  reduction over(g, 0);
  words w(g);
  auto share = w.unary(op::exp, w.sub(g.operand(0), over.kept(g.self())));
  g.give(0, w.mul(share, over.kept(g.upstream())));
}

/// The product of all others, which has no division by x: products of those before and of those
/// behind, with what is reduced laid out in one last dimension.
void prod_gradient(gradient_context& g) {
  reduction over(g, 0);
  words w(g);
  auto x = g.operand(0);
  auto dims = g.type_of(x).dims;
  std::vector<uint32_t> order, back(dims.rank()), laid_out;
  for (bool reduced : {false, true})
    for (uint32_t i = 0; i < dims.rank(); ++i)
      if ((over.dims() >> i & 1) == reduced) order.push_back(i);
  for (uint32_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  auto moved = g.emit(op::permute, {x}, {order});
  auto sizes = sizes_of(g.type_of(moved).dims);
  auto rows =
    g.emit(op::reshape, {moved},
           {std::vector<uint32_t>{static_cast<uint32_t>(g.type_of(g.self()).dims.elements()),
                                  static_cast<uint32_t>(over.count())}});
  std::vector<uint32_t> none{0, 0}, one{0, 1};
  auto before = [&](reg of) {
    auto shifted = g.emit(op::pad, {of}, {one, none, 1.0});
    auto products = g.emit(op::cumprod, {shifted}, {int64_t{1}});
    return g.emit(op::narrow, {products}, {int64_t{1}, int64_t{0}, over.count()});
  };
  auto flipped = [&](reg of) { return g.emit(op::flip, {of}, {std::vector<uint32_t>{1}}); };
  auto others = w.mul(before(rows), flipped(before(flipped(rows))));
  auto there = g.emit(op::permute, {g.emit(op::reshape, {others}, {sizes})}, {back});
  g.give(0, w.mul(there, over.kept(g.upstream())));
}

bool unbiased(const attribute& from) {
  auto given = std::get_if<bool>(&from);
  return !given || *given;
}

reg variance_slope(gradient_context& g, reduction& over, reg upstream) {
  words w(g);
  auto divisor = static_cast<double>(over.count() - (unbiased(g.attr(2)) ? 1 : 0));
  auto off = w.sub(g.operand(0), over.mean(g.operand(0)));
  return w.mul(off, over.kept(w.times(upstream, 2 / divisor)));
}

void variance_gradient(gradient_context& g) {
  reduction over(g, 0);
  g.give(0, variance_slope(g, over, g.upstream()));
}

/// 0 where there is no deviation, as PyTorch has it.
void std_gradient(gradient_context& g) {
  reduction over(g, 0);
  words w(g);
  auto share = w.div(g.upstream(), w.times(g.self(), 2));
  auto none = w.unary(op::logical_not, g.self());
  g.give(0, variance_slope(g, over, g.emit(op::mask_fill, {share, none}, {0.0})));
}

/// 0 where the norm is 0, as PyTorch has it.
void norm_gradient(gradient_context& g) {
  reduction over(g, 1);
  words w(g);
  auto x = g.operand(0), up = over.kept(g.upstream()), norm = over.kept(g.self());
  auto p = std::get<double>(g.attr(0));
  auto zero = [&](reg where, reg in) {
    return g.emit(op::mask_fill, {in, w.unary(op::logical_not, where)}, {0.0});
  };
  if (p == 0) return g.give(0, w.times(x, 0));
  auto sign = w.unary(op::sign, x);
  if (p == 1) return g.give(0, w.mul(sign, up));
  if (p == 2) return g.give(0, w.mul(x, zero(norm, w.div(up, norm))));
  auto size = w.unary(op::abs, x);
  if (std::isinf(p)) {
    auto same = g.emit(op::eq, {size, norm});
    auto mine = g.emit(op::cast, {same}, {static_cast<int64_t>(g.type_of(x).type)});
    return g.give(0, w.mul(w.mul(sign, mine), w.div(up, over.sum(mine))));
  }
  auto power = w.mul(sign, g.emit(op::pow_scalar, {size}, {p - 1}));
  if (p < 1) power = zero(x, power);
  auto rest = w.mul(up, g.emit(op::pow_scalar, {norm}, {1 - p}));
  g.give(0, w.mul(power, zero(norm, rest)));
}

// -- splits --------------------------------------------------------------------

template <join How, size_t Dims = 0, size_t Keep = 1>
std::vector<split_axis> split_reduction(const typed_call& call) {
  return reduced_axes(call, Dims, Keep, How);
}

// -- samples -------------------------------------------------------------------

template <int64_t Least, contents What>
sample example(sampler& random) {
  return over_example(random, Least, What);
}

/// Few elements, since their products grow.
sample prod_example(sampler& random) {
  auto out = over_example(random, 0, contents::any);
  auto& dims = out.operands[0]->dims;
  for (size_t i = 0; i < dims.rank(); ++i) dims[i] = std::min<int64_t>(dims[i], 3);
  return out;
}

sample variance_example(sampler& random) {
  auto out = over_example(random, 1, contents::any);
  auto& x = *out.operands[0];
  bool one = reduced_count(x.dims, reduced_dims(out.attributes[0], x.dims.rank())) == 1;
  // Of one number there is no unbiased variance.
  out.attributes.emplace_back();
  if (one || random.coin()) out.attributes.back() = !one && random.coin();
  return out;
}

/// No two elements, so no deviation of 0, where the slope has a corner.
sample std_example(sampler& random) {
  auto out = over_example(random, 2, contents::distinct);
  auto& x = *out.operands[0];
  bool one = reduced_count(x.dims, reduced_dims(out.attributes[0], x.dims.rank())) == 1;
  if (one) {
    // Of no dimensions; another call then.
    x.dims = {3};
    out.attributes = {{}, {}};
  }
  out.attributes.emplace_back();
  if (random.coin()) out.attributes.back() = random.coin();
  return out;
}

sample norm_example(sampler& random) {
  constexpr double all[] = {0, 0.5, 1, 1.5, 2, 2, 3, HUGE_VAL, -HUGE_VAL};
  auto p = all[random.below(static_cast<int64_t>(std::size(all)))];
  auto out = over_example(random, 1, std::isinf(p) ? contents::distinct : contents::positive);
  if (std::isinf(p)) {
    // No two of one size but with other signs.
    for (auto& x : out.operands) x->what = contents::positive;
  }
  out.attributes.insert(out.attributes.begin(), p);
  return out;
}

/// A dimension that x lacks.
wrong_sample wrong_over(sampler& random) {
  return {{{random.tensor({2, 3})}, {std::vector<uint32_t>{2}, {}}}, device_errc::dim_range};
}

wrong_sample wrong_extreme(sampler& random) {
  return {{{random.tensor({2, 0})}, {std::vector<uint32_t>{1}, {}}}, device_errc::shape_mismatch};
}

wrong_sample wrong_variance(sampler& random) {
  return {{{random.tensor({2, 3})}, {std::vector<uint32_t>{1, 1}, {}, {}}}, device_errc::dim_range};
}

wrong_sample wrong_norm(sampler& random) {
  return {{{random.tensor({2, 3})}, {2.0, std::vector<uint32_t>{3}, {}}}, device_errc::dim_range};
}

// -- rows ----------------------------------------------------------------------

row over(op id, std::string_view name, std::string_view sentence, std::string_view pytorch) {
  row out;
  out.id = id;
  out.name = name;
  out.sentence = sentence;
  out.reference = pytorch.substr(0, pytorch.find('('));
  out.fields = {{"x", field_kind::reg},
                {"dims", field_kind::nat32s, true},
                {"keep", field_kind::boolean, true}};
  out.takes = float_types;
  out.infer = infer_mean;
  out.split = split_reduction<join::none>;
  out.costs = reduction_cost;
  out.pytorch = pytorch;
  out.example = example<0, contents::any>;
  out.wrong = wrong_over;
  out.tolerance = 8;
  return out;
}

row sum() {
  auto out = over(op::sum, "sum",
                  "The sum over `dims`, all unless given, which `keep` leaves with size 1; of "
                  "integers and booleans an i64.",
                  "torch.sum(x, every(dims, x), keep or False)");
  out.takes = all_types;
  out.strided = true;
  out.infer = infer_sum;
  out.gradient = sum_gradient;
  out.split = split_reduction<join::sum>;
  out.wrong = wrong_over;
  return out;
}

row mean() {
  auto out =
    over(op::mean, "mean", "The mean over `dims`.", "torch.mean(x, every(dims, x), keep or False)");
  out.strided = true;
  out.gradient = mean_gradient;
  out.split = split_reduction<join::mean>;
  // The mean of nothing is not a number.
  out.example = example<1, contents::any>;
  return out;
}

row extreme(op id, std::string_view name, std::string_view sentence, std::string_view pytorch) {
  auto out = over(id, name, sentence, pytorch);
  out.takes = number_types;
  out.strided = true;
  out.infer = infer_extreme;
  out.gradient = extreme_gradient;
  out.example = example<1, contents::distinct>;
  out.wrong = wrong_extreme;
  return out;
}

row truth(op id, std::string_view name, std::string_view sentence, std::string_view pytorch) {
  auto out = over(id, name, sentence, pytorch);
  out.takes = all_types;
  out.infer = infer_truth;
  out.no_gradient = "its result is boolean";
  out.tolerance = 1;
  return out;
}

row deviation(row out, void (*gradient)(gradient_context&), sample (*example)(sampler&)) {
  out.fields.push_back({"unbiased", field_kind::boolean, true});
  out.gradient = gradient;
  out.example = example;
  out.wrong = wrong_variance;
  out.tolerance = 16;
  return out;
}

row norm() {
  auto out = over(op::norm, "norm", "(Σ |x|ᵖ) to the power of 1/p over `dims`; p may be infinite.",
                  "torch.linalg.vector_norm(x, p, every(dims, x), keep or False)");
  out.fields.insert(out.fields.begin() + 1, {"p", field_kind::float64});
  out.infer = infer_norm;
  out.gradient = norm_gradient;
  out.split = split_reduction<join::none, 1, 2>;
  out.example = norm_example;
  out.wrong = wrong_norm;
  out.tolerance = 32;
  return out;
}

} // namespace

std::vector<row> reduction_rows() {
  auto prod = over(op::prod, "prod", "The product over `dims`; of integers an i64.",
                   "one_by_one(torch.prod, x, dims, keep)");
  prod.reference = "torch.prod";
  prod.takes = number_types;
  prod.infer = infer_prod;
  prod.gradient = prod_gradient;
  prod.example = prod_example;
  prod.tolerance = 64;
  auto logsumexp = over(op::logsumexp, "logsumexp",
                        "The logarithm of the sum of exponentials over `dims`, without overflow.",
                        "torch.logsumexp(x, every(dims, x), keep or False)");
  logsumexp.gradient = logsumexp_gradient;
  logsumexp.example = example<1, contents::any>;
  return {
    sum(),
    mean(),
    prod,
    extreme(op::max, "max",
            "The greatest over `dims`, NaN if one is; its gradient is shared evenly by all that "
            "are.",
            "torch.amax(x, every(dims, x), keep or False)"),
    extreme(op::min, "min",
            "The least over `dims`, NaN if one is; its gradient is shared evenly by all that are.",
            "torch.amin(x, every(dims, x), keep or False)"),
    logsumexp,
    truth(op::any, "any", "True if one over `dims` is true, or not 0.",
          "torch.any(x != 0, every(dims, x), keep or False)"),
    truth(op::all, "all", "True if all over `dims` are true, or not 0.",
          "torch.all(x != 0, every(dims, x), keep or False)"),
    deviation(
      over(op::variance, "variance",
           "The variance over `dims`, with one less than there are as divisor unless "
           "`unbiased` is false.",
           "torch.var(x, every(dims, x), correction=int(unbiased is not False), keepdim=keep "
           "or False)"),
      variance_gradient, variance_example),
    deviation(
      over(op::std, "std", "The square root of the variance over `dims`.",
           "torch.std(x, every(dims, x), correction=int(unbiased is not False), keepdim=keep "
           "or False)"),
      std_gradient, std_example),
    norm(),
  };
}

} // namespace moxzi::device
