// attention, its backward rows, and rope.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "device/ops/attention_shape.hpp"
#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

/// The place in memory of element `n` of a strided tensor.
int64_t place_of(const tensor_view& x, int64_t n) {
  int64_t place = 0;
  for (size_t i = x.dims.rank(); i-- > 0;) {
    place += n % x.dims[i] * x.strides[i];
    n /= x.dims[i];
  }
  return place;
}

double strided(const tensor_view& x, int64_t n) {
  return get(x, place_of(x, n));
}

/// One call, q's heads counted through all batches.
class attending {
public:
  attending(const kernel_call& call, size_t first)
      : q_(call.inputs[first]), k_(call.inputs[first + 1]), v_(call.inputs[first + 2]),
        mask_(call.inputs.back()), sizes_(q_.dims, k_.dims, v_.dims, call.attributes) {
    // nop
  }

  const attention_shape& sizes() const {
    return sizes_;
  }
  int64_t heads() const {
    return sizes_.batch * sizes_.heads * sizes_.group;
  }
  double q(int64_t head, int64_t i, int64_t e) const {
    return strided(q_, (head * sizes_.queries + i) * sizes_.width + e);
  }
  double k(int64_t head, int64_t j, int64_t e) const {
    return strided(k_, (head / sizes_.group * sizes_.keys + j) * sizes_.width + e);
  }
  double v(int64_t head, int64_t j, int64_t e) const {
    return strided(v_, (head / sizes_.group * sizes_.keys + j) * sizes_.v_width + e);
  }

  /// The weights of one query, and the logarithm of the sum of their exponentials.
  std::vector<double> weights(int64_t head, int64_t i, double& log_sum) const {
    std::vector<double> out(static_cast<size_t>(sizes_.keys),
                            -std::numeric_limits<double>::infinity());
    auto [from, to] = sizes_.seen_by(i);
    auto most = -std::numeric_limits<double>::infinity();
    for (auto j = from; j < to; ++j) {
      double score = 0;
      for (int64_t e = 0; e < sizes_.width; ++e) score += q(head, i, e) * k(head, j, e);
      out[static_cast<size_t>(j)] = masked(score * sizes_.scale, head, i, j);
      most = std::max(most, out[static_cast<size_t>(j)]);
    }
    double sum = 0;
    for (auto& weight : out) {
      // A query that sees nothing has no weights; NaN stays.
      weight = std::isinf(weight) && weight < 0 ? 0 : std::exp(weight - most);
      sum += weight;
    }
    if (sum != 0)
      for (auto& weight : out) weight /= sum;
    log_sum = most + std::log(sum);
    return out;
  }

private:
  double masked(double score, int64_t head, int64_t i, int64_t j) const {
    if (!mask_.data) return score;
    // The mask's dimensions are the last ones of [.., heads, queries, keys], where not of size 1.
    auto n = (head * sizes_.queries + i) * sizes_.keys + j;
    int64_t place = 0;
    auto missing = q_.dims.rank() - mask_.dims.rank();
    for (size_t d = q_.dims.rank(); d-- > missing;) {
      auto size = d + 1 == q_.dims.rank() ? sizes_.keys : q_.dims[d];
      if (mask_.dims[d - missing] != 1) place += n % size * mask_.strides[d - missing];
      n /= size;
    }
    if (is_float(mask_.type)) return score + get(mask_, place);
    return get_integer(mask_, place) ? score : -std::numeric_limits<double>::infinity();
  }

  const tensor_view &q_, &k_, &v_, &mask_;
  attention_shape sizes_;
};

/// What the weight of a query and key is multiplied by: 1 without dropout.
double kept_share(const kernel_call& call, const attention_shape& sizes, int64_t query,
                  int64_t key) {
  if (!std::holds_alternative<double>(call.attributes[4])) return 1;
  const draw_counters draws(*call.draws, call.origin, {});
  return keeps(draws, static_cast<uint64_t>(query * sizes.keys + key), sizes.dropout)
           ? dropout_scale(sizes.dropout)
           : 0;
}

bool attention(const kernel_call& call, fault&) {
  attending all(call, 0);
  auto& sizes = all.sizes();
  for (int64_t head = 0; head < all.heads(); ++head)
    for (int64_t i = 0; i < sizes.queries; ++i) {
      auto at = head * sizes.queries + i;
      double log_sum = 0;
      auto weights = all.weights(head, i, log_sum);
      for (int64_t e = 0; e < sizes.v_width; ++e) {
        double sum = 0;
        for (int64_t j = 0; j < sizes.keys; ++j)
          if (weights[static_cast<size_t>(j)] != 0)
            sum +=
              weights[static_cast<size_t>(j)] * kept_share(call, sizes, at, j) * all.v(head, j, e);
        set(call.outputs[0], at * sizes.v_width + e, sum);
      }
      if (call.outputs.size() < 2) continue;
      auto& kept = call.outputs[1];
      if (kept.dims.rank() < call.inputs[0].dims.rank()) {
        set(kept, at, log_sum);
        continue;
      }
      for (int64_t j = 0; j < sizes.keys; ++j)
        set(kept, at * sizes.keys + j, weights[static_cast<size_t>(j)]);
    }
  return true;
}

/// The weights of a query as they were kept, and the gradient of its scores before the scale.
void backward_of(const kernel_call& call, const attending& all, int64_t head, int64_t i,
                 std::vector<double>& weights, std::vector<double>& scores) {
  auto &g = call.inputs[0], &kept = call.inputs[4];
  auto& sizes = all.sizes();
  auto at = head * sizes.queries + i;
  if (kept.dims.rank() == call.inputs[1].dims.rank()) {
    weights.resize(static_cast<size_t>(sizes.keys));
    auto [from, to] = sizes.seen_by(i);
    for (int64_t j = 0; j < sizes.keys; ++j)
      weights[static_cast<size_t>(j)] =
        j >= from && j < to ? strided(kept, at * sizes.keys + j) : 0;
  } else {
    double log_sum = 0;
    weights = all.weights(head, i, log_sum);
  }
  scores.assign(weights.size(), 0);
  double mean = 0;
  for (int64_t j = 0; j < sizes.keys; ++j) {
    auto& score = scores[static_cast<size_t>(j)];
    for (int64_t e = 0; e < sizes.v_width; ++e)
      score += strided(g, at * sizes.v_width + e) * all.v(head, j, e);
    score *= kept_share(call, sizes, at, j);
    mean += score * weights[static_cast<size_t>(j)];
  }
  for (size_t j = 0; j < scores.size(); ++j) scores[j] = weights[j] * (scores[j] - mean);
}

bool attention_backward(const kernel_call& call, fault&) {
  attending all(call, 1);
  auto& sizes = all.sizes();
  std::vector<double> sums(static_cast<size_t>(call.outputs[0].elements));
  std::vector<double> weights, scores;
  for (int64_t head = 0; head < all.heads(); ++head) {
    auto q = head / sizes.group * sizes.packed();
    auto k = q + sizes.group * sizes.queries * sizes.width, v = k + sizes.keys * sizes.width;
    q += head % sizes.group * sizes.queries * sizes.width;
    for (int64_t i = 0; i < sizes.queries; ++i) {
      backward_of(call, all, head, i, weights, scores);
      for (int64_t j = 0; j < sizes.keys; ++j) {
        auto score = scores[static_cast<size_t>(j)] * sizes.scale;
        for (int64_t e = 0; e < sizes.width; ++e) {
          sums[static_cast<size_t>(q + i * sizes.width + e)] += score * all.k(head, j, e);
          sums[static_cast<size_t>(k + j * sizes.width + e)] += score * all.q(head, i, e);
        }
        for (int64_t e = 0; e < sizes.v_width; ++e)
          sums[static_cast<size_t>(v + j * sizes.v_width + e)] +=
            weights[static_cast<size_t>(j)] * kept_share(call, sizes, head * sizes.queries + i, j)
            * strided(call.inputs[0], (head * sizes.queries + i) * sizes.v_width + e);
      }
    }
  }
  for (int64_t n = 0; n < call.outputs[0].elements; ++n)
    set(call.outputs[0], n, sums[static_cast<size_t>(n)]);
  return true;
}

bool attention_mask_backward(const kernel_call& call, fault&) {
  attending all(call, 1);
  auto& sizes = all.sizes();
  std::vector<double> weights, scores;
  for (int64_t head = 0; head < all.heads(); ++head)
    for (int64_t i = 0; i < sizes.queries; ++i) {
      backward_of(call, all, head, i, weights, scores);
      for (int64_t j = 0; j < sizes.keys; ++j)
        set(call.outputs[0], (head * sizes.queries + i) * sizes.keys + j,
            scores[static_cast<size_t>(j)]);
    }
  return true;
}

// -- rope ----------------------------------------------------------------------

bool rope(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &y = call.outputs[0];
  if (x.elements == 0) return true;
  auto base = std::get_if<double>(&call.attributes[0]);
  auto start = std::get_if<int64_t>(&call.attributes[1]);
  auto beside = std::get_if<bool>(&call.attributes[2]);
  auto places = x.dims.last(1), width = x.dims.last(), pairs = width / 2;
  for (int64_t r = 0; r < x.elements / width; ++r)
    for (int64_t p = 0; p < pairs; ++p) {
      auto place = static_cast<double>(r % places + (start ? *start : 0));
      auto angle =
        place
        * std::pow(base ? *base : 10000, -static_cast<double>(p) / static_cast<double>(pairs));
      if (call.id == op::rope_backward) angle = -angle;
      auto first = r * width + (beside && *beside ? 2 * p : p);
      auto second = first + (beside && *beside ? 1 : pairs);
      auto a = strided(x, first), b = strided(x, second);
      set(y, first, a * std::cos(angle) - b * std::sin(angle));
      set(y, second, a * std::sin(angle) + b * std::cos(angle));
    }
  return true;
}

} // namespace

kernel_function find_attention_kernel(op id) noexcept {
  switch (id) {
    case op::attention:
    case op::attention_train:
      return attention;
    case op::attention_backward:
      return attention_backward;
    case op::attention_mask_backward:
      return attention_mask_backward;
    case op::rope:
    case op::rope_backward:
      return rope;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::reference
