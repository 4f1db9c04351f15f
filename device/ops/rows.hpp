#pragma once

#include <vector>

#include "device/ops/row.hpp"

/// The parts of the table, one function a file. A row is added to the file of its group; nothing
/// else lists it.
namespace moxzi::device {

std::vector<row> source_rows();
/// Shapes: what only looks at memory, and what moves elements.
std::vector<row> shape_rows();
std::vector<row> view_rows();
std::vector<row> layout_rows();
std::vector<row> moving_rows();
std::vector<row> indexing_rows();
std::vector<row> picking_rows();
std::vector<row> reduction_rows();
std::vector<row> order_rows();
std::vector<row> arithmetic_rows();
std::vector<row> comparison_rows();
std::vector<row> activation_rows();
std::vector<row> linear_rows();
std::vector<row> matmul_rows();
std::vector<row> convolution_rows();
std::vector<row> pooling_rows();
std::vector<row> recurrent_rows();
std::vector<row> loss_rows();
std::vector<row> softmax_rows();
std::vector<row> normalisation_rows();
std::vector<row> attention_rows();
/// Part of `loss_rows`.
std::vector<row> difference_loss_rows();
std::vector<row> batch_norm_rows();
std::vector<row> random_rows();
std::vector<row> stored_rows();
/// What gradients of any row need.
std::vector<row> gradient_rows();

// -- shared by rules -----------------------------------------------------------

/// Fails unless the operand is of floats (`x is i64 [3]; floats wanted`).
result<void> want_float(std::string_view name, const register_type& what);
/// Fails unless the operand is of floats or integers.
result<void> want_number(std::string_view name, const register_type& what);
/// Fails unless the operand is of booleans.
result<void> want_boolean(std::string_view name, const register_type& what);
/// Fails unless the operand is of integers.
result<void> want_integer(std::string_view name, const register_type& what);
/// Fails unless the operand has this rank.
result<void> want_rank(std::string_view name, const register_type& what, size_t rank);
/// Fails unless both have the same type.
result<void> want_same_type(std::string_view name, const register_type& what,
                            std::string_view other_name, const register_type& other);
/// Fails if there are more elements than a tensor may have.
result<void> want_size(const shape& dims);
/// Fails if the number is none of this integer type; any will do for others.
result<void> want_fitting(std::string_view name, double value, dtype type);
/// Fails unless the operand has this dimension.
result<void> want_dim(int64_t dim, std::string_view name, const register_type& what);
/// The sizes as a shape, if there may be such a tensor.
result<shape> checked_sizes(std::string_view name, std::span<const uint32_t> sizes);
/// The sizes as an attribute has them.
std::vector<uint32_t> sizes_of(const shape& dims);

/// The cost of an operation that reads its operands once and writes its result once.
cost traffic(const typed_call& call, double flops_per_result = 1);
/// Nothing is computed.
cost free_of_charge(const typed_call&);
/// Elements are moved only.
cost moves(const typed_call& call);
/// `n` axes that the first operand and the result share, position by position.
std::vector<split_axis> leading_axes(size_t n, size_t operands);
/// As `leading_axes` for all dimensions but `dim`, of a result with the operands' dimensions.
std::vector<split_axis> other_axes(const typed_call& call, size_t dim);
/// The axes of a reshaped register: factors of the old dimensions dealt out to the new ones.
std::vector<axis_factors> regrouped(const register_type& from, const shape& to,
                                    const rule_context& c);
/// How to see memory of these sizes and strides in another shape; nothing if it must be copied.
std::optional<shape> reshaped_strides(const shape& dims, const shape& strides, const shape& to);

} // namespace moxzi::device
