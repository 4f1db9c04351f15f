// batch_norm and its backward rows. Halves are computed in f32.

#include "device/aten/kernels.hpp"

namespace moxzi::device::aten {

namespace {

double number_or(const attribute& value, double otherwise) {
  auto* given = std::get_if<double>(&value);
  return given ? *given : otherwise;
}

/// [batch, channels, ..] as [batch, channels, places].
at::Tensor by_channel(const at::Tensor& x) {
  int64_t places = 1;
  for (int64_t i = 2; i < x.dim(); i++) places *= x.size(i);
  const auto wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  return wide.reshape({x.size(0), x.size(1), places});
}

/// One number a channel, to compute with the above.
at::Tensor each_channel(const at::Tensor& of) {
  return (of.scalar_type() == at::kDouble ? of : of.to(at::kFloat)).view({1, -1, 1});
}

struct moments {
  at::Tensor mean, scale; ///< scale = 1 / deviation
};

moments running(const at::Tensor& mean, const at::Tensor& variance, const at::Tensor& like,
                double eps) {
  const auto options = like.options();
  return {mean.defined() ? mean : at::zeros({like.size(1)}, options),
          (variance.defined() ? variance : at::ones({like.size(1)}, options)).add(eps).rsqrt()};
}

void normalise(const aten_call& call, const at::Tensor& x, const moments& by) {
  auto y = (x - each_channel(by.mean)) * each_channel(by.scale);
  if (call.inputs[1].defined()) y.mul_(each_channel(call.inputs[1]));
  if (call.inputs[2].defined()) y.add_(each_channel(call.inputs[2]));
  call.outputs[0].copy_(y.reshape(call.outputs[0].sizes()));
}

void batch_norm(const aten_call& call, index_watch&) {
  const auto x = by_channel(call.inputs[0]);
  const auto eps = number_or(call.attributes[3], 1e-5);
  normalise(call, x, running(call.inputs[3], call.inputs[4], x, eps));
}

void batch_norm_active(const aten_call& call, index_watch&) {
  const auto x = by_channel(call.inputs[0]);
  auto kept = call.outputs[1];
  const auto eps = number_or(call.attributes[3], 1e-5);
  const bool some = x.numel() > 0;
  const double share = some ? number_or(call.attributes[2], 0.1) : 0;
  auto mean = at::zeros({x.size(1)}, x.options()), variance = mean;
  if (some) {
    mean = x.mean(at::IntArrayRef{0, 2});
    variance = (x - each_channel(mean)).square_().mean(at::IntArrayRef{0, 2});
  }
  const moments by{mean, variance.add(eps).rsqrt()};
  const auto each = static_cast<double>(x.size(0) * x.size(2));
  const auto blend = [&call, &kept, share](size_t input, int64_t row, double otherwise,
                                           const at::Tensor& more) {
    auto to = kept.select(0, row);
    if (call.inputs[input].defined())
      to.copy_(call.inputs[input]);
    else
      to.fill_(otherwise);
    to.mul_(1 - share);
    if (share > 0) to.add_(more, share);
  };
  blend(3, 0, 0, mean);
  blend(4, 1, 1, some ? variance * (each / (each - 1)) : variance);
  kept.select(0, 2).copy_(by.mean);
  kept.select(0, 3).copy_(by.scale);
  normalise(call, x, by);
}

/// The gradients of w and b.
void weights_backward(const aten_call& call, const at::Tensor& g, const at::Tensor& unit) {
  call.outputs[1].select(0, 0).copy_((g * unit).sum(at::IntArrayRef{0, 2}));
  call.outputs[1].select(0, 1).copy_(g.sum(at::IntArrayRef{0, 2}));
}

/// g · w / deviation.
at::Tensor scaled(const at::Tensor& g, const at::Tensor& w, const moments& by) {
  const auto out = g * each_channel(by.scale);
  return w.defined() ? out * each_channel(w) : out;
}

void batch_norm_backward(const aten_call& call, index_watch&) {
  const auto g = by_channel(call.inputs[0]), x = by_channel(call.inputs[1]);
  const auto eps = number_or(call.attributes[2], 1e-5);
  const auto by = running(call.inputs[3], call.inputs[4], x, eps);
  weights_backward(call, g, (x - each_channel(by.mean)) * each_channel(by.scale));
  call.outputs[0].copy_(scaled(g, call.inputs[2], by).reshape(call.outputs[0].sizes()));
}

void batch_norm_active_backward(const aten_call& call, index_watch&) {
  const auto g = by_channel(call.inputs[0]), x = by_channel(call.inputs[1]);
  const moments by{call.inputs[2].select(0, 2), call.inputs[2].select(0, 3)};
  const auto unit = (x - each_channel(by.mean)) * each_channel(by.scale);
  weights_backward(call, g, unit);
  if (x.numel() == 0) return;
  const auto along = (g * unit).mean(at::IntArrayRef{0, 2}, true);
  const auto own = g - g.mean(at::IntArrayRef{0, 2}, true) - unit * along;
  call.outputs[0].copy_(scaled(own, call.inputs[3], by).reshape(call.outputs[0].sizes()));
}

} // namespace

aten_kernel find_batch_norm_kernel(op id) noexcept {
  switch (id) {
    case op::batch_norm:
      return batch_norm;
    case op::batch_norm_active:
      return batch_norm_active;
    case op::batch_norm_backward:
      return batch_norm_backward;
    case op::batch_norm_active_backward:
      return batch_norm_active_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::aten
