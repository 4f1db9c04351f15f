#include "device/torch/copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

/// A side of the squares in which a transposed matrix is copied: lines of both sides stay in the
/// nearest cache.
constexpr int64_t square = 32;
constexpr int64_t bytes_at_once = 1 << 17; // per thread

/// The dimensions of both tensors; those that are one piece in both are one here, and those of size
/// 1 are left out.
struct walk {
  size_t rank = 0;
  std::array<int64_t, rank_max + 1> size{}, from{}, to{};

  walk(const tensor_view& x, const tensor_view& y) {
    for (size_t i = 0; i < x.dims.rank(); i++) {
      if (x.dims[i] == 1) continue;
      const bool joins = rank > 0 && from[rank - 1] == x.dims[i] * x.strides[i]
                         && to[rank - 1] == y.dims[i] * y.strides[i];
      if (!joins) rank++;
      size[rank - 1] = joins ? size[rank - 1] * x.dims[i] : x.dims[i];
      from[rank - 1] = x.strides[i];
      to[rank - 1] = y.strides[i];
    }
  }

  /// Makes this dimension the last.
  void move_last(size_t dim) {
    for (auto* list : {&size, &from, &to})
      std::rotate(list->begin() + static_cast<int64_t>(dim),
                  list->begin() + static_cast<int64_t>(dim) + 1,
                  list->begin() + static_cast<int64_t>(rank));
  }
};

template <class T>
void copy_line(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t n) {
  if (to_step == 1 && from_step == 1)
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  else if (to_step == 1 && from_step == 0)
    std::fill_n(to, n, *from);
  else
    for (int64_t i = 0; i < n; i++) to[i * to_step] = from[i * from_step];
}

/// A square of a matrix whose rows lie in `from` as its columns do in `to`.
template <class T>
void copy_square(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows,
                 int64_t columns) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) to[i * to_step + j] = from[i + j * from_step];
}

/// Where number `n` of the outer dimensions lies in both tensors.
struct outer_place {
  int64_t from = 0, to = 0;

  outer_place(const walk& way, size_t outer, int64_t n) {
    for (size_t i = outer; i-- > 0;) {
      const auto at = n % way.size[i];
      n /= way.size[i];
      from += at * way.from[i];
      to += at * way.to[i];
    }
  }
};

/// Copies `count` lines of the last dimension, from number `begin` on.
template <class T>
void copy_lines(const walk& way, const T* from, T* to, int64_t begin, int64_t count) {
  const size_t last = way.rank - 1;
  // Lines beside each other in one dimension are found once.
  const auto side = last > 0 ? way.size[last - 1] : 1;
  const auto from_side = last > 0 ? way.from[last - 1] : 0;
  const auto to_side = last > 0 ? way.to[last - 1] : 0;
  for (auto n = begin; n < begin + count;) {
    const outer_place at(way, last, n);
    const auto run = std::min(begin + count - n, side - n % side);
    for (int64_t k = 0; k < run; k++)
      copy_line(from + at.from + k * from_side, way.from[last], to + at.to + k * to_side,
                way.to[last], way.size[last]);
    n += run;
  }
}

/// Copies `count` bands of the last two dimensions, from number `begin` on.
template <class T>
void copy_bands(const walk& way, const T* from, T* to, int64_t begin, int64_t count) {
  const size_t last = way.rank - 1;
  const auto bands = (way.size[last - 1] + square - 1) / square;
  for (auto n = begin; n < begin + count; n++) {
    const outer_place at(way, last - 1, n / bands);
    const auto row = n % bands * square;
    const auto rows = std::min(square, way.size[last - 1] - row);
    for (int64_t column = 0; column < way.size[last]; column += square)
      copy_square(from + at.from + row + column * way.from[last], way.from[last],
                  to + at.to + row * way.to[last - 1] + column, way.to[last - 1], rows,
                  std::min(square, way.size[last] - column));
  }
}

template <class T>
void copy_typed(const tensor_view& x, const tensor_view& y, uint32_t threads) {
  walk way(x, y);
  const T* from = x.as<const T>();
  T* to = y.as<T>();
  if (way.rank == 0) {
    *to = *from;
    return;
  }
  // A dimension without gaps in `from`, before the last, which has none in `to`.
  bool transposed = false;
  const size_t last = way.rank - 1;
  if (way.to[last] == 1 && way.from[last] != 1)
    for (size_t i = 0; i < last && !transposed; i++)
      if (way.from[i] == 1 && way.size[i] >= 4 && way.size[last] >= 4) {
        way.move_last(i);
        std::swap(way.size[last - 1], way.size[last]);
        std::swap(way.from[last - 1], way.from[last]);
        std::swap(way.to[last - 1], way.to[last]);
        transposed = true;
      }
  const auto lines = way.size[last] == 0 ? 0 : x.elements / way.size[last];
  int64_t parts = lines, bytes = way.size[last] * static_cast<int64_t>(sizeof(T));
  if (transposed) {
    parts = lines / way.size[last - 1] * ((way.size[last - 1] + square - 1) / square);
    bytes *= square;
  }
  const auto grain = std::max<int64_t>(1, bytes_at_once / std::max<int64_t>(bytes, 1));
  for_parts(threads, parts, grain, [&way, from, to, transposed](int64_t begin, int64_t end) {
    if (transposed)
      copy_bands(way, from, to, begin, end - begin);
    else
      copy_lines(way, from, to, begin, end - begin);
  });
}

} // namespace

void copy_elements(const tensor_view& from, const tensor_view& to, uint32_t threads) {
  if (from.elements == 0) return;
  switch (size_of(from.type)) {
    case 1:
      return copy_typed<uint8_t>(from, to, threads);
    case 2:
      return copy_typed<uint16_t>(from, to, threads);
    case 4:
      return copy_typed<uint32_t>(from, to, threads);
    default:
      return copy_typed<uint64_t>(from, to, threads);
  }
}

tensor_view part_of(const tensor_view& whole, size_t dim, int64_t start, int64_t len,
                    int64_t step) {
  auto out = whole;
  out.data = whole.as<char>() + start * whole.strides[dim] * size_of(whole.type);
  out.dims[dim] = len;
  out.strides[dim] *= step;
  out.elements = out.dims.elements();
  return out;
}

} // namespace moxzi::device::torch
