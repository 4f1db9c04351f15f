#include "device/aten/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "device/aten/kernels.hpp"
#include "device/optimizer.hpp"
#include "device/torch/muon.hpp"

namespace moxzi::device::aten {

namespace {

// -- adamw and adam: ATen's fused ones -----------------------------------------

/// The tensors of segments that are stepped by one call.
struct fused_lists {
  std::vector<at::Tensor> parameters, gradients, first, second, largest, steps;
};

struct fused_key {
  elem type;
  optimizer_kind kind;
  double weight_decay;
  bool operator<(const fused_key& other) const {
    return std::tie(type, kind, weight_decay)
           < std::tie(other.type, other.kind, other.weight_decay);
  }
};

void add(fused_lists& to, const segment_tensors& one) {
  to.parameters.push_back(one.parameter);
  to.gradients.push_back(one.gradient);
  to.first.push_back(one.states[0]);
  to.second.push_back(one.states[1]);
  if (one.states.size() > 2) to.largest.push_back(one.states[2]);
  to.steps.push_back(
    at::full({}, static_cast<double>(one.what->step),
             at::TensorOptions().dtype(at::kFloat).device(one.parameter.device())));
}

void step_fused(const optimizer_step& how, const fused_key& key, fused_lists& on) {
  const auto step = [&](const auto& fused) {
    fused(on.parameters, on.gradients, on.first, on.second, on.largest, on.steps, how.lr, how.beta1,
          how.beta2, key.weight_decay, how.eps, how.amsgrad, false);
  };
  if (key.kind == optimizer_kind::adamw)
    step([](auto&&... all) { at::_fused_adamw_(all...); });
  else
    step([](auto&&... all) { at::_fused_adam_(all...); });
}

// -- the others ----------------------------------------------------------------

void step_sgd(const optimizer_step& how, segment_tensors& on, const at::Tensor& g) {
  if (how.beta1 == 0) {
    on.parameter.add_(g, -how.lr);
    return;
  }
  auto& momentum = on.states[0];
  momentum.mul_(how.beta1).add_(g);
  if (on.what->kind == optimizer_kind::nesterov)
    on.parameter.add_(g.add(momentum, how.beta1), -how.lr);
  else
    on.parameter.add_(momentum, -how.lr);
}

void step_rmsprop(const optimizer_step& how, segment_tensors& on, const at::Tensor& g) {
  on.states[0].mul_(how.beta2).addcmul_(g, g, 1 - how.beta2);
  const auto divisor = on.states[0].sqrt().add_(how.eps);
  if (how.beta1 == 0)
    on.parameter.addcdiv_(g, divisor, -how.lr);
  else
    on.parameter.add_(on.states[1].mul_(how.beta1).addcdiv_(g, divisor), -how.lr);
}

void step_adagrad(const optimizer_step& how, segment_tensors& on, const at::Tensor& g) {
  on.states[0].addcmul_(g, g);
  on.parameter.addcdiv_(g, on.states[0].sqrt().add_(how.eps), -how.lr);
}

void step_adamax(const optimizer_step& how, segment_tensors& on, const at::Tensor& g) {
  on.states[0].lerp_(g, 1 - how.beta1);
  on.states[1].mul_(how.beta2).clamp_min_(g.abs().add_(how.eps));
  const double correction = 1 - std::pow(how.beta1, static_cast<double>(on.what->step));
  on.parameter.addcdiv_(on.states[0], on.states[1], -how.lr / correction);
}

void step_lion(const optimizer_step& how, segment_tensors& on, const at::Tensor& g) {
  const auto sign = on.states[0].mul(how.beta1).add_(g, 1 - how.beta1).sign_();
  on.states[0].mul_(how.beta2).add_(g, 1 - how.beta2);
  on.parameter.mul_(1 - how.lr * on.what->weight_decay).add_(sign, -how.lr);
}

/// See the reference's for what `eps` is.
void step_adafactor(const optimizer_step& how, segment_tensors& on, const at::Tensor& g) {
  constexpr double rms_min = 1e-3, decay_exponent = -0.8;
  const auto rms = [&on](const at::Tensor& x) {
    return x.to(at::kDouble).square().sum().item<double>() / static_cast<double>(on.what->elements);
  };
  const auto steps = static_cast<double>(on.what->step);
  const double weight = std::pow(steps, decay_exponent);
  const double alpha =
    std::max(rms_min, std::sqrt(rms(on.parameter))) * std::min(how.lr, 1 / std::sqrt(steps));
  on.parameter.mul_(1 - how.lr * on.what->weight_decay);
  const auto squares = g.square();
  at::Tensor variance;
  if (on.states.size() == 2) {
    auto &rows = on.states[0], &columns = on.states[1];
    rows.lerp_(squares.mean(-1, true), weight);
    columns.lerp_(squares.mean(-2, true), weight);
    variance = rows.matmul(columns).div_(rows.mean(-2, true).clamp_min_(how.eps));
  } else {
    on.states[0].lerp_(squares, weight);
    variance = on.states[0].clone();
  }
  const auto moved = variance.clamp_min_(how.eps * how.eps).rsqrt_().mul_(g);
  on.parameter.add_(moved, -alpha / std::max(1.0, std::sqrt(rms(moved))));
}

void step_one(const optimizer_step& how, segment_tensors& on) {
  const double decay = on.what->weight_decay;
  const auto decayed = [&on, decay] {
    return decay == 0 ? on.gradient : on.gradient.add(on.parameter, decay);
  };
  switch (on.what->kind) {
    case optimizer_kind::sgd:
    case optimizer_kind::nesterov:
      return step_sgd(how, on, decayed());
    case optimizer_kind::rmsprop:
      return step_rmsprop(how, on, decayed());
    case optimizer_kind::adagrad:
      return step_adagrad(how, on, decayed());
    case optimizer_kind::adamax:
      return step_adamax(how, on, decayed());
    case optimizer_kind::lion:
      return step_lion(how, on, on.gradient);
    case optimizer_kind::adafactor:
      return step_adafactor(how, on, on.gradient);
    case optimizer_kind::muon:
      return torch::muon(how, *on.what, on.parameter, on.gradient, on.states[0]);
    case optimizer_kind::adamw:
    case optimizer_kind::adam:
      return;
  }
}

} // namespace

at::Tensor tensor_at(void* data, const shape& dims, elem type, at::Device device) {
  const auto options = at::TensorOptions().dtype(scalar_type(type)).device(device);
  const at::IntArrayRef sizes(dims.sizes().data(), dims.rank());
  if (dims.elements() == 0) return at::empty(sizes, options);
  return at::from_blob(data, sizes, nullptr, options, device);
}

segment_tensors tensors_of(const optimizer_step& how, const step_segment& what, at::Device device) {
  segment_tensors out{&what, tensor_at(what.parameter, what.dims, what.type, device), {}, {}};
  optimizer_spec settings;
  settings.kind = what.kind;
  settings.beta1 = how.beta1;
  settings.amsgrad = how.amsgrad;
  for (auto& part : layout_of(settings, what.dims))
    out.states.push_back(tensor_at(what.states[out.states.size()], part.dims, what.type, device));
  return out;
}

void take_step(const optimizer_step& how, std::vector<segment_tensors> on) {
  std::map<fused_key, fused_lists> fused;
  for (auto& one : on) {
    const auto kind = one.what->kind;
    if (kind == optimizer_kind::adamw || kind == optimizer_kind::adam)
      add(fused[{one.what->type, kind, one.what->weight_decay}], one);
    else
      step_one(how, one);
  }
  for (auto& [key, lists] : fused) step_fused(how, key, lists);
}

} // namespace moxzi::device::aten
