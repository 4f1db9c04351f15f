// Poolings, unfold and upsample.

#include <cmath>
#include <vector>

#include "device/ops/options.hpp"
#include "device/ops/windows.hpp"
#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

using three = std::array<int64_t, spatial_max>;

/// Calls `work(window, place, k)` for each window of one plane and each of its places inside of the
/// plane, in order; k numbers the places of a window.
template <class Work>
void for_places(const std::array<window, spatial_max>& how, const three& from, const three& to,
                const Work& work) {
  auto count = to[0] * to[1] * to[2];
  auto volume = how[0].kernel * how[1].kernel * how[2].kernel;
  for (int64_t p = 0; p < count; ++p)
    for (int64_t k = 0; k < volume; ++k) {
      int64_t at[3], rest = k, place = p;
      bool inside = true;
      for (size_t d = 3; d-- > 0;) {
        at[d] = place % to[d] * how[d].stride - how[d].padding + rest % how[d].kernel;
        place /= to[d];
        rest /= how[d].kernel;
        inside = inside && at[d] >= 0 && at[d] < from[d];
      }
      if (inside) work(p, (at[0] * from[1] + at[1]) * from[2] + at[2], k);
    }
}

struct planes {
  std::array<window, spatial_max> how;
  three from, to;
  int64_t plane, places, count;
  double volume;
};

/// The windows of a pooling from `large` to `small`, plane by plane.
planes planes_of(const shape& large, const shape& small, std::span<const attribute> attributes) {
  auto how = pooling_windows(attributes);
  planes out{how.three(), three_sizes(large, how.count), three_sizes(small, how.count),    1,
             1,           large[0] * large[1],           static_cast<double>(how.volume())};
  for (size_t d = 0; d < spatial_max; ++d) out.plane *= out.from[d], out.places *= out.to[d];
  return out;
}

/// Both rows: with a second output also where each was.
bool max_pool(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  auto all = planes_of(x.dims, out.dims, call.attributes);
  for (int64_t n = 0; n < all.count; ++n) {
    std::vector<int64_t> best(static_cast<size_t>(all.places), -1);
    for_places(all.how, all.from, all.to, [&](int64_t p, int64_t place, int64_t) {
      auto& mine = best[static_cast<size_t>(p)];
      auto value = get(x, n * all.plane + place);
      if (mine < 0 || value > get(x, n * all.plane + mine) || std::isnan(value)) mine = place;
    });
    for (int64_t p = 0; p < all.places; ++p) {
      auto place = best[static_cast<size_t>(p)];
      set(out, n * all.places + p, get(x, n * all.plane + place));
      if (call.outputs.size() > 1)
        set(call.outputs[1], n * all.places + p, static_cast<double>(place));
    }
  }
  return true;
}

bool max_pool_backward(const kernel_call& call, fault&) {
  auto &gradient = call.inputs[0], &places = call.inputs[1], &out = call.outputs[0];
  auto all = planes_of(out.dims, gradient.dims, call.attributes);
  std::vector<double> sums(static_cast<size_t>(out.elements));
  for (int64_t i = 0; i < gradient.elements; ++i)
    sums[static_cast<size_t>(i / all.places * all.plane + get_integer(places, i))] +=
      get(gradient, i);
  for (int64_t n = 0; n < out.elements; ++n) set(out, n, sums[static_cast<size_t>(n)]);
  return true;
}

bool avg_pool(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  auto all = planes_of(x.dims, out.dims, call.attributes);
  for (int64_t n = 0; n < all.count; ++n) {
    std::vector<double> sums(static_cast<size_t>(all.places));
    for_places(all.how, all.from, all.to, [&](int64_t p, int64_t place, int64_t) {
      sums[static_cast<size_t>(p)] += get(x, n * all.plane + place);
    });
    for (int64_t p = 0; p < all.places; ++p)
      set(out, n * all.places + p, sums[static_cast<size_t>(p)] / all.volume);
  }
  return true;
}

bool avg_pool_backward(const kernel_call& call, fault&) {
  auto &gradient = call.inputs[0], &out = call.outputs[0];
  auto all = planes_of(out.dims, gradient.dims, call.attributes);
  for (int64_t n = 0; n < all.count; ++n) {
    std::vector<double> sums(static_cast<size_t>(all.plane));
    for_places(all.how, all.from, all.to, [&](int64_t p, int64_t place, int64_t) {
      sums[static_cast<size_t>(place)] += get(gradient, n * all.places + p);
    });
    for (int64_t i = 0; i < all.plane; ++i)
      set(out, n * all.plane + i, sums[static_cast<size_t>(i)] / all.volume);
  }
  return true;
}

bool global_avg_pool(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  auto places = out.elements == 0 ? 0 : x.elements / out.elements;
  for (int64_t n = 0; n < out.elements; ++n) {
    double sum = 0;
    for (int64_t i = 0; i < places; ++i) sum += get(x, n * places + i);
    set(out, n, sum / static_cast<double>(places));
  }
  return true;
}

// -- unfold --------------------------------------------------------------------

/// Calls `work(column, place)` with the positions in the columns [.., windows] and in the planes of
/// everything that unfold copies.
template <class Work>
void for_columns(const shape& planes, std::span<const attribute> attributes, const Work& work) {
  auto how = pooling_windows(attributes, true).three();
  auto from = three_sizes(planes, 2);
  three to{1, how[1].places(from[1]), how[2].places(from[2])};
  auto plane = from[1] * from[2], count = to[1] * to[2];
  auto volume = how[1].kernel * how[2].kernel;
  for (int64_t n = 0; n < planes[0] * planes[1]; ++n)
    for_places(how, from, to, [&](int64_t p, int64_t place, int64_t k) {
      work((n * volume + k) * count + p, n * plane + place);
    });
}

bool unfold(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  for (int64_t n = 0; n < out.elements; ++n) set(out, n, 0);
  for_columns(x.dims, call.attributes,
              [&](int64_t column, int64_t place) { set(out, column, get(x, place)); });
  return true;
}

bool unfold_backward(const kernel_call& call, fault&) {
  auto &gradient = call.inputs[0], &out = call.outputs[0];
  std::vector<double> sums(static_cast<size_t>(out.elements));
  for_columns(out.dims, call.attributes, [&](int64_t column, int64_t place) {
    sums[static_cast<size_t>(place)] += get(gradient, column);
  });
  for (int64_t n = 0; n < out.elements; ++n) set(out, n, sums[static_cast<size_t>(n)]);
  return true;
}

// -- upsample ------------------------------------------------------------------

/// Calls `work(large, small, share)` for all that a place of the large side takes from the small.
template <class Work>
void for_shares(const shape& large, const shape& small, std::span<const attribute> attributes,
                const Work& work) {
  auto count = small.rank() - 2;
  auto from = three_sizes(small, count), to = three_sizes(large, count);
  bool linear = whole_number(attributes[1], 0) == 1;
  auto plane = from[0] * from[1] * from[2], places = to[0] * to[1] * to[2];
  for (int64_t n = 0; n < large[0] * large[1] * places; ++n)
    for (int corner = 0; corner < 8; ++corner) {
      int64_t rest = n, place = 0, step = 1;
      double share = 1;
      for (size_t d = 3; d-- > 0;) {
        auto at = rest % to[d];
        rest /= to[d];
        auto scale = static_cast<double>(to[d]) / static_cast<double>(from[d]);
        auto source = linear ? std::max(0.0, (static_cast<double>(at) + 0.5) / scale - 0.5)
                             : std::floor(static_cast<double>(at) / scale);
        auto low = static_cast<int64_t>(source);
        auto part = source - static_cast<double>(low);
        bool high = (corner >> d & 1) != 0;
        place += (high ? std::min(low + 1, from[d] - 1) : low) * step;
        share *= high ? part : 1 - part;
        step *= from[d];
      }
      if (share != 0) work(n, rest * plane + place, share);
    }
}

bool upsample(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  std::vector<double> sums(static_cast<size_t>(out.elements));
  for_shares(out.dims, x.dims, call.attributes, [&](int64_t large, int64_t small, double share) {
    sums[static_cast<size_t>(large)] += share * get(x, small);
  });
  for (int64_t n = 0; n < out.elements; ++n) set(out, n, sums[static_cast<size_t>(n)]);
  return true;
}

bool upsample_backward(const kernel_call& call, fault&) {
  auto &gradient = call.inputs[0], &out = call.outputs[0];
  std::vector<double> sums(static_cast<size_t>(out.elements));
  for_shares(gradient.dims, out.dims, call.attributes,
             [&](int64_t large, int64_t small, double share) {
               sums[static_cast<size_t>(small)] += share * get(gradient, large);
             });
  for (int64_t n = 0; n < out.elements; ++n) set(out, n, sums[static_cast<size_t>(n)]);
  return true;
}

} // namespace

kernel_function find_pooling_kernel(op id) noexcept {
  switch (id) {
    case op::max_pool:
    case op::max_pool_train:
      return max_pool;
    case op::max_pool_backward:
      return max_pool_backward;
    case op::avg_pool:
      return avg_pool;
    case op::avg_pool_backward:
      return avg_pool_backward;
    case op::global_avg_pool:
      return global_avg_pool;
    case op::unfold:
      return unfold;
    case op::unfold_backward:
      return unfold_backward;
    case op::upsample:
      return upsample;
    case op::upsample_backward:
      return upsample_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::reference
