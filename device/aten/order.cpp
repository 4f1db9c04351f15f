// What goes along one dimension in order.

#include <tuple>

#include "device/aten/kernels.hpp"

namespace moxzi::device::aten {

namespace {

int64_t dim_of(const aten_call& call) {
  return std::get<int64_t>(call.attributes[0]);
}

std::tuple<at::Tensor, at::Tensor> ordered(const aten_call& call, bool descending) {
  return at::sort(widened(call.inputs[0]), true, dim_of(call), descending);
}

bool flag(const attribute& from) {
  const auto* given = std::get_if<bool>(&from);
  return given && *given;
}

void sort(const aten_call& call, index_watch&) {
  call.outputs[0].copy_(std::get<0>(ordered(call, flag(call.attributes[1]))));
}

void argsort(const aten_call& call, index_watch&) {
  call.outputs[0].copy_(std::get<1>(ordered(call, flag(call.attributes[1]))));
}

/// ATen's own topk does not say which of equals it takes.
void topk_values(const aten_call& call, index_watch&) {
  const auto all = std::get<0>(ordered(call, true));
  call.outputs[0].copy_(all.narrow(dim_of(call), 0, call.outputs[0].size(dim_of(call))));
}

void topk_indices(const aten_call& call, index_watch&) {
  const auto all = std::get<1>(ordered(call, true));
  call.outputs[0].copy_(all.narrow(dim_of(call), 0, call.outputs[0].size(dim_of(call))));
}

void argmax(const aten_call& call, index_watch&) {
  auto out = call.outputs[0];
  if (out.numel() > 0) at::argmax_out(out, widened(call.inputs[0]), dim_of(call), false);
}

void argmin(const aten_call& call, index_watch&) {
  auto out = call.outputs[0];
  if (out.numel() > 0) at::argmin_out(out, widened(call.inputs[0]), dim_of(call), false);
}

using scan = at::Tensor (*)(const at::Tensor&, int64_t, std::optional<at::ScalarType>);

/// A GPU adds a single line up in no fixed order, but not one of several.
void run_scan(const aten_call& call, scan run) {
  auto& out = call.outputs[0];
  auto dim = dim_of(call);
  const auto x = widened(call.inputs[0]);
  if (x.is_cuda() && x.numel() == x.size(dim))
    out.copy_(run(at::stack({x, x}), dim + 1, out.scalar_type()).select(0, 0));
  else
    out.copy_(run(x, dim, out.scalar_type()));
}

void cumsum(const aten_call& call, index_watch&) {
  run_scan(call, at::cumsum);
}

void cumprod(const aten_call& call, index_watch&) {
  run_scan(call, at::cumprod);
}

/// The product of those before times what comes back from those behind.
void cumprod_backward(const aten_call& call, index_watch&) {
  auto &gradient = call.inputs[0], &x = call.inputs[1], &out = call.outputs[0];
  const auto dim = dim_of(call), size = x.size(dim);
  if (out.numel() == 0) return;
  auto behind = gradient.select(dim, size - 1).clone();
  out.select(dim, size - 1).copy_(behind);
  for (auto i = size - 1; i-- > 0;) {
    behind = behind * x.select(dim, i + 1) + gradient.select(dim, i);
    out.select(dim, i).copy_(behind);
  }
  if (size < 2) return;
  auto later = out.narrow(dim, 1, size - 1);
  later.mul_(at::cumprod(x.narrow(dim, 0, size - 1), dim));
}

} // namespace

aten_kernel find_order_kernel(op id) noexcept {
  switch (id) {
    case op::sort:
      return sort;
    case op::argsort:
      return argsort;
    case op::topk_values:
      return topk_values;
    case op::topk_indices:
      return topk_indices;
    case op::argmax:
      return argmax;
    case op::argmin:
      return argmin;
    case op::cumsum:
      return cumsum;
    case op::cumprod:
      return cumprod;
    case op::cumprod_backward:
      return cumprod_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::aten
