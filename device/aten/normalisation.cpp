// softmax, and what normalises by mean and deviation. Halves are computed in f32.

#include "device/aten/kernels.hpp"

namespace moxzi::device::aten {

namespace {

at::Tensor wide(const at::Tensor& x) {
  return x.defined() && x.scalar_type() != at::kDouble ? x.to(at::kFloat) : x;
}

double number_or(const attribute& value, double otherwise) {
  auto* given = std::get_if<double>(&value);
  return given ? *given : otherwise;
}

// -- along a dimension ---------------------------------------------------------

void softmax(const aten_call& call, index_watch&) {
  auto out = call.outputs[0];
  if (out.numel() > 0)
    at::_softmax_out(out, call.inputs[0], std::get<int64_t>(call.attributes[0]), false);
}

void log_softmax(const aten_call& call, index_watch&) {
  auto out = call.outputs[0];
  if (out.numel() > 0)
    at::_log_softmax_out(out, call.inputs[0], std::get<int64_t>(call.attributes[0]), false);
}

void softmax_backward(const aten_call& call, index_watch&) {
  auto &g = call.inputs[0], &y = call.inputs[1];
  auto out = call.outputs[0];
  if (out.numel() > 0)
    at::_softmax_backward_data_out(out, g, y, std::get<int64_t>(call.attributes[0]),
                                   y.scalar_type());
}

void log_softmax_backward(const aten_call& call, index_watch&) {
  auto &g = call.inputs[0], &y = call.inputs[1];
  auto out = call.outputs[0];
  if (out.numel() > 0)
    at::_log_softmax_backward_data_out(out, g, y, std::get<int64_t>(call.attributes[0]),
                                       y.scalar_type());
}

// -- rows with a mean and a deviation ------------------------------------------

/// x as [samples, groups, channels of a group, places]: what is normalised together are the last
/// two. A weight is one per channel.
struct channels {
  at::IntArrayRef sizes() const {
    return of;
  }
  /// w [channels] or an absent one, to multiply with.
  at::Tensor weight(const at::Tensor& w) const {
    return w.defined() ? wide(w).reshape({1, of[1], of[2], 1}) : w;
  }
  std::array<int64_t, 4> of;
};

/// The last `taken` dimensions together, each place with its own weight.
channels last_dimensions(const at::Tensor& x, int64_t taken) {
  channels out{{1, 1, 1, 1}};
  for (int64_t i = 0; i < x.dim(); i++) (i + taken < x.dim() ? out.of[0] : out.of[2]) *= x.size(i);
  return out;
}

channels grouped(const at::Tensor& x, int64_t groups) {
  channels out{{x.size(0), groups, x.size(1) / groups, 1}};
  for (int64_t i = 2; i < x.dim(); i++) out.of[3] *= x.size(i);
  return out;
}

void normalise(const aten_call& call, const channels& how, double eps) {
  auto out = call.outputs[0];
  const auto x = wide(call.inputs[0]).reshape(how.sizes());
  const auto mean = x.mean({2, 3}, true);
  const auto middle = x - mean;
  const auto scale = middle.square().mean({2, 3}, true).add_(eps).rsqrt_();
  auto y = middle * scale;
  if (auto w = how.weight(call.inputs[1]); w.defined()) y.mul_(w);
  if (auto b = how.weight(call.inputs[2]); b.defined()) y.add_(b);
  out.copy_(y.reshape(out.sizes()));
  if (call.outputs.size() < 2) return;
  call.outputs[1].select(-1, 0).copy_(mean.reshape(call.outputs[1].select(-1, 0).sizes()));
  call.outputs[1].select(-1, 1).copy_(scale.reshape(call.outputs[1].select(-1, 1).sizes()));
}

void normalise_backward(const aten_call& call, const channels& how) {
  const auto g = wide(call.inputs[0]).reshape(how.sizes());
  const auto x = wide(call.inputs[1]).reshape(how.sizes());
  const auto kept = call.inputs[2].reshape({how.of[0], how.of[1], 1, 1, 2});
  const auto scale = kept.select(-1, 1);
  const auto unit = (x - kept.select(-1, 0)) * scale;
  const auto w = how.weight(call.inputs[3]);
  const auto own = w.defined() ? g * w : g;
  const auto along = (own * unit).mean({2, 3}, true);
  auto out = call.outputs[0], weights = call.outputs[1];
  out.copy_((scale * (own - own.mean({2, 3}, true) - unit * along)).reshape(out.sizes()));
  const auto of_w = weights.select(0, 0), of_b = weights.select(0, 1);
  of_w.copy_((g * unit).sum(at::IntArrayRef{0, 3}).reshape(of_w.sizes()));
  of_b.copy_(g.sum(at::IntArrayRef{0, 3}).reshape(of_b.sizes()));
}

void layer_norm(const aten_call& call, index_watch&) {
  auto* given = std::get_if<int64_t>(&call.attributes[1]);
  normalise(call, last_dimensions(call.inputs[0], given ? *given : 1),
            number_or(call.attributes[0], 1e-5));
}

void layer_norm_backward(const aten_call& call, index_watch&) {
  const auto taken = std::get<int64_t>(call.attributes[0]);
  normalise_backward(call, last_dimensions(call.inputs[1], taken));
}

void group_norm(const aten_call& call, index_watch&) {
  normalise(call, grouped(call.inputs[0], std::get<int64_t>(call.attributes[0])),
            number_or(call.attributes[1], 1e-5));
}

void group_norm_backward(const aten_call& call, index_watch&) {
  normalise_backward(call, grouped(call.inputs[1], std::get<int64_t>(call.attributes[0])));
}

// -- rms_norm ------------------------------------------------------------------

void rms_norm(const aten_call& call, index_watch&) {
  const auto x = wide(call.inputs[0]), w = wide(call.inputs[1]);
  const double step = x.scalar_type() == at::kDouble ? 0x1p-52 : 0x1p-23;
  const auto eps = number_or(call.attributes[0], step);
  const auto scale = x.square().mean(-1, true).add_(eps).rsqrt_();
  auto y = x * scale;
  if (w.defined()) y.mul_(w);
  call.outputs[0].copy_(y);
  if (call.outputs.size() > 1) call.outputs[1].copy_(scale.squeeze(-1));
}

void rms_norm_backward(const aten_call& call, index_watch&) {
  const auto g = wide(call.inputs[0]), x = wide(call.inputs[1]), w = wide(call.inputs[3]);
  const auto scale = call.inputs[2].unsqueeze(-1);
  const auto unit = x * scale;
  const auto own = w.defined() ? g * w : g;
  call.outputs[0].copy_(scale * (own - unit * (own * unit).mean(-1, true)));
  call.outputs[1].copy_((g * unit).sum_to_size({x.size(-1)}));
}

} // namespace

aten_kernel find_normalisation_kernel(op id) noexcept {
  switch (id) {
    case op::softmax:
      return softmax;
    case op::log_softmax:
      return log_softmax;
    case op::softmax_backward:
      return softmax_backward;
    case op::log_softmax_backward:
      return log_softmax_backward;
    case op::layer_norm:
    case op::layer_norm_train:
      return layer_norm;
    case op::layer_norm_backward:
      return layer_norm_backward;
    case op::group_norm:
    case op::group_norm_train:
      return group_norm;
    case op::group_norm_backward:
      return group_norm_backward;
    case op::rms_norm:
    case op::rms_norm_train:
      return rms_norm;
    case op::rms_norm_backward:
      return rms_norm_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::aten
