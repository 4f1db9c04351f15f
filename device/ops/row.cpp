#include "device/ops/row.hpp"

#include <algorithm>
#include <cmath>

#include "base/limits.hpp"
#include "device/ops/rows.hpp"

namespace moxzi::device {

std::string register_type::text() const {
  return fmt::format("{} {}", name_of(type), to_string(dims));
}

size_t row::register_fields() const noexcept {
  return static_cast<size_t>(
    std::ranges::count_if(fields, [](const field& f) { return is_register(f.kind); }));
}

result<void> want_float(std::string_view name, const register_type& what) {
  if (is_float(what.type)) return {};
  return complain(device_errc::dtype_mismatch, "{} is {}; floats wanted", name, what.text());
}

result<void> want_number(std::string_view name, const register_type& what) {
  if (what.type != dtype::boolean) return {};
  return complain(device_errc::dtype_mismatch, "{} is {}; numbers wanted", name, what.text());
}

result<void> want_boolean(std::string_view name, const register_type& what) {
  if (what.type == dtype::boolean) return {};
  return complain(device_errc::dtype_mismatch, "{} is {}; booleans wanted", name, what.text());
}

result<void> want_integer(std::string_view name, const register_type& what) {
  if (is_integer(what.type)) return {};
  return complain(device_errc::dtype_mismatch, "{} is {}; integers wanted", name, what.text());
}

result<void> want_rank(std::string_view name, const register_type& what, size_t rank) {
  if (what.dims.rank() == rank) return {};
  return complain(device_errc::shape_mismatch, "{} is {} of rank {}; rank {} wanted", name,
                  to_string(what.dims), what.dims.rank(), rank);
}

result<void> want_same_type(std::string_view name, const register_type& what,
                            std::string_view other_name, const register_type& other) {
  if (what.type == other.type) return {};
  return complain(device_errc::dtype_mismatch, "{} is {}, {} is {}; the same type wanted", name,
                  what.text(), other_name, other.text());
}

result<void> want_size(const shape& dims) {
  // Sizes of zero don't hide the others: strides are products of them all.
  int64_t elements = 1;
  for (auto size : dims.sizes()) {
    if (size == 0) continue;
    if (size > limits::tensor_elements_max / elements)
      return complain(device_errc::shape_mismatch, "{} has too many elements; at most {}",
                      to_string(dims), limits::tensor_elements_max);
    elements *= size;
  }
  return {};
}

result<void> want_fitting(std::string_view name, double value, dtype type) {
  if (!is_integer(type)) return {};
  // 2^63 itself is not one of i64.
  auto least = type == dtype::u8 ? 0 : type == dtype::i32 ? INT32_MIN : -0x1p63;
  auto most = type == dtype::u8 ? UINT8_MAX : type == dtype::i32 ? INT32_MAX : 0x1p63 - 1024;
  if (value == std::trunc(value) && value >= least && value <= most) return {};
  return complain(device_errc::dtype_mismatch, "{} {} is no {}", name, value, name_of(type));
}

result<void> want_dim(int64_t dim, std::string_view name, const register_type& what) {
  if (dim < static_cast<int64_t>(what.dims.rank())) return {};
  return complain(device_errc::dim_range, "dim {} of {} {}, which has {} dimensions", dim, name,
                  to_string(what.dims), what.dims.rank());
}

result<shape> checked_sizes(std::string_view name, std::span<const uint32_t> sizes) {
  if (sizes.size() > rank_max)
    return complain(device_errc::shape_mismatch, "{} [{}] has {} dimensions; at most {}", name,
                    fmt::join(sizes, ", "), sizes.size(), rank_max);
  shape out;
  for (auto size : sizes) out.push(size);
  if (auto ok = want_size(out); !ok) return ok.error();
  return out;
}

std::vector<uint32_t> sizes_of(const shape& dims) {
  std::vector<uint32_t> out;
  for (auto size : dims.sizes()) out.push_back(static_cast<uint32_t>(size));
  return out;
}

cost free_of_charge(const typed_call&) {
  return {};
}

cost moves(const typed_call& call) {
  return traffic(call, 0);
}

cost traffic(const typed_call& call, double flops_per_result) {
  cost sum;
  auto elements = [](const register_type& t) { return static_cast<double>(t.dims.elements()); };
  for (auto operand : call.operands)
    if (operand) sum.bytes += elements(*operand) * size_of(operand->storage);
  sum.bytes += elements(*call.result) * size_of(call.result->storage);
  sum.flops = elements(*call.result) * flops_per_result;
  return sum;
}

std::vector<split_axis> leading_axes(size_t n, size_t operands) {
  std::vector<split_axis> axes;
  for (size_t i = 0; i < n; ++i) {
    split_axis axis{std::vector<int>(operands, -1), static_cast<int>(i), join::none};
    axis.operand_dims[0] = axis.second_dim = static_cast<int>(i);
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::vector<split_axis> other_axes(const typed_call& call, size_t dim) {
  std::vector<split_axis> axes;
  for (size_t i = 0; i < call.result->dims.rank(); ++i) {
    auto at = static_cast<int>(i);
    if (i != dim) axes.push_back({std::vector<int>(call.operands.size(), at), at, join::none});
  }
  return axes;
}

} // namespace moxzi::device
