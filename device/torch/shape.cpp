// What moves elements without computing, and what computes each element by itself.

#include <algorithm>
#include <cstring>

#include "device/pointwise/chain.hpp"
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

bool chain(const kernel_call& call, fault&) {
  for_parts(call.threads, call.outputs[0].elements, elements_at_once,
            [&call](int64_t begin, int64_t end) {
              run_chain(call, pointwise::precision::narrow, begin, end);
            });
  return true;
}

} // namespace

kernel_function find_shape_kernel(op id) noexcept {
  if (id == chain_op) return chain;
  switch (id) {
    case op::contiguous:
      return contiguous;
    case op::narrow_backward:
      return narrow_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
