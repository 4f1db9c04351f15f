#pragma once

#include "device/draws.hpp"

/// Philox by vectors.
namespace moxzi::device::torch {

/// Elements of a tensor whose words are made together.
inline constexpr int64_t words_at_once = 4 * static_cast<int64_t>(draw_lanes);

/// The words of elements `group` · 64 to `group` · 64 + 63.
void draw_words(const draw_counters& draws, uint64_t group, uint32_t* words);

/// out = x · scale where the word of the element is not below `bound`, else 0, for elements [begin,
/// end) of a tensor whose first is number `offset` of all; x and out may be the same.
void drop(const draw_counters& draws, uint64_t offset, uint64_t bound, float scale, const float* x,
          float* out, int64_t count);
void drop(const draw_counters& draws, uint64_t offset, uint64_t bound, double scale,
          const double* x, double* out, int64_t count);

} // namespace moxzi::device::torch
