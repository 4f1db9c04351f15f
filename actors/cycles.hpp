#pragma once

#include <compare>
#include <cstdint>

namespace moxzi {

__extension__ typedef unsigned __int128 uint128;

/// An amount of cycles, 128 bits like the Internet Computer's.
struct cycles {
  uint128 value = 0;
  auto operator<=>(const cycles&) const = default;
};

} // namespace moxzi
