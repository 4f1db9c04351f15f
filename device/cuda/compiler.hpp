#pragma once

#include <string>

namespace moxzi::device::cuda {

/// Compiles CUDA code to PTX by NVRTC; needs no GPU. `architecture` is as NVRTC takes it
/// (`compute_80`). Throws `std::runtime_error` with the compiler's messages.
std::string compile(const std::string& source, const std::string& architecture);

} // namespace moxzi::device::cuda
