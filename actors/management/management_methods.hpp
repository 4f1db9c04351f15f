#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "actors/management/management_call.hpp"
#include "base/result.hpp"

namespace moxzi::actors::management {

class management_state;

/// Who may call a method.
enum class caller_rule : uint8_t {
  anyone,
  controllers,         ///< of the canister that the argument names
  controllers_or_self, ///< those, and the canister itself
  status_viewers,      ///< those, and whom the canister's `status_visibility` admits
  metadata_readers,    ///< anyone for public sections, controllers for private ones
  snapshot_viewers,    ///< whom the canister's `snapshot_visibility` admits
  log_viewers,         ///< whom the canister's `log_visibility` admits
};

/// `anyone`, `controllers` and so on, for readers.
std::string_view text_of(caller_rule rule) noexcept;

/// One method of the management canister, beside those of the device. Its types are those that
/// `method_types` has under its name.
struct method_row {
  std::string_view name;
  caller_rule who = caller_rule::anyone;
  /// Reads the argument, and does what is asked or begins to; fails if the argument is not of the
  /// method's type.
  result<void> (*run)(management_state& self, const call_ptr& call) = nullptr;
};

/// All of them, in the order of the pages. What is not here is refused by name.
std::span<const method_row> method_rows() noexcept;

/// The row of this name, or null.
const method_row* find_method(std::string_view name) noexcept;

} // namespace moxzi::actors::management
