#pragma once

#include <array>
#include <span>

#include "base/result.hpp"
#include "device/program.hpp"
#include "device/shape.hpp"

/// Windows that slide over the last one to three dimensions of a tensor [batch, channels, ..]: what
/// convolutions and poolings have in common.
namespace moxzi::device {

inline constexpr size_t spatial_max = 3;

/// How windows lie along one dimension.
struct window {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
  int64_t output_padding = 0; ///< of transposed convolutions

  /// From a window's first place to behind its last.
  int64_t reach() const noexcept {
    return dilation * (kernel - 1) + 1;
  }
  /// How many windows there are in `size` places; below 1 if not even one fits.
  int64_t places(int64_t size) const noexcept {
    auto room = size + 2 * padding - reach();
    return room < 0 ? 0 : room / stride + 1;
  }
  /// How many places so many windows spread over.
  int64_t spread(int64_t count) const noexcept {
    return (count - 1) * stride - 2 * padding + reach() + output_padding;
  }
};

/// One for each spatial dimension.
struct windows {
  std::array<window, spatial_max> each{};
  size_t count = 0;

  std::span<const window> dims() const noexcept {
    return {each.data(), count};
  }
  /// Places of one window.
  int64_t volume() const noexcept;
  /// As if there were always three dimensions: the missing ones come first.
  std::array<window, spatial_max> three() const noexcept;
};

/// Those of a convolution with weights of this shape; `attributes` are stride, padding, dilation,
/// groups and output_padding.
windows convolution_windows(const shape& weights, std::span<const attribute> attributes);
/// Those of a pooling; `attributes` are kernel, stride and padding. `stride` is the kernel unless
/// `apart` says that it is 1.
windows pooling_windows(std::span<const attribute> attributes, bool apart = false);

/// The last `count` sizes as three; the missing ones are 1 and come first.
std::array<int64_t, spatial_max> three_sizes(const shape& dims, size_t count) noexcept;

/// Fails unless a list that is there has one entry or one for each of `count` dimensions, each from
/// `least` to 2³¹-1.
result<void> want_entries(std::string_view name, const attribute& list, size_t count,
                          int64_t least);
/// Fails unless x is [batch, channels, ..] with `count` more sizes, of which none is 0.
result<void> want_spatial(std::string_view name, const shape& dims, size_t count);

} // namespace moxzi::device
