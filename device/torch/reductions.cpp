// sum, mean, max, min and sum_to of f32 and f64, over any dimensions of a tensor with any strides.

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "device/ops/reduction.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

constexpr int64_t columns_at_once = 256;
constexpr int64_t rows_at_once = 64;
constexpr int64_t elements_at_once = 65536; // read by a thread
constexpr int64_t block = 32768;            // of a long row; fixed, so that sums have one value
constexpr int64_t blocks_max = 256;
constexpr int64_t chunks_max = 8; // of rows of columns; fixed for the same reason

// -- what two elements become --------------------------------------------------

/// Sums are taken in double.
template <class T>
struct adding {
  using total = double;
  static constexpr size_t width = lanes;
  static constexpr double none = 0;
  static MOXZI_INLINE double both(double a, double b) {
    return a + b;
  }
};

/// NaN is above all others, and stays.
template <class T>
struct greatest {
  using total = T;
  static constexpr size_t width = 4 * lanes; // in any order it is the same
  static constexpr T none = -std::numeric_limits<T>::infinity();
  static MOXZI_INLINE T both(T a, T b) {
    return (b > a) | (b != b) ? b : a;
  }
};

template <class T>
struct least {
  using total = T;
  static constexpr size_t width = 4 * lanes; // in any order it is the same
  static constexpr T none = std::numeric_limits<T>::infinity();
  static MOXZI_INLINE T both(T a, T b) {
    return (b < a) | (b != b) ? b : a;
  }
};

// -- loops ---------------------------------------------------------------------

/// A row of neighbours.
template <class How, class T>
MOXZI_INLINE typename How::total row_in_lanes(const T* x, int64_t n) {
  using total = typename How::total;
  constexpr size_t width = How::width;
  std::array<total, width> parts;
  parts.fill(How::none);
  int64_t i = 0;
  for (; i + static_cast<int64_t>(width) <= n; i += width)
    for (size_t j = 0; j < width; j++)
      parts[j] = How::both(parts[j], static_cast<total>(x[i + static_cast<int64_t>(j)]));
  for (size_t j = 0; i + static_cast<int64_t>(j) < n; j++)
    parts[j] = How::both(parts[j], static_cast<total>(x[i + static_cast<int64_t>(j)]));
  // Halves onto each other, so that fewer additions wait for one another.
  for (size_t half = width / 2; half > 0; half /= 2)
    for (size_t j = 0; j < half; j++) parts[j] = How::both(parts[j], parts[j + half]);
  return parts[0];
}

/// `count` rows of `n` neighbours, `step` apart.
template <class How, class T>
MOXZI_INLINE void rows_in_lanes(typename How::total* totals, const T* x, int64_t count,
                                int64_t step, int64_t n) {
  for (int64_t k = 0; k < count; k++) totals[k] = row_in_lanes<How>(x + k * step, n);
}

/// `rows` rows of neighbouring columns onto `totals`.
template <class How, class T>
MOXZI_INLINE void columns_onto(typename How::total* __restrict totals, const T* __restrict x,
                               int64_t rows, int64_t step, int64_t columns) {
  using total = typename How::total;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      totals[j] = How::both(totals[j], static_cast<total>(x[i * step + j]));
}

#define MOXZI_REDUCTION(How, T)                                                                    \
  MOXZI_CLONES How<T>::total row_of(How<T>, const T* x, int64_t n) {                               \
    return row_in_lanes<How<T>>(x, n);                                                             \
  }                                                                                                \
  MOXZI_CLONES void rows_of(How<T>, How<T>::total* totals, const T* x, int64_t count,              \
                            int64_t step, int64_t n) {                                             \
    rows_in_lanes<How<T>>(totals, x, count, step, n);                                              \
  }                                                                                                \
  MOXZI_CLONES void add_columns(How<T>, How<T>::total* totals, const T* x, int64_t rows,           \
                                int64_t step, int64_t columns) {                                   \
    columns_onto<How<T>>(totals, x, rows, step, columns);                                          \
  }
MOXZI_REDUCTION(adding, float)
MOXZI_REDUCTION(adding, double)
MOXZI_REDUCTION(greatest, float)
MOXZI_REDUCTION(greatest, double)
MOXZI_REDUCTION(least, float)
MOXZI_REDUCTION(least, double)
#undef MOXZI_REDUCTION

// -- the walk over dimensions --------------------------------------------------

/// Dimensions that stay, or that are reduced, outermost first; neighbours without gaps are one.
struct dimensions {
  size_t rank = 0;
  std::array<int64_t, rank_max + 1> size{}, step{}, to{};

  void add(int64_t dim, int64_t stride, int64_t out_stride) {
    if (dim == 1) return;
    const bool joins =
      rank > 0 && step[rank - 1] == dim * stride && to[rank - 1] == dim * out_stride;
    if (!joins) rank++;
    size[rank - 1] = joins ? size[rank - 1] * dim : dim;
    step[rank - 1] = stride;
    to[rank - 1] = out_stride;
  }
  /// Takes a dimension out.
  void remove(size_t dim) {
    for (auto* list : {&size, &step, &to})
      std::copy(list->begin() + static_cast<int64_t>(dim) + 1, list->end(),
                list->begin() + static_cast<int64_t>(dim));
    rank--;
  }
  int64_t count() const {
    int64_t n = 1;
    for (size_t i = 0; i < rank; i++) n *= size[i];
    return n;
  }
  /// Where number `n` of them is in x and in the result.
  std::pair<int64_t, int64_t> place(int64_t n) const {
    int64_t from = 0, out = 0;
    for (size_t i = rank; i-- > 0;) {
      const auto at = n % size[i];
      n /= size[i];
      from += at * step[i];
      out += at * to[i];
    }
    return {from, out};
  }
  /// The one without gaps in x, or `rank`.
  size_t dense() const {
    for (size_t i = 0; i < rank; i++)
      if (step[i] == 1) return i;
    return rank;
  }
};

template <class How, class T>
class reducing {
public:
  using total = typename How::total;

  reducing(const kernel_call& call, uint32_t reduced, double scale)
      : x_(call.inputs[0].as<const T>()), out_(call.outputs[0].as<T>()), scale_(scale),
        threads_(call.inputs[0].elements < elements_at_once ? 1 : call.threads) {
    auto& x = call.inputs[0];
    const auto strides = row_major_strides(kept_shape(x.dims, reduced));
    for (size_t i = 0; i < x.dims.rank(); i++) {
      if (reduced >> i & 1)
        away_.add(x.dims[i], x.strides[i], 0);
      else
        stay_.add(x.dims[i], x.strides[i], strides[i]);
    }
  }

  void run() {
    const auto dense = stay_.dense();
    // Columns, unless they are few and the rows long.
    if (dense < stay_.rank && (away_.dense() == away_.rank || stay_.size[dense] >= lanes))
      columns(dense);
    else
      rows();
  }

private:
  void write(int64_t at, total value) {
    // One factor for all kinds; that of sums is 1.
    out_[at] = static_cast<T>(scale_ == 1 ? value : static_cast<total>(value * scale_));
  }

  /// Results side by side in x: bands of them, and where there are few bands of many rows, chunks
  /// of rows too, whose number depends on the sizes alone.
  struct column_work {
    dimensions outer, turns;
    int64_t width = 0, to = 0, rows = 1, step = 0, bands = 0, chunks = 1, chunk = 0;
  };

  column_work column_work_of(size_t dense) const {
    column_work out{stay_, away_, stay_.size[dense], stay_.to[dense]};
    out.outer.remove(dense);
    if (const auto rank = away_.rank; rank > 0) {
      out.rows = away_.size[rank - 1];
      out.step = away_.step[rank - 1];
      out.turns.remove(rank - 1);
    }
    out.bands = (out.width + columns_at_once - 1) / columns_at_once;
    const auto few = out.outer.count() * out.bands < chunks_max && out.turns.rank == 0;
    if (few)
      out.chunks = std::clamp<int64_t>(out.rows * out.width / elements_at_once, 1, chunks_max);
    out.chunk = (out.rows + out.chunks - 1) / out.chunks;
    return out;
  }

  /// The totals of one chunk of one band; how many they are.
  int64_t band_totals(const column_work& work, int64_t band, int64_t chunk, total* totals) const {
    const auto from = work.outer.place(band / work.bands).first;
    const auto first = band % work.bands * columns_at_once;
    const auto count = std::min(columns_at_once, work.width - first);
    const auto row = std::min(chunk * work.chunk, work.rows);
    const auto rows = std::min(work.chunk, work.rows - row);
    std::fill_n(totals, count, How::none);
    const auto turns = work.turns.count();
    for (int64_t k = 0; k < turns; k++)
      add_columns(How{}, totals, x_ + from + first + work.turns.place(k).first + row * work.step,
                  rows, work.step, count);
    return count;
  }

  void write_band(const column_work& work, int64_t band, const total* totals, int64_t count) {
    const auto out =
      work.outer.place(band / work.bands).second + band % work.bands * columns_at_once * work.to;
    for (int64_t j = 0; j < count; j++) write(out + j * work.to, totals[j]);
  }

  void columns(size_t dense) {
    const auto work = column_work_of(dense);
    const auto bands = work.outer.count() * work.bands;
    if (work.chunks > 1) return columns_in_chunks(work, bands);
    const auto one = work.rows * work.turns.count() * std::min(work.width, columns_at_once);
    const auto grain = std::max<int64_t>(1, elements_at_once / std::max<int64_t>(one, 1));
    for_parts(threads_, bands, grain, [this, &work](int64_t begin, int64_t end) {
      std::array<total, columns_at_once> totals;
      for (auto band = begin; band < end; band++)
        write_band(work, band, totals.data(), band_totals(work, band, 0, totals.data()));
    });
  }

  void columns_in_chunks(const column_work& work, int64_t bands) {
    std::vector<total> totals(static_cast<size_t>(bands * work.chunks * columns_at_once));
    const auto at = [&totals, &work](int64_t band, int64_t chunk) {
      return totals.data() + (band * work.chunks + chunk) * columns_at_once;
    };
    for_parts(threads_, bands * work.chunks, 1, [this, &work, &at](int64_t begin, int64_t end) {
      for (auto n = begin; n < end; n++) {
        const auto band = n / work.chunks, chunk = n % work.chunks;
        band_totals(work, band, chunk, at(band, chunk));
      }
    });
    for (int64_t band = 0; band < bands; band++) {
      const auto count =
        std::min(columns_at_once, work.width - band % work.bands * columns_at_once);
      for (int64_t chunk = 1; chunk < work.chunks; chunk++)
        for (int64_t j = 0; j < count; j++)
          at(band, 0)[j] = How::both(at(band, 0)[j], at(band, chunk)[j]);
      write_band(work, band, at(band, 0), count);
    }
  }

  total line(const T* x, int64_t n, int64_t step) const {
    if (step == 1) return row_of(How{}, x, n);
    total sum = How::none;
    for (int64_t i = 0; i < n; i++) sum = How::both(sum, static_cast<total>(x[i * step]));
    return sum;
  }

  void rows() {
    auto before = away_;
    int64_t length = 1, step = 1;
    if (before.rank > 0) {
      const auto last = std::min(before.dense(), before.rank - 1);
      length = before.size[last];
      step = before.step[last];
      before.remove(last);
    }
    const auto results = stay_.count(), turns = before.count();
    if (results == 1 && turns == 1 && length > 2 * block) return long_row(length, step);
    const auto work = std::max<int64_t>(1, turns * length);
    const auto grain = std::max<int64_t>(1, elements_at_once / work);
    if (step == 1 && turns == 1 && stay_.rank > 0)
      return for_parts(threads_, results, grain, [this, length](int64_t begin, int64_t end) {
        plain_rows(begin, end, length);
      });
    for_parts(threads_, results, grain, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; n++) {
        const auto [from, out] = stay_.place(n);
        total sum = How::none;
        for (int64_t k = 0; k < turns; k++)
          sum = How::both(sum, line(x_ + from + before.place(k).first, length, step));
        write(out, sum);
      }
    });
  }

  /// Results `begin` to `end`, each of one row of neighbours.
  void plain_rows(int64_t begin, int64_t end, int64_t length) {
    const auto last = stay_.rank - 1;
    std::array<total, rows_at_once> totals;
    for (auto n = begin; n < end;) {
      const auto [from, out] = stay_.place(n);
      const auto count = std::min({end - n, stay_.size[last] - n % stay_.size[last], rows_at_once});
      rows_of(How{}, totals.data(), x_ + from, count, stay_.step[last], length);
      for (int64_t k = 0; k < count; k++)
        write(out + k * stay_.to[last], totals[static_cast<size_t>(k)]);
      n += count;
    }
  }

  /// All of a tensor: blocks that depend on its size alone, then their sums in order.
  void long_row(int64_t length, int64_t step) {
    const auto size = std::max(block, (length + blocks_max - 1) / blocks_max);
    const auto blocks = (length + size - 1) / size;
    std::array<total, blocks_max> parts;
    for_parts(threads_, blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++)
        parts[static_cast<size_t>(i)] =
          line(x_ + i * size * step, std::min(size, length - i * size), step);
    });
    total sum = How::none;
    for (int64_t i = 0; i < blocks; i++) sum = How::both(sum, parts[static_cast<size_t>(i)]);
    write(0, sum);
  }

  const T* x_;
  T* out_;
  double scale_;
  uint32_t threads_;
  dimensions stay_, away_;
};

template <template <class> class How>
void reduce(const kernel_call& call, uint32_t reduced, double scale = 1) {
  if (call.outputs[0].elements == 0) return;
  if (call.inputs[0].type == elem::f64)
    reducing<How<double>, double>(call, reduced, scale).run();
  else
    reducing<How<float>, float>(call, reduced, scale).run();
}

// -- kernels -------------------------------------------------------------------

uint32_t over(const kernel_call& call) {
  return reduced_dims(call.attributes[0], call.inputs[0].dims.rank());
}

bool sum(const kernel_call& call, fault&) {
  reduce<adding>(call, over(call));
  return true;
}

bool mean(const kernel_call& call, fault&) {
  const auto reduced = over(call);
  const auto count = static_cast<double>(reduced_count(call.inputs[0].dims, reduced));
  reduce<adding>(call, reduced, 1 / count);
  return true;
}

bool max(const kernel_call& call, fault&) {
  reduce<greatest>(call, over(call));
  return true;
}

bool min(const kernel_call& call, fault&) {
  reduce<least>(call, over(call));
  return true;
}

/// Over the dimensions that the result lacks or has with size 1.
bool sum_to(const kernel_call& call, fault&) {
  auto &x = call.inputs[0].dims, &to = call.outputs[0].dims;
  const auto missing = x.rank() - to.rank();
  uint32_t reduced = 0;
  for (size_t i = 0; i < x.rank(); i++)
    if (i < missing || to[i - missing] != x[i]) reduced |= uint32_t{1} << i;
  reduce<adding>(call, reduced);
  return true;
}

} // namespace

kernel_function find_reduction_kernel(op id, elem type) noexcept {
  if (type != elem::f32 && type != elem::f64) return nullptr;
  switch (id) {
    case op::sum:
      return sum;
    case op::mean:
      return mean;
    case op::max:
      return max;
    case op::min:
      return min;
    case op::sum_to:
      return sum_to;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
