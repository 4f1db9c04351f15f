#pragma once

#include <system_error>

namespace moxzi::actors {

/// What may go wrong with hosting an actor, apart from its own calls.
enum class host_errc : int {
  diverged = 1,    ///< a replayed execution did something else than the first time
  bad_record = 2,  ///< a record cannot follow those before it
  not_started = 3, ///< an actor of the manifest could not be started
};

const std::error_category& host_category() noexcept;

inline std::error_code make_error_code(host_errc code) noexcept {
  return {static_cast<int>(code), host_category()};
}

} // namespace moxzi::actors

template <>
struct std::is_error_code_enum<moxzi::actors::host_errc> : std::true_type {};
