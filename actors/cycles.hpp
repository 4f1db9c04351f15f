#pragma once

#include <compare>
#include <cstdint>

namespace moxzi {

/// An amount of cycles, 128 bits like the Internet Computer's.
struct cycles {
  unsigned __int128 value = 0;
  auto operator<=>(const cycles&) const = default;
};

} // namespace moxzi
