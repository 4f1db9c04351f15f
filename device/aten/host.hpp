#pragma once

#include "device/host_executable.hpp"

namespace moxzi::device::aten {

/// The same kernels for a host backend, which reads every index itself; null if there is none for
/// this row. Throws what ATen throws.
kernel_function find_host_kernel(op id) noexcept;

} // namespace moxzi::device::aten
