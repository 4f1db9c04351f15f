#pragma once

#include <system_error>

namespace moxzi::actors {

/// What may go wrong with hosting an actor, apart from its own calls.
enum class host_errc : int {
  diverged = 1,      ///< a replayed execution did something else than the first time
  bad_record = 2,    ///< a record cannot follow those before it
  bad_interface = 3, ///< a .did text cannot be read, or has no service
  bad_module = 4,    ///< the actor's file is not a module that can be hosted
};

const std::error_category& host_category() noexcept;

inline std::error_code make_error_code(host_errc code) noexcept {
  return {static_cast<int>(code), host_category()};
}

} // namespace moxzi::actors

template <>
struct std::is_error_code_enum<moxzi::actors::host_errc> : std::true_type {};
