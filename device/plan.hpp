#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/check.hpp"
#include "device/gradient.hpp"
#include "device/program.hpp"
#include "device/shape.hpp"

namespace moxzi::device {

/// Where a plan's tensor lives.
enum class memory : uint8_t {
  arena,     ///< in the plan's one buffer, at `offset`
  parameter, ///< in the buffer of `plan::parameters[index]`
  input,     ///< `plan::inputs[index]`, which nothing writes to
};

/// A tensor of a plan: memory and how to look at it.
struct planned_tensor {
  memory where = memory::arena;
  uint32_t index = 0;
  uint64_t offset = 0; ///< bytes; a multiple of the element's size, see `tensor_alignment`
  elem type = elem::f32;
  shape dims;
  shape strides; ///< in elements

  /// True if row-major without gaps (the stride of a dimension of size 1 does not matter).
  bool is_contiguous() const noexcept;
};

/// One operation of a chain: element by element, in the chain's type.
struct pointwise_step {
  op id{};
  dtype type = dtype::f32; ///< of the result; for `boolean` it is 0 or 1 in the chain's type
  /// Below the number of the instruction's inputs: that input; else an earlier step's result, with
  /// that number added.
  std::vector<uint32_t> operands;
  std::vector<double> constants; ///< the number attributes; an absent one is infinite
};

/// Bounds of a chain.
inline constexpr size_t chain_steps_max = 16, chain_inputs_max = 16;

/// Pointwise operations over one shape, run together piece by piece, so that what is between them
/// never reaches memory.
struct pointwise_chain {
  dtype computes = dtype::f32; ///< f32, f64 or i64
  std::vector<pointwise_step> steps;
  std::vector<uint32_t> results; ///< which step each output of the instruction is
};

/// The number by which a chain is known among the instructions of a plan.
inline constexpr op chain_op{2000};

/// One kernel to run. Inputs are contiguous, except those of chains and of rows that are `strided`;
/// outputs are contiguous and overlap no input, except in chains: an input of a chain that is
/// contiguous may be in the same place as one of its outputs. An absent optional operand is
/// `no_tensor`. Inputs of chains have the shape of the outputs; those that were broadcast have
/// strides of 0.
struct instruction {
  op id{};
  uint32_t origin = 0;           ///< operation of the caller's program, for messages
  std::vector<uint32_t> inputs;  ///< positions in `plan::tensors`
  std::vector<uint32_t> outputs; ///< one, or two for rows with a second result
  std::vector<attribute> attributes;
  pointwise_chain chain = {}; ///< of `chain_op`
};
inline constexpr uint32_t no_tensor = UINT32_MAX;

/// An input, and what it was sent as; `cast` means that the bytes are converted (floats of other
/// widths become f32). A device reads it where it lies, if it can, or from a copy.
struct planned_input {
  uint32_t number = 0; ///< which input of the request
  uint32_t tensor = 0;
  uint64_t offset = 0; ///< of the copy, in a buffer of `plan::input_bytes`
  elem sent = elem::u8;
  bool cast = false;
};

/// A parameter or a stored value that the plan reads, or a parameter that it differentiates.
struct planned_parameter {
  std::string name;
  elem type = elem::f32;
  shape dims;
  uint32_t gradient = no_tensor; ///< where its gradient is after the run
  bool stored = false;           ///< a stored value
};

/// A tensor of the arena that is written to a parameter or a stored value when the run succeeds.
struct planned_write {
  std::string name;
  uint32_t tensor = 0; ///< contiguous
  dtype type = dtype::f32;
  bool to_parameter = false;
};

/// A program made ready for one set of input and parameter types: static buffers, no names left.
/// Everything that a backend needs to run it many times.
struct plan {
  std::vector<planned_tensor> tensors;
  std::vector<instruction> instructions;
  std::vector<planned_input> inputs;
  std::vector<planned_parameter> parameters;
  std::vector<planned_write> writes; ///< each name once
  std::vector<uint32_t> scalars;     ///< tensors of one element, answered as numbers
  std::vector<uint32_t> results;     ///< tensors answered whole, contiguous
  uint64_t arena_bytes = 0;
  uint64_t input_bytes = 0; ///< of a buffer for copies of all inputs
  cost total;
  /// Large enough to be worth several threads. Decided from the cost alone, never from a clock, so
  /// that the digits of a run don't depend on how busy the machine was.
  bool parallel = false;
};

/// What a run wants back, and which parameters a training step needs the gradient of. Registers
/// are those of the program as it was given.
struct plan_request {
  std::vector<reg> scalars;
  std::vector<reg> results;
  std::vector<std::string> differentiate; ///< parameter names; empty = no gradient
  reg loss = no_register;
  /// By register, where a device has but its part of some: the bytes of that, for first and second
  /// results. Empty = by the types. Such a plan says how much memory is needed, and is not run.
  std::vector<uint64_t> bytes = {}, second_bytes = {};
};

/// Assigns buffers by liveness and turns views into offsets and strides. `code` was checked, with
/// the gradient appended when one is wanted.
plan make_plan(const differentiated& code, const plan_request& wanted);

} // namespace moxzi::device
