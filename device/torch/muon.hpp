#pragma once

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

#include "device/backend.hpp"

namespace moxzi::device::torch {

/// The nearest half-orthogonal matrix, roughly: five steps of Newton and Schulz in bfloat16, with
/// the operators of torch.optim.Muon in their order.
inline at::Tensor orthogonalized(const at::Tensor& of, double eps) {
  const bool turned = of.size(0) > of.size(1);
  auto x = of.to(at::kBFloat16, /*non_blocking=*/false, /*copy=*/true);
  if (turned) x = x.t();
  x.div_(x.norm().clamp_min(eps));
  for (int round = 0; round < 5; round++) {
    const auto gram = x.matmul(x.t());
    const auto update = at::addmm(gram, gram, gram, -4.7750, 2.0315);
    x = at::addmm(x, update, x, 3.4445);
  }
  return turned ? x.t() : x;
}

/// A step as torch.optim.Muon takes it by default: Nesterov's momentum, learning rate adjusted by
/// the matrix's proportions. All three are matrices of one shape with elements.
inline void muon(const optimizer_step& how, const step_segment& segment, at::Tensor parameter,
                 const at::Tensor& gradient, at::Tensor average) {
  average.lerp_(gradient, 1 - how.beta1);
  const auto moved = orthogonalized(gradient.lerp(average, how.beta1), how.eps);
  const double proportion =
    static_cast<double>(parameter.size(0)) / static_cast<double>(parameter.size(1));
  parameter.mul_(1 - how.lr * segment.weight_decay);
  parameter.add_(moved, -how.lr * std::sqrt(std::max(1.0, proportion)));
}

} // namespace moxzi::device::torch
