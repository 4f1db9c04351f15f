// What goes along one dimension in order.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

/// The places of a tensor along one dimension: lines of `size` elements, `inner` apart.
struct lines {
  int64_t size, inner, outer;

  lines(const shape& dims, size_t dim) : size(dims[dim]), inner(1), outer(1) {
    for (size_t i = 0; i < dims.rank(); ++i) (i < dim ? outer : inner) *= i == dim ? 1 : dims[i];
  }
  /// Element `n` of line `line`.
  int64_t at(int64_t line, int64_t n, int64_t of_size) const {
    return line / inner * of_size * inner + n * inner + line % inner;
  }
};

size_t dim_of(const kernel_call& call) {
  return static_cast<size_t>(std::get<int64_t>(call.attributes[0]));
}

/// True if a comes before b, the least first; NaN is the greatest. Integers compare exactly.
bool less(const tensor_view& x, int64_t a, int64_t b) {
  if (!is_float(x.type)) return get_integer(x, a) < get_integer(x, b);
  auto left = get(x, a), right = get(x, b);
  return left < right || (std::isnan(right) && !std::isnan(left));
}

/// The places of a line in order, equal ones in theirs.
std::vector<int64_t> ordered(const tensor_view& x, const lines& all, int64_t line,
                             bool descending) {
  std::vector<int64_t> places(static_cast<size_t>(all.size));
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, [&](int64_t a, int64_t b) {
    auto left = all.at(line, a, all.size), right = all.at(line, b, all.size);
    return descending ? less(x, right, left) : less(x, left, right);
  });
  return places;
}

/// sort, argsort and both of topk: the first places in order, or what is there.
bool sorted(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  lines all(x.dims, dim_of(call));
  bool top = call.id == op::topk_values || call.id == op::topk_indices;
  auto given = std::get_if<bool>(&call.attributes[1]);
  auto count = out.dims[dim_of(call)];
  for (int64_t line = 0; line < all.inner * all.outer; ++line) {
    auto places = ordered(x, all, line, top || (given && *given));
    for (int64_t n = 0; n < count; ++n) {
      auto place = places[static_cast<size_t>(n)], to = all.at(line, n, count);
      if (call.id == op::sort || call.id == op::topk_values)
        move(out, to, x, all.at(line, place, all.size));
      else
        set_integer(out, to, place);
    }
  }
  return true;
}

/// The first NaN, where there is one, whichever extreme is wanted.
bool extreme(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  lines all(x.dims, dim_of(call));
  for (int64_t line = 0; line < all.inner * all.outer; ++line) {
    int64_t best = 0;
    for (int64_t n = 0; n < all.size; ++n) {
      auto here = all.at(line, n, all.size), there = all.at(line, best, all.size);
      bool better = call.id == op::argmax ? less(x, there, here) : less(x, here, there);
      if (is_float(x.type)) {
        if (std::isnan(get(x, there)))
          better = false;
        else if (std::isnan(get(x, here)))
          better = true;
      }
      if (better) best = n;
    }
    set_integer(out, line, best);
  }
  return true;
}

bool running(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  lines all(x.dims, dim_of(call));
  bool sum = call.id == op::cumsum;
  for (int64_t line = 0; line < all.inner * all.outer; ++line) {
    double total = sum ? 0 : 1;
    uint64_t whole = sum ? 0 : 1;
    for (int64_t n = 0; n < all.size; ++n) {
      auto at = all.at(line, n, all.size);
      if (is_float(x.type)) {
        total = sum ? total + get(x, at) : total * get(x, at);
        set(out, at, total);
      } else {
        auto one = static_cast<uint64_t>(get_integer(x, at));
        whole = sum ? whole + one : whole * one;
        set_integer(out, at, static_cast<int64_t>(whole));
      }
    }
  }
  return true;
}

/// The product of those before times what comes back from those behind.
bool cumprod_backward(const kernel_call& call, fault&) {
  auto &g = call.inputs[0], &x = call.inputs[1], &out = call.outputs[0];
  lines all(x.dims, dim_of(call));
  for (int64_t line = 0; line < all.inner * all.outer; ++line) {
    std::vector<double> before(static_cast<size_t>(all.size), 1);
    for (int64_t n = 1; n < all.size; ++n)
      before[static_cast<size_t>(n)] =
        before[static_cast<size_t>(n - 1)] * get(x, all.at(line, n - 1, all.size));
    double behind = 0;
    for (int64_t n = all.size; n-- > 0;) {
      auto at = all.at(line, n, all.size);
      behind = get(g, at) + (n + 1 < all.size ? get(x, all.at(line, n + 1, all.size)) * behind : 0);
      set(out, at, before[static_cast<size_t>(n)] * behind);
    }
  }
  return true;
}

} // namespace

kernel_function find_order_kernel(op id) noexcept {
  switch (id) {
    case op::sort:
    case op::argsort:
    case op::topk_values:
    case op::topk_indices:
      return sorted;
    case op::argmax:
    case op::argmin:
      return extreme;
    case op::cumsum:
    case op::cumprod:
      return running;
    case op::cumprod_backward:
      return cumprod_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::reference
