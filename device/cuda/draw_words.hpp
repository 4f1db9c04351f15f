#pragma once

#include "device/aten/kernels.hpp"
#include "device/cuda/kernels.hpp"

namespace moxzi::device::cuda {

/// Philox as one kernel, which launches on the current stream. `on` may not go away before the
/// function.
aten::words_function make_words(kernels& on);

} // namespace moxzi::device::cuda
