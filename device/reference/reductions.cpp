// What makes one element of many.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "device/ops/reduction.hpp"
#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

/// For each element of the result those of x that come together in it, as doubles or as integers.
template <class T, class Get>
std::vector<std::vector<T>> groups(const tensor_view& x, uint32_t reduced, const Get& get_one) {
  auto kept = kept_shape(x.dims, reduced);
  auto strides = row_major_strides(kept);
  std::vector<std::vector<T>> out(static_cast<size_t>(kept.elements()));
  for (int64_t n = 0; n < x.elements; ++n) {
    auto at = position(n, x.dims);
    auto from = number_at(at, x.strides);
    for (size_t i = 0; i < at.rank(); ++i)
      if (reduced >> i & 1) at[i] = 0;
    out[static_cast<size_t>(number_at(at, strides))].push_back(get_one(x, from));
  }
  return out;
}

using doubles = std::vector<double>;

double sum_of(const doubles& all) {
  double sum = 0;
  for (auto x : all) sum += x;
  return sum;
}

double mean_of(const doubles& all) {
  return sum_of(all) / static_cast<double>(all.size());
}

double prod_of(const doubles& all) {
  double product = 1;
  for (auto x : all) product *= x;
  return product;
}

double max_of(const doubles& all) {
  auto most = -std::numeric_limits<double>::infinity();
  for (auto x : all) most = x > most || std::isnan(x) ? x : most;
  return most;
}

double min_of(const doubles& all) {
  auto least = std::numeric_limits<double>::infinity();
  for (auto x : all) least = x < least || std::isnan(x) ? x : least;
  return least;
}

double logsumexp_of(const doubles& all) {
  auto most = max_of(all);
  if (std::isinf(most)) return most;
  double sum = 0;
  for (auto x : all) sum += std::exp(x - most);
  return most + std::log(sum);
}

double any_of(const doubles& all) {
  for (auto x : all)
    if (x != 0) return 1;
  return 0;
}

double all_of(const doubles& all) {
  for (auto x : all)
    if (x == 0) return 0;
  return 1;
}

double variance_of(const doubles& all, bool unbiased) {
  auto mean = mean_of(all);
  double sum = 0;
  for (auto x : all) sum += (x - mean) * (x - mean);
  return sum / std::max(static_cast<double>(all.size()) - (unbiased ? 1 : 0), 0.0);
}

double norm_of(doubles all, double p) {
  for (auto& x : all) x = std::abs(x);
  if (std::isinf(p)) return p > 0 ? max_of(all) : min_of(all);
  if (p == 0) {
    double count = 0;
    for (auto x : all) count += x != 0 ? 1 : 0;
    return count;
  }
  if (all.size() == 1) return all[0]; // exactly, where its power would be 0 or infinite
  double sum = 0;
  for (auto x : all) sum += std::pow(x, p);
  return std::pow(sum, 1 / p);
}

/// The same of integers, which are exact in i64; sums and products wrap.
int64_t integer_of(op id, const std::vector<int64_t>& all) {
  auto out = id == op::sum ? 0 : id == op::prod ? 1 : all[0];
  for (auto x : all) {
    if (id == op::sum)
      out = static_cast<int64_t>(static_cast<uint64_t>(out) + static_cast<uint64_t>(x));
    else if (id == op::prod)
      out = static_cast<int64_t>(static_cast<uint64_t>(out) * static_cast<uint64_t>(x));
    else
      out = id == op::max ? std::max(out, x) : std::min(out, x);
  }
  return out;
}

double reduced_value(const kernel_call& call, const doubles& all) {
  auto unbiased = [&call] {
    auto given = std::get_if<bool>(&call.attributes[2]);
    return !given || *given;
  };
  switch (call.id) {
    case op::sum:
      return sum_of(all);
    case op::mean:
      return mean_of(all);
    case op::prod:
      return prod_of(all);
    case op::max:
      return max_of(all);
    case op::min:
      return min_of(all);
    case op::logsumexp:
      return logsumexp_of(all);
    case op::any:
      return any_of(all);
    case op::all:
      return all_of(all);
    case op::variance:
      return variance_of(all, unbiased());
    case op::std:
      return std::sqrt(variance_of(all, unbiased()));
    default:
      return norm_of(all, std::get<double>(call.attributes[0]));
  }
}

void reduce(const kernel_call& call, uint32_t reduced) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  if (!is_float(out.type) && out.type != elem::boolean) {
    auto all = groups<int64_t>(x, reduced, get_integer);
    for (size_t n = 0; n < all.size(); ++n)
      set_integer(out, static_cast<int64_t>(n), integer_of(call.id, all[n]));
    return;
  }
  auto all = groups<double>(x, reduced, get);
  for (size_t n = 0; n < all.size(); ++n)
    set(out, static_cast<int64_t>(n), reduced_value(call, all[n]));
}

bool over_dims(const kernel_call& call, fault&) {
  auto& dims = call.attributes[call.id == op::norm ? 1 : 0];
  reduce(call, reduced_dims(dims, call.inputs[0].dims.rank()));
  return true;
}

/// Over the dimensions that the result lacks or has with size 1.
bool sum_to(const kernel_call& call, fault&) {
  auto &x = call.inputs[0].dims, &to = call.outputs[0].dims;
  auto missing = x.rank() - to.rank();
  uint32_t reduced = 0;
  for (size_t i = 0; i < x.rank(); ++i)
    if (i < missing || to[i - missing] != x[i]) reduced |= uint32_t{1} << i;
  auto sum = call;
  sum.id = op::sum;
  reduce(sum, reduced);
  return true;
}

} // namespace

kernel_function find_reduction_kernel(op id) noexcept {
  switch (id) {
    case op::sum:
    case op::mean:
    case op::prod:
    case op::max:
    case op::min:
    case op::logsumexp:
    case op::any:
    case op::all:
    case op::variance:
    case op::std:
    case op::norm:
      return over_dims;
    case op::sum_to:
      return sum_to;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::reference
