#pragma once

#include "device/aten/kernels.hpp"
#include "device/cuda/kernels.hpp"

namespace moxzi::device::cuda {

/// A chain of pointwise operations as a kernel, which launches on the current stream. Neither the
/// chain nor `on` may go away before the function.
aten::chain_function make_chain(const pointwise_chain& what, kernels& on);

} // namespace moxzi::device::cuda
