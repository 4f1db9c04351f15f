#pragma once

#include <cstdint>

#include "device/backend.hpp"

/// What happens to gradients after the plan's instructions ran: what `host_kernels` has beside the
/// kernels.
namespace moxzi::device::torch {

void add(void* sum, const void* more, uint64_t elements, elem type);
bool finite(const void* data, uint64_t elements, elem type);
void bound(void* data, uint64_t elements, elem type, double most);
/// In double; the order of the additions depends on nothing but `elements`.
double sum_of_squares(const void* data, uint64_t elements, elem type);

/// One step on one parameter, in one pass over it, except adafactor and muon.
void step(const optimizer_step& how, const step_segment& segment, const void* gradient,
          double scale);

/// Adafactor, without memory of its own.
void adafactor(const optimizer_step& how, const step_segment& segment, const void* gradient,
               double scale);

} // namespace moxzi::device::torch
