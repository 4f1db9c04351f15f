#include <algorithm>
#include <cmath>

#include "device/reference/kernels.hpp"
#include "device/reference/matrix_steps.hpp"

namespace moxzi::device::reference {

namespace {

/// Calls `work` with the element type.
template <class Work>
auto with_type(elem type, const Work& work) {
  return type == elem::f64 ? work(double{}) : work(float{});
}

/// One segment in doubles: each value that is kept is rounded to the type when it is written.
template <class T>
struct places {
  T* parameter;
  const T* gradient;
  std::array<T*, state_tensors_max> states;
  double scale;

  places(const step_segment& of, const void* from, double by)
      : parameter(static_cast<T*>(of.parameter)), gradient(static_cast<const T*>(from)), scale(by) {
    for (size_t n = 0; n < states.size(); ++n) states[n] = static_cast<T*>(of.states[n]);
  }
  double g(uint64_t i) const {
    return static_cast<T>(gradient[i] * static_cast<T>(scale));
  }
  /// Writes a state and gives back what was kept.
  double keep(size_t state, uint64_t i, double value) const {
    return states[state][i] = static_cast<T>(value);
  }
  void set(uint64_t i, double value) const {
    parameter[i] = static_cast<T>(value);
  }
};

template <class T>
void adam(const optimizer_step& how, const step_segment& segment, const places<T>& at) {
  auto steps = static_cast<double>(segment.step);
  auto correction1 = 1 - std::pow(how.beta1, steps), correction2 = 1 - std::pow(how.beta2, steps);
  bool decoupled = segment.kind == optimizer_kind::adamw;
  for (uint64_t i = 0; i < segment.elements; ++i) {
    double old = at.parameter[i], g = at.g(i);
    if (!decoupled) g += segment.weight_decay * old;
    auto m = at.keep(0, i, how.beta1 * at.states[0][i] + (1 - how.beta1) * g);
    auto v = at.keep(1, i, how.beta2 * at.states[1][i] + (1 - how.beta2) * g * g);
    if (how.amsgrad) v = at.keep(2, i, std::max<double>(at.states[2][i], v));
    auto moved = (m / correction1) / (std::sqrt(v / correction2) + how.eps);
    if (decoupled) moved += segment.weight_decay * old;
    at.set(i, old - how.lr * moved);
  }
}

template <class T>
void sgd(const optimizer_step& how, const step_segment& segment, const places<T>& at) {
  for (uint64_t i = 0; i < segment.elements; ++i) {
    double old = at.parameter[i], g = at.g(i) + segment.weight_decay * old, moved = g;
    if (how.beta1 > 0) {
      auto b = at.keep(0, i, how.beta1 * at.states[0][i] + g);
      moved = segment.kind == optimizer_kind::nesterov ? g + how.beta1 * b : b;
    }
    at.set(i, old - how.lr * moved);
  }
}

template <class T>
void rmsprop(const optimizer_step& how, const step_segment& segment, const places<T>& at) {
  for (uint64_t i = 0; i < segment.elements; ++i) {
    double old = at.parameter[i], g = at.g(i) + segment.weight_decay * old;
    auto v = at.keep(0, i, how.beta2 * at.states[0][i] + (1 - how.beta2) * g * g);
    auto moved = g / (std::sqrt(v) + how.eps);
    if (how.beta1 > 0) moved = at.keep(1, i, how.beta1 * at.states[1][i] + moved);
    at.set(i, old - how.lr * moved);
  }
}

template <class T>
void adagrad(const optimizer_step& how, const step_segment& segment, const places<T>& at) {
  for (uint64_t i = 0; i < segment.elements; ++i) {
    double old = at.parameter[i], g = at.g(i) + segment.weight_decay * old;
    auto sum = at.keep(0, i, at.states[0][i] + g * g);
    at.set(i, old - how.lr * g / (std::sqrt(sum) + how.eps));
  }
}

template <class T>
void lion(const optimizer_step& how, const step_segment& segment, const places<T>& at) {
  for (uint64_t i = 0; i < segment.elements; ++i) {
    double old = at.parameter[i], g = at.g(i), m = at.states[0][i];
    auto c = static_cast<T>(how.beta1 * m + (1 - how.beta1) * g);
    at.keep(0, i, how.beta2 * m + (1 - how.beta2) * g);
    at.set(i, old - how.lr * ((c > 0) - (c < 0) + segment.weight_decay * old));
  }
}

template <class T>
void adamax(const optimizer_step& how, const step_segment& segment, const places<T>& at) {
  auto correction = 1 - std::pow(how.beta1, static_cast<double>(segment.step));
  for (uint64_t i = 0; i < segment.elements; ++i) {
    double old = at.parameter[i], g = at.g(i) + segment.weight_decay * old;
    auto m = at.keep(0, i, how.beta1 * at.states[0][i] + (1 - how.beta1) * g);
    auto u = at.keep(1, i, std::max(how.beta2 * at.states[1][i], std::abs(g) + how.eps));
    at.set(i, old - how.lr / correction * m / u);
  }
}

template <class T>
void step_any(const optimizer_step& how, const step_segment& segment, const places<T>& at) {
  switch (segment.kind) {
    case optimizer_kind::adamw:
    case optimizer_kind::adam:
      return adam(how, segment, at);
    case optimizer_kind::sgd:
    case optimizer_kind::nesterov:
      return sgd(how, segment, at);
    case optimizer_kind::rmsprop:
      return rmsprop(how, segment, at);
    case optimizer_kind::adagrad:
      return adagrad(how, segment, at);
    case optimizer_kind::lion:
      return lion(how, segment, at);
    case optimizer_kind::adamax:
      return adamax(how, segment, at);
    case optimizer_kind::adafactor:
    case optimizer_kind::muon:
      break;
  }
  std::vector<double> gradient(segment.elements);
  for (uint64_t i = 0; i < segment.elements; ++i) gradient[i] = at.g(i);
  if (segment.kind == optimizer_kind::muon)
    muon(how, segment, gradient, at.parameter, at.states[0]);
  else
    adafactor(how, segment, gradient, at.parameter, at.states[0], at.states[1]);
}

} // namespace

void add(void* sum, const void* more, uint64_t elements, elem type) {
  with_type(type, [&]<class T>(T) {
    for (uint64_t i = 0; i < elements; ++i)
      static_cast<T*>(sum)[i] += static_cast<const T*>(more)[i];
  });
}

bool finite(const void* data, uint64_t elements, elem type) {
  return with_type(type, [&]<class T>(T) {
    auto from = static_cast<const T*>(data);
    return std::all_of(from, from + elements, [](T x) { return std::isfinite(x); });
  });
}

void bound(void* data, uint64_t elements, elem type, double most) {
  with_type(type, [&]<class T>(T) {
    auto to = static_cast<T*>(data);
    auto limit = static_cast<T>(most);
    for (uint64_t i = 0; i < elements; ++i)
      if (!std::isnan(to[i])) to[i] = std::clamp(to[i], -limit, limit);
  });
}

double sum_of_squares(const void* data, uint64_t elements, elem type) {
  return with_type(type, [&]<class T>(T) {
    double sum = 0;
    for (uint64_t i = 0; i < elements; ++i) {
      double value = static_cast<const T*>(data)[i];
      sum += value * value;
    }
    return sum;
  });
}

void step(const optimizer_step& how, const step_segment& segment, const void* gradient,
          double scale) {
  with_type(segment.type,
            [&]<class T>(T) { step_any(how, segment, places<T>(segment, gradient, scale)); });
}

} // namespace moxzi::device::reference
