#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "device/program.hpp"
#include "device/shape.hpp"

/// The sizes and settings of one call of `attention` or of its backward rows, for all backends.
namespace moxzi::device {

/// Attention weights of up to so many elements are kept for the backward pass; of larger ones only
/// what makes them again: for each query the logarithm of the sum of exponentials.
inline constexpr int64_t kept_weights_max = int64_t{1} << 22;

struct attention_shape {
  /// Of the operands q, k, v and the call's attributes.
  attention_shape(const shape& q, const shape& k, const shape& v,
                  std::span<const attribute> attributes);

  int64_t batch = 1;   ///< all dimensions before the heads
  int64_t heads = 1;   ///< of k and v
  int64_t group = 1;   ///< heads of q for each of those
  int64_t queries = 0; ///< places of q
  int64_t keys = 0;    ///< places of k and v
  int64_t width = 0;   ///< of q and k
  int64_t v_width = 0; ///< of v
  bool causal = false;
  int64_t window = std::numeric_limits<int64_t>::max(); ///< keys so far away are not seen
  double scale = 1;
  double dropout = 0;

  /// The keys [first, second) that query `i` may see, but for the mask.
  std::array<int64_t, 2> seen_by(int64_t i) const noexcept;
  /// True if every query may see every key.
  bool sees_all() const noexcept;
  /// Elements of one head of k and v together with its part of q: of `attention_backward`'s result.
  int64_t packed() const noexcept {
    return group * queries * width + keys * (width + v_width);
  }
};

} // namespace moxzi::device
