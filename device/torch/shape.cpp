// What moves elements without computing, and what computes each element by itself.

#include <algorithm>
#include <cstring>

#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

constexpr int64_t elements_at_once = 32768; // per thread, of element-wise work

/// Copies a strided view of elements of `size` bytes, dimension by dimension, without gaps.
char* copy_strided(const char* from, char* to, const tensor_view& x, size_t dim, size_t size) {
  if (dim == x.dims.rank()) {
    std::memcpy(to, from, size);
    return to + size;
  }
  const int64_t count = x.dims[dim];
  const bool last = dim + 1 == x.dims.rank();
  if (last && x.strides[dim] == 1) {
    const auto bytes = static_cast<size_t>(count) * size;
    std::memcpy(to, from, bytes);
    return to + bytes;
  }
  const auto stride = x.strides[dim] * static_cast<int64_t>(size);
  for (int64_t i = 0; i < count; i++) to = copy_strided(from + i * stride, to, x, dim + 1, size);
  return to;
}

bool contiguous(const kernel_call& call, fault&) {
  auto& x = call.inputs[0];
  if (x.elements > 0)
    copy_strided(x.as<const char>(), call.outputs[0].as<char>(), x, 0, size_of(x.type));
  return true;
}

/// Zeros, and the gradient where the narrowed part was.
bool narrow_backward(const kernel_call& call, fault&) {
  auto &gradient = call.inputs[0], &out = call.outputs[0];
  if (out.elements == 0) return true;
  const auto dim = static_cast<size_t>(std::get<int64_t>(call.attributes[0]));
  const auto start = std::get<int64_t>(call.attributes[1]);
  int64_t outer = 1, inner = static_cast<int64_t>(size_of(out.type));
  for (size_t i = 0; i < out.dims.rank(); i++) {
    if (i < dim) outer *= out.dims[i];
    if (i > dim) inner *= out.dims[i];
  }
  const auto whole = static_cast<size_t>(out.dims[dim] * inner);
  const auto before = static_cast<size_t>(start * inner);
  const auto part = static_cast<size_t>(gradient.dims[dim] * inner);
  const auto* from = gradient.as<const char>();
  auto* to = out.as<char>();
  for (int64_t i = 0; i < outer; i++, from += part, to += whole) {
    std::memset(to, 0, before);
    if (part > 0) std::memcpy(to + before, from, part);
    std::memset(to + before + part, 0, whole - before - part);
  }
  return true;
}

template <class T>
MOXZI_INLINE void add_all(const T* a, const T* b, T* __restrict out, int64_t count) {
  for (int64_t i = 0; i < count; i++) out[i] = a[i] + b[i];
}

template <class T>
MOXZI_INLINE void multiply_all(const T* x, T by, T* __restrict out, int64_t count) {
  for (int64_t i = 0; i < count; i++) out[i] = x[i] * by;
}

MOXZI_CLONES void sum(const float* a, const float* b, float* out, int64_t count) {
  add_all(a, b, out, count);
}

MOXZI_CLONES void sum(const double* a, const double* b, double* out, int64_t count) {
  add_all(a, b, out, count);
}

MOXZI_CLONES void scaled(const float* x, float by, float* out, int64_t count) {
  multiply_all(x, by, out, count);
}

MOXZI_CLONES void scaled(const double* x, double by, double* out, int64_t count) {
  multiply_all(x, by, out, count);
}

template <class T>
bool accumulate_of(const kernel_call& call) {
  const T *a = call.inputs[0].as<const T>(), *b = call.inputs[1].as<const T>();
  T* out = call.outputs[0].as<T>();
  for_parts(call.threads, call.outputs[0].elements, elements_at_once,
            [a, b, out](int64_t begin, int64_t end) {
              sum(a + begin, b + begin, out + begin, end - begin);
            });
  return true;
}

bool accumulate(const kernel_call& call, fault&) {
  return call.outputs[0].type == elem::f64 ? accumulate_of<double>(call)
                                           : accumulate_of<float>(call);
}

template <class T>
bool scale_by_of(const kernel_call& call) {
  const T* x = call.inputs[0].as<const T>();
  const T by = *call.inputs[1].as<const T>();
  T* out = call.outputs[0].as<T>();
  for_parts(
    call.threads, call.outputs[0].elements, elements_at_once,
    [x, by, out](int64_t begin, int64_t end) { scaled(x + begin, by, out + begin, end - begin); });
  return true;
}

bool scale_by(const kernel_call& call, fault&) {
  return call.outputs[0].type == elem::f64 ? scale_by_of<double>(call) : scale_by_of<float>(call);
}

bool ones_like(const kernel_call& call, fault&) {
  auto& out = call.outputs[0];
  if (out.type == elem::f64)
    std::fill_n(out.as<double>(), out.elements, 1.0);
  else
    std::fill_n(out.as<float>(), out.elements, 1.0f);
  return true;
}

} // namespace

kernel_function find_shape_kernel(op id) noexcept {
  switch (id) {
    case op::contiguous:
      return contiguous;
    case op::narrow_backward:
      return narrow_backward;
    case op::accumulate:
      return accumulate;
    case op::scale_by:
      return scale_by;
    case op::ones_like:
      return ones_like;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
