#include <algorithm>
#include <array>
#include <cmath>

#include "device/torch/loops.hpp"
#include "device/torch/optimizer.hpp"

// As torch.optim.Adafactor: `eps` is its first one; the second, d and the decay's exponent are its
// defaults. A matrix of mean squares is never made: an element's is that of its row times that of
// its column. The passes that need it compute it again.

namespace moxzi::device::torch {

namespace {

constexpr double rms_min = 1e-3;
constexpr double decay_exponent = -0.8;
constexpr int64_t columns_at_once = 256;

/// A batch of matrices, or one row.
template <class T>
struct factored {
  T* parameter;
  const T* gradient;
  T* row_squares;
  T* column_squares; ///< null if each element has its own mean square, in `row_squares`
  int64_t batches, rows, columns;
  T scale;
  T weight; ///< of the new mean squares
  T eps;
};

template <class T>
MOXZI_INLINE T mixed(T old, double fresh, T weight) {
  return old + weight * (static_cast<T>(fresh) - old);
}

template <class T>
MOXZI_INLINE double row_mean(const T* g, int64_t n, T scale) {
  std::array<double, lanes> sums{};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int64_t j = 0; j < lanes; j++) {
      const double value = g[i + j] * scale;
      sums[static_cast<size_t>(j)] += value * value;
    }
  for (int64_t j = 0; i + j < n; j++) {
    const double value = g[i + j] * scale;
    sums[static_cast<size_t>(j)] += value * value;
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  return total / static_cast<double>(n);
}

/// The mean squares of the columns from `first` on, at most `columns_at_once` of them.
template <class T>
MOXZI_INLINE void mix_columns(const factored<T>& on, const T* g, T* to, int64_t first) {
  std::array<double, columns_at_once> sums{};
  const int64_t count = std::min(columns_at_once, on.columns - first);
  for (int64_t i = 0; i < on.rows; i++) {
    const T* row = g + i * on.columns + first;
    for (int64_t j = 0; j < count; j++) {
      const double value = row[j] * on.scale;
      sums[static_cast<size_t>(j)] += value * value;
    }
  }
  for (int64_t j = 0; j < count; j++)
    to[first + j] =
      mixed(to[first + j], sums[static_cast<size_t>(j)] / static_cast<double>(on.rows), on.weight);
}

template <class T>
MOXZI_INLINE void mix_squares(const factored<T>& on) {
  if (!on.column_squares) {
    for (int64_t i = 0; i < on.columns; i++) {
      const T value = on.gradient[i] * on.scale;
      on.row_squares[i] += on.weight * (value * value - on.row_squares[i]);
    }
    return;
  }
  for (int64_t b = 0; b < on.batches; b++) {
    const T* g = on.gradient + b * on.rows * on.columns;
    T* rows = on.row_squares + b * on.rows;
    for (int64_t i = 0; i < on.rows; i++)
      rows[i] = mixed(rows[i], row_mean(g + i * on.columns, on.columns, on.scale), on.weight);
    for (int64_t first = 0; first < on.columns; first += columns_at_once)
      mix_columns(on, g, on.column_squares + b * on.columns, first);
  }
}

/// Calls `work(offset, row factor, column squares, n)` for each row.
template <class T, class Work>
MOXZI_INLINE void for_rows(const factored<T>& on, const Work& work) {
  if (!on.column_squares) return work(0, T{1}, on.row_squares, on.columns);
  for (int64_t b = 0; b < on.batches; b++) {
    const T* rows = on.row_squares + b * on.rows;
    double sum = 0;
    for (int64_t i = 0; i < on.rows; i++) sum += rows[i];
    const T mean = std::max(static_cast<T>(sum / static_cast<double>(on.rows)), on.eps);
    for (int64_t i = 0; i < on.rows; i++)
      work((b * on.rows + i) * on.columns, rows[i] / mean, on.column_squares + b * on.columns,
           on.columns);
  }
}

template <class T>
MOXZI_INLINE T moved(T g, T row, T column, T least) {
  const T square = row * column;
  return g / std::sqrt(square < least ? least : square);
}

template <class T>
MOXZI_INLINE double moved_squares(const factored<T>& on) {
  std::array<double, lanes> sums{};
  const T least = on.eps * on.eps, scale = on.scale;
  for_rows(
    on, [&](int64_t offset, T row, const T* columns, int64_t n) __attribute__((always_inline)) {
      const T* g = on.gradient + offset;
      int64_t i = 0;
      for (; i + lanes <= n; i += lanes)
        for (int64_t j = 0; j < lanes; j++) {
          const double value = moved(g[i + j] * scale, row, columns[i + j], least);
          sums[static_cast<size_t>(j)] += value * value;
        }
      for (int64_t j = 0; i + j < n; j++) {
        const double value = moved(g[i + j] * scale, row, columns[i + j], least);
        sums[static_cast<size_t>(j)] += value * value;
      }
    });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

template <class T>
MOXZI_INLINE void move(const factored<T>& on, T keep, T by) {
  const T least = on.eps * on.eps, scale = on.scale;
  for_rows(
    on, [&](int64_t offset, T row, const T* columns, int64_t n) __attribute__((always_inline)) {
      T* __restrict p = on.parameter + offset;
      const T* __restrict g = on.gradient + offset;
      for (int64_t j = 0; j < n; j++)
        p[j] = p[j] * keep - by * moved(g[j] * scale, row, columns[j], least);
    });
}

template <class T>
MOXZI_INLINE void step_with(const factored<T>& on, const optimizer_step& how,
                            const step_segment& segment, double parameter_squares) {
  const auto count = static_cast<double>(segment.elements);
  mix_squares(on);
  const double rate = std::min(how.lr, 1 / std::sqrt(static_cast<double>(segment.step)));
  const double alpha = std::max(rms_min, std::sqrt(parameter_squares / count)) * rate;
  const double size = std::max(1.0, std::sqrt(moved_squares(on) / count));
  move(on, static_cast<T>(1 - how.lr * segment.weight_decay), static_cast<T>(alpha / size));
}

MOXZI_CLONES void step_part(const factored<float>& on, const optimizer_step& how,
                            const step_segment& segment, double squares) {
  step_with(on, how, segment, squares);
}

MOXZI_CLONES void step_part(const factored<double>& on, const optimizer_step& how,
                            const step_segment& segment, double squares) {
  step_with(on, how, segment, squares);
}

template <class T>
void step_all(const optimizer_step& how, const step_segment& segment, const void* gradient,
              double scale) {
  const auto& dims = segment.dims;
  factored<T> on{static_cast<T*>(segment.parameter),
                 static_cast<const T*>(gradient),
                 static_cast<T*>(segment.states[0]),
                 static_cast<T*>(segment.states[1]),
                 1,
                 1,
                 static_cast<int64_t>(segment.elements),
                 static_cast<T>(scale),
                 static_cast<T>(std::pow(static_cast<double>(segment.step), decay_exponent)),
                 static_cast<T>(how.eps)};
  if (dims.rank() >= 2) {
    on.rows = dims.last(1);
    on.columns = dims.last();
    on.batches = static_cast<int64_t>(segment.elements) / (on.rows * on.columns);
  }
  step_part(on, how, segment, sum_of_squares(segment.parameter, segment.elements, segment.type));
}

} // namespace

void adafactor(const optimizer_step& how, const step_segment& segment, const void* gradient,
               double scale) {
  if (segment.type == elem::f64)
    step_all<double>(how, segment, gradient, scale);
  else
    step_all<float>(how, segment, gradient, scale);
}

} // namespace moxzi::device::torch
