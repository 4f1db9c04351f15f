#pragma once

#include <cstdint>
#include <memory>

/// Products of f32 matrices with 512-bit vectors, for processors on which the BLAS uses narrower
/// ones (AMD's, under MKL). Every element is the sum of its terms in order, so the digits don't
/// depend on threads.
namespace moxzi::device::torch {

/// True if this processor has such vectors and its BLAS doesn't use them.
bool has_wide_products() noexcept;

/// A matrix [rows, columns] in memory: how far its rows and its columns are apart.
struct strided_matrix {
  const float* data = nullptr;
  int64_t row = 0;
  int64_t column = 1;
};

/// The right side of products, brought into an order in which it is read once: for a matrix that
/// many are multiplied with. Only where `has_wide_products`.
class packed_matrix {
public:
  /// `what` is [inner, columns].
  packed_matrix(int64_t inner, int64_t columns, const strided_matrix& what);
  ~packed_matrix();
  packed_matrix(packed_matrix&&) = default;

  /// c [rows, columns] = a [rows, inner] · this, plus c if `add`; `step` is from row to row of c.
  void multiply(int64_t rows, const strided_matrix& a, float* c, int64_t step, bool add) const;

private:
  int64_t inner_, columns_;
  std::unique_ptr<float[]> panels_;
};

/// c [m, n] = scale · a [m, k] · b [k, n], plus c if `add`; on as many threads as `for_parts` uses
/// when it is worth it. Only where `has_wide_products`.
void wide_product(int64_t m, int64_t n, int64_t k, float scale, const strided_matrix& a,
                  const strided_matrix& b, float* c, int64_t step, bool add);

// -- for loops of other forms --------------------------------------------------

inline constexpr int64_t panel_columns = 32;

/// Rows of c from rows of a and one panel: `inner` rows of panel_columns numbers, of which
/// `columns` count.
struct panel_product {
  const float* a = nullptr;
  int64_t row = 0; ///< steps of a
  int64_t column = 1;
  const float* panel = nullptr;
  int64_t inner = 0;
  float* c = nullptr;
  int64_t step = 0;
  int64_t columns = panel_columns;
  float scale = 1;
  bool add = false;
};
void multiply_panel(int64_t rows, const panel_product& what);

/// Brings [inner, columns ≤ panel_columns] into such a panel, filled up with zeros.
void pack_panel(const strided_matrix& from, int64_t inner, int64_t columns, float* to);

} // namespace moxzi::device::torch
