#include "device/torch/attention_rows.hpp"

#include <algorithm>
#include <cmath>

#include "device/torch/vectors.hpp"

namespace moxzi::device::torch {

namespace {

template <class T>
constexpr T minus_infinity = -std::numeric_limits<T>::infinity();

template <class T>
MOXZI_INLINE T softmax_in_place(T* scores, int64_t count) {
  const T max = largest(scores, count);
  if (max == minus_infinity<T>) {
    // Nothing is seen; but NaN stays.
    for (int64_t j = 0; j < count; j++) scores[j] = scores[j] == max ? T{} : scores[j];
    return max;
  }
  const T sum = sum_of_exp(scores, count, max, scores);
  scale_row(scores, count, 1 / sum);
  return max + std::log(sum);
}

template <class T>
MOXZI_INLINE void softmax_again(T* scores, int64_t count, T log_sum) {
  if (log_sum == minus_infinity<T>)
    std::fill_n(scores, count, T{});
  else
    sum_of_exp(scores, count, log_sum, scores);
}

template <class T>
MOXZI_INLINE void backward(const T* weights, T* from, int64_t count, T scale) {
  const T sum = product_of_rows(weights, const_cast<const T*>(from), count);
  for (int64_t j = 0; j < count; j++) from[j] = weights[j] * (from[j] - sum) * scale;
}

template <class T>
MOXZI_INLINE void turn_pairs(const turned_pairs<T>& what) {
  const T *a = what.a, *b = what.b, *c = what.cosines, *s = what.sines;
  T *to_a = what.to_a, *to_b = what.to_b;
  if (what.step == 1) {
    for (int64_t i = 0; i < what.pairs; i++) {
      const T x = a[i], y = b[i];
      to_a[i] = x * c[i] - y * s[i];
      to_b[i] = x * s[i] + y * c[i];
    }
    return;
  }
  for (int64_t i = 0; i < what.pairs; i++) {
    const T x = a[2 * i], y = b[2 * i];
    to_a[2 * i] = x * c[i] - y * s[i];
    to_b[2 * i] = x * s[i] + y * c[i];
  }
}

} // namespace

MOXZI_CLONES float weights_of(float* scores, int64_t count) {
  return softmax_in_place(scores, count);
}
MOXZI_CLONES double weights_of(double* scores, int64_t count) {
  return softmax_in_place(scores, count);
}
MOXZI_CLONES void weights_again(float* scores, int64_t count, float log_sum) {
  softmax_again(scores, count, log_sum);
}
MOXZI_CLONES void weights_again(double* scores, int64_t count, double log_sum) {
  softmax_again(scores, count, log_sum);
}
MOXZI_CLONES void scores_backward(const float* weights, float* from, int64_t count, float scale) {
  backward(weights, from, count, scale);
}
MOXZI_CLONES void scores_backward(const double* weights, double* from, int64_t count,
                                  double scale) {
  backward(weights, from, count, scale);
}
MOXZI_CLONES void turn(const turned_pairs<float>& what) {
  turn_pairs(what);
}
MOXZI_CLONES void turn(const turned_pairs<double>& what) {
  turn_pairs(what);
}

} // namespace moxzi::device::torch
