#pragma once

#include "device/ops/rows.hpp"

/// What rows that normalise have in common.
namespace moxzi::device {

/// Why their backward rows have no gradient.
inline constexpr std::string_view no_second_derivative =
  "second derivatives of normalisations have no rule";

/// What is kept of a row for the backward pass: no narrower than f32.
register_type statistics_of(const register_type& x, const shape& dims);

/// The last `count` dimensions, and all but those.
shape trailing(const shape& dims, int64_t count);
shape leading(const shape& dims, int64_t without);

/// What is given of w and b, the operands from `first` on, is like x and of this shape.
result<void> want_weights(const rule_context& c, size_t first, const shape& dims);
/// A number that is given is not below 0.
result<void> want_positive(std::string_view name, const attribute& value);

/// Gives the gradients of w and b, which are one after the other in the second result of
/// `backward`; w is operand `first`.
void give_weights(gradient_context& g, reg backward, size_t first);
reg weights_or_none(gradient_context& g, size_t n);
/// Along `n` leading dimensions, which the first `operands` operands share with the result, of a
/// backward row: of the weights' gradients each device has a term.
std::vector<split_axis> backward_axes(const typed_call& call, size_t n, size_t operands);
/// The type of that second result: two tensors of `dims`, like operand 1.
register_type pair_of(const rule_context& c, const shape& dims);

} // namespace moxzi::device
