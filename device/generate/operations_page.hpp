#pragma once

#include <span>
#include <string>

#include "device/ops/row.hpp"

namespace moxzi::device {

/// The text of `docs/ops.md`: what a person wants to know of each public row.
std::string operations_page(std::span<const row> rows);

} // namespace moxzi::device
