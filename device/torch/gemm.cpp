#include "device/torch/gemm.hpp"

#include <algorithm>
#include <cstring>

#include <ATen/Parallel.h>

#include "device/torch/wide_product.hpp"

extern "C" {
void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
            const int* k, const float* alpha, const float* a, const int* lda, const float* b,
            const int* ldb, const float* beta, float* c, const int* ldc);
void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
            const int* k, const double* alpha, const double* a, const int* lda, const double* b,
            const int* ldb, const double* beta, double* c, const int* ldc);
}

namespace moxzi::device::torch {

namespace {

/// Narrower products cost more to set up than they save.
constexpr int64_t columns_least = 4;

strided_matrix as_seen(const matrix<const float>& x) {
  return x.transposed ? strided_matrix{x.data, 1, x.step} : strided_matrix{x.data, x.step, 1};
}

template <class T, class Blas>
void product(Blas blas, int64_t m, int64_t n, int64_t k, T scale, const matrix<const T>& a,
             const matrix<const T>& b, const matrix<T>& c, bool add) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (int64_t i = 0; i < m && !add; i++)
      std::memset(c.data + i * c.step, 0, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  if constexpr (sizeof(T) == sizeof(float))
    if (n >= columns_least && has_wide_products())
      return wide_product(m, n, k, scale, as_seen(a), as_seen(b), c.data, c.step, add);
  // BLAS is column-major: it is asked for the transposed product. Each size is at most 2³¹-1,
  // since that bounds the elements of a tensor.
  const T beta = add ? 1 : 0;
  const int rows = static_cast<int>(n), columns = static_cast<int>(m), inner = static_cast<int>(k);
  const int lda = static_cast<int>(a.step), ldb = static_cast<int>(b.step),
            ldc = static_cast<int>(c.step);
  blas(b.transposed ? "T" : "N", a.transposed ? "T" : "N", &rows, &columns, &inner, &scale, b.data,
       &ldb, a.data, &lda, &beta, c.data, &ldc);
}

template <class T, class Blas>
void product(Blas blas, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
             const T* a, const T* b, T* c, bool add) {
  product<T>(blas, m, n, k, T(1), {a, transpose_a ? m : k, transpose_a},
             {b, transpose_b ? k : n, transpose_b}, {c, n}, add);
}

} // namespace

void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a,
          const float* b, float* c, bool add) {
  product(sgemm_, transpose_a, transpose_b, m, n, k, a, b, c, add);
}

void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const double* a,
          const double* b, double* c, bool add) {
  product(dgemm_, transpose_a, transpose_b, m, n, k, a, b, c, add);
}

void gemm(int64_t m, int64_t n, int64_t k, float scale, matrix<const float> a,
          matrix<const float> b, matrix<float> c, bool add) {
  product(sgemm_, m, n, k, scale, a, b, c, add);
}

void gemm(int64_t m, int64_t n, int64_t k, double scale, matrix<const double> a,
          matrix<const double> b, matrix<double> c, bool add) {
  product(dgemm_, m, n, k, scale, a, b, c, add);
}

void use_threads(uint32_t threads) {
  // OpenMP and MKL both keep the number per calling thread, and setting it is not free.
  thread_local uint32_t current = 0;
  if (current == threads) return;
  at::internal::lazy_init_num_threads();
  at::set_num_threads(static_cast<int>(threads));
  current = threads;
}

} // namespace moxzi::device::torch
