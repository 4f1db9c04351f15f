#pragma once

#include <exception>
#include <type_traits>

#include "base/result.hpp"

namespace moxzi {

/// Runs `call`, which may throw because a library below it does, and turns an exception into an
/// error. Exceptions stop where this is used: at the edge of ATen, Boost, the standard library's
/// streams and the operating system.
template <class Call>
auto guard(Call&& call) -> result<std::invoke_result_t<Call>> {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
      std::forward<Call>(call)();
      return {};
    } else {
      return std::forward<Call>(call)();
    }
  } catch (const std::exception& e) {
    return fail(base_errc::exception, "{}", e.what());
  } catch (...) {
    return fail(base_errc::exception, "unknown exception");
  }
}

} // namespace moxzi
