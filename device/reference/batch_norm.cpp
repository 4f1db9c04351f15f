// batch_norm and its backward rows.

#include <cmath>
#include <vector>

#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

double number_or(const attribute& value, double otherwise) {
  auto given = std::get_if<double>(&value);
  return given ? *given : otherwise;
}

/// x [batch, channels, ..] by channels.
struct by_channel {
  explicit by_channel(const shape& dims) : channels(dims[1]), elements(dims.elements()) {
    for (size_t i = 2; i < dims.rank(); ++i) inner *= dims[i];
  }
  int64_t channel(int64_t n) const {
    return n / inner % channels;
  }
  /// Elements of one channel.
  double each() const {
    return static_cast<double>(elements) / static_cast<double>(channels);
  }

  int64_t channels, elements, inner = 1;
};

/// A running statistic; 0 or 1 where there is none yet.
double known(const tensor_view& value, int64_t c, double otherwise) {
  return value.data ? get(value, c) : otherwise;
}

struct moments {
  std::vector<double> mean, scale; ///< scale = 1 / deviation
};

void normalise(const kernel_call& call, const moments& by) {
  auto &x = call.inputs[0], &w = call.inputs[1], &b = call.inputs[2], &y = call.outputs[0];
  by_channel all(x.dims);
  for (int64_t n = 0; n < all.elements; ++n) {
    auto c = all.channel(n);
    auto at = static_cast<size_t>(c);
    auto unit = (get(x, n) - by.mean[at]) * by.scale[at];
    set(y, n, unit * (w.data ? get(w, c) : 1) + (b.data ? get(b, c) : 0));
  }
}

moments running(const tensor_view& mean, const tensor_view& variance, int64_t channels,
                double eps) {
  moments out;
  for (int64_t c = 0; c < channels; ++c) {
    out.mean.push_back(known(mean, c, 0));
    out.scale.push_back(1 / std::sqrt(known(variance, c, 1) + eps));
  }
  return out;
}

bool batch_norm(const kernel_call& call, fault&) {
  normalise(call, running(call.inputs[3], call.inputs[4], call.inputs[0].dims[1],
                          number_or(call.attributes[3], 1e-5)));
  return true;
}

bool batch_norm_active(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &kept = call.outputs[1];
  by_channel all(x.dims);
  auto channels = static_cast<size_t>(all.channels);
  moments by{std::vector<double>(channels), std::vector<double>(channels)};
  std::vector<double> variance(channels);
  for (int64_t n = 0; n < all.elements; ++n)
    by.mean[static_cast<size_t>(all.channel(n))] += get(x, n) / all.each();
  for (int64_t n = 0; n < all.elements; ++n) {
    auto c = static_cast<size_t>(all.channel(n));
    variance[c] += std::pow(get(x, n) - by.mean[c], 2) / all.each();
  }
  auto momentum = number_or(call.attributes[2], 0.1), eps = number_or(call.attributes[3], 1e-5);
  for (int64_t c = 0; c < all.channels; ++c) {
    auto at = static_cast<size_t>(c);
    by.scale[at] = 1 / std::sqrt(variance[at] + eps);
    auto share = all.elements > 0 ? momentum : 0;
    auto unbiased = share > 0 ? variance[at] * all.each() / (all.each() - 1) : 0;
    set(kept, c, known(call.inputs[3], c, 0) * (1 - share) + by.mean[at] * share);
    set(kept, all.channels + c, known(call.inputs[4], c, 1) * (1 - share) + unbiased * share);
    set(kept, 2 * all.channels + c, by.mean[at]);
    set(kept, 3 * all.channels + c, by.scale[at]);
  }
  normalise(call, by);
  return true;
}

/// Fills the gradients of w and b; gives the sums that they are.
std::vector<double> weights_backward(const kernel_call& call, const moments& by) {
  auto &g = call.inputs[0], &x = call.inputs[1];
  by_channel all(x.dims);
  std::vector<double> sums(static_cast<size_t>(2 * all.channels));
  for (int64_t n = 0; n < all.elements; ++n) {
    auto c = static_cast<size_t>(all.channel(n));
    sums[c] += get(g, n) * (get(x, n) - by.mean[c]) * by.scale[c];
    sums[static_cast<size_t>(all.channels) + c] += get(g, n);
  }
  for (int64_t n = 0; n < 2 * all.channels; ++n)
    set(call.outputs[1], n, sums[static_cast<size_t>(n)]);
  return sums;
}

bool batch_norm_backward(const kernel_call& call, fault&) {
  auto &g = call.inputs[0], &x = call.inputs[1], &w = call.inputs[2];
  by_channel all(x.dims);
  auto by =
    running(call.inputs[3], call.inputs[4], all.channels, number_or(call.attributes[2], 1e-5));
  weights_backward(call, by);
  for (int64_t n = 0; n < all.elements; ++n) {
    auto c = all.channel(n);
    set(call.outputs[0], n,
        get(g, n) * (w.data ? get(w, c) : 1) * by.scale[static_cast<size_t>(c)]);
  }
  return true;
}

bool batch_norm_active_backward(const kernel_call& call, fault&) {
  auto &g = call.inputs[0], &x = call.inputs[1], &kept = call.inputs[2], &w = call.inputs[3];
  by_channel all(x.dims);
  moments by;
  for (int64_t c = 0; c < all.channels; ++c) {
    by.mean.push_back(get(kept, 2 * all.channels + c));
    by.scale.push_back(get(kept, 3 * all.channels + c));
  }
  auto sums = weights_backward(call, by);
  for (int64_t n = 0; n < all.elements; ++n) {
    auto c = all.channel(n);
    auto at = static_cast<size_t>(c);
    auto unit = (get(x, n) - by.mean[at]) * by.scale[at];
    auto mean = (sums[static_cast<size_t>(all.channels) + at] + unit * sums[at]) / all.each();
    set(call.outputs[0], n, (get(g, n) - mean) * (w.data ? get(w, c) : 1) * by.scale[at]);
  }
  return true;
}

} // namespace

kernel_function find_batch_norm_kernel(op id) noexcept {
  switch (id) {
    case op::batch_norm:
      return batch_norm;
    case op::batch_norm_active:
      return batch_norm_active;
    case op::batch_norm_backward:
      return batch_norm_backward;
    case op::batch_norm_active_backward:
      return batch_norm_active_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::reference
