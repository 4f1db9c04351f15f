#include <array>
#include <cmath>

#include "device/torch/loops.hpp"
#include "device/torch/optimizer.hpp"

namespace moxzi::device::torch {

namespace {

template <class T>
MOXZI_INLINE void add_all(T* __restrict sum, const T* __restrict more, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) sum[i] += more[i];
}

template <class T>
MOXZI_INLINE void bound_all(T* data, uint64_t n, T most) {
  // NaN stays: no comparison with it is true.
  for (uint64_t i = 0; i < n; i++) {
    const T value = data[i];
    const T below = value > most ? most : value;
    data[i] = value < -most ? -most : below;
  }
}

template <class T>
MOXZI_INLINE bool finite_all(const T* data, uint64_t n) {
  // What is infinite or NaN times zero is NaN, and NaN stays.
  std::array<T, lanes> sums{};
  uint64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (uint64_t j = 0; j < lanes; j++) sums[j] += data[i + j] * 0;
  for (uint64_t j = 0; i + j < n; j++) sums[j] += data[i + j] * 0;
  T total = 0;
  for (const T sum : sums) total += sum;
  return total == 0;
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

MOXZI_CLONES void add_part(float* sum, const float* more, uint64_t n) {
  add_all(sum, more, n);
}
MOXZI_CLONES void add_part(double* sum, const double* more, uint64_t n) {
  add_all(sum, more, n);
}
MOXZI_CLONES void bound_part(float* data, uint64_t n, float most) {
  bound_all(data, n, most);
}
MOXZI_CLONES void bound_part(double* data, uint64_t n, double most) {
  bound_all(data, n, most);
}
MOXZI_CLONES bool finite_part(const float* data, uint64_t n) {
  return finite_all(data, n);
}
MOXZI_CLONES bool finite_part(const double* data, uint64_t n) {
  return finite_all(data, n);
}
MOXZI_CLONES double squares(const float* x, uint64_t n) {
  return squares_in_lanes(x, n);
}
MOXZI_CLONES double squares(const double* x, uint64_t n) {
  return squares_in_lanes(x, n);
}

} // namespace

void add(void* sum, const void* more, uint64_t elements, elem type) {
  if (type == elem::f64)
    add_part(static_cast<double*>(sum), static_cast<const double*>(more), elements);
  else
    add_part(static_cast<float*>(sum), static_cast<const float*>(more), elements);
}

bool finite(const void* data, uint64_t elements, elem type) {
  return type == elem::f64 ? finite_part(static_cast<const double*>(data), elements)
                           : finite_part(static_cast<const float*>(data), elements);
}

void bound(void* data, uint64_t elements, elem type, double most) {
  if (type == elem::f64)
    bound_part(static_cast<double*>(data), elements, most);
  else
    bound_part(static_cast<float*>(data), elements, static_cast<float>(most));
}

double sum_of_squares(const void* data, uint64_t elements, elem type) {
  return type == elem::f64 ? squares(static_cast<const double*>(data), elements)
                           : squares(static_cast<const float*>(data), elements);
}

} // namespace moxzi::device::torch
