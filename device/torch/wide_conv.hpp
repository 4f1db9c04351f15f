#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/ops/windows.hpp"

/// Convolutions of f32 with 512-bit vectors: products whose one side is never written out as a
/// whole. Only where `has_wide_products`; one group.
namespace moxzi::device::torch {

/// What is known of a convolution before any image: x [in, large..], y [out, small..], and the
/// weights [out, in, kernel..].
class wide_conv {
public:
  wide_conv(const windows& how, int64_t in, int64_t out, const shape& large, const shape& small);

  /// Weights of each result: in · places of a window.
  int64_t weights() const noexcept {
    return static_cast<int64_t>(offsets_.size());
  }
  /// Floats of memory that each thread needs.
  int64_t scratch_floats() const noexcept;

  /// y from x and w [out, weights]; `bias` may be null.
  void forward(const float* x, const float* w, const float* bias, float* y, float* scratch) const;
  /// Adds to rows [begin, end) of the gradient [weights, out] what one image gives.
  void add_weights(const float* x, const float* gradient, int64_t begin, int64_t end, float* to,
                   float* scratch) const;

private:
  void pad(const float* x, float* to) const;

  int64_t in_, out_;
  std::array<window, spatial_max> how_;
  std::array<int64_t, spatial_max> large_, small_, padded_;
  int64_t plane_ = 1, places_ = 1; ///< of a padded channel of x, of a channel of y
  std::vector<int64_t> offsets_;   ///< of each weight in the padded x
  std::vector<int64_t> rows_;      ///< where each row of y starts in the padded x
};

} // namespace moxzi::device::torch
