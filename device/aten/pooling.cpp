// Poolings, unfold and upsample. What flows back is added slice by slice, since ATen's own kernels
// add in any order on a GPU.

#include "device/aten/kernels.hpp"
#include "device/ops/options.hpp"
#include "device/ops/windows.hpp"

namespace moxzi::device::aten {

namespace {

struct sliding {
  std::vector<int64_t> kernel, stride, padding;
};

sliding read(const std::vector<attribute>& attributes, bool apart = false) {
  sliding out;
  for (auto& one : pooling_windows(attributes, apart).dims()) {
    out.kernel.push_back(one.kernel);
    out.stride.push_back(one.stride);
    out.padding.push_back(one.padding);
  }
  return out;
}

/// One spatial dimension as two: ATen has no kernels for one.
at::Tensor in_plane(const at::Tensor& x) {
  return x.dim() == 3 ? x.unsqueeze(2) : x;
}

void in_plane(sliding& how) {
  if (how.kernel.size() > 1) return;
  how.kernel.insert(how.kernel.begin(), 1);
  how.stride.insert(how.stride.begin(), 1);
  how.padding.insert(how.padding.begin(), 0);
}

/// Both rows: with a second output also where each was.
void max_pool(const aten_call& call, index_watch&) {
  auto& out = call.outputs[0];
  if (out.numel() == 0) return;
  auto how = read(call.attributes);
  in_plane(how);
  const auto x = in_plane(at_least_f32(call.inputs[0]));
  const std::vector<int64_t> dense(how.kernel.size(), 1);
  const auto [largest, places] =
    x.dim() == 5
      ? at::max_pool3d_with_indices(x, how.kernel, how.stride, how.padding, dense, false)
      : at::max_pool2d_with_indices(x, how.kernel, how.stride, how.padding, dense, false);
  out.copy_(largest.view_as(out));
  if (call.outputs.size() > 1) call.outputs[1].copy_(places.view_as(out));
}

/// Calls `work(view, offset)` with the places of `padded` that the windows' place number `offset`
/// is at, for each place of a window.
template <class Work>
void for_offsets(const sliding& how, const at::Tensor& small, const at::Tensor& padded,
                 const Work& work) {
  const auto count = how.kernel.size();
  const auto first = padded.dim() - static_cast<int64_t>(count);
  int64_t volume = 1;
  for (auto size : how.kernel) volume *= size;
  for (int64_t k = 0; k < volume; k++) {
    auto view = padded;
    auto rest = k;
    for (size_t d = count; d-- > 0;) {
      const auto dim = first + static_cast<int64_t>(d);
      const auto from = rest % how.kernel[d];
      const auto many = small.size(small.dim() - static_cast<int64_t>(count - d));
      rest /= how.kernel[d];
      view = view.slice(dim, from, from + (many - 1) * how.stride[d] + 1, how.stride[d]);
    }
    work(view, k);
  }
}

/// Zeros that hold the large side with its padding, and all windows.
at::Tensor padded_zeros(const sliding& how, const at::Tensor& small, const at::Tensor& large) {
  auto sizes = large.sizes().vec();
  for (size_t d = 0; d < how.kernel.size(); d++)
    sizes[d + 2] =
      std::max(sizes[d + 2] + 2 * how.padding[d],
               (small.size(static_cast<int64_t>(d) + 2) - 1) * how.stride[d] + how.kernel[d]);
  return at::zeros(sizes, small.options());
}

void take_middle(const sliding& how, const at::Tensor& padded, const at::Tensor& out) {
  auto view = padded;
  for (size_t d = 0; d < how.kernel.size(); d++) {
    const auto dim = static_cast<int64_t>(d) + 2;
    view = view.narrow(dim, how.padding[d], out.size(dim));
  }
  out.copy_(view);
}

/// For each place of the padded plane its number in the plane; those outside of it may have any.
at::Tensor numbers_of(const sliding& how, const at::Tensor& padded, const at::Tensor& large) {
  const auto options = at::TensorOptions().dtype(at::kLong).device(large.device());
  auto out = at::zeros({}, options);
  for (size_t d = 0; d < how.kernel.size(); d++) {
    const auto dim = static_cast<int64_t>(d) + 2;
    const auto along = at::arange(padded.size(dim), options) - how.padding[d];
    out = out.unsqueeze(-1) * large.size(dim) + along;
  }
  return out;
}

void max_pool_backward(const aten_call& call, index_watch&) {
  auto& out = call.outputs[0];
  if (out.numel() == 0) return;
  const auto how = read(call.attributes);
  const auto gradient = at_least_f32(call.inputs[0]), places = call.inputs[1].to(at::kLong);
  const auto padded = padded_zeros(how, gradient, out);
  const auto numbers = numbers_of(how, padded, out);
  std::vector<at::Tensor> seen;
  for_offsets(how, gradient, numbers,
              [&seen](const at::Tensor& view, int64_t) { seen.push_back(view); });
  for_offsets(how, gradient, padded, [&](const at::Tensor& view, int64_t k) {
    at::Tensor to = view;
    to.add_(gradient.masked_fill(places.ne(seen[static_cast<size_t>(k)]), 0));
  });
  take_middle(how, padded, out);
}

void avg_pool(const aten_call& call, index_watch&) {
  auto& out = call.outputs[0];
  if (out.numel() == 0) return;
  auto how = read(call.attributes);
  in_plane(how);
  const auto x = in_plane(at_least_f32(call.inputs[0]));
  const auto means = x.dim() == 5 ? at::avg_pool3d(x, how.kernel, how.stride, how.padding)
                                  : at::avg_pool2d(x, how.kernel, how.stride, how.padding);
  out.copy_(means.view_as(out));
}

void avg_pool_backward(const aten_call& call, index_watch&) {
  auto& out = call.outputs[0];
  if (out.numel() == 0) return;
  const auto how = read(call.attributes);
  const auto volume = pooling_windows(call.attributes).volume();
  const auto share = at_least_f32(call.inputs[0]) / static_cast<double>(volume);
  const auto padded = padded_zeros(how, share, out);
  for_offsets(how, share, padded, [&share](const at::Tensor& view, int64_t) {
    at::Tensor to = view;
    to.add_(share);
  });
  take_middle(how, padded, out);
}

void global_avg_pool(const aten_call& call, index_watch&) {
  auto out = call.outputs[0];
  if (out.numel() > 0) at::mean_out(out, call.inputs[0].flatten(2), at::IntArrayRef{2});
}

// -- unfold --------------------------------------------------------------------

void unfold(const aten_call& call, index_watch&) {
  auto& out = call.outputs[0];
  if (out.numel() == 0) return;
  const auto how = read(call.attributes, true);
  out.copy_(at::im2col(at_least_f32(call.inputs[0]), how.kernel, {1, 1}, how.padding, how.stride));
}

void unfold_backward(const aten_call& call, index_watch&) {
  auto& out = call.outputs[0];
  if (out.numel() == 0) return;
  const auto how = read(call.attributes, true);
  out.copy_(at::col2im(at_least_f32(call.inputs[0]), {out.size(2), out.size(3)}, how.kernel, {1, 1},
                       how.padding, how.stride));
}

// -- upsample ------------------------------------------------------------------

/// [large, small]: which share each place of the large side takes from the small.
at::Tensor shares(int64_t small, int64_t scale, bool linear, const at::TensorOptions& options) {
  const auto large = small * scale;
  const auto wide = options.dtype(at::kDouble);
  const auto places = at::arange(large, wide);
  const auto source =
    linear ? ((places + 0.5) / scale - 0.5).clamp_min(0) : at::floor(places / scale);
  const auto low = source.floor(), part = source - low;
  const auto high = (low + 1).clamp_max(small - 1);
  const auto columns = at::arange(small, wide);
  const auto takes = [&](const at::Tensor& from) {
    return from.unsqueeze(1).eq(columns).to(at::kDouble);
  };
  return (takes(low) * (1 - part).unsqueeze(1) + takes(high) * part.unsqueeze(1)).to(options);
}

/// Along one dimension after the other, as products.
void resample(const aten_call& call, bool back) {
  auto& out = call.outputs[0];
  if (out.numel() == 0) return;
  const bool linear = whole_number(call.attributes[1], 0) == 1;
  auto now = at_least_f32(call.inputs[0]);
  for (int64_t dim = 2; dim < now.dim(); dim++) {
    const auto small = std::min(now.size(dim), out.size(dim));
    const auto scale = std::max(now.size(dim), out.size(dim)) / small;
    if (scale == 1) continue;
    const auto by = shares(small, scale, linear, now.options());
    now = at::matmul(now.transpose(dim, -1), back ? by : by.t()).transpose(dim, -1);
  }
  out.copy_(now);
}

void upsample(const aten_call& call, index_watch&) {
  resample(call, false);
}

void upsample_backward(const aten_call& call, index_watch&) {
  resample(call, true);
}

} // namespace

aten_kernel find_pooling_kernel(op id) noexcept {
  switch (id) {
    case op::max_pool:
    case op::max_pool_train:
      return max_pool;
    case op::max_pool_backward:
      return max_pool_backward;
    case op::avg_pool:
      return avg_pool;
    case op::avg_pool_backward:
      return avg_pool_backward;
    case op::global_avg_pool:
      return global_avg_pool;
    case op::unfold:
      return unfold;
    case op::unfold_backward:
      return unfold_backward;
    case op::upsample:
      return upsample;
    case op::upsample_backward:
      return upsample_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::aten
