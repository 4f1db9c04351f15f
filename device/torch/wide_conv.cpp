#include "device/torch/wide_conv.hpp"

// GCC 12 takes the undefined operands inside of its own intrinsics for mistakes.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/torch/wide_product.hpp"

namespace moxzi::device::torch {

namespace {

#define MOXZI_WIDE __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma")))

constexpr int64_t lanes = 16;
constexpr int64_t inner_at_once = 256; // rows of a panel: they stay in the first cache
constexpr int rows_at_once = 12;

/// `count` ≤ 16 numbers of a row of y for each weight, into one column of a panel's rows.
MOXZI_WIDE void pack_run(const float* x, const int64_t* offsets, int64_t weights, int64_t stride,
                         int64_t count, float* to) {
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  if (stride == 1) {
    for (int64_t k = 0; k < weights; k++)
      _mm512_mask_storeu_ps(to + k * panel_columns, mask,
                            _mm512_maskz_loadu_ps(mask, x + offsets[k]));
    return;
  }
  for (int64_t k = 0; k < weights; k++)
    for (int64_t i = 0; i < count; i++) to[k * panel_columns + i] = x[offsets[k] + i * stride];
}

/// Rows [weights] of the gradient from places of x and a panel [places, out].
struct weight_tile {
  const float* x;
  const int64_t* offsets; ///< of the tile's weights
  const int64_t* rows;    ///< where rows of y start in x
  int64_t row_count, width, stride;
  const float* panel;
  float* to;
  int64_t step, columns;
};

template <int Rows, int Vectors>
MOXZI_WIDE void add_tile(const weight_tile& what) {
  __m512 sums[Rows][Vectors];
#pragma GCC unroll 12
  for (int i = 0; i < Rows; i++)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; v++) sums[i][v] = _mm512_setzero_ps();
  const float* right = what.panel;
  const float* from[Rows];
#pragma GCC unroll 12
  for (int i = 0; i < Rows; i++) from[i] = what.x + what.offsets[i];
  for (int64_t r = 0; r < what.row_count; r++) {
    auto at = what.rows[r];
    for (int64_t j = 0; j < what.width; j++, at += what.stride, right += panel_columns) {
      __m512 b[Vectors];
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; v++) b[v] = _mm512_loadu_ps(right + v * lanes);
#pragma GCC unroll 12
      for (int i = 0; i < Rows; i++) {
        const __m512 a = _mm512_set1_ps(from[i][at]);
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; v++) sums[i][v] = _mm512_fmadd_ps(a, b[v], sums[i][v]);
      }
    }
  }
  const auto rest = static_cast<int>(what.columns - (Vectors - 1) * lanes);
  const auto last = static_cast<__mmask16>((1u << rest) - 1);
#pragma GCC unroll 12
  for (int i = 0; i < Rows; i++)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; v++) {
      float* to = what.to + i * what.step + v * lanes;
      const __mmask16 mask = v + 1 < Vectors ? __mmask16(0xffff) : last;
      _mm512_mask_storeu_ps(to, mask, _mm512_add_ps(_mm512_maskz_loadu_ps(mask, to), sums[i][v]));
    }
}

using tile_function = void (*)(const weight_tile&);

template <int Vectors, int... Rows>
constexpr std::array<tile_function, sizeof...(Rows)>
functions_of(std::integer_sequence<int, Rows...>) {
  return {add_tile<Rows + 1, Vectors>...};
}

constexpr auto narrow_tiles = functions_of<1>(std::make_integer_sequence<int, rows_at_once>{});
constexpr auto wide_tiles = functions_of<2>(std::make_integer_sequence<int, rows_at_once>{});

} // namespace

wide_conv::wide_conv(const windows& how, int64_t in, int64_t out, const shape& large,
                     const shape& small)
    : in_(in), out_(out), how_(how.three()), large_(three_sizes(large, how.count)),
      small_(three_sizes(small, how.count)) {
  for (size_t d = 0; d < spatial_max; d++) {
    padded_[d] = large_[d] + 2 * how_[d].padding;
    plane_ *= padded_[d];
    places_ *= small_[d];
  }
  const auto at = [this](int64_t z, int64_t y, int64_t x) {
    return (z * padded_[1] + y) * padded_[2] + x;
  };
  for (int64_t c = 0; c < in; c++)
    for (int64_t z = 0; z < how_[0].kernel; z++)
      for (int64_t y = 0; y < how_[1].kernel; y++)
        for (int64_t x = 0; x < how_[2].kernel; x++)
          offsets_.push_back(
            c * plane_ + at(z * how_[0].dilation, y * how_[1].dilation, x * how_[2].dilation));
  for (int64_t z = 0; z < small_[0]; z++)
    for (int64_t y = 0; y < small_[1]; y++)
      rows_.push_back(at(z * how_[0].stride, y * how_[1].stride, 0));
}

int64_t wide_conv::scratch_floats() const noexcept {
  // The padded image, with room behind for whole vectors; then a panel.
  return in_ * plane_ + lanes + std::max(places_, inner_at_once) * panel_columns;
}

void wide_conv::pad(const float* x, float* to) const {
  std::memset(to, 0, static_cast<size_t>(in_ * plane_) * sizeof(float));
  for (int64_t c = 0; c < in_; c++)
    for (int64_t z = 0; z < large_[0]; z++)
      for (int64_t y = 0; y < large_[1]; y++, x += large_[2])
        std::memcpy(to + c * plane_
                      + ((z + how_[0].padding) * padded_[1] + y + how_[1].padding) * padded_[2]
                      + how_[2].padding,
                    x, static_cast<size_t>(large_[2]) * sizeof(float));
}

void wide_conv::forward(const float* x, const float* w, const float* bias, float* y,
                        float* scratch) const {
  pad(x, scratch);
  float* panel = scratch + in_ * plane_ + lanes;
  const auto width = small_[2];
  for (int64_t p = 0; p < places_; p += panel_columns) {
    const auto columns = std::min(panel_columns, places_ - p);
    if (bias)
      for (int64_t o = 0; o < out_; o++) std::fill_n(y + o * places_ + p, columns, bias[o]);
    for (int64_t k = 0; k < weights(); k += inner_at_once) {
      const auto inner = std::min(inner_at_once, weights() - k);
      if (columns < panel_columns)
        std::memset(panel, 0, static_cast<size_t>(inner * panel_columns) * sizeof(float));
      for (int64_t i = 0; i < columns;) {
        const auto row = (p + i) / width, from = (p + i) % width;
        const auto count = std::min({lanes, columns - i, width - from});
        pack_run(scratch + rows_[static_cast<size_t>(row)] + from * how_[2].stride,
                 offsets_.data() + k, inner, how_[2].stride, count, panel + i);
        i += count;
      }
      multiply_panel(out_, {w + k, weights(), 1, panel, inner, y + p, places_, columns, 1,
                            bias != nullptr || k > 0});
    }
  }
}

void wide_conv::add_weights(const float* x, const float* gradient, int64_t begin, int64_t end,
                            float* to, float* scratch) const {
  pad(x, scratch);
  float* panel = scratch + in_ * plane_ + lanes;
  for (int64_t o = 0; o < out_; o += panel_columns) {
    const auto columns = std::min(panel_columns, out_ - o);
    pack_panel({gradient + o * places_, 1, places_}, places_, columns, panel);
    const auto& tiles = columns > lanes ? wide_tiles : narrow_tiles;
    for (auto k = begin; k < end; k += rows_at_once) {
      const auto rows = std::min<int64_t>(rows_at_once, end - k);
      tiles[static_cast<size_t>(rows - 1)](
        {scratch, offsets_.data() + k, rows_.data(), static_cast<int64_t>(rows_.size()), small_[2],
         how_[2].stride, panel, to + k * out_ + o, out_, columns});
    }
  }
}

} // namespace moxzi::device::torch
