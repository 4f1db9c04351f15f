// linear and its three gradients.

#include <algorithm>
#include <array>

#include "device/torch/gemm.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

/// Product of all dimensions but the last.
int64_t leading(const tensor_view& x) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < x.dims.rank(); i++) rows *= x.dims[i];
  return rows;
}

/// Calls `work` with a zero of the tensor's type.
template <class Work>
bool with_type(const tensor_view& x, const Work& work) {
  if (x.type == elem::f64)
    work(double{});
  else
    work(float{});
  return true;
}

bool linear(const kernel_call& call, fault&) {
  return with_type(call.outputs[0], [&call](auto zero) {
    using T = decltype(zero);
    auto &x = call.inputs[0], &w = call.inputs[1], &out = call.outputs[0];
    const int64_t rows = leading(out), to = w.dims[0], from = w.dims[1];
    const T* bias = call.inputs.size() > 2 ? call.inputs[2].as<const T>() : nullptr;
    if (bias)
      for (int64_t i = 0; i < rows; i++) std::copy_n(bias, to, out.as<T>() + i * to);
    gemm(false, true, rows, to, from, x.as<const T>(), w.as<const T>(), out.as<T>(),
         bias != nullptr);
  });
}

bool linear_input_backward(const kernel_call& call, fault&) {
  return with_type(call.outputs[0], [&call](auto zero) {
    using T = decltype(zero);
    auto &gradient = call.inputs[0], &w = call.inputs[1], &out = call.outputs[0];
    gemm(false, false, leading(out), w.dims[1], w.dims[0], gradient.as<const T>(), w.as<const T>(),
         out.as<T>());
  });
}

bool linear_weight_backward(const kernel_call& call, fault&) {
  return with_type(call.outputs[0], [&call](auto zero) {
    using T = decltype(zero);
    auto &gradient = call.inputs[0], &x = call.inputs[1], &out = call.outputs[0];
    gemm(true, false, out.dims[0], out.dims[1], leading(gradient), gradient.as<const T>(),
         x.as<const T>(), out.as<T>());
  });
}

constexpr int64_t columns_at_once = 256;

/// Sums of `columns` ≤ columns_at_once neighbouring columns, in double.
template <class T>
MOXZI_INLINE void sum_columns(const T* from, int64_t rows, int64_t stride, int64_t columns, T* to) {
  std::array<double, columns_at_once> sums{};
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      sums[static_cast<size_t>(j)] += static_cast<double>(from[i * stride + j]);
  for (int64_t j = 0; j < columns; j++) to[j] = static_cast<T>(sums[static_cast<size_t>(j)]);
}

MOXZI_CLONES void column_sums(const float* from, int64_t rows, int64_t stride, int64_t columns,
                              float* to) {
  sum_columns(from, rows, stride, columns, to);
}

MOXZI_CLONES void column_sums(const double* from, int64_t rows, int64_t stride, int64_t columns,
                              double* to) {
  sum_columns(from, rows, stride, columns, to);
}

bool linear_bias_backward(const kernel_call& call, fault&) {
  return with_type(call.outputs[0], [&call](auto zero) {
    using T = decltype(zero);
    auto &gradient = call.inputs[0], &out = call.outputs[0];
    const int64_t rows = leading(gradient), columns = out.dims[0];
    const T* from = gradient.as<const T>();
    T* to = out.as<T>();
    const int64_t blocks = (columns + columns_at_once - 1) / columns_at_once;
    const uint32_t threads = gradient.elements < 65536 ? 1 : call.threads;
    for_parts(threads, blocks, 1, [to, from, rows, columns](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; b++) {
        const auto at = b * columns_at_once;
        column_sums(from + at, rows, columns, std::min(columns_at_once, columns - at), to + at);
      }
    });
  });
}

} // namespace

kernel_function find_linear_kernel(op id) noexcept {
  switch (id) {
    case op::linear:
      return linear;
    case op::linear_input_backward:
      return linear_input_backward;
    case op::linear_weight_backward:
      return linear_weight_backward;
    case op::linear_bias_backward:
      return linear_bias_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
