#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/check.hpp"

namespace moxzi::device {

/// A program with the gradient's operations appended.
struct differentiated {
  typed_program code;
  /// For each parameter asked for, the register of its gradient; `no_register` if the loss does not
  /// depend on it.
  std::vector<reg> gradients;
};

/// Reverse mode by the rows' rules, as operations after the program's own. Operations whose
/// gradient is wanted are replaced by their training form. A program without gradient is returned
/// as it is when `parameters` is empty.
result<differentiated> differentiate(typed_program code, reg loss,
                                     const std::vector<std::string>& parameters);

} // namespace moxzi::device
