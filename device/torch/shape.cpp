// What moves elements without computing, and what computes each element by itself.

#include <algorithm>
#include <cstring>

#include "device/aten/host.hpp"
#include "device/pointwise/chain.hpp"
#include "device/torch/copy.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

constexpr int64_t elements_at_once = 32768; // per thread, of element-wise work

bool contiguous(const kernel_call& call, fault&) {
  copy_elements(call.inputs[0], call.outputs[0], call.threads);
  return true;
}

size_t dim_of(const kernel_call& call) {
  return static_cast<size_t>(std::get<int64_t>(call.attributes[0]));
}

/// Zeros in places [begin, end) of a dimension of a tensor without gaps.
void clear(const tensor_view& x, size_t dim, int64_t begin, int64_t end) {
  if (begin >= end || x.elements == 0) return;
  const auto inner = x.strides[dim] * static_cast<int64_t>(size_of(x.type));
  const auto whole = x.dims[dim] * inner;
  auto* at = x.as<char>() + begin * inner;
  for (auto n = x.elements / (x.dims[dim] * x.strides[dim]); n > 0; n--, at += whole)
    std::memset(at, 0, static_cast<size_t>((end - begin) * inner));
}

/// Zeros, and the gradient where the narrowed part was.
bool narrow_backward(const kernel_call& call, fault&) {
  auto &gradient = call.inputs[0], &out = call.outputs[0];
  const auto dim = dim_of(call);
  const auto start = std::get<int64_t>(call.attributes[1]), len = gradient.dims[dim];
  clear(out, dim, 0, start);
  clear(out, dim, start + len, out.dims[dim]);
  copy_elements(gradient, part_of(out, dim, start, len), call.threads);
  return true;
}

bool slice_backward(const kernel_call& call, fault&) {
  auto &gradient = call.inputs[0], &out = call.outputs[0];
  const auto dim = dim_of(call);
  clear(out, dim, 0, out.dims[dim]);
  copy_elements(gradient,
                part_of(out, dim, std::get<int64_t>(call.attributes[1]), gradient.dims[dim],
                        std::get<int64_t>(call.attributes[2])),
                call.threads);
  return true;
}

/// True if all are stored as the result is.
bool stored_alike(const kernel_call& call) {
  return std::ranges::all_of(
    call.inputs, [&call](const tensor_view& x) { return x.type == call.outputs[0].type; });
}

bool concat(const kernel_call& call, fault& why) {
  if (!stored_alike(call)) return aten::find_host_kernel(op::concat)(call, why);
  const auto dim = dim_of(call);
  int64_t start = 0;
  for (auto& x : call.inputs) {
    copy_elements(x, part_of(call.outputs[0], dim, start, x.dims[dim]), call.threads);
    start += x.dims[dim];
  }
  return true;
}

bool stack(const kernel_call& call, fault& why) {
  if (!stored_alike(call)) return aten::find_host_kernel(op::stack)(call, why);
  const auto dim = dim_of(call);
  for (size_t i = 0; i < call.inputs.size(); i++) {
    const auto part = part_of(call.outputs[0], dim, static_cast<int64_t>(i), 1);
    auto place = call.inputs[i];
    place.data = part.data;
    for (size_t j = 0; j < place.dims.rank(); j++)
      place.strides[j] = part.strides[j < dim ? j : j + 1];
    copy_elements(call.inputs[i], place, call.threads);
  }
  return true;
}

template <class T>
void fill(const tensor_view& to, double value) {
  std::fill_n(to.as<T>(), to.elements, static_cast<T>(value));
}

bool pad(const kernel_call& call, fault& why) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  if (out.type != elem::f32 && out.type != elem::f64)
    return aten::find_host_kernel(op::pad)(call, why);
  const auto value = std::get<double>(call.attributes[2]);
  if (out.type == elem::f64)
    fill<double>(out, value);
  else
    fill<float>(out, value);
  auto& before = std::get<std::vector<uint32_t>>(call.attributes[0]);
  auto part = out;
  for (size_t i = 0; i < before.size(); i++) part = part_of(part, i, before[i], x.dims[i]);
  copy_elements(x, part, call.threads);
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
    case op::slice_backward:
      return slice_backward;
    case op::concat:
      return concat;
    case op::stack:
      return stack;
    case op::pad:
      return pad;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
