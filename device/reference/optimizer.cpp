#include <cmath>

#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

template <class T>
double squares(const T* data, uint64_t elements) {
  double sum = 0;
  for (uint64_t i = 0; i < elements; ++i) {
    auto value = static_cast<double>(data[i]);
    sum += value * value;
  }
  return sum;
}

/// Adam with decoupled decay (adamw) or with decay added to the gradient (adam).
template <class T>
void adam(const optimizer_step& how, const step_segment& segment, const T* gradient, double scale) {
  auto p = static_cast<T*>(segment.parameter);
  auto m = static_cast<T*>(segment.first_moment);
  auto v = static_cast<T*>(segment.second_moment);
  auto steps = static_cast<double>(segment.step);
  auto correction1 = 1 - std::pow(how.beta1, steps);
  auto correction2 = 1 - std::pow(how.beta2, steps);
  bool decoupled = how.kind == optimizer_kind::adamw;
  for (uint64_t i = 0; i < segment.elements; ++i) {
    auto old = static_cast<double>(p[i]);
    auto g = static_cast<double>(static_cast<T>(gradient[i] * static_cast<T>(scale)));
    if (!decoupled) g += how.weight_decay * old;
    m[i] = static_cast<T>(how.beta1 * m[i] + (1 - how.beta1) * g);
    v[i] = static_cast<T>(how.beta2 * v[i] + (1 - how.beta2) * g * g);
    auto moved = (m[i] / correction1) / (std::sqrt(v[i] / correction2) + how.eps);
    if (decoupled) moved += how.weight_decay * old;
    p[i] = static_cast<T>(old - how.lr * moved);
  }
}

} // namespace

double sum_of_squares(const void* data, uint64_t elements, elem type) {
  return type == elem::f64 ? squares(static_cast<const double*>(data), elements)
                           : squares(static_cast<const float*>(data), elements);
}

void step(const optimizer_step& how, const step_segment& segment, const void* gradient,
          double scale) {
  if (segment.type == elem::f64)
    adam(how, segment, static_cast<const double*>(gradient), scale);
  else
    adam(how, segment, static_cast<const float*>(gradient), scale);
}

} // namespace moxzi::device::reference
