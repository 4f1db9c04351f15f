#pragma once

#include <cstdint>
#include <vector>

#include "device/plan.hpp"
#include "device/split.hpp"

/// What a device needs for its part of a program that several run.
namespace moxzi::device {

/// How many elements of a value the device with most holds.
int64_t elements_held(const shape& dims, const placement& how, uint32_t devices) noexcept;

/// What is kept of a program's values.
struct split_results {
  std::vector<reg> kept; ///< to the end
  /// Those of each are kept until the last of them is there, as by a step of an optimizer.
  std::vector<std::vector<reg>> consumed = {};
};

/// The bytes that the device with most needs for the values between: those of a plan for its parts,
/// with room for what is put together from other devices for as long as it is read.
uint64_t arena_bytes(const typed_program& code, const split_program& how, uint32_t devices,
                     const split_results& wanted);

} // namespace moxzi::device
