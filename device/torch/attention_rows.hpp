#pragma once

#include <cstdint>

/// What attention does with rows of scores. Each function is compiled for several instruction sets.
namespace moxzi::device::torch {

/// Scores become weights, in place: their softmax, or zeros where all are -inf. The result is the
/// logarithm of the sum of exponentials.
float weights_of(float* scores, int64_t count);
double weights_of(double* scores, int64_t count);

/// As above, where that logarithm is known.
void weights_again(float* scores, int64_t count, float log_sum);
void weights_again(double* scores, int64_t count, double log_sum);

/// from = weights · (from - Σ weights · from) · scale.
void scores_backward(const float* weights, float* from, int64_t count, float scale);
void scores_backward(const double* weights, double* from, int64_t count, double scale);

/// Turns pairs of numbers: (a, b) to (a·cos - b·sin, a·sin + b·cos), each `step` from the next.
template <class T>
struct turned_pairs {
  const T* a = nullptr;
  const T* b = nullptr;
  T* to_a = nullptr;
  T* to_b = nullptr;
  const T* cosines = nullptr;
  const T* sines = nullptr;
  int64_t pairs = 0;
  int64_t step = 1;
};
void turn(const turned_pairs<float>& what);
void turn(const turned_pairs<double>& what);

} // namespace moxzi::device::torch
