#include "device/torch/wide_product.hpp"

// GCC 12 takes the undefined operands inside of its own intrinsics for mistakes.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <ATen/Parallel.h>

namespace moxzi::device::torch {

namespace {

#define MOXZI_WIDE __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma")))

constexpr int64_t lanes = 16;        // a panel has two vectors a row
constexpr int64_t rows_at_once = 12; // 24 sums in registers
// Blocks: a panel's part is in the first cache, the left side's part in the second.
constexpr int64_t inner_at_once = 256, left_rows_at_once = 192, columns_at_once = 2048;
constexpr double parallel_from = 4e6; // multiplications

// -- packing -------------------------------------------------------------------

/// Sixteen rows of sixteen, turned.
MOXZI_WIDE inline void turn(const float* from, int64_t step, float* to) {
  __m512 r[16], t[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i++) r[i] = _mm512_loadu_ps(from + i * step);
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    const __m512d a = _mm512_castps_pd(t[i]), b = _mm512_castps_pd(t[i + 1]);
    const __m512d c = _mm512_castps_pd(t[i + 2]), d = _mm512_castps_pd(t[i + 3]);
    r[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    r[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    r[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    r[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    _mm512_storeu_ps(to + i * panel_columns, _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88));
    _mm512_storeu_ps(to + (i + 8) * panel_columns, _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd));
    _mm512_storeu_ps(to + (i + 4) * panel_columns, _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88));
    _mm512_storeu_ps(to + (i + 12) * panel_columns,
                     _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xdd));
  }
}

} // namespace

MOXZI_WIDE void pack_panel(const strided_matrix& b, int64_t inner, int64_t columns, float* to) {
  if (columns < panel_columns)
    std::memset(to, 0, static_cast<size_t>(inner * panel_columns) * sizeof(float));
  if (b.column == 1) {
    for (int64_t k = 0; k < inner; k++)
      std::memcpy(to + k * panel_columns, b.data + k * b.row,
                  static_cast<size_t>(columns) * sizeof(float));
    return;
  }
  int64_t j = 0;
  for (; b.row == 1 && j + lanes <= columns; j += lanes) {
    int64_t k = 0;
    for (; k + lanes <= inner; k += lanes)
      turn(b.data + j * b.column + k, b.column, to + k * panel_columns + j);
    for (; k < inner; k++)
      for (int64_t i = 0; i < lanes; i++)
        to[k * panel_columns + j + i] = b.data[(j + i) * b.column + k];
  }
  for (; j < columns; j++)
    for (int64_t k = 0; k < inner; k++)
      to[k * panel_columns + j] = b.data[k * b.row + j * b.column];
}

namespace {

// -- the innermost loop --------------------------------------------------------

template <int Rows, int Vectors>
MOXZI_WIDE void multiply_tile(const panel_product& what) {
  __m512 sums[Rows][Vectors];
#pragma GCC unroll 12
  for (int i = 0; i < Rows; i++)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; v++) sums[i][v] = _mm512_setzero_ps();
  const float* a = what.a;
  const float* b = what.panel;
  const auto row = what.row;
  for (int64_t k = 0; k < what.inner; k++, a += what.column, b += panel_columns) {
    __m512 right[Vectors];
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; v++) right[v] = _mm512_loadu_ps(b + v * lanes);
#pragma GCC unroll 12
    for (int i = 0; i < Rows; i++) {
      const __m512 left = _mm512_set1_ps(a[i * row]);
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; v++) sums[i][v] = _mm512_fmadd_ps(left, right[v], sums[i][v]);
    }
  }
  const auto rest = static_cast<int>(what.columns - (Vectors - 1) * lanes);
  const auto last = static_cast<__mmask16>((1u << rest) - 1);
  const __m512 scale = _mm512_set1_ps(what.scale);
#pragma GCC unroll 12
  for (int i = 0; i < Rows; i++)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; v++) {
      float* to = what.c + i * what.step + v * lanes;
      const __mmask16 mask = v + 1 < Vectors ? __mmask16(0xffff) : last;
      const __m512 before = what.add ? _mm512_maskz_loadu_ps(mask, to) : _mm512_setzero_ps();
      _mm512_mask_storeu_ps(to, mask, _mm512_fmadd_ps(sums[i][v], scale, before));
    }
}

using tile_function = void (*)(const panel_product&);

template <int Vectors, int... Rows>
constexpr std::array<tile_function, sizeof...(Rows)>
functions_of(std::integer_sequence<int, Rows...>) {
  return {multiply_tile<Rows + 1, Vectors>...};
}

constexpr auto narrow_tiles = functions_of<1>(std::make_integer_sequence<int, rows_at_once>{});
constexpr auto wide_tiles = functions_of<2>(std::make_integer_sequence<int, rows_at_once>{});

} // namespace

void multiply_panel(int64_t rows, const panel_product& what) {
  // In tiles of nearly equal height.
  const auto& tiles = what.columns > lanes ? wide_tiles : narrow_tiles;
  const auto count = (rows + rows_at_once - 1) / rows_at_once;
  for (int64_t n = 0, from = 0; n < count; n++) {
    const auto height = rows / count + (n < rows % count ? 1 : 0);
    auto mine = what;
    mine.a += from * what.row;
    mine.c += from * what.step;
    tiles[static_cast<size_t>(height - 1)](mine);
    from += height;
  }
}

namespace {

/// Memory of this thread that lasts.
float* scratch(int64_t floats) {
  thread_local std::unique_ptr<float[]> memory;
  thread_local int64_t size = 0;
  if (size < floats) {
    memory.reset(new float[static_cast<size_t>(floats)]);
    size = floats;
  }
  return memory.get();
}

int64_t panels_of(int64_t columns) {
  return (columns + panel_columns - 1) / panel_columns;
}

void product_of_part(int64_t m, int64_t n, int64_t k, float scale, const strided_matrix& a,
                     const strided_matrix& b, float* c, int64_t step, bool add) {
  const auto deep = std::min(k, inner_at_once);
  float* panels = scratch(deep * panel_columns * panels_of(std::min(n, columns_at_once)));
  for (int64_t j0 = 0; j0 < n; j0 += columns_at_once) {
    const auto columns = std::min(columns_at_once, n - j0);
    for (int64_t k0 = 0; k0 < k; k0 += inner_at_once) {
      const auto inner = std::min(inner_at_once, k - k0);
      for (int64_t j = 0; j < columns; j += panel_columns)
        pack_panel({b.data + k0 * b.row + (j0 + j) * b.column, b.row, b.column}, inner,
                   std::min(panel_columns, columns - j), panels + j * inner);
      for (int64_t i0 = 0; i0 < m; i0 += left_rows_at_once)
        for (int64_t j = 0; j < columns; j += panel_columns)
          multiply_panel(std::min(left_rows_at_once, m - i0),
                         {a.data + i0 * a.row + k0 * a.column, a.row, a.column, panels + j * inner,
                          inner, c + i0 * step + j0 + j, step, std::min(panel_columns, columns - j),
                          scale, add || k0 > 0});
    }
  }
}

} // namespace

bool has_wide_products() noexcept {
  static const bool has = [] {
    __builtin_cpu_init();
    return __builtin_cpu_is("amd") && __builtin_cpu_supports("avx512f")
           && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
           && __builtin_cpu_supports("avx512vl");
  }();
  return has;
}

packed_matrix::packed_matrix(int64_t inner, int64_t columns, const strided_matrix& what)
    : inner_(inner), columns_(columns),
      panels_(new float[static_cast<size_t>(panels_of(columns) * panel_columns * inner)]) {
  for (int64_t j = 0; j < columns; j += panel_columns)
    pack_panel({what.data + j * what.column, what.row, what.column}, inner,
               std::min(panel_columns, columns - j), panels_.get() + j * inner);
}

packed_matrix::~packed_matrix() = default;

void packed_matrix::multiply(int64_t rows, const strided_matrix& a, float* c, int64_t step,
                             bool add) const {
  for (int64_t k = 0; k < inner_; k += inner_at_once)
    for (int64_t j = 0; j < columns_; j += panel_columns)
      multiply_panel(rows, {a.data + k * a.column, a.row, a.column,
                            panels_.get() + j * inner_ + k * panel_columns,
                            std::min(inner_at_once, inner_ - k), c + j, step,
                            std::min(panel_columns, columns_ - j), 1, add || k > 0});
}

void wide_product(int64_t m, int64_t n, int64_t k, float scale, const strided_matrix& a,
                  const strided_matrix& b, float* c, int64_t step, bool add) {
  const auto work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  if (work < parallel_from || at::get_num_threads() == 1 || at::in_parallel_region())
    return product_of_part(m, n, k, scale, a, b, c, step, add);
  if (panels_of(n) >= 2 * at::get_num_threads() && n >= m) {
    at::parallel_for(0, panels_of(n), 1, [&](int64_t begin, int64_t end) {
      const auto from = begin * panel_columns, to = std::min(n, end * panel_columns);
      product_of_part(m, to - from, k, scale, a, {b.data + from * b.column, b.row, b.column},
                      c + from, step, add);
    });
    return;
  }
  at::parallel_for(0, m, rows_at_once, [&](int64_t begin, int64_t end) {
    product_of_part(end - begin, n, k, scale, {a.data + begin * a.row, a.row, a.column}, b,
                    c + begin * step, step, add);
  });
}

} // namespace moxzi::device::torch
