#include <deque>

#include "device/ops/rows.hpp"

namespace moxzi::device {

/// Where the sizes don't divide, the rest of the dimensions are axes of their own.
std::vector<axis_factors> regrouped(const register_type& from, const shape& to,
                                    const rule_context& c) {
  std::vector<axis_factors> out(to.rank());
  std::deque<axis_factor> left;
  for (auto& dim : from.factors)
    for (auto& factor : dim)
      if (factor.size != 1) left.push_back(factor);
  bool lost = to.elements() == 0;
  for (size_t i = 0; i < to.rank(); ++i) {
    auto need = to[i];
    while (need > 1 && !lost) {
      auto& front = left.front();
      if (need % front.size == 0) {
        need /= front.size;
        out[i].push_back(front);
        left.pop_front();
      } else if (front.size % need == 0) {
        out[i].push_back({front.axis, need});
        front = c.fresh_axis(front.size / need)[0];
        need = 1;
      } else {
        lost = true;
      }
    }
    if (lost) out[i] = c.fresh_axis(to[i]);
  }
  return out;
}

/// Dimensions that lie one after the other without gaps are one piece, which can be cut anew; no
/// new dimension may span two pieces.
std::optional<shape> reshaped_strides(const shape& dims, const shape& strides, const shape& to) {
  auto out = row_major_strides(to);
  if (to.elements() == 0) return out;
  auto next = to.rank();
  int64_t step = 1;
  for (size_t i = dims.rank(); i > 0;) {
    // The piece that ends here.
    int64_t piece = dims[--i], seen = 1;
    step = strides[i];
    while (i > 0 && (dims[i - 1] == 1 || strides[i - 1] == piece * step)) piece *= dims[--i];
    for (; next > 0 && (seen < piece || to[next - 1] == 1); --next) {
      out[next - 1] = seen * step;
      seen *= to[next - 1];
    }
    if (seen != piece) return std::nullopt;
  }
  return out;
}

} // namespace moxzi::device
