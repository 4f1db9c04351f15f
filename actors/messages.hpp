#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <caf/all.hpp>

#include "actors/call.hpp"
#include "actors/canister_core.hpp"
#include "net/messages.hpp"

/// Everything that is said between the actors of a node that hosts. Calls are handed on by value
/// inside one process (a message with one receiver is moved, not copied); what crosses to another
/// process or to disk is written by `base/codec`.
namespace moxzi::actors {

struct hosted_setup; // canister_actor.hpp
using hosted_setup_ptr = std::shared_ptr<hosted_setup>;

/// Nothing more is to be taken; what runs may end.
using stop_atom = caf::atom_constant<caf::atom("stop")>;
/// The time that an alarm was set for has come.
using wake_atom = caf::atom_constant<caf::atom("wake")>;

/// CALLER: whoever makes calls.
using caller_actor = caf::typed_actor<
  // The response to one of its calls.
  caf::reacts_to<call_response>>;

/// A request on its way to `callee`; the response goes to `reply_to`.
struct deliver_request {
  principal callee;
  call_request request;
  caller_actor reply_to;
};

/// CALLEE: whoever can be called, or passes calls on. Each request gets one response, sent as a
/// message of its own (a request of CAF's would hold both sides until its time-out).
using callee_actor = caf::typed_actor<caf::reacts_to<deliver_request>>;

/// What came of an installation.
struct install_report {
  bool installed = false;
  std::string failure; ///< why not
};

/// HOSTED ACTOR: one actor with its code, its queue and its records.
using hosted_actor = caf::typed_actor<
  // A call by another actor, or by itself.
  caf::reacts_to<deliver_request>,
  // The response to one of its calls.
  caf::reacts_to<call_response>,
  // A call from outside, as JSON; the answer goes to the call's sink.
  caf::reacts_to<net::http_call_ptr>,
  // Installs the code; once, first.
  caf::replies_to<install_code>::with<install_report>,
  // From its own body: the execution ended.
  caf::reacts_to<execution_ended>,
  // From the alarm clock.
  caf::reacts_to<wake_atom>,
  // Refuses what waits, ends after the execution in progress.
  caf::reacts_to<stop_atom>>;

/// A hosted actor's name, principal and handle.
struct hosted_entry {
  std::string name;
  principal id;
  hosted_actor handle;
};

/// ROUTER: knows who is called what. It is the network's router too.
using router_actor = caf::typed_actor<
  // From the network: on to the actor by name or principal, or 404 into the call's sink.
  caf::reacts_to<net::http_call_ptr>,
  // From an actor: on to the callee, or a response with code 3.
  caf::reacts_to<deliver_request>,
  // From the supervisor: this actor is to be reached.
  caf::reacts_to<hosted_entry>,
  // From the supervisor: this actor is gone.
  caf::reacts_to<principal>,
  // Forgets everybody and ends.
  caf::reacts_to<stop_atom>>;

/// Starts the actor that `setup` describes.
struct start_actor {
  hosted_setup_ptr setup;
};

/// Everybody has stopped; how many had to be stopped in the middle of an execution.
struct all_stopped {
  uint32_t interrupted = 0;
};

/// SUPERVISOR: starts the hosted actors, watches them, stops them.
using supervisor_actor = caf::typed_actor<
  // Starts one and installs its code.
  caf::replies_to<start_actor>::with<install_report>,
  // Stops all hosted actors, the router and the management actor; those that do not end within
  // `limits::stop_grace_ms` are stopped in the middle of what they do.
  caf::replies_to<stop_atom>::with<all_stopped>,
  // From the alarm clock.
  caf::reacts_to<wake_atom>>;

/// MANAGEMENT: the canister `aaaaa-aa`.
using management_actor = caf::typed_actor<
  // A call by an actor; the device's methods are passed to the device worker.
  caf::reacts_to<deliver_request>,
  // Ends.
  caf::reacts_to<stop_atom>>;

} // namespace moxzi::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::principal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::call_response)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::deliver_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::install_code)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::install_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::execution_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::hosted_entry)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::start_actor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::all_stopped)
