// Poolings of f32 and f64.

#include <algorithm>
#include <array>

#include "device/ops/options.hpp"
#include "device/ops/windows.hpp"
#include "device/torch/indices.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

using three = std::array<int64_t, spatial_max>;

/// The windows of a pooling between a large and a small side, plane by plane.
struct geometry {
  std::array<window, spatial_max> how;
  three large, small;
  int64_t plane, places, planes;
};

geometry geometry_of(const shape& large, const shape& small,
                     std::span<const attribute> attributes) {
  const auto how = pooling_windows(attributes);
  geometry out{
    how.three(),        three_sizes(large, how.count), three_sizes(small, how.count), 1, 1,
    large[0] * large[1]};
  for (size_t d = 0; d < spatial_max; d++) {
    out.plane *= out.large[d];
    out.places *= out.small[d];
  }
  return out;
}

/// The part of a window that is inside of the plane: [from, to) along each dimension.
struct inside {
  three from, to;
};

inline inside inside_of(const geometry& all, int64_t z, int64_t y, int64_t x) {
  inside out;
  const three at{z, y, x};
  for (size_t d = 0; d < spatial_max; d++) {
    const auto start = at[d] * all.how[d].stride - all.how[d].padding;
    out.from[d] = std::max<int64_t>(start, 0);
    out.to[d] = std::min(start + all.how[d].kernel, all.large[d]);
  }
  return out;
}

/// Calls `work(window, row)` for each window of a plane and the number of each row of places in it;
/// [begin, end) along the row are inside.
template <class Work>
MOXZI_INLINE void for_windows(const geometry& all, const Work& work) {
  int64_t n = 0;
  for (int64_t z = 0; z < all.small[0]; z++)
    for (int64_t y = 0; y < all.small[1]; y++)
      for (int64_t x = 0; x < all.small[2]; x++, n++) work(n, inside_of(all, z, y, x));
}

// -- the largest ---------------------------------------------------------------

template <class T>
MOXZI_INLINE void largest_of_plane(const geometry& all, const T* from, T* to, int32_t* where) {
  for_windows(all, [&](int64_t n, const inside& part) {
    auto best = (part.from[0] * all.large[1] + part.from[1]) * all.large[2] + part.from[2];
    T most = from[best];
    for (auto z = part.from[0]; z < part.to[0]; z++)
      for (auto y = part.from[1]; y < part.to[1]; y++) {
        const auto row = (z * all.large[1] + y) * all.large[2];
        for (auto x = part.from[2]; x < part.to[2]; x++) {
          const T value = from[row + x];
          const bool better = value > most || value != value;
          most = better ? value : most;
          best = better ? row + x : best;
        }
      }
    to[n] = most;
    if (where) where[n] = static_cast<int32_t>(best);
  });
}

/// Windows of 2 × 2 side by side, the form of most nets; no branches, so that it is vector code.
MOXZI_CLONES void largest_of_pairs(const float* above, const float* below, int64_t count,
                                   int32_t first, int32_t width, float* to, int32_t* where) {
  for (int64_t i = 0; i < count; i++) {
    const float a = above[2 * i], b = above[2 * i + 1], c = below[2 * i], d = below[2 * i + 1];
    const auto at = first + static_cast<int32_t>(2 * i);
    const bool b_better = (b > a) | (b != b), d_better = (d > c) | (d != d);
    const float up = b_better ? b : a, down = d_better ? d : c;
    const int32_t up_at = b_better ? at + 1 : at;
    const int32_t down_at = d_better ? at + width + 1 : at + width;
    const bool lower = (down > up) | (down != down);
    to[i] = lower ? down : up;
    where[i] = lower ? down_at : up_at;
  }
}

bool is_pairs(const geometry& all) {
  for (size_t d = 1; d < spatial_max; d++)
    if (all.how[d].kernel != 2 || all.how[d].stride != 2 || all.how[d].padding != 0) return false;
  return all.large[0] == 1 && all.how[0].kernel == 1;
}

void pairs_of_plane(const geometry& all, const float* from, float* to, int32_t* where) {
  std::array<int32_t, 256> unwanted;
  const auto width = all.large[2];
  for (int64_t y = 0; y < all.small[1]; y++)
    for (int64_t x = 0; x < all.small[2]; x += std::ssize(unwanted)) {
      const auto first = 2 * y * width + 2 * x, at = y * all.small[2] + x;
      largest_of_pairs(from + first, from + first + width,
                       std::min(std::ssize(unwanted), all.small[2] - x),
                       static_cast<int32_t>(first), static_cast<int32_t>(width), to + at,
                       where ? where + at : unwanted.data());
    }
}

template <class T>
void max_pool_of(const kernel_call& call) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  const auto all = geometry_of(x.dims, out.dims, call.attributes);
  const bool pairs = is_pairs(all);
  const T* from = x.as<const T>();
  T* to = out.as<T>();
  auto* where = call.outputs.size() > 1 ? call.outputs[1].as<int32_t>() : nullptr;
  for_parts(call.threads, all.planes, std::max<int64_t>(1, 32768 / std::max<int64_t>(all.plane, 1)),
            [&](int64_t begin, int64_t end) {
              for (int64_t n = begin; n < end; n++) {
                auto* mine = where ? where + n * all.places : nullptr;
                if constexpr (sizeof(T) == sizeof(float))
                  if (pairs) {
                    pairs_of_plane(all, from + n * all.plane, to + n * all.places, mine);
                    continue;
                  }
                largest_of_plane(all, from + n * all.plane, to + n * all.places, mine);
              }
            });
}

/// A place may be the largest of several windows, whose gradients are added in order.
template <class T>
void max_pool_backward_of(const kernel_call& call) {
  auto &gradient = call.inputs[0], &out = call.outputs[0];
  const auto all = geometry_of(out.dims, gradient.dims, call.attributes);
  const T* from = gradient.as<const T>();
  T* to = out.as<T>();
  with_integers(call.inputs[1], [&](const auto* places) {
    for_parts(call.threads, all.planes,
              std::max<int64_t>(1, 32768 / std::max<int64_t>(all.plane, 1)),
              [&](int64_t begin, int64_t end) {
                for (int64_t n = begin; n < end; n++) {
                  T* plane = to + n * all.plane;
                  std::fill_n(plane, all.plane, T{});
                  for (int64_t i = n * all.places; i < (n + 1) * all.places; i++)
                    plane[places[i]] += from[i];
                }
              });
  });
}

// -- the mean ------------------------------------------------------------------

template <class T>
void avg_pool_of(const kernel_call& call) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  const auto all = geometry_of(x.dims, out.dims, call.attributes);
  const T share = 1 / static_cast<T>(pooling_windows(call.attributes).volume());
  const T* from = x.as<const T>();
  T* to = out.as<T>();
  for_parts(call.threads, all.planes, std::max<int64_t>(1, 32768 / std::max<int64_t>(all.plane, 1)),
            [&](int64_t begin, int64_t end) {
              for (int64_t p = begin; p < end; p++)
                for_windows(all, [&](int64_t n, const inside& part) {
                  T sum = 0;
                  for (auto z = part.from[0]; z < part.to[0]; z++)
                    for (auto y = part.from[1]; y < part.to[1]; y++) {
                      const T* row = from + p * all.plane + (z * all.large[1] + y) * all.large[2];
                      for (auto i = part.from[2]; i < part.to[2]; i++) sum += row[i];
                    }
                  to[p * all.places + n] = sum * share;
                });
            });
}

template <class T>
void avg_pool_backward_of(const kernel_call& call) {
  auto &gradient = call.inputs[0], &out = call.outputs[0];
  const auto all = geometry_of(out.dims, gradient.dims, call.attributes);
  const T share = 1 / static_cast<T>(pooling_windows(call.attributes).volume());
  const T* from = gradient.as<const T>();
  T* to = out.as<T>();
  for_parts(call.threads, all.planes, std::max<int64_t>(1, 32768 / std::max<int64_t>(all.plane, 1)),
            [&](int64_t begin, int64_t end) {
              for (int64_t p = begin; p < end; p++) {
                std::fill_n(to + p * all.plane, all.plane, T{});
                for_windows(all, [&](int64_t n, const inside& part) {
                  const T each = from[p * all.places + n] * share;
                  for (auto z = part.from[0]; z < part.to[0]; z++)
                    for (auto y = part.from[1]; y < part.to[1]; y++) {
                      T* row = to + p * all.plane + (z * all.large[1] + y) * all.large[2];
                      for (auto i = part.from[2]; i < part.to[2]; i++) row[i] += each;
                    }
                });
              }
            });
}

template <class T>
MOXZI_INLINE void means_of_rows(const T* from, int64_t rows, int64_t columns, T* to) {
  for (int64_t i = 0; i < rows; i++, from += columns) {
    std::array<T, lanes> sums{};
    int64_t j = 0;
    for (; j + lanes <= columns; j += lanes)
      for (int n = 0; n < lanes; n++) sums[static_cast<size_t>(n)] += from[j + n];
    T total = 0;
    for (const T sum : sums) total += sum;
    for (; j < columns; j++) total += from[j];
    to[i] = total / static_cast<T>(columns);
  }
}

MOXZI_CLONES void row_means(const float* from, int64_t rows, int64_t columns, float* to) {
  means_of_rows(from, rows, columns, to);
}

MOXZI_CLONES void row_means(const double* from, int64_t rows, int64_t columns, double* to) {
  means_of_rows(from, rows, columns, to);
}

template <class T>
void global_avg_pool_of(const kernel_call& call) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  if (out.elements == 0) return;
  const auto columns = x.elements / out.elements;
  for_parts(call.threads, out.elements, std::max<int64_t>(1, 32768 / std::max<int64_t>(columns, 1)),
            [&](int64_t begin, int64_t end) {
              row_means(x.as<const T>() + begin * columns, end - begin, columns,
                        out.as<T>() + begin);
            });
}

using pair_of_kernels = void (*)(const kernel_call&);

template <pair_of_kernels Narrow, pair_of_kernels Wide>
bool either(const kernel_call& call, fault&) {
  (call.outputs[0].type == elem::f64 ? Wide : Narrow)(call);
  return true;
}

} // namespace

kernel_function find_pooling_kernel(op id) noexcept {
  switch (id) {
    case op::max_pool:
    case op::max_pool_train:
      return either<max_pool_of<float>, max_pool_of<double>>;
    case op::max_pool_backward:
      return either<max_pool_backward_of<float>, max_pool_backward_of<double>>;
    case op::avg_pool:
      return either<avg_pool_of<float>, avg_pool_of<double>>;
    case op::avg_pool_backward:
      return either<avg_pool_backward_of<float>, avg_pool_backward_of<double>>;
    case op::global_avg_pool:
      return either<global_avg_pool_of<float>, global_avg_pool_of<double>>;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
