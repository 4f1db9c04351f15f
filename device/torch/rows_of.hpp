#pragma once

#include <cstdint>

/// Rows of numbers: softmax, and normalisation by mean and deviation. One function for each type;
/// each is compiled for several instruction sets.
namespace moxzi::device::torch {

/// Rows after each other, of the same length.
template <class T>
struct softmax_rows {
  const T* x = nullptr; ///< or the gradient, for the backward functions
  const T* y = nullptr; ///< the result, for the backward functions
  T* out = nullptr;
  int64_t rows = 0;
  int64_t length = 0;
  bool logs = false; ///< log_softmax
};

void softmax(const softmax_rows<float>& all);
void softmax(const softmax_rows<double>& all);
void softmax_backward(const softmax_rows<float>& all);
void softmax_backward(const softmax_rows<double>& all);

template <class T>
struct norm_rows {
  const T* x = nullptr;
  const T* w = nullptr; ///< null = ones
  const T* b = nullptr; ///< null = zeros
  T* out = nullptr;
  T* kept = nullptr; ///< what the backward pass needs of each row; null = nothing
  int64_t rows = 0;
  int64_t length = 0;
  double eps = 0;
  bool centred = true; ///< the mean is subtracted: layer_norm, not rms_norm
};

void normalise(const norm_rows<float>& all);
void normalise(const norm_rows<double>& all);

template <class T>
struct norm_backward_rows {
  const T* g = nullptr;
  const T* x = nullptr;
  const T* w = nullptr;
  const T* kept = nullptr;
  T* out = nullptr;
  T* sums = nullptr;        ///< of `length`, or twice that if centred: see `totals`
  double* totals = nullptr; ///< as many: sums of g · unit, then those of g, over all rows
  int64_t rows = 0;
  int64_t length = 0;
  bool centred = true;
};

/// Adds to `totals`; `sums` is a place to work in.
void normalise_backward(const norm_backward_rows<float>& all);
void normalise_backward(const norm_backward_rows<double>& all);

} // namespace moxzi::device::torch
