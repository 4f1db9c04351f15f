#pragma once

#include <span>
#include <string>

#include "device/ops/row.hpp"

/// The C++ interface of the table of operations: one call for every public row.
namespace moxzi::device {

/// The text of `device/operations.hpp`.
std::string operations_header(std::span<const row> rows);

/// The text of `device/operations.cpp`.
std::string operations_source(std::span<const row> rows);

} // namespace moxzi::device
