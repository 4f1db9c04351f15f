#pragma once

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "device/check.hpp"
#include "device/program.hpp"

namespace moxzi::device {

/// What a `program_builder` has collected. Internal to it; vars point here.
struct program_under_way {
  program code;
  std::vector<input_type> inputs; ///< those declared with a type
  std::optional<error> wrong;     ///< the first fault
};

} // namespace moxzi::device
