#pragma once

#include <vector>

#include "device/check.hpp"

namespace moxzi::device {

/// For each register the first one that has the same value for certain: made by the same pure
/// operation with the same attributes from such registers.
std::vector<reg> common_registers(const typed_program& code);

} // namespace moxzi::device
