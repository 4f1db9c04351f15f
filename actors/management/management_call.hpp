#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "actors/messages.hpp"

namespace moxzi::actors::management {

/// A call of one of the methods that is not answered yet.
struct management_call {
  deliver_request what;
  cycles available; ///< attached, and not taken yet: goes back with the answer
  cycles charged;   ///< taken from the caller's balance with the answer
  std::optional<uint64_t> sender_version; ///< of the caller, if it said it

  const principal& caller() const noexcept {
    return what.request.identity.caller;
  }
  const std::string& method() const noexcept {
    return what.request.method;
  }
};
using call_ptr = std::shared_ptr<management_call>;

} // namespace moxzi::actors::management
