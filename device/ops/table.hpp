#pragma once

#include <span>
#include <string_view>

#include "device/ops/row.hpp"

namespace moxzi::device {

/// All rows, sorted by id. The interface, its binding, the documentation and the tests are made by
/// walking this.
std::span<const row> table();

/// The row of an operation, or null.
const row* find_row(op id) noexcept;

/// The public row of that name, or null.
const row* find_row(std::string_view name) noexcept;

} // namespace moxzi::device
