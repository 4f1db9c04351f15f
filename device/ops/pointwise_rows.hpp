#pragma once

#include "device/ops/rows.hpp"

/// What pointwise rows have in common: their rules, and short words for gradients.
namespace moxzi::device {

// -- rules ---------------------------------------------------------------------

/// The type that two operands compute in: their common one, or the floating-point one where the
/// other is an integer.
result<dtype> promoted(std::string_view name, const register_type& what,
                       std::string_view other_name, const register_type& other);
/// The shape that all operands broadcast to, with the axes of those that have each dimension.
result<register_type> broadcast(std::string_view name, const register_type& what,
                                std::string_view other_name, const register_type& other);

/// One operand: floats, or any number. The result is like it.
result<register_type> infer_float_unary(const rule_context& c);
result<register_type> infer_number_unary(const rule_context& c);
/// Operands a and b of numbers, promoted and broadcast.
result<register_type> infer_binary(const rule_context& c);
/// As above, and of floats.
result<register_type> infer_float_binary(const rule_context& c);
/// As above, of any type; the result is boolean.
result<register_type> infer_comparison(const rule_context& c);
/// Along each dimension of the result; an operand that is broadcast there is whole.
std::vector<split_axis> split_pointwise(const typed_call& call);
/// One operation an element.
cost pointwise_cost(const typed_call& call);
/// A function of the exponential kind, counted as 10.
cost function_cost(const typed_call& call);

/// A row of one register, written bare: `#exp 3`.
row unary(op id, std::string_view name, std::string_view sentence, std::string_view pytorch,
          void (*gradient)(gradient_context&), std::string_view no_gradient = {});
/// A row over `a` and `b`.
row binary(op id, std::string_view name, std::string_view sentence, std::string_view pytorch,
           void (*gradient)(gradient_context&), std::string_view no_gradient = {});

// -- samples -------------------------------------------------------------------

/// One operand of any shape.
template <contents What>
sample unary_example(sampler& random) {
  return {{random.tensor(random.dims(0, 4), What)}, {}};
}
/// Two operands that broadcast to one shape.
template <contents What, contents Other = What>
sample binary_example(sampler& random) {
  auto dims = random.dims(0, 4);
  auto narrow = random.broadcast_to(dims);
  if (random.coin()) return {{random.tensor(dims, What), random.tensor(narrow, Other)}, {}};
  return {{random.tensor(narrow, What), random.tensor(dims, Other)}, {}};
}
/// One operand of booleans.
wrong_sample wrong_unary(sampler& random);
/// Two shapes that don't broadcast.
wrong_sample wrong_binary(sampler& random);

// -- gradients -----------------------------------------------------------------

/// The operations that gradient rules are written with.
class words {
public:
  explicit words(gradient_context& to) : to_(to) {
    // nop
  }
  reg add(reg a, reg b) {
    return to_.emit(op::add, {a, b});
  }
  reg sub(reg a, reg b) {
    return to_.emit(op::sub, {a, b});
  }
  reg mul(reg a, reg b) {
    return to_.emit(op::mul, {a, b});
  }
  reg div(reg a, reg b) {
    return to_.emit(op::div, {a, b});
  }
  reg neg(reg x) {
    return to_.emit(op::neg, {x});
  }
  reg square(reg x) {
    return to_.emit(op::square, {x});
  }
  /// x + by, x · by.
  reg plus(reg x, double by) {
    return to_.emit(op::add_scalar, {x}, {by});
  }
  reg times(reg x, double by) {
    return to_.emit(op::mul_scalar, {x}, {by});
  }
  reg unary(op id, reg x) {
    return to_.emit(id, {x});
  }

private:
  gradient_context& to_;
};

} // namespace moxzi::device
