#include "device/torch/softmax.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

using floats = float __attribute__((vector_size(4 * lanes)));
using ints = int32_t __attribute__((vector_size(4 * lanes)));

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

MOXZI_INLINE void load(floats& to, const float* from) {
  std::memcpy(&to, from, sizeof(to));
}

/// The last `count` < lanes elements, the rest filled with -inf.
MOXZI_INLINE void load_tail(floats& to, const float* from, int64_t count) {
  to = floats{} + minus_infinity;
  std::memcpy(&to, from, static_cast<size_t>(count) * sizeof(float));
}

/// e to the power of x for x ≤ 0, to 1 unit in the last place (the polynomial is that of Cephes);
/// exactly 0 below -86, so -inf gives 0, and NaN stays NaN.
MOXZI_INLINE void exp_nonpositive(floats& x) {
  constexpr float round_to_integer = 12582912.0f; // 1.5 · 2²³
  const floats at_least = x < -86.0f ? floats{} - 86.0f : x;
  const floats shifted = at_least * 1.44269504088896341f + round_to_integer;
  const floats n = shifted - round_to_integer;
  const floats r = (at_least - n * 0.693359375f) - n * -2.12194440e-4f;
  floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + (r + 1.0f);
  // The integer sits in the low bits of `shifted`; it goes into the exponent.
  const ints power = reinterpret_cast<ints>(p) + (reinterpret_cast<ints>(shifted) << 23);
  x = x < -86.0f ? floats{} : reinterpret_cast<floats>(power);
}

MOXZI_INLINE float largest(const float* row, int64_t columns) {
  floats most = floats{} + minus_infinity, next;
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    load(next, row + j);
    most = next > most ? next : most;
  }
  if (j < columns) {
    load_tail(next, row + j, columns - j);
    most = next > most ? next : most;
  }
  float max = minus_infinity;
  for (int i = 0; i < lanes; i++) max = most[i] > max ? most[i] : max;
  return max;
}

/// Sum of exp(x - max) over a row; the terms go to `terms` unless that is null.
MOXZI_INLINE float sum_of_exp(const float* row, int64_t columns, float max, float* terms) {
  floats sum{}, next;
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    load(next, row + j);
    next -= max;
    exp_nonpositive(next);
    sum += next;
    if (terms) std::memcpy(terms + j, &next, sizeof(next));
  }
  if (j < columns) {
    load_tail(next, row + j, columns - j);
    next -= max;
    exp_nonpositive(next);
    for (int i = 0; j + i < columns; i++) {
      sum[i] += next[i];
      if (terms) terms[j + i] = next[i];
    }
  }
  float total = 0;
  for (int i = 0; i < lanes; i++) total += sum[i];
  return total;
}

MOXZI_INLINE double largest(const double* row, int64_t columns) {
  double max = -std::numeric_limits<double>::infinity();
  for (int64_t j = 0; j < columns; j++) max = row[j] > max ? row[j] : max;
  return max;
}

MOXZI_INLINE double sum_of_exp(const double* row, int64_t columns, double max, double* terms) {
  double sum = 0;
  for (int64_t j = 0; j < columns; j++) {
    const double term = std::exp(row[j] - max);
    sum += term;
    if (terms) terms[j] = term;
  }
  return sum;
}

template <class T>
MOXZI_INLINE double all_rows(const T* logits, const int64_t* targets, int64_t rows, int64_t columns,
                             T scale, T* gradient) {
  double loss = 0;
  for (int64_t i = 0; i < rows; i++) {
    const T* row = logits + i * columns;
    T* terms = gradient ? gradient + i * columns : nullptr;
    const T max = largest(row, columns);
    const T sum = sum_of_exp(row, columns, max, terms);
    loss += std::log(static_cast<double>(sum)) - static_cast<double>(row[targets[i]] - max);
    if (terms) {
      const T factor = scale / sum;
      for (int64_t j = 0; j < columns; j++) terms[j] *= factor;
      terms[targets[i]] -= scale;
    }
  }
  return loss;
}

} // namespace

MOXZI_CLONES double cross_entropy_rows(const float* logits, const int64_t* targets, int64_t rows,
                                       int64_t columns, float scale, float* gradient) {
  return all_rows(logits, targets, rows, columns, scale, gradient);
}

MOXZI_CLONES double cross_entropy_rows(const double* logits, const int64_t* targets, int64_t rows,
                                       int64_t columns, double scale, double* gradient) {
  return all_rows(logits, targets, rows, columns, scale, gradient);
}

} // namespace moxzi::device::torch
