#include "device/torch/rows_of.hpp"

#include <algorithm>
#include <cmath>

#include "device/torch/vectors.hpp"

namespace moxzi::device::torch {

namespace {

// -- softmax -------------------------------------------------------------------

template <class T>
MOXZI_INLINE void softmax_of(const softmax_rows<T>& all) {
  for (int64_t r = 0; r < all.rows; r++) {
    const T* x = all.x + r * all.length;
    T* out = all.out + r * all.length;
    const T max = largest(x, all.length);
    if (all.logs) {
      // In this order, so that large logits keep their digits.
      const T less = std::log(sum_of_exp<T>(x, all.length, max, nullptr));
      for (int64_t j = 0; j < all.length; j++) out[j] = x[j] - max - less;
    } else {
      scale_row(out, all.length, 1 / sum_of_exp(x, all.length, max, out));
    }
  }
}

template <class T>
MOXZI_INLINE void softmax_backward_of(const softmax_rows<T>& all) {
  for (int64_t r = 0; r < all.rows; r++) {
    const T *g = all.x + r * all.length, *y = all.y + r * all.length;
    T* out = all.out + r * all.length;
    if (!all.logs) {
      const T sum = product_of_rows(g, y, all.length);
      for (int64_t j = 0; j < all.length; j++) out[j] = y[j] * (g[j] - sum);
      continue;
    }
    const T sum = sum_of_row(g, all.length);
    vector<T> from, term;
    int64_t j = 0;
    for (; j + lanes <= all.length; j += lanes) {
      load(term, y + j);
      load(from, g + j);
      exponential(term);
      from -= term * sum;
      store(out + j, from);
    }
    if (j < all.length) {
      load_tail(term, y + j, all.length - j, T{});
      load_tail(from, g + j, all.length - j, T{});
      exponential(term);
      from -= term * sum;
      store_tail(out + j, from, all.length - j);
    }
  }
}

// -- normalisation -------------------------------------------------------------

/// Sum of (x - middle)².
template <class T>
MOXZI_INLINE T squares(const T* row, int64_t columns, T middle) {
  vector<T> sum{}, x;
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    load(x, row + j);
    x -= middle;
    sum += x * x;
  }
  if (j < columns) {
    load_tail(x, row + j, columns - j, middle);
    x -= middle;
    sum += x * x;
  }
  return total<T>(sum);
}

template <class T>
MOXZI_INLINE void normalise_of(const norm_rows<T>& all) {
  const auto length = static_cast<T>(all.length);
  for (int64_t r = 0; r < all.rows; r++) {
    const T* x = all.x + r * all.length;
    T* out = all.out + r * all.length;
    const T mean = all.centred ? sum_of_row(x, all.length) / length : 0;
    const T variance = squares(x, all.length, mean) / length;
    const T scale = 1 / std::sqrt(variance + static_cast<T>(all.eps));
    if (all.w && all.b)
      for (int64_t j = 0; j < all.length; j++) out[j] = (x[j] - mean) * scale * all.w[j] + all.b[j];
    else if (all.w)
      for (int64_t j = 0; j < all.length; j++) out[j] = (x[j] - mean) * scale * all.w[j];
    else
      for (int64_t j = 0; j < all.length; j++) out[j] = (x[j] - mean) * scale;
    if (all.b && !all.w)
      for (int64_t j = 0; j < all.length; j++) out[j] += all.b[j];
    if (all.kept && all.centred) all.kept[2 * r] = mean;
    if (all.kept) all.kept[all.centred ? 2 * r + 1 : r] = scale;
  }
}

/// What one row adds to the sums over rows, and its own sums: of g·w and of g·w·unit.
template <class T>
MOXZI_INLINE void gather_row(const norm_backward_rows<T>& all, const T* g, const T* x, T mean,
                             T scale, T& whole, T& along) {
  vector<T> sum{}, sum_along{}, from, unit, place;
  const int64_t tail = all.length % lanes;
  for (int64_t j = 0; j < all.length; j += lanes) {
    const int64_t count = j + lanes <= all.length ? lanes : tail;
    const auto get = [count](vector<T> & to, const T* at) __attribute__((always_inline)) {
      count == lanes ? load(to, at) : load_tail(to, at, count, T{});
    };
    const auto put = [count](T * at, const vector<T>& what) __attribute__((always_inline)) {
      count == lanes ? store(at, what) : store_tail(at, what, count);
    };
    get(from, g + j);
    get(unit, x + j);
    unit = (unit - mean) * scale;
    get(place, all.sums + j);
    place += from * unit;
    put(all.sums + j, place);
    if (all.centred) {
      get(place, all.sums + all.length + j);
      place += from;
      put(all.sums + all.length + j, place);
    }
    if (all.w) {
      get(place, all.w + j);
      from *= place;
    }
    sum += from;
    sum_along += from * unit;
  }
  whole = total<T>(sum);
  along = total<T>(sum_along);
}

/// Sums over so many rows are kept in the rows' type before they are added up in double.
constexpr int64_t rows_at_once = 64;

template <class T>
MOXZI_INLINE void normalise_backward_of(const norm_backward_rows<T>& all) {
  const auto length = static_cast<T>(all.length);
  const int64_t sums = all.length * (all.centred ? 2 : 1);
  for (int64_t first = 0; first < all.rows; first += rows_at_once) {
    std::fill_n(all.sums, sums, T{});
    for (int64_t r = first; r < std::min(all.rows, first + rows_at_once); r++) {
      const T *g = all.g + r * all.length, *x = all.x + r * all.length;
      T* out = all.out + r * all.length;
      const T mean = all.centred ? all.kept[2 * r] : 0;
      const T scale = all.kept[all.centred ? 2 * r + 1 : r];
      T whole = 0, along = 0;
      gather_row(all, g, x, mean, scale, whole, along);
      whole = all.centred ? whole / length : 0;
      along = along / length * scale;
      // scale · (g·w - whole - unit · along / length), with what is the same for a row pulled out.
      if (all.w)
        for (int64_t j = 0; j < all.length; j++)
          out[j] = scale * (g[j] * all.w[j] - whole - (x[j] - mean) * along);
      else
        for (int64_t j = 0; j < all.length; j++)
          out[j] = scale * (g[j] - whole - (x[j] - mean) * along);
    }
    for (int64_t j = 0; j < sums; j++) all.totals[j] += static_cast<double>(all.sums[j]);
  }
}

} // namespace

MOXZI_CLONES void softmax(const softmax_rows<float>& all) {
  softmax_of(all);
}
MOXZI_CLONES void softmax(const softmax_rows<double>& all) {
  softmax_of(all);
}
MOXZI_CLONES void softmax_backward(const softmax_rows<float>& all) {
  softmax_backward_of(all);
}
MOXZI_CLONES void softmax_backward(const softmax_rows<double>& all) {
  softmax_backward_of(all);
}
MOXZI_CLONES void normalise(const norm_rows<float>& all) {
  normalise_of(all);
}
MOXZI_CLONES void normalise(const norm_rows<double>& all) {
  normalise_of(all);
}
MOXZI_CLONES void normalise_backward(const norm_backward_rows<float>& all) {
  normalise_backward_of(all);
}
MOXZI_CLONES void normalise_backward(const norm_backward_rows<double>& all) {
  normalise_backward_of(all);
}

} // namespace moxzi::device::torch
