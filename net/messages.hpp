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

/// The handler that hands each call of an HTTP server to the router.
inline http_handler send_to(router_actor router) {
  return
    [router = std::move(router)](http_call_ptr call) { caf::anon_send(router, std::move(call)); };
}

} // namespace moxzi::net

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::net::http_call_ptr)
