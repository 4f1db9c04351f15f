#pragma once

#include <memory>
#include <string>

#include "actors/body.hpp"
#include "actors/call.hpp"
#include "actors/json_interface.hpp"
#include "base/result.hpp"
#include "net/messages.hpp"

/// Calls from outside: from HTTP to a request of an actor's, and from its answer back to HTTP.
namespace moxzi::actors {

/// What is known of the actor that is called.
struct outside_target {
  const std::string& name;
  const actor_code* code = nullptr;     ///< none: no code
  const json_interface* json = nullptr; ///< none: no Candid interface
};

/// A request without identity, or why there can be none.
boost::system::result<call_request, rejection> read_outside_call(const net::http_call& call,
                                                                 const outside_target& target);

/// The answer to a call that `read_outside_call` has read.
net::http_answer write_outside_answer(const net::http_call& call, const call_answer& answer,
                                      const outside_target& target);

} // namespace moxzi::actors
