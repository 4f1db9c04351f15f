#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/draws.hpp"
#include "device/plan.hpp"
#include "device/program.hpp"

/// What a device must be able to do. `device_core` decides what happens (names, plans, order,
/// errors, atomicity); a backend owns memory and runs plans. One thread at a time uses a backend.
///
/// Nothing here throws, and no error category crosses this interface, since a backend may live in a
/// plugin with its own copy of them: a backend reports a `fault`.
namespace moxzi::device {

/// Why a backend could not do something.
struct fault {
  device_errc code = device_errc::device_failed;
  std::string what;
  uint32_t instruction = no_tensor; ///< which instruction of the plan, where it was one
};

/// Memory of a device. `data` is an address of the device (a CUDA pointer there); null if `bytes`
/// is 0. Aligned to at least 64 bytes.
class buffer {
public:
  virtual ~buffer() = default;
  void* data = nullptr;
  uint64_t bytes = 0;
};
using buffer_ptr = std::shared_ptr<buffer>;

class collectives;

/// What a device is.
struct backend_info {
  std::string kind;          ///< as `--device` spells it: `cpu`, `cuda:0`, `reference`, `null`
  std::string name;          ///< for a person: the processor's or card's name
  std::string version;       ///< of the library that computes
  uint64_t memory_bytes = 0; ///< 0 = not known
  uint32_t threads = 1;
  std::vector<elem> parameter_types; ///< which of f32, f64 it can keep and compute in
};

/// At most this many tensors does an optimizer keep of one parameter.
inline constexpr size_t state_tensors_max = 3;

/// One parameter's part of an optimizer step.
struct step_segment {
  void* parameter = nullptr;
  /// Tensor of the plan, contiguous, of the parameter's type; `no_tensor` = what was gathered is
  /// all there is.
  uint32_t gradient = no_tensor;
  std::array<void*, state_tensors_max> states{}; ///< as `state_layout` lists them, the rest null
  uint64_t elements = 0;
  elem type = elem::f32;
  shape dims;
  uint64_t step = 1; ///< of this parameter, from 1: for the bias correction
  optimizer_kind kind = optimizer_kind::adamw; ///< muon only for matrices: see `kind_for`
  double weight_decay = 0;
  void* gathered = nullptr;   ///< where gradients of several runs are summed; there if `accumulate`
  bool gathered_some = false; ///< false = nothing yet: its contents mean nothing
};

/// One optimizer's step. Constants are given in double: 1-beta and the bias corrections are to be
/// computed in double and rounded once.
struct optimizer_step {
  double lr = 0;
  double beta1 = 0;
  double beta2 = 0;
  double eps = 0;
  bool amsgrad = false;
  std::vector<step_segment> segments;
};

/// One run of a plan.
struct run_arguments {
  std::span<const tensor> inputs;        ///< the request's; lengths were checked
  std::span<void* const> parameters;     ///< address of each of `plan::parameters`
  std::span<const optimizer_step> steps; ///< empty = no training
  /// Where each of `plan::writes` goes when the run has succeeded, before the training step.
  std::span<void* const> writes = {};
  draw_keys draws = {};
  std::optional<double> clip;       ///< bound of the L2 norm over all steps' gradients
  std::optional<double> clip_value; ///< bound of each element, before that
  bool accumulate = false;     ///< add to what was gathered instead of stepping; nothing is clipped
  bool skip_nonfinite = false; ///< do neither if a gradient is NaN or infinite
};

/// What comes back from it.
struct run_results {
  std::vector<double> scalars;
  std::vector<byte_string> tensors; ///< elements of `plan::results`
  std::optional<double> grad_norm;  ///< with `clip` only, and not with `accumulate`
  bool skipped = false;             ///< with `skip_nonfinite` only
};

/// A plan that a backend has made ready: kernels chosen, arena allocated, on CUDA a graph captured.
class executable {
public:
  virtual ~executable() = default;

  /// Takes the inputs, runs all instructions, reads scalars and tensors back, then trains. When
  /// it fails (an index in the data out of range, above all) no parameter and no state has changed.
  /// Results may reuse what `out` holds.
  ///
  /// Training: a gradient is the plan's plus what was gathered; several of a plan may be one
  /// tensor. First it is looked at whether all are finite, then elements are clipped, then every
  /// gradient is multiplied by min(1, clip / (norm + 1e-6)), rounded to its type, where norm is
  /// taken over all segments of all steps.
  virtual std::optional<fault> run(const run_arguments& with, run_results& out) = 0;

  /// Device memory that this executable holds.
  virtual uint64_t memory_bytes() const noexcept = 0;
};

/// A device.
class backend {
public:
  virtual ~backend() = default;

  virtual const backend_info& info() const noexcept = 0;
  /// True if it has a kernel for this row (or the row needs none).
  virtual bool supports(op id) const noexcept = 0;

  /// Memory filled with zeros; null with `out_of_memory` in `why`.
  virtual buffer_ptr allocate(uint64_t bytes, fault& why) = 0;
  virtual std::optional<fault> write(buffer& to, uint64_t offset, byte_view from) = 0;
  virtual std::optional<fault> read(const buffer& from, uint64_t offset, uint64_t bytes,
                                    byte_string& to) = 0;

  /// What devices of this kind find each other by, to join their parts of one program; all members
  /// get it from the one that made it. Empty with `why` where they have no such group of their own:
  /// those whose memory is the host's meet in a `shared_group`.
  virtual byte_string new_group(fault& why);
  /// The member of this rank, which waits until all have joined; null with `why`.
  virtual std::unique_ptr<collectives> join_group(byte_view id, uint32_t size, uint32_t rank,
                                                  fault& why);

  /// Makes a plan ready to run. The plan outlives the executable.
  virtual std::unique_ptr<executable> prepare(const plan& what, fault& why) = 0;
};

/// How a backend is opened.
struct backend_options {
  std::string kind;     ///< `cpu`, `cuda:0`
  uint32_t threads = 0; ///< 0 = all cores; used for plans that are `parallel`
};

// -- plugins -------------------------------------------------------------------

/// Changes whenever this header, `plan.hpp` or `program.hpp` change: the daemon and a plugin are of
/// one build.
inline constexpr uint32_t plugin_version = 5;

/// A plugin exports, with C linkage,
///   `uint32_t moxzi_device_plugin_version()` and
///   `moxzi::device::backend* moxzi_device_open(const backend_options*, std::string* why)`,
/// the second giving null with the reason in `why` (the driver's own words).
using plugin_version_function = uint32_t (*)();
using plugin_open_function = backend* (*)(const backend_options*, std::string*);

} // namespace moxzi::device
