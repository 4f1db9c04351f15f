#pragma once

#include <utility>

#include <caf/all.hpp>

#include "net/http_call.hpp"

namespace moxzi::net {

/// ROUTER, as seen from the network.
using router_actor = caf::typed_actor<
  // Routes the call to its actor; the answer goes to the call's sink, exactly once. Never answers
  // by message.
  caf::reacts_to<http_call_ptr>>;

/// The handler that hands each call of an HTTP server to the router. An idle router runs on `unit`
/// then (thread-safe, outlives the server); none: on CAF's scheduler.
inline http_handler send_to(router_actor router, caf::execution_unit* unit = nullptr) {
  return [router = std::move(router), unit](http_call_ptr call) {
    router->eq_impl(caf::make_message_id(), nullptr, unit, std::move(call));
  };
}

} // namespace moxzi::net

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::net::http_call_ptr)
