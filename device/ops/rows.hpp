#pragma once

#include <vector>

#include "device/ops/row.hpp"

/// The parts of the table, one function a file. A row is added to the file of its group; nothing
/// else lists it.
namespace moxzi::device {

std::vector<row> source_rows();
std::vector<row> shape_rows();
std::vector<row> indexing_rows();
std::vector<row> arithmetic_rows();
std::vector<row> comparison_rows();
std::vector<row> activation_rows();
std::vector<row> linear_rows();
std::vector<row> loss_rows();
std::vector<row> softmax_rows();
std::vector<row> normalisation_rows();
std::vector<row> attention_rows();
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

/// The cost of an operation that reads its operands once and writes its result once.
cost traffic(const typed_call& call, double flops_per_result = 1);
/// `n` axes that the first operand and the result share, position by position.
std::vector<split_axis> leading_axes(size_t n, size_t operands);

} // namespace moxzi::device
