#pragma once

#include <string_view>

#include <fmt/format.h>

namespace moxzi {

/// Prints the failed condition with file, line and values, and ends the process.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   std::string_view values);

} // namespace moxzi

/// A condition that only a fault of the program can break; stays on in release builds. Never used
/// on input from outside. `moxzi_assert(n > 0)` or `moxzi_assert(n > 0, "n={}", n)`.
#define moxzi_assert(condition, ...)                                                               \
  ((condition)                                                                                     \
     ? static_cast<void>(0)                                                                        \
     : ::moxzi::assertion_failed(#condition, __FILE__, __LINE__, ::fmt::format("" __VA_ARGS__)))
