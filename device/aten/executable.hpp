#pragma once

#include <memory>
#include <vector>

#include "device/aten/backend.hpp"
#include "device/aten/kernels.hpp"

namespace moxzi::device::aten {

/// A plan whose tensors are ATen's, over one arena on the device. `run` and the constructor are
/// called inside `aten_place::enter` and throw what ATen throws.
class aten_executable {
public:
  aten_executable(const plan& what, aten_place& place);

  std::optional<fault> run(const run_arguments& with, run_results& out);

  uint64_t memory_bytes() const noexcept {
    return plan_.arena_bytes + plan_.input_bytes;
  }

private:
  struct step {
    aten_kernel kernel;
    chain_function chain; ///< in place of the kernel
    aten_call call;
  };

  at::Tensor view(const planned_tensor& what, void* base) const;
  void bind(std::span<void* const> parameters);
  void copy_in(const run_arguments& with);
  /// Runs all instructions; with `watch.named` stops at the first with an index out of range.
  std::optional<uint32_t> launch(index_watch& watch);
  std::optional<fault> name_fault(const run_arguments& with);
  /// Runs all instructions: the first time one by one, then as a recording where one can be made.
  void launch_all();
  /// The scalars, and last whether an index was out of range: one wait for all of them.
  at::Tensor read_numbers() const;
  void read_tensors(run_results& out) const;
  void write(const run_arguments& with) const;
  /// The gradient that this run made, plus what was gathered.
  at::Tensor gradient(const step_segment& of, bool gathered_too) const;
  void train(const run_arguments& with, run_results& out) const;
  void gather(const run_arguments& with, const std::vector<at::Tensor>& gradients) const;

  const plan& plan_;
  aten_place& place_;
  at::Tensor arena_;
  at::Tensor inputs_; ///< where they are copied to
  std::vector<void*> bound_;
  std::vector<at::Tensor> tensors_; ///< as in the plan
  std::vector<step> steps_;
  byte_string staging_;
  at::Tensor bad_; ///< one boolean: an index was out of range
  std::unique_ptr<recording> recording_;
  at::Tensor draws_; ///< the keys of the run's random numbers
  words_function words_;
  bool draws_any_ = false;
  bool recordable_ = true;
  bool launched_ = false; ///< since tensors were bound
};

} // namespace moxzi::device::aten
