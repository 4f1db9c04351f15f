#include "device/torch/optimizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

/// What is the same for all elements of a step; computed in double, rounded once.
template <class T>
struct constants {
  T beta1, one_less_beta1, beta2, one_less_beta2;
  T step_size;         ///< lr / (1 - beta1^t)
  T second_correction; ///< 1 / sqrt(1 - beta2^t)
  T eps;
  T keep;  ///< AdamW: 1 - lr · weight decay, times the parameter
  T decay; ///< Adam: weight decay, times the parameter, goes into the gradient
  T scale; ///< clipping
};

template <class T>
constants<T> constants_of(const optimizer_step& how, uint64_t t, double scale) {
  const auto steps = static_cast<double>(t);
  const bool decoupled = how.kind == optimizer_kind::adamw;
  constants<T> with;
  with.beta1 = static_cast<T>(how.beta1);
  with.one_less_beta1 = static_cast<T>(1 - how.beta1);
  with.beta2 = static_cast<T>(how.beta2);
  with.one_less_beta2 = static_cast<T>(1 - how.beta2);
  with.step_size = static_cast<T>(how.lr / (1 - std::pow(how.beta1, steps)));
  with.second_correction = static_cast<T>(1 / std::sqrt(1 - std::pow(how.beta2, steps)));
  with.eps = static_cast<T>(how.eps);
  with.keep = static_cast<T>(decoupled ? 1 - how.lr * how.weight_decay : 1);
  with.decay = static_cast<T>(decoupled ? 0 : how.weight_decay);
  with.scale = static_cast<T>(scale);
  return with;
}

/// `scaled` and `decays` are constants where this is inlined.
template <class T>
MOXZI_INLINE void update(T* __restrict p, const T* __restrict g, T* __restrict m, T* __restrict v,
                         int64_t n, const constants<T>& with, bool scaled, bool decays) {
  const constants<T> c = with;
  for (int64_t i = 0; i < n; i++) {
    T gradient = g[i];
    if (scaled) gradient *= c.scale;
    if (decays) gradient += c.decay * p[i];
    const T first = m[i] = c.beta1 * m[i] + c.one_less_beta1 * gradient;
    const T second = v[i] = c.beta2 * v[i] + c.one_less_beta2 * (gradient * gradient);
    const T denominator = std::sqrt(second) * c.second_correction + c.eps;
    p[i] = p[i] * c.keep - c.step_size * first / denominator;
  }
}

template <class T>
MOXZI_INLINE void update_any(T* p, const T* g, T* m, T* v, int64_t n, const constants<T>& c) {
  const bool decays = c.decay != 0, scaled = !(c.scale == 1);
  if (scaled && decays)
    update(p, g, m, v, n, c, true, true);
  else if (scaled)
    update(p, g, m, v, n, c, true, false);
  else if (decays)
    update(p, g, m, v, n, c, false, true);
  else
    update(p, g, m, v, n, c, false, false);
}

MOXZI_CLONES void update_part(float* p, const float* g, float* m, float* v, int64_t n,
                              const constants<float>& c) {
  update_any(p, g, m, v, n, c);
}

MOXZI_CLONES void update_part(double* p, const double* g, double* m, double* v, int64_t n,
                              const constants<double>& c) {
  update_any(p, g, m, v, n, c);
}

template <class T>
void step_all(const optimizer_step& how, const step_segment& on, const void* gradient,
              double scale) {
  const auto with = constants_of<T>(how, on.step, scale);
  auto* p = static_cast<T*>(on.parameter);
  auto* g = static_cast<const T*>(gradient);
  auto* m = static_cast<T*>(on.first_moment);
  auto* v = static_cast<T*>(on.second_moment);
  const auto threads = static_cast<uint32_t>(at::get_num_threads());
  for_parts(threads, static_cast<int64_t>(on.elements), 32768,
            [p, g, m, v, &with](int64_t begin, int64_t end) {
              update_part(p + begin, g + begin, m + begin, v + begin, end - begin, with);
            });
}

template <class T>
MOXZI_INLINE double squares_in_lanes(const T* x, uint64_t n) {
  std::array<double, lanes> sums{};
  uint64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (uint64_t j = 0; j < lanes; j++) {
      const auto value = static_cast<double>(x[i + j]);
      sums[j] += value * value;
    }
  }
  for (uint64_t j = 0; i + j < n; j++) {
    const auto value = static_cast<double>(x[i + j]);
    sums[j] += value * value;
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

MOXZI_CLONES double squares(const float* x, uint64_t n) {
  return squares_in_lanes(x, n);
}

MOXZI_CLONES double squares(const double* x, uint64_t n) {
  return squares_in_lanes(x, n);
}

} // namespace

double sum_of_squares(const void* data, uint64_t elements, elem type) {
  return type == elem::f64 ? squares(static_cast<const double*>(data), elements)
                           : squares(static_cast<const float*>(data), elements);
}

void step(const optimizer_step& how, const step_segment& segment, const void* gradient,
          double scale) {
  if (segment.type == elem::f64)
    step_all<double>(how, segment, gradient, scale);
  else
    step_all<float>(how, segment, gradient, scale);
}

} // namespace moxzi::device::torch
