#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "shapescript/check/types.hpp"

namespace shapescript {

/// How the axes of two values meet in an elementwise operation. From the right: an axis meets the
/// one of its name; an axis without a name meets the one at its place, counted from the right end
/// or from the last pair that met by name, and has its size. What the longer value has besides is
/// broadcast.
struct alignment {
  std::vector<size_t> places; ///< where each axis of the shorter value is in the longer
  bool complete = false;      ///< every axis of the shorter value has a place
  /// Two of one name and of different sizes: their places in the longer and the shorter.
  std::optional<std::pair<size_t, size_t>> unequal;
  /// An axis of the shorter without a name, and the one at its place, which has another size.
  std::optional<std::pair<size_t, size_t>> nameless;
};

alignment align_axes(const std::vector<axis>& longer, const std::vector<axis>& shorter);

/// The axes of the result: the longer's, with names where the shorter has them.
std::vector<axis> join_axes(const alignment& how, const std::vector<axis>& longer,
                            const std::vector<axis>& shorter);

} // namespace shapescript
