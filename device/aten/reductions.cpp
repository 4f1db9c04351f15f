// What makes one element of many.

#include <limits>

#include "device/aten/kernels.hpp"
#include "device/ops/reduction.hpp"

namespace moxzi::device::aten {

namespace {

/// What is reduced, and how the result has it.
struct reduced {
  at::Tensor x;
  std::vector<int64_t> dims;
  bool keep = false;
};

/// ATen takes an empty list for all dimensions, so x gets one more where nothing is reduced.
reduced reduced_of(const aten_call& call, size_t dims, size_t keep) {
  reduced out{widened(call.inputs[0]), {}, false};
  const auto which = reduced_dims(call.attributes[dims], static_cast<size_t>(out.x.dim()));
  for (int64_t i = 0; i < out.x.dim(); i++)
    if (which >> i & 1) out.dims.push_back(i);
  const auto* given = std::get_if<bool>(&call.attributes[keep]);
  out.keep = given && *given && !out.dims.empty();
  if (out.dims.empty()) {
    out.x = out.x.unsqueeze(0);
    out.dims = {0};
  }
  return out;
}

void sum(const aten_call& call, index_watch&) {
  const auto of = reduced_of(call, 0, 1);
  auto out = call.outputs[0];
  at::sum_out(out, of.x, of.dims, of.keep, out.scalar_type());
}

void mean(const aten_call& call, index_watch&) {
  const auto of = reduced_of(call, 0, 1);
  auto out = call.outputs[0];
  at::mean_out(out, of.x, of.dims, of.keep);
}

void prod(const aten_call& call, index_watch&) {
  auto of = reduced_of(call, 0, 1);
  auto& out = call.outputs[0];
  for (size_t i = of.dims.size(); i-- > 0;)
    of.x = at::prod(of.x, of.dims[i], false, out.scalar_type());
  out.copy_(of.x.view(out.sizes()));
}

void max(const aten_call& call, index_watch&) {
  const auto of = reduced_of(call, 0, 1);
  auto out = call.outputs[0];
  at::amax_out(out, of.x.to(out.scalar_type()), of.dims, of.keep);
}

void min(const aten_call& call, index_watch&) {
  const auto of = reduced_of(call, 0, 1);
  auto out = call.outputs[0];
  at::amin_out(out, of.x.to(out.scalar_type()), of.dims, of.keep);
}

void logsumexp(const aten_call& call, index_watch&) {
  const auto of = reduced_of(call, 0, 1);
  auto out = call.outputs[0];
  at::logsumexp_out(out, of.x, of.dims, of.keep);
}

void any(const aten_call& call, index_watch&) {
  const auto of = reduced_of(call, 0, 1);
  call.outputs[0].copy_(at::any(of.x.ne(0), at::OptionalIntArrayRef(of.dims), of.keep));
}

void all(const aten_call& call, index_watch&) {
  const auto of = reduced_of(call, 0, 1);
  call.outputs[0].copy_(at::all(of.x.ne(0), at::OptionalIntArrayRef(of.dims), of.keep));
}

/// The variance, or nothing where there are too few elements for one: ATen warns of that.
at::Tensor variance_of(const aten_call& call) {
  const auto of = reduced_of(call, 0, 1);
  const auto* unbiased = std::get_if<bool>(&call.attributes[2]);
  const int64_t correction = unbiased && !*unbiased ? 0 : 1;
  int64_t count = 1;
  for (const auto dim : of.dims) count *= of.x.size(dim);
  if (count <= correction) return {};
  return at::var(of.x, at::OptionalIntArrayRef(of.dims), correction, of.keep);
}

void variance(const aten_call& call, index_watch&) {
  if (call.outputs[0].numel() == 0) return;
  const auto value = variance_of(call);
  if (value.defined())
    call.outputs[0].copy_(value);
  else
    call.outputs[0].fill_(std::numeric_limits<double>::quiet_NaN());
}

void deviation(const aten_call& call, index_watch& watch) {
  variance(call, watch);
  call.outputs[0].sqrt_();
}

void norm(const aten_call& call, index_watch&) {
  const auto of = reduced_of(call, 1, 2);
  auto out = call.outputs[0];
  at::linalg_vector_norm_out(out, of.x, std::get<double>(call.attributes[0]),
                             at::OptionalIntArrayRef(of.dims), of.keep);
}

void sum_to(const aten_call& call, index_watch&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  std::vector<int64_t> dims;
  const auto missing = x.dim() - out.dim();
  for (int64_t i = 0; i < x.dim(); i++)
    if (i < missing || out.size(i - missing) != x.size(i)) dims.push_back(i);
  if (dims.empty())
    out.copy_(x);
  else
    out.copy_(at::sum(x, dims).view(out.sizes()));
}

} // namespace

aten_kernel find_reduction_kernel(op id) noexcept {
  switch (id) {
    case op::sum:
      return sum;
    case op::mean:
      return mean;
    case op::prod:
      return prod;
    case op::max:
      return max;
    case op::min:
      return min;
    case op::logsumexp:
      return logsumexp;
    case op::any:
      return any;
    case op::all:
      return all;
    case op::variance:
      return variance;
    case op::std:
      return deviation;
    case op::norm:
      return norm;
    case op::sum_to:
      return sum_to;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::aten
