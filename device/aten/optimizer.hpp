#pragma once

#include <vector>

#include "device/aten/backend.hpp"

namespace moxzi::device::aten {

/// A segment that has elements, as ATen's tensors: all of the parameter's shape but adafactor's
/// states.
struct segment_tensors {
  const step_segment* what = nullptr;
  at::Tensor parameter;
  at::Tensor gradient; ///< what it is stepped by: gathered, clipped
  std::vector<at::Tensor> states;
};

/// The device's memory as a tensor.
at::Tensor tensor_at(void* data, const shape& dims, elem type, at::Device device);

/// The tensors of a segment but its gradient.
segment_tensors tensors_of(const optimizer_step& how, const step_segment& what, at::Device device);

/// One optimizer's step.
void take_step(const optimizer_step& how, std::vector<segment_tensors> on);

} // namespace moxzi::device::aten
