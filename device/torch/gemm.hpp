#pragma once

#include <cstdint>

/// Matrix products: by our own loops where they are faster (`wide_product.hpp`), else by the BLAS
/// inside libtorch_cpu (MKL); on as many threads as this thread was last told to use
/// (`use_threads`).
namespace moxzi::device::torch {

/// C[m,n] = op(A)[m,k] · op(B)[k,n] (+ C if `add`), row-major, where op is the transpose if asked
/// for. Any size may be 0.
void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a,
          const float* b, float* c, bool add = false);
void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const double* a,
          const double* b, double* c, bool add = false);

/// A matrix inside of something larger: `step` elements from row to row.
template <class T>
struct matrix {
  T* data = nullptr;
  int64_t step = 0;
  bool transposed = false; ///< its rows are columns of what lies there
};

/// C[m,n] = scale · A[m,k] · B[k,n] (+ C if `add`). Steps are at least the length of the rows that
/// lie there, and 1. Any size may be 0.
void gemm(int64_t m, int64_t n, int64_t k, float scale, matrix<const float> a,
          matrix<const float> b, matrix<float> c, bool add = false);
void gemm(int64_t m, int64_t n, int64_t k, double scale, matrix<const double> a,
          matrix<const double> b, matrix<double> c, bool add = false);

/// How many threads the BLAS and `for_parts` may use when called from this thread.
void use_threads(uint32_t threads);

} // namespace moxzi::device::torch
