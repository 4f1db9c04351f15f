#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <ATen/ATen.h>

#include "device/backend.hpp"

/// Kernels written with ATen's operators: the same code on a GPU, and on the processor, where it is
/// tested.
namespace moxzi::device::aten {

/// Which words of Philox are wanted (`device/draws.hpp`).
struct words_wanted {
  const at::Tensor& keys;      ///< on the device, see `keys_of`
  const attribute& seed;       ///< the operation's own, if it has one
  uint32_t site = 0;           ///< see `draw_counters`
  std::optional<size_t> which; ///< word of each block; none: the word of each element
};
/// Fills an i64 tensor with them, on the device.
using words_function = std::function<void(const words_wanted& what, at::Tensor& out)>;

/// What a kernel is called with. An absent optional operand is an undefined tensor.
struct aten_call {
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> outputs;
  std::vector<attribute> attributes;
  uint32_t origin = 0;   ///< see `kernel_call`
  at::Tensor draws = {}; ///< on the device, see `keys_of`; of kernels that draw random numbers
  const words_function* words = nullptr; ///< draws them, in place of ATen's operators
};

/// Index values are unknown to the host until it waits for the device. A kernel that takes some
/// reports them here, and goes on with indices forced into range, which no device refuses.
struct index_watch {
  /// One boolean on the device: an index was out of range.
  at::Tensor bad;
  /// When set, each kernel waits and fills `first` with what is wrong: for the second run, which
  /// finds the words.
  bool named = false;
  std::optional<fault> first;
};

/// Launches the work; may throw what ATen throws.
using aten_kernel = void (*)(const aten_call& call, index_watch& watch);

/// Launches a chain on the tensors of its instruction.
using chain_function = std::function<void(const aten_call&)>;
/// A chain on the processor's tensors, by our own loops.
chain_function host_chain(const pointwise_chain& what);

/// The kernel for a row, or null.
aten_kernel find_kernel(op id) noexcept;
// One function per file of kernels; each knows some rows and answers null for the others.
aten_kernel find_normalisation_kernel(op id) noexcept;
aten_kernel find_attention_kernel(op id) noexcept;
aten_kernel find_product_kernel(op id) noexcept;
aten_kernel find_pooling_kernel(op id) noexcept;
aten_kernel find_loss_kernel(op id) noexcept;
aten_kernel find_recurrent_kernel(op id) noexcept;
aten_kernel find_random_kernel(op id) noexcept;
aten_kernel find_batch_norm_kernel(op id) noexcept;

// Each knows the rows of one file and answers null for the others.
aten_kernel find_moving_kernel(op id) noexcept;
aten_kernel find_picking_kernel(op id) noexcept;
aten_kernel find_reduction_kernel(op id) noexcept;
aten_kernel find_order_kernel(op id) noexcept;

// -- shared by kernels ---------------------------------------------------------

/// The indices as one row of i64, all of them in range; one that is `ignored` needn't be, and
/// becomes some index that is.
at::Tensor checked(const at::Tensor& ids, const char* name, int64_t limit, index_watch& watch,
                   std::optional<int64_t> ignored = {});
/// Half precision as f32, anything else as it is.
at::Tensor at_least_f32(const at::Tensor& x);
/// Integers of a type that few of ATen's operators know, seen as signed ones: for what only moves
/// them.
at::Tensor seen_signed(const at::Tensor& x);
/// Integers of such a type as i64: for what computes.
at::Tensor widened(const at::Tensor& x);

/// The type of a tensor of these elements.
at::ScalarType scalar_type(elem type);
/// And back.
elem elem_of(at::ScalarType type);

} // namespace moxzi::device::aten
