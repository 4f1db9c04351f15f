#pragma once

#include <array>
#include <span>
#include <string>

#include "device/plan.hpp"

/// CUDA code of chains of pointwise operations, made of the texts of formulas.inc. No CUDA is
/// needed to make it.
namespace moxzi::device::pointwise {

/// What the kernel `chain` of such code is launched with, by value. Its layout is repeated in the
/// code.
struct gpu_arguments {
  std::array<const void*, chain_inputs_max> inputs{};
  std::array<void*, chain_steps_max> outputs{};
  int64_t elements = 0;
  int64_t rank = 0;
  std::array<int64_t, rank_max> sizes{};
  std::array<std::array<int64_t, rank_max>, chain_inputs_max> strides{}; ///< in elements
  uint64_t gaps = 0; ///< bit i: input i has gaps, so that its strides count
};

/// The code for inputs and outputs of these elements: one kernel, `chain`, of any number of threads
/// and blocks in one dimension.
std::string gpu_source(const pointwise_chain& what, std::span<const elem> inputs,
                       std::span<const elem> outputs);

} // namespace moxzi::device::pointwise
