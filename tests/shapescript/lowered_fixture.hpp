#pragma once

#include <string>

#include "device/device_core.hpp"
#include "device/open.hpp"
#include "shapescript/lower/lower.hpp"

namespace shapescript::testing {

uint32_t function_named(const typed_tree& program, std::string_view name);

/// The names of a program's operations.
std::string operations(const lowered& code);

/// The program passes the device's own check, with the same types; those with a gradient are made
/// by it.
void expect_checked_alike(const lowered& code, const std::string& name);

/// It runs, on zeros, and gives results of the types that it says.
void expect_runs(moxzi::device::device_core& on, const lowered& code, const std::string& name);

/// A well-typed program with a device function `f` of an axis `b` of any size.
std::string random_program(uint32_t seed);

} // namespace shapescript::testing
