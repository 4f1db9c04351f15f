#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "device/program.hpp"

/// What is known of an optimizer without stepping it. The steps are the backends'.
namespace moxzi::device {

/// One tensor that an optimizer keeps of a parameter, of the parameter's type, zeros at first.
struct state_tensor {
  std::string_view name; ///< as in the state of torch.optim
  shape dims;
  bool operator==(const state_tensor&) const = default;
};
using state_layout = std::vector<state_tensor>;

/// The kind that steps a parameter of this shape: muon is for matrices, everything else goes by
/// adamw.
optimizer_kind kind_for(optimizer_kind asked, const shape& dims) noexcept;

/// What an optimizer keeps of a parameter of this shape; at most `state_tensors_max`.
state_layout layout_of(const optimizer_spec& how, const shape& dims);

/// The learning rate of the step that comes after `taken` of them.
double scheduled_lr(const optimizer_spec& how, uint64_t taken) noexcept;

/// The kind's name in the interface.
std::string_view name_of(optimizer_kind kind) noexcept;

/// Refuses numbers that make no sense (MXD032).
result<void> check_settings(const optimizer_spec& how, const std::string& where);

} // namespace moxzi::device
