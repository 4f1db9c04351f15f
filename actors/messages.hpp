#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <caf/all.hpp>

#include "actors/call.hpp"
#include "actors/canister_core.hpp"
#include "actors/lifecycle.hpp"
#include "net/messages.hpp"

/// Everything that is said between the actors of a node that hosts. Calls are handed on by value
/// inside one process (a message with one receiver is moved, not copied); what crosses to another
/// process or to disk is written by `base/codec`.
namespace moxzi::actors {

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

/// What `managed` is sent to.
struct managed;
/// MANAGER: whoever asks for something about a hosted actor.
using manager_actor = caf::typed_actor<
  // The answer to one of its requests.
  caf::reacts_to<managed>>;

/// A request about a hosted actor, to the SUPERVISOR, or from it to the actor.
struct manage_actor {
  principal target;
  /// Whose rights count (MX512); none: the host's own, which may do everything.
  std::optional<principal> sender;
  std::optional<uint64_t> sender_version; ///< of an actor that said it
  lifecycle::request what;
  std::optional<prepared_code> code; ///< of `install_code`, in place of its module's bytes
  uint64_t token = 0;                ///< comes back
  manager_actor reply_to;
};

/// What an actor's host lets it do.
struct actor_habits {
  bool heartbeat = true;
  bool timers = true;
  bool anonymous_queries = true; ///< from outside
};

/// A new actor without code, running. Answered with its principal and `done`.
struct create_actor {
  std::string name;                    ///< the manifest's; empty for an actor made at run time
  std::optional<principal> id;         ///< none: the name's, or the next one of this node
  lifecycle::settings_change settings; ///< no controllers: the sender
  cycles balance;                      ///< counts where charging is on
  actor_habits habits;
  std::optional<principal> sender;        ///< none: the host
  std::optional<uint64_t> sender_version; ///< of an actor that said it
  uint64_t token = 0;
  manager_actor reply_to;
};

/// The one answer to `manage_actor` or `create_actor`.
struct managed {
  uint64_t token = 0;
  principal target;
  lifecycle::answer answer;
};

/// A module that is being made ready, or why it cannot be.
struct code_ready {
  result<prepared_code> code;
};

/// HOSTED ACTOR: one actor with its code, its queue and its records.
using hosted_actor = caf::typed_actor<
  // A call by another actor, or by itself.
  caf::reacts_to<deliver_request>,
  // The response to one of its calls.
  caf::reacts_to<call_response>,
  // A call from outside, as JSON; the answer goes to the call's sink.
  caf::reacts_to<net::http_call_ptr>,
  // From the supervisor: a request about this actor.
  caf::reacts_to<manage_actor>,
  // From the compiler's thread: the module it waited for.
  caf::reacts_to<code_ready>,
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
  // From the supervisor: this actor is gone; `stop_atom` to it follows the last call.
  caf::reacts_to<principal>,
  // Forgets everybody and ends.
  caf::reacts_to<stop_atom>>;

/// Everybody has stopped; how many had to be stopped in the middle of an execution.
struct all_stopped {
  uint32_t interrupted = 0;
};

/// All actors that are hosted, for pages that list them.
struct actor_list {
  std::vector<std::pair<std::string, principal>> entries; ///< name (or empty), principal
};
using list_atom = caf::atom_constant<caf::atom("list")>;

/// SUPERVISOR: makes the hosted actors, watches them, stops them.
using supervisor_actor = caf::typed_actor<
  // Makes one without code; `managed` follows.
  caf::reacts_to<create_actor>,
  // On to the actor, or `managed` with MX301.
  caf::reacts_to<manage_actor>,
  // From a hosted actor that was deleted: it is to be forgotten.
  caf::reacts_to<principal>,
  // All actors, in order of their principals.
  caf::replies_to<list_atom>::with<actor_list>,
  // Stops all hosted actors, the router and the management actor; those that do not end within
  // `limits::stop_grace_ms` are stopped in the middle of what they do.
  caf::replies_to<stop_atom>::with<all_stopped>,
  // From the alarm clock.
  caf::reacts_to<wake_atom>>;

/// Whom the management canister asks about actors.
struct meet_supervisor {
  supervisor_actor handle;
};

/// MANAGEMENT: the canister `aaaaa-aa`.
using management_actor = caf::typed_actor<
  // From the supervisor, first.
  caf::reacts_to<meet_supervisor>,
  // A call by an actor; the device's methods are passed to the device worker.
  caf::reacts_to<deliver_request>,
  // Ends.
  caf::reacts_to<stop_atom>>;

} // namespace moxzi::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::principal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::call_response)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::deliver_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::manage_actor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::create_actor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::managed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::code_ready)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::actor_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::execution_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::hosted_entry)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::all_stopped)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::meet_supervisor)
