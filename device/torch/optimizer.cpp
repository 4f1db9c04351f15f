#include "device/torch/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "device/torch/loops.hpp"
#include "device/torch/muon.hpp"

namespace moxzi::device::torch {

namespace {

/// What is the same for all elements of a step; computed in double, rounded once.
template <class T>
struct constants {
  optimizer_kind kind;
  bool amsgrad;
  bool scaled; ///< clipped: gradients are to be multiplied by `scale`
  bool moving; ///< beta1 is not 0: there is a momentum
  T scale;
  T lr, eps;
  T beta1, one_less_beta1, beta2, one_less_beta2;
  T step_size;         ///< lr / (1 - beta1^t)
  T second_correction; ///< 1 / sqrt(1 - beta2^t)
  T keep;              ///< 1 - lr · weight decay, times the parameter
  T decay;             ///< weight decay, times the parameter, goes into the gradient
};

bool is_decoupled(optimizer_kind kind) {
  return kind == optimizer_kind::adamw || kind == optimizer_kind::lion;
}

template <class T>
constants<T> constants_of(const optimizer_step& how, const step_segment& on, double scale) {
  const auto steps = static_cast<double>(on.step);
  const bool decoupled = is_decoupled(on.kind);
  constants<T> with;
  with.kind = on.kind;
  with.amsgrad = how.amsgrad;
  with.scaled = !(scale == 1);
  with.moving = how.beta1 > 0;
  with.scale = static_cast<T>(scale);
  with.lr = static_cast<T>(how.lr);
  with.eps = static_cast<T>(how.eps);
  with.beta1 = static_cast<T>(how.beta1);
  with.one_less_beta1 = static_cast<T>(1 - how.beta1);
  with.beta2 = static_cast<T>(how.beta2);
  with.one_less_beta2 = static_cast<T>(1 - how.beta2);
  with.step_size = static_cast<T>(how.lr / (1 - std::pow(how.beta1, steps)));
  with.second_correction = static_cast<T>(1 / std::sqrt(1 - std::pow(how.beta2, steps)));
  with.keep = static_cast<T>(decoupled ? 1 - how.lr * on.weight_decay : 1);
  with.decay = static_cast<T>(decoupled ? 0 : on.weight_decay);
  return with;
}

// -- loops ---------------------------------------------------------------------

/// Where a step reads and writes.
template <class T>
struct places {
  T* p;       ///< parameter
  const T* g; ///< gradient
  T* a;       ///< states
  T* b;
  T* c;
};

/// `rule(parameter, gradient, states…)` for each element.
template <bool Scaled, class T, class Rule>
MOXZI_INLINE void each(T* __restrict p, const T* __restrict g, int64_t n, T scale, Rule rule) {
  for (int64_t i = 0; i < n; i++) rule(p[i], Scaled ? g[i] * scale : g[i]);
}

template <bool Scaled, class T, class Rule>
MOXZI_INLINE void each(T* __restrict p, const T* __restrict g, T* __restrict a, int64_t n, T scale,
                       Rule rule) {
  for (int64_t i = 0; i < n; i++) rule(p[i], Scaled ? g[i] * scale : g[i], a[i]);
}

template <bool Scaled, class T, class Rule>
MOXZI_INLINE void each(T* __restrict p, const T* __restrict g, T* __restrict a, T* __restrict b,
                       int64_t n, T scale, Rule rule) {
  for (int64_t i = 0; i < n; i++) rule(p[i], Scaled ? g[i] * scale : g[i], a[i], b[i]);
}

template <bool Scaled, class T, class Rule>
MOXZI_INLINE void each(T* __restrict p, const T* __restrict g, T* __restrict a, T* __restrict b,
                       T* __restrict c, int64_t n, T scale, Rule rule) {
  for (int64_t i = 0; i < n; i++) rule(p[i], Scaled ? g[i] * scale : g[i], a[i], b[i], c[i]);
}

// The rules are lambdas that must become part of the loop.
#define MOXZI_RULE __attribute__((always_inline))

template <bool Scaled, bool Decoupled, class T>
MOXZI_INLINE void adam(const places<T>& at, int64_t n, const constants<T>& c) {
  const auto moments = [c](T p, T& g, T& m, T& v) MOXZI_RULE {
    if constexpr (!Decoupled) g += c.decay * p;
    m = c.beta1 * m + c.one_less_beta1 * g;
    v = c.beta2 * v + c.one_less_beta2 * (g * g);
  };
  const auto move = [c](T& p, T m, T v) MOXZI_RULE {
    const T denominator = std::sqrt(v) * c.second_correction + c.eps;
    p = (Decoupled ? p * c.keep : p) - c.step_size * m / denominator;
  };
  if (c.amsgrad)
    return each<Scaled>(at.p, at.g, at.a, at.b, at.c, n, c.scale,
                        [&](T& p, T g, T& m, T& v, T& most) MOXZI_RULE {
                          moments(p, g, m, v);
                          most = most < v ? v : most;
                          move(p, m, most);
                        });
  each<Scaled>(at.p, at.g, at.a, at.b, n, c.scale, [&](T& p, T g, T& m, T& v) MOXZI_RULE {
    moments(p, g, m, v);
    move(p, m, v);
  });
}

template <bool Scaled, class T>
MOXZI_INLINE void sgd(const places<T>& at, int64_t n, const constants<T>& c) {
  if (!c.moving)
    return each<Scaled>(at.p, at.g, n, c.scale,
                        [c](T& p, T g) MOXZI_RULE { p -= c.lr * (g + c.decay * p); });
  if (c.kind == optimizer_kind::nesterov)
    return each<Scaled>(at.p, at.g, at.a, n, c.scale, [c](T& p, T g, T& b) MOXZI_RULE {
      g += c.decay * p;
      b = c.beta1 * b + g;
      p -= c.lr * (g + c.beta1 * b);
    });
  each<Scaled>(at.p, at.g, at.a, n, c.scale, [c](T& p, T g, T& b) MOXZI_RULE {
    b = c.beta1 * b + (g + c.decay * p);
    p -= c.lr * b;
  });
}

template <bool Scaled, class T>
MOXZI_INLINE void rmsprop(const places<T>& at, int64_t n, const constants<T>& c) {
  const auto quotient = [c](T p, T g, T& v) MOXZI_RULE {
    g += c.decay * p;
    v = c.beta2 * v + c.one_less_beta2 * (g * g);
    return g / (std::sqrt(v) + c.eps);
  };
  if (!c.moving)
    return each<Scaled>(at.p, at.g, at.a, n, c.scale,
                        [&](T& p, T g, T& v) MOXZI_RULE { p -= c.lr * quotient(p, g, v); });
  each<Scaled>(at.p, at.g, at.a, at.b, n, c.scale, [&](T& p, T g, T& v, T& b) MOXZI_RULE {
    b = c.beta1 * b + quotient(p, g, v);
    p -= c.lr * b;
  });
}

template <bool Scaled, class T>
MOXZI_INLINE void update(const places<T>& at, int64_t n, const constants<T>& c) {
  switch (c.kind) {
    case optimizer_kind::adamw:
      return adam<Scaled, true>(at, n, c);
    case optimizer_kind::adam:
      return adam<Scaled, false>(at, n, c);
    case optimizer_kind::sgd:
    case optimizer_kind::nesterov:
      return sgd<Scaled>(at, n, c);
    case optimizer_kind::rmsprop:
      return rmsprop<Scaled>(at, n, c);
    case optimizer_kind::adagrad:
      return each<Scaled>(at.p, at.g, at.a, n, c.scale, [c](T& p, T g, T& sum) MOXZI_RULE {
        g += c.decay * p;
        sum += g * g;
        p -= c.lr * g / (std::sqrt(sum) + c.eps);
      });
    case optimizer_kind::lion:
      return each<Scaled>(at.p, at.g, at.a, n, c.scale, [c](T& p, T g, T& m) MOXZI_RULE {
        const T mixed = c.beta1 * m + c.one_less_beta1 * g;
        const T sign = (mixed > 0 ? T{1} : T{0}) - (mixed < 0 ? T{1} : T{0});
        m = c.beta2 * m + c.one_less_beta2 * g;
        p = p * c.keep - c.lr * sign;
      });
    case optimizer_kind::adamax:
      return each<Scaled>(at.p, at.g, at.a, at.b, n, c.scale,
                          [c](T& p, T g, T& m, T& u) MOXZI_RULE {
                            g += c.decay * p;
                            m = c.beta1 * m + c.one_less_beta1 * g;
                            const T old = c.beta2 * u, now = std::abs(g) + c.eps;
                            u = old < now ? now : old;
                            p -= c.step_size * m / u;
                          });
    case optimizer_kind::adafactor:
    case optimizer_kind::muon:
      return;
  }
}

template <class T>
MOXZI_INLINE void update_any(const places<T>& at, int64_t n, const constants<T>& c) {
  if (c.scaled)
    update<true>(at, n, c);
  else
    update<false>(at, n, c);
}

MOXZI_CLONES void update_part(const places<float>& at, int64_t n, const constants<float>& c) {
  update_any(at, n, c);
}

MOXZI_CLONES void update_part(const places<double>& at, int64_t n, const constants<double>& c) {
  update_any(at, n, c);
}

template <class T>
void step_all(const optimizer_step& how, const step_segment& on, const void* gradient,
              double scale) {
  const auto with = constants_of<T>(how, on, scale);
  const places<T> all{static_cast<T*>(on.parameter), static_cast<const T*>(gradient),
                      static_cast<T*>(on.states[0]), static_cast<T*>(on.states[1]),
                      static_cast<T*>(on.states[2])};
  const auto threads = static_cast<uint32_t>(at::get_num_threads());
  for_parts(
    threads, static_cast<int64_t>(on.elements), 32768, [&all, &with](int64_t begin, int64_t end) {
      const auto from = [begin](T* x) { return x ? x + begin : nullptr; };
      const places<T> part{all.p + begin, all.g + begin, from(all.a), from(all.b), from(all.c)};
      update_part(part, end - begin, with);
    });
}

void step_muon(const optimizer_step& how, const step_segment& on, const void* gradient,
               double scale) {
  const auto options = at::TensorOptions().dtype(on.type == elem::f64 ? at::kDouble : at::kFloat);
  const auto matrix = [&](void* data) {
    return at::from_blob(data, {on.dims[0], on.dims[1]}, options);
  };
  auto g = matrix(const_cast<void*>(gradient)); // read only
  if (!(scale == 1)) g = g * scale;
  muon(how, on, matrix(on.parameter), g, matrix(on.states[0]));
}

} // namespace

void step(const optimizer_step& how, const step_segment& segment, const void* gradient,
          double scale) {
  if (segment.kind == optimizer_kind::muon) return step_muon(how, segment, gradient, scale);
  if (segment.kind == optimizer_kind::adafactor) return adafactor(how, segment, gradient, scale);
  if (segment.type == elem::f64)
    step_all<double>(how, segment, gradient, scale);
  else
    step_all<float>(how, segment, gradient, scale);
}

} // namespace moxzi::device::torch
