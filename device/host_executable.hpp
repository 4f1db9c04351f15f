#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/backend.hpp"

/// For backends whose memory is the host's: runs a plan by a table of kernel functions, so that
/// such a backend is its kernels and little else.
namespace moxzi::device {

/// A tensor as a kernel sees it; see `instruction` for which ones may have gaps.
struct tensor_view {
  void* data = nullptr; ///< null with `type` unset for an absent optional operand
  int64_t elements = 0;
  elem type = elem::f32;
  shape dims;
  shape strides;

  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data);
  }
};

/// What a kernel is called with.
struct kernel_call {
  std::span<const tensor_view> inputs;
  std::span<const tensor_view> outputs;
  std::span<const attribute> attributes;
  op id{};
  const pointwise_chain* chain = nullptr; ///< of `chain_op`
  /// Anything that a kernel wants to keep from run to run of its plan.
  std::shared_ptr<void>* memo = nullptr;
  uint32_t threads = 1; ///< how many it may use; 1 unless the plan is `parallel`
  uint32_t origin = 0;  ///< the place in the caller's program: a call site of random numbers
  const draw_keys* draws = nullptr;
};

/// Computes the outputs; false with the reason in `why` (an index out of range). Must not throw.
using kernel_function = bool (*)(const kernel_call& call, fault& why);

/// The kernels of a host backend.
struct host_kernels {
  /// The kernel for a row whose result is of this type; null if there is none.
  kernel_function (*find)(op id, elem type) noexcept = nullptr;
  /// Adds a gradient to those gathered.
  void (*add)(void* sum, const void* more, uint64_t elements, elem type) = nullptr;
  /// True if no element is NaN or infinite.
  bool (*finite)(const void* data, uint64_t elements, elem type) = nullptr;
  /// Clips each element to [-bound, bound]; NaN stays.
  void (*bound)(void* data, uint64_t elements, elem type, double bound) = nullptr;
  /// Sum of the squares of a contiguous tensor, for the clipping norm; in double.
  double (*sum_of_squares)(const void* data, uint64_t elements, elem type) = nullptr;
  /// One optimizer step on one segment that has elements; each gradient element is first multiplied
  /// by `scale` and rounded to its type.
  void (*step)(const optimizer_step& how, const step_segment& segment, const void* gradient,
               double scale) = nullptr;
};

/// Fills `why` for an index out of range and gives false: `return index_fault(why, "ids", id, n);`.
/// Every kernel that follows indices checks them itself, those of gradients too, since the forward
/// operation may not be part of the plan.
bool index_fault(fault& why, std::string_view name, int64_t value, int64_t size);

/// Host memory, zeroed, aligned to `tensor_alignment`; null with `why` set when there is none.
buffer_ptr allocate_host(uint64_t bytes, fault& why);

/// A backend's `write` and `read` for host memory.
std::optional<fault> write_host(buffer& to, uint64_t offset, byte_view from);
std::optional<fault> read_host(const buffer& from, uint64_t offset, uint64_t bytes,
                               byte_string& to);

/// An executable over host memory. Addresses of the arena are fixed when it is made; those of
/// parameters and inputs are patched in at each run. Allocates nothing per run except the results.
std::unique_ptr<executable> make_host_executable(const plan& what, const host_kernels& kernels,
                                                 uint32_t threads, fault& why);

/// Copies an input's bytes to where the plan wants them, converting other floats to f32.
void place_input(const planned_input& how, const tensor& from, void* to);

} // namespace moxzi::device
