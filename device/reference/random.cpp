// What draws random numbers.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

bool random(const kernel_call& call, fault&) {
  auto& out = call.outputs[0];
  const draw_counters draws(*call.draws, call.origin, call.attributes[2]);
  for (int64_t i = 0; i < out.elements; ++i) {
    auto n = static_cast<uint64_t>(i);
    auto words = draws.block(block_of_element(n));
    auto word = words[word_of_element(n)];
    if (auto p = std::get_if<double>(&call.attributes[1]))
      set(out, i, word < words_below(*p) ? 1 : 0);
    else
      set(out, i,
          std::get<int64_t>(call.attributes[1]) == 0 ? uniform_of(word) : normal_of(words, n));
  }
  return true;
}

bool dropout(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  auto p = std::get<double>(call.attributes[0]);
  const draw_counters draws(*call.draws, call.origin, call.attributes[1]);
  for (int64_t i = 0; i < out.elements; ++i)
    set(out, i, keeps(draws, static_cast<uint64_t>(i), p) ? get(x, i) * dropout_scale(p) : 0);
  return true;
}

// -- categorical ---------------------------------------------------------------

/// Which classes may be drawn, of weights in any order.
std::vector<bool> permitted(const std::vector<double>& weights, const attribute& top_k,
                            const attribute& top_p) {
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  if (auto k = std::get_if<int64_t>(&top_k))
    order.resize(std::min(order.size(), static_cast<size_t>(*k)));
  double total = 0, before = 0;
  for (auto i : order) total += weights[i];
  auto p = std::get_if<double>(&top_p);
  std::vector<bool> out(weights.size());
  for (auto i : order) {
    out[i] = !p || before < *p * total || i == order[0];
    before += weights[i];
  }
  return out;
}

int64_t drawn(std::vector<double> weights, const kernel_call& call, double uniform) {
  auto may = permitted(weights, call.attributes[1], call.attributes[2]);
  double total = 0, below = 0;
  for (size_t i = 0; i < weights.size(); ++i) total += may[i] ? weights[i] : 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    below += may[i] ? weights[i] : 0;
    if (below > uniform * total) return static_cast<int64_t>(i);
  }
  return 0;
}

bool categorical(const kernel_call& call, fault& why) {
  auto &logits = call.inputs[0], &out = call.outputs[0];
  auto classes = logits.dims.last();
  const draw_counters draws(*call.draws, call.origin, call.attributes[3]);
  auto given = std::get_if<double>(&call.attributes[0]);
  auto temperature = given ? *given : 1;
  for (int64_t r = 0; r < out.elements; ++r) {
    std::vector<double> weights;
    for (int64_t j = 0; j < classes; ++j) weights.push_back(get(logits, r * classes + j));
    auto most = *std::ranges::max_element(weights);
    bool number = std::isfinite(most);
    for (auto weight : weights) number = number && !std::isnan(weight);
    if (!number) {
      why.code = device_errc::index_range;
      why.what = fmt::format("row {} of logits has no largest number to choose by", r);
      return false;
    }
    for (auto& weight : weights)
      weight = temperature > 0 ? std::exp((weight - most) / temperature) : weight == most;
    auto words = draws.block(static_cast<uint64_t>(r));
    auto uniform = temperature > 0 ? uniform_of(words[0], words[1]) : 0;
    set(out, r, static_cast<double>(drawn(std::move(weights), call, uniform)));
  }
  return true;
}

} // namespace

bool keeps(const draw_counters& draws, uint64_t n, double p) {
  return draws.block(block_of_element(n))[word_of_element(n)] >= words_below(p);
}

kernel_function find_random_kernel(op id) noexcept {
  switch (id) {
    case op::random:
      return random;
    case op::dropout_active:
      return dropout;
    case op::categorical:
      return categorical;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::reference
