// matmul, einsum and convolutions.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device/aten/kernels.hpp"
#include "device/ops/einsum.hpp"
#include "device/ops/options.hpp"
#include "device/ops/windows.hpp"

namespace moxzi::device::aten {

namespace {

shape shape_of(const at::Tensor& x) {
  return shape(std::span<const int64_t>(x.sizes().data(), static_cast<size_t>(x.dim())));
}

void matmul(const aten_call& call, index_watch&) {
  auto &a = call.inputs[0], &b = call.inputs[1];
  auto out = call.outputs[0];
  if (out.numel() == 0) return;
  const bool ta = flag(call.attributes[0]), tb = flag(call.attributes[1]);
  at::matmul_out(out, ta ? a.mT() : a, tb ? b.mT() : b);
}

// -- einsum --------------------------------------------------------------------

einsum parsed(const aten_call& call) {
  std::vector<shape> dims;
  for (auto& x : call.inputs) dims.push_back(shape_of(x));
  return *parse_einsum(std::get<std::string>(call.attributes[0]), dims, true);
}

void einsum_forward(const aten_call& call, index_watch&) {
  auto out = call.outputs[0];
  if (out.numel() == 0) return;
  const auto what = parsed(call);
  out.copy_(at::einsum(fmt::format("{}->{}", fmt::join(what.in, ","), what.out), call.inputs));
}

/// Letters that the result has twice are filled along the diagonal; those that no operand has are
/// repeated.
void einsum_backward(const aten_call& call, index_watch&) {
  auto out = call.outputs[0];
  if (out.numel() == 0) return;
  const auto what = parsed(call);
  std::string made;
  for (auto label : what.out)
    if (what.sizes.contains(label) && made.find(label) == std::string::npos) made += label;
  const auto part = at::einsum(fmt::format("{}->{}", fmt::join(what.in, ","), made), call.inputs);
  auto labels = what.out;
  auto place = out;
  for (size_t i = 0; i < labels.size(); i++) {
    const auto again = labels.find(labels[i], i + 1);
    if (again == std::string::npos) continue;
    place = place.diagonal(0, static_cast<int64_t>(i), static_cast<int64_t>(again));
    labels = labels.substr(0, i) + labels.substr(i + 1, again - i - 1) + labels.substr(again + 1)
             + labels[i];
    i = static_cast<size_t>(-1); // from the start
  }
  std::vector<int64_t> order, sizes;
  for (auto label : labels) {
    const auto at = made.find(label);
    if (at != std::string::npos) order.push_back(static_cast<int64_t>(at));
    sizes.push_back(at == std::string::npos ? 1 : what.size_of(label));
  }
  if (labels.size() < what.out.size()) out.zero_();
  place.copy_(part.permute(order).reshape(sizes));
}

// -- convolutions --------------------------------------------------------------

struct convolution {
  std::vector<int64_t> stride, padding, dilation, output_padding;
  int64_t groups;
};

convolution read(const shape& w, const std::vector<attribute>& attributes) {
  convolution out;
  for (auto& one : convolution_windows(w, attributes).dims()) {
    out.stride.push_back(one.stride);
    out.padding.push_back(one.padding);
    out.dilation.push_back(one.dilation);
    out.output_padding.push_back(one.output_padding);
  }
  out.groups = whole_number(attributes[3], 1);
  return out;
}

/// The processor convolves half precision slowly or not at all.
at::Tensor fitting(const at::Tensor& x) {
  return x.defined() && x.is_cpu() ? at_least_f32(x) : x;
}

void convolve(const aten_call& call, bool transposed) {
  auto &x = call.inputs[0], &w = call.inputs[1], &b = call.inputs[2];
  auto out = call.outputs[0];
  if (out.numel() == 0) return;
  if (x.numel() == 0 || w.numel() == 0) {
    out.zero_();
    if (b.defined()) out.transpose(1, -1).add_(b);
    return;
  }
  const auto how = read(shape_of(w), call.attributes);
  const auto bias = b.defined() ? std::optional(fitting(b)) : std::nullopt;
  out.copy_(at::convolution(fitting(x), fitting(w), bias, how.stride, how.padding, how.dilation,
                            transposed, how.output_padding, how.groups));
}

void conv(const aten_call& call, index_watch&) {
  convolve(call, false);
}

void conv_transpose(const aten_call& call, index_watch&) {
  convolve(call, true);
}

void conv_weight_backward(const aten_call& call, index_watch&) {
  const auto gradient = fitting(call.inputs[0]), x = fitting(call.inputs[1]);
  auto out = call.outputs[0];
  if (gradient.numel() == 0 || x.numel() == 0 || out.numel() == 0) {
    out.zero_();
    return;
  }
  const auto how = read(shape_of(out), call.attributes);
  const auto w = at::empty(out.sizes(), x.options()); // only its shape is looked at
  out.copy_(std::get<1>(at::convolution_backward(
    gradient, x, w, at::OptionalIntArrayRef{}, how.stride, how.padding, how.dilation, false,
    how.output_padding, how.groups, {false, true, false})));
}

} // namespace

aten_kernel find_product_kernel(op id) noexcept {
  switch (id) {
    case op::matmul:
      return matmul;
    case op::einsum:
      return einsum_forward;
    case op::einsum_backward:
      return einsum_backward;
    case op::conv:
      return conv;
    case op::conv_transpose:
      return conv_transpose;
    case op::conv_weight_backward:
      return conv_weight_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::aten
