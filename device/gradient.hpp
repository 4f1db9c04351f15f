#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/check.hpp"

namespace moxzi::device {

/// A program in which every `grad` has become the operations that it stands for, with the
/// gradient's operations appended.
struct differentiated {
  typed_program code;
  /// For each parameter asked for, the register of its gradient; `no_register` if the loss does not
  /// depend on it.
  std::vector<reg> gradients;
  /// By register of the program that was given: what it is now. Empty where nothing moved.
  std::vector<reg> now = {};
  /// By register that a `grad` of the program led to: the register that it is the gradient of;
  /// itself if it is only on the way to one.
  std::map<reg, reg> gradient_of = {};

  reg at(reg given) const noexcept {
    return now.empty() ? given : now[given];
  }
};

/// Reverse mode by the rows' rules, for each `grad` where it stands, and for `loss` after the
/// program's own operations (not when `parameters` is empty). Operations whose gradient is wanted
/// are replaced by their training form. Fails where a row has no rule, and where gradients of
/// gradients take more operations than four times the longest program.
result<differentiated> differentiate(typed_program code, reg loss,
                                     const std::vector<std::string>& parameters);

} // namespace moxzi::device
