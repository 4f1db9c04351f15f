#pragma once

#include <optional>

#include "actors/candid/integer.hpp"
#include "actors/cycles.hpp"

/// Candid's whole numbers as cycles, and back.
namespace moxzi::actors::management {

/// None if the number is negative or needs more than 128 bits.
std::optional<cycles> to_cycles(const candid::integer& number);

candid::integer to_integer(cycles amount);
inline candid::integer to_integer(uint64_t number) {
  return candid::integer::from_uint64(number);
}

} // namespace moxzi::actors::management
