#include "device/ops/pointwise_rows.hpp"

namespace moxzi::device {

namespace {

constexpr std::string_view truth = "a boolean has no gradient";

row comparison(op id, std::string_view name, std::string_view sentence, std::string_view pytorch) {
  auto out = binary(id, name, sentence, pytorch, nullptr, truth);
  out.takes = all_types;
  out.infer = infer_comparison;
  out.example = binary_example<contents::any>;
  return out;
}

result<register_type> infer_truth(const rule_context& c) {
  auto out = c.operand(0);
  out.type = dtype::boolean;
  out.storage = elem::boolean;
  return out;
}

result<register_type> infer_is_nan(const rule_context& c) {
  if (auto ok = want_float("x", c.operand(0)); !ok) return ok.error();
  return infer_truth(c);
}

// -- choosing ------------------------------------------------------------------

/// A type of the shape that cond, a and b broadcast to.
result<register_type> infer_where(const rule_context& c) {
  auto &cond = c.operand(0), &a = c.operand(1), &b = c.operand(2);
  if (auto ok = want_boolean("cond", cond); !ok) return ok.error();
  auto type = promoted("a", a, "b", b);
  if (!type) return type.error();
  auto both = broadcast("a", a, "b", b);
  if (!both) return both.error();
  auto out = broadcast("a and b", *both, "cond", cond);
  if (!out) return out.error();
  out->type = *type;
  out->storage = stored_as(*type);
  return out;
}

void where_gradient(gradient_context& g) {
  auto cond = g.operand(0);
  if (g.wants(2)) g.give(2, g.emit(op::mask_fill, {g.upstream(), cond}, {0.0}));
  if (!g.wants(1)) return;
  auto rest = g.emit(op::logical_not, {cond});
  g.give(1, g.emit(op::mask_fill, {g.upstream(), rest}, {0.0}));
}

sample where_example(sampler& random) {
  auto dims = random.dims(0, 4);
  return {{random.mask(random.broadcast_to(dims)), random.tensor(dims),
           random.tensor(random.broadcast_to(dims))},
          {}};
}

wrong_sample wrong_where(sampler& random) {
  return {{{random.indices({2}, 2), random.tensor({2}), random.tensor({2})}, {}},
          device_errc::dtype_mismatch};
}

/// The mask broadcasts to x.
result<register_type> infer_mask_fill(const rule_context& c) {
  auto &x = c.operand(0), &mask = c.operand(1);
  if (auto ok = want_number("x", x); !ok) return ok.error();
  if (auto ok = want_boolean("mask", mask); !ok) return ok.error();
  auto out = broadcast("x", x, "mask", mask);
  if (!out) return out.error();
  if (out->dims != x.dims)
    return complain(device_errc::shape_mismatch, "mask {} does not broadcast to x {}",
                    to_string(mask.dims), to_string(x.dims));
  out->type = x.type;
  out->storage = stored_as(x.type);
  return out;
}

void mask_fill_gradient(gradient_context& g) {
  g.give(0, g.emit(op::mask_fill, {g.upstream(), g.operand(1)}, {0.0}));
}

sample mask_fill_example(sampler& random) {
  auto dims = random.dims(0, 4);
  return {{random.tensor(dims), random.mask(random.broadcast_to(dims))},
          {static_cast<double>(random.below(9))}};
}

wrong_sample wrong_mask_fill(sampler& random) {
  return {{{random.tensor({3}), random.mask({2, 3})}, {0.0}}, device_errc::shape_mismatch};
}

// -- other types ---------------------------------------------------------------

result<register_type> infer_cast(const rule_context& c) {
  auto out = c.operand(0);
  out.type = static_cast<dtype>(c.integer(0));
  out.storage = stored_as(out.type);
  return out;
}

void cast_gradient(gradient_context& g) {
  auto from = g.type_of(g.operand(0)).type;
  g.give(0, g.emit(op::cast, {g.upstream()}, {static_cast<int64_t>(from)}));
}

sample cast_example(sampler& random) {
  // u8 has no negative numbers; what they become depends on the processor in PyTorch.
  return {{random.tensor(random.dims(0, 4), contents::positive)},
          {random.below(static_cast<int64_t>(dtype_count))}};
}

wrong_sample wrong_cast(sampler& random) {
  return {{{random.tensor({2})}, {int64_t{dtype_count}}}, device_errc::undecodable};
}

std::vector<row> choosing() {
  auto where = binary(op::where, "where", "a where cond is true, else b.",
                      "torch.where(cond, a, b)", where_gradient);
  where.fields = {{"cond", field_kind::reg}, {"a", field_kind::reg}, {"b", field_kind::reg}};
  where.takes = all_types;
  where.infer = infer_where;
  where.example = where_example;
  where.wrong = wrong_where;
  auto mask_fill = binary(op::mask_fill, "mask_fill", "x, but `value` where the mask is true.",
                          "torch.masked_fill(x, mask, value)", mask_fill_gradient);
  mask_fill.fields = {
    {"x", field_kind::reg}, {"mask", field_kind::reg}, {"value", field_kind::float64}};
  mask_fill.infer = infer_mask_fill;
  mask_fill.example = mask_fill_example;
  mask_fill.wrong = wrong_mask_fill;
  auto cast = unary(op::cast, "cast",
                    "x in another type; floats are cut to integers towards 0, and what is not 0 "
                    "is true.",
                    "x.to(to)", cast_gradient);
  cast.fields = {{"x", field_kind::reg}, {"to", field_kind::dtype}};
  cast.form = field_form::record;
  cast.takes = all_types;
  cast.infer = infer_cast;
  cast.example = cast_example;
  cast.wrong = wrong_cast;
  return {where, mask_fill, cast};
}

} // namespace

std::vector<row> comparison_rows() {
  auto logical_not = unary(op::logical_not, "logical_not", "True where x is false or 0.",
                           "torch.logical_not(x)", nullptr, truth);
  logical_not.takes = all_types;
  logical_not.infer = infer_truth;
  logical_not.wrong = [](sampler&) -> wrong_sample { return {{}, device_errc::undecodable}; };
  auto is_nan =
    unary(op::is_nan, "is_nan", "True where x is not a number.", "torch.isnan(x)", nullptr, truth);
  is_nan.infer = infer_is_nan;
  std::vector<row> rows{
    logical_not,
    is_nan,
    comparison(op::eq, "eq", "True where a = b.", "torch.eq(a, b)"),
    comparison(op::ne, "ne", "True where a ≠ b.", "torch.ne(a, b)"),
    comparison(op::lt, "lt", "True where a < b.", "torch.lt(a, b)"),
    comparison(op::le, "le", "True where a ≤ b.", "torch.le(a, b)"),
    comparison(op::gt, "gt", "True where a > b.", "torch.gt(a, b)"),
    comparison(op::ge, "ge", "True where a ≥ b.", "torch.ge(a, b)"),
    comparison(op::logical_and, "logical_and", "True where neither a nor b is false or 0.",
               "torch.logical_and(a, b)"),
    comparison(op::logical_or, "logical_or", "True where a or b is neither false nor 0.",
               "torch.logical_or(a, b)"),
    comparison(op::logical_xor, "logical_xor", "True where one of a and b is neither false nor 0.",
               "torch.logical_xor(a, b)"),
  };
  for (auto& more : choosing()) rows.push_back(std::move(more));
  return rows;
}

} // namespace moxzi::device
