#include "device/ops/pointwise_rows.hpp"

#include <algorithm>

namespace moxzi::device {

// -- rules ---------------------------------------------------------------------

result<dtype> promoted(std::string_view name, const register_type& what,
                       std::string_view other_name, const register_type& other) {
  if (what.type == other.type) return what.type;
  if (is_float(what.type) && is_integer(other.type)) return what.type;
  if (is_integer(what.type) && is_float(other.type)) return other.type;
  return complain(device_errc::dtype_mismatch,
                  "{} is {}, {} is {}; the same type wanted, or an integer and a floating-point "
                  "one: use cast",
                  name, what.text(), other_name, other.text());
}

result<register_type> broadcast(std::string_view name, const register_type& what,
                                std::string_view other_name, const register_type& other) {
  auto& longer = what.dims.rank() >= other.dims.rank() ? what : other;
  auto& shorter = &longer == &what ? other : what;
  auto out = longer;
  auto missing = longer.dims.rank() - shorter.dims.rank();
  for (size_t i = missing; i < out.dims.rank(); ++i) {
    auto size = shorter.dims[i - missing];
    if (size == out.dims[i] || size == 1) continue;
    if (out.dims[i] != 1)
      return complain(device_errc::shape_mismatch,
                      "{} {} and {} {} don't broadcast: sizes from the end must be equal or 1",
                      name, to_string(what.dims), other_name, to_string(other.dims));
    out.dims[i] = size;
    out.factors[i] = shorter.factors[i - missing];
  }
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

result<register_type> infer_float_unary(const rule_context& c) {
  auto& x = c.operand(0);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  return x;
}

result<register_type> infer_number_unary(const rule_context& c) {
  auto out = c.operand(0);
  if (auto ok = want_number("x", out); !ok) return ok.error();
  out.storage = stored_as(out.type);
  return out;
}

result<register_type> infer_binary(const rule_context& c) {
  auto &a = c.operand(0), &b = c.operand(1);
  for (auto& [name, what] : {std::pair{"a", &a}, {"b", &b}})
    if (auto ok = want_number(name, *what); !ok) return ok.error();
  auto type = promoted("a", a, "b", b);
  if (!type) return type.error();
  auto out = broadcast("a", a, "b", b);
  if (!out) return out.error();
  out->type = *type;
  out->storage = stored_as(*type);
  return out;
}

result<register_type> infer_float_binary(const rule_context& c) {
  auto out = infer_binary(c);
  if (out && !is_float(out->type))
    return complain(device_errc::dtype_mismatch, "a is {}, b is {}; floats wanted",
                    c.operand(0).text(), c.operand(1).text());
  return out;
}

result<register_type> infer_comparison(const rule_context& c) {
  auto &a = c.operand(0), &b = c.operand(1);
  if (auto type = promoted("a", a, "b", b); !type) return type.error();
  auto out = broadcast("a", a, "b", b);
  if (!out) return out.error();
  out->type = dtype::boolean;
  out->storage = elem::boolean;
  return out;
}

std::vector<split_axis> split_pointwise(const typed_call& call) {
  std::vector<split_axis> axes;
  auto& to = call.result->dims;
  for (size_t i = 0; i < to.rank(); ++i) {
    split_axis axis{{}, static_cast<int>(i), join::none};
    for (auto operand : call.operands) {
      auto at = static_cast<int>(i);
      if (operand) at -= static_cast<int>(to.rank() - operand->dims.rank());
      bool has = operand && at >= 0 && operand->dims[static_cast<size_t>(at)] == to[i];
      axis.operand_dims.push_back(has ? at : -1);
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

cost pointwise_cost(const typed_call& call) {
  return traffic(call, 1);
}

cost function_cost(const typed_call& call) {
  return traffic(call, 10);
}

// -- rows ----------------------------------------------------------------------

namespace {

row pointwise(op id, std::string_view name, std::string_view sentence, std::string_view pytorch,
              void (*gradient)(gradient_context&), std::string_view no_gradient) {
  row out;
  out.id = id;
  out.name = name;
  out.sentence = sentence;
  out.reference = pytorch.substr(0, pytorch.find('('));
  out.runs = row_runs::pointwise;
  out.gradient = gradient;
  out.no_gradient = no_gradient;
  out.split = split_pointwise;
  out.costs = pointwise_cost;
  out.pytorch = pytorch;
  return out;
}

} // namespace

row unary(op id, std::string_view name, std::string_view sentence, std::string_view pytorch,
          void (*gradient)(gradient_context&), std::string_view no_gradient) {
  auto out = pointwise(id, name, sentence, pytorch, gradient, no_gradient);
  out.fields = {{"x", field_kind::reg}};
  out.form = field_form::bare;
  out.infer = infer_float_unary;
  out.example = unary_example<contents::any>;
  out.wrong = wrong_unary;
  return out;
}

row binary(op id, std::string_view name, std::string_view sentence, std::string_view pytorch,
           void (*gradient)(gradient_context&), std::string_view no_gradient) {
  auto out = pointwise(id, name, sentence, pytorch, gradient, no_gradient);
  out.fields = {{"a", field_kind::reg}, {"b", field_kind::reg}};
  out.takes = number_types;
  out.infer = infer_binary;
  out.example = binary_example<contents::any>;
  out.wrong = wrong_binary;
  return out;
}

// -- samples -------------------------------------------------------------------

wrong_sample wrong_unary(sampler& random) {
  return {{{random.mask(random.dims(0, 3))}, {}}, device_errc::dtype_mismatch};
}

wrong_sample wrong_binary(sampler& random) {
  return {{{random.tensor({2, 3}), random.tensor({2, 4})}, {}}, device_errc::shape_mismatch};
}

} // namespace moxzi::device
