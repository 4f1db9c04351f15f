#pragma once

#include <cstdint>

#include "device/backend.hpp"

/// What happens to gradients after the plan's instructions ran.
namespace moxzi::device::torch {

/// Sum of squares, in double; the order of the additions depends on nothing but `elements`.
double sum_of_squares(const void* data, uint64_t elements, elem type);

/// One AdamW or Adam step on one parameter, in one pass over it.
void step(const optimizer_step& how, const step_segment& segment, const void* gradient,
          double scale);

} // namespace moxzi::device::torch
