#pragma once

#include <cstdint>

namespace moxzi {

/// How many bytes the machine can still give without swapping (MemAvailable); the largest number
/// where that is not told.
uint64_t available_memory_bytes() noexcept;

} // namespace moxzi
