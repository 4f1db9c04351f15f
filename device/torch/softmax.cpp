#include "device/torch/softmax.hpp"

#include <cmath>

#include "device/torch/vectors.hpp"

namespace moxzi::device::torch {

namespace {

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
