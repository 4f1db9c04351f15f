#include "device/ops/attention_shape.hpp"

#include <algorithm>
#include <cmath>

namespace moxzi::device {

attention_shape::attention_shape(const shape& q, const shape& k, const shape& v,
                                 std::span<const attribute> attributes)
    : queries(q.last(1)), keys(k.last(1)), width(q.last()), v_width(v.last()) {
  for (size_t i = 0; i + 2 < q.rank(); ++i) (i + 3 == q.rank() ? heads : batch) *= q[i];
  if (auto fewer = std::get_if<int64_t>(&attributes[3])) {
    group = heads / *fewer;
    heads = *fewer;
  }
  if (auto given = std::get_if<bool>(&attributes[0])) causal = *given;
  auto natural = width > 0 ? 1 / std::sqrt(static_cast<double>(width)) : 1;
  auto given_scale = std::get_if<double>(&attributes[1]);
  scale = given_scale ? *given_scale : natural;
  if (auto given = std::get_if<int64_t>(&attributes[2])) window = *given;
  if (auto given = std::get_if<double>(&attributes[4])) dropout = *given;
}

std::array<int64_t, 2> attention_shape::seen_by(int64_t i) const noexcept {
  // The window may be as large as numbers get.
  auto first = window > i ? 0 : i - window + 1;
  auto end = window >= keys - i ? keys : i + window;
  if (causal) end = std::min(end, i + 1);
  first = std::min(first, keys);
  return {first, std::max(first, std::min(end, keys))};
}

bool attention_shape::sees_all() const noexcept {
  return !causal && window >= std::max(queries, keys);
}

} // namespace moxzi::device
