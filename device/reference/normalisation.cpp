// softmax, and what normalises by mean and deviation.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

double number_or(const attribute& value, double otherwise) {
  auto given = std::get_if<double>(&value);
  return given ? *given : otherwise;
}

/// 1 if the operand is absent.
double weight_at(const tensor_view& w, int64_t n) {
  return w.data ? get(w, n) : 1;
}

// -- along a dimension ---------------------------------------------------------

/// Calls `work(start, step)` for each line of elements along the call's dimension.
template <class Work>
void for_lines(const tensor_view& x, const attribute& dim, const Work& work) {
  if (x.elements == 0) return;
  auto along = static_cast<size_t>(std::get<int64_t>(dim));
  int64_t step = 1;
  for (size_t i = along + 1; i < x.dims.rank(); ++i) step *= x.dims[i];
  for (int64_t n = 0; n < x.elements; ++n)
    if (n / step % x.dims[along] == 0) work(n, step);
}

bool softmax(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &y = call.outputs[0];
  for_lines(x, call.attributes[0], [&](int64_t start, int64_t step) {
    auto end = start + step * x.dims[static_cast<size_t>(std::get<int64_t>(call.attributes[0]))];
    auto most = -std::numeric_limits<double>::infinity();
    for (auto n = start; n < end; n += step) most = std::max(most, get(x, n));
    double sum = 0;
    for (auto n = start; n < end; n += step) sum += std::exp(get(x, n) - most);
    for (auto n = start; n < end; n += step) {
      auto above = get(x, n) - most;
      set(y, n, call.id == op::softmax ? std::exp(above) / sum : above - std::log(sum));
    }
  });
  return true;
}

bool softmax_backward(const kernel_call& call, fault&) {
  auto &g = call.inputs[0], &y = call.inputs[1], &out = call.outputs[0];
  bool logs = call.id == op::log_softmax_backward;
  for_lines(y, call.attributes[0], [&](int64_t start, int64_t step) {
    auto end = start + step * y.dims[static_cast<size_t>(std::get<int64_t>(call.attributes[0]))];
    double sum = 0;
    for (auto n = start; n < end; n += step) sum += get(g, n) * (logs ? 1 : get(y, n));
    for (auto n = start; n < end; n += step)
      set(out, n, logs ? get(g, n) - std::exp(get(y, n)) * sum : get(y, n) * (get(g, n) - sum));
  });
  return true;
}

// -- rows with a mean and a deviation ------------------------------------------

/// The elements that are normalised together lie together: `count` rows of `length`. Element `j` of
/// row `r` has the weight number `weight(r, j)`.
struct rows_of_norm {
  int64_t count = 0;
  int64_t length = 0;
  int64_t weights = 0;
  int64_t groups = 0; ///< 0 = each place of a row has its own weight
  int64_t inner = 1;  ///< else so many neighbours share one

  int64_t weight(int64_t r, int64_t j) const {
    return groups == 0 ? j : r % groups * (length / inner) + j / inner;
  }
};

rows_of_norm last_dimensions(const shape& dims, int64_t taken) {
  rows_of_norm out{1, 1};
  for (size_t i = 0; i < dims.rank(); ++i)
    (i + static_cast<size_t>(taken) < dims.rank() ? out.count : out.length) *= dims[i];
  out.weights = out.length;
  return out;
}

rows_of_norm channel_groups(const shape& dims, int64_t groups) {
  rows_of_norm out{dims[0] * groups, dims[1] / groups, dims[1], groups};
  for (size_t i = 2; i < dims.rank(); ++i) out.inner *= dims[i];
  out.length *= out.inner;
  return out;
}

/// Forward; the second output, if there is one, takes [mean, 1 / deviation] of each row.
void normalise(const kernel_call& call, const rows_of_norm& rows, double eps) {
  auto &x = call.inputs[0], &w = call.inputs[1], &b = call.inputs[2], &y = call.outputs[0];
  for (int64_t r = 0; r < rows.count; ++r) {
    auto at = r * rows.length;
    double mean = 0, variance = 0;
    for (int64_t j = 0; j < rows.length; ++j) mean += get(x, at + j);
    mean /= static_cast<double>(rows.length);
    for (int64_t j = 0; j < rows.length; ++j) variance += std::pow(get(x, at + j) - mean, 2);
    variance /= static_cast<double>(rows.length);
    auto scale = 1 / std::sqrt(variance + eps);
    for (int64_t j = 0; j < rows.length; ++j) {
      auto n = rows.weight(r, j);
      auto shift = b.data ? get(b, n) : 0;
      set(y, at + j, (get(x, at + j) - mean) * scale * weight_at(w, n) + shift);
    }
    if (call.outputs.size() < 2) continue;
    set(call.outputs[1], 2 * r, mean);
    set(call.outputs[1], 2 * r + 1, scale);
  }
}

/// Inputs g, x, statistics, w; outputs the gradients of x, and of w and b after each other.
void normalise_backward(const kernel_call& call, const rows_of_norm& rows) {
  auto &g = call.inputs[0], &x = call.inputs[1], &kept = call.inputs[2], &w = call.inputs[3];
  auto& out = call.outputs[0];
  std::vector<double> sums(static_cast<size_t>(2 * rows.weights));
  for (int64_t r = 0; r < rows.count; ++r) {
    auto at = r * rows.length;
    auto mean = get(kept, 2 * r), scale = get(kept, 2 * r + 1);
    double all = 0, along = 0;
    for (int64_t j = 0; j < rows.length; ++j) {
      auto n = rows.weight(r, j);
      auto unit = (get(x, at + j) - mean) * scale, from = get(g, at + j);
      all += from * weight_at(w, n);
      along += from * weight_at(w, n) * unit;
      sums[static_cast<size_t>(n)] += from * unit;
      sums[static_cast<size_t>(rows.weights + n)] += from;
    }
    auto length = static_cast<double>(rows.length);
    for (int64_t j = 0; j < rows.length; ++j) {
      auto unit = (get(x, at + j) - mean) * scale;
      auto own = get(g, at + j) * weight_at(w, rows.weight(r, j));
      set(out, at + j, scale * (own - all / length - unit * along / length));
    }
  }
  for (int64_t n = 0; n < 2 * rows.weights; ++n)
    set(call.outputs[1], n, sums[static_cast<size_t>(n)]);
}

bool layer_norm(const kernel_call& call, fault&) {
  auto given = std::get_if<int64_t>(&call.attributes[1]);
  normalise(call, last_dimensions(call.inputs[0].dims, given ? *given : 1),
            number_or(call.attributes[0], 1e-5));
  return true;
}

bool layer_norm_backward(const kernel_call& call, fault&) {
  auto taken = std::get<int64_t>(call.attributes[0]);
  normalise_backward(call, last_dimensions(call.inputs[1].dims, taken));
  return true;
}

bool group_norm(const kernel_call& call, fault&) {
  auto groups = std::get<int64_t>(call.attributes[0]);
  normalise(call, channel_groups(call.inputs[0].dims, groups), number_or(call.attributes[1], 1e-5));
  return true;
}

bool group_norm_backward(const kernel_call& call, fault&) {
  auto groups = std::get<int64_t>(call.attributes[0]);
  normalise_backward(call, channel_groups(call.inputs[1].dims, groups));
  return true;
}

// -- rms_norm ------------------------------------------------------------------

bool rms_norm(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &w = call.inputs[1], &y = call.outputs[0];
  auto rows = last_dimensions(x.dims, 1);
  auto eps = number_or(call.attributes[0], x.type == elem::f64 ? 0x1p-52 : 0x1p-23);
  for (int64_t r = 0; r < rows.count; ++r) {
    auto at = r * rows.length;
    double sum = 0;
    for (int64_t j = 0; j < rows.length; ++j) sum += std::pow(get(x, at + j), 2);
    auto scale = 1 / std::sqrt(sum / static_cast<double>(rows.length) + eps);
    for (int64_t j = 0; j < rows.length; ++j)
      set(y, at + j, get(x, at + j) * scale * weight_at(w, j));
    if (call.outputs.size() > 1) set(call.outputs[1], r, scale);
  }
  return true;
}

bool rms_norm_backward(const kernel_call& call, fault&) {
  auto &g = call.inputs[0], &x = call.inputs[1], &kept = call.inputs[2], &w = call.inputs[3];
  auto rows = last_dimensions(x.dims, 1);
  std::vector<double> sums(static_cast<size_t>(rows.length));
  for (int64_t r = 0; r < rows.count; ++r) {
    auto at = r * rows.length;
    auto scale = get(kept, r);
    double along = 0;
    for (int64_t j = 0; j < rows.length; ++j) {
      auto unit = get(x, at + j) * scale;
      along += get(g, at + j) * weight_at(w, j) * unit;
      sums[static_cast<size_t>(j)] += get(g, at + j) * unit;
    }
    along /= static_cast<double>(rows.length);
    for (int64_t j = 0; j < rows.length; ++j)
      set(call.outputs[0], at + j,
          scale * (get(g, at + j) * weight_at(w, j) - get(x, at + j) * scale * along));
  }
  for (int64_t j = 0; j < rows.length; ++j) set(call.outputs[1], j, sums[static_cast<size_t>(j)]);
  return true;
}

} // namespace

kernel_function find_normalisation_kernel(op id) noexcept {
  switch (id) {
    case op::softmax:
    case op::log_softmax:
      return softmax;
    case op::softmax_backward:
    case op::log_softmax_backward:
      return softmax_backward;
    case op::layer_norm:
    case op::layer_norm_train:
      return layer_norm;
    case op::layer_norm_backward:
      return layer_norm_backward;
    case op::group_norm:
    case op::group_norm_train:
      return group_norm;
    case op::group_norm_backward:
      return group_norm_backward;
    case op::rms_norm:
    case op::rms_norm_train:
      return rms_norm;
    case op::rms_norm_backward:
      return rms_norm_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::reference
