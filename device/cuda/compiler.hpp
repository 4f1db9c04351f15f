#pragma once

#include <string>

namespace moxzi::device::cuda {

/// Compiles CUDA code to PTX by NVRTC; needs no GPU. `architecture` is as NVRTC takes it
/// (`compute_80`). Empty with the compiler's messages in `why` when it fails.
std::string compile(const std::string& source, const std::string& architecture, std::string& why);

} // namespace moxzi::device::cuda
