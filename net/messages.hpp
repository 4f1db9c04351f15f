#pragma once

#include <functional>
#include <utility>

#include <caf/all.hpp>

#include "net/http_call.hpp"

namespace moxzi::net {

/// ROUTER, as seen from the network.
using router_actor = caf::typed_actor<
  // Routes the call to its actor; the answer goes to the call's sink, exactly once. Never answers
  // by message.
  caf::reacts_to<http_call_ptr>>;

/// KEEPER, as seen from the network: it knows the node and its actors.
using keeper_actor = caf::typed_actor<
  // A page or a command; the answer goes to the request's sink.
  caf::reacts_to<node_request_ptr>>;

/// The handler that hands each call of an HTTP server to the router. An idle router runs on `unit`
/// then (thread-safe, outlives the server); none: on CAF's scheduler.
inline std::function<void(http_call_ptr)> send_to(router_actor router,
                                                  caf::execution_unit* unit = nullptr) {
  return [router = std::move(router), unit](http_call_ptr call) {
    router->eq_impl(caf::make_message_id(), nullptr, unit, std::move(call));
  };
}

/// The handler that hands everything else to the keeper.
inline std::function<void(node_request_ptr)> ask(keeper_actor keeper) {
  return [keeper = std::move(keeper)](node_request_ptr what) {
    caf::anon_send(keeper, std::move(what));
  };
}

} // namespace moxzi::net

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::net::http_call_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::net::node_request_ptr)
