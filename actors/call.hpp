#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "actors/body.hpp"
#include "actors/cycles.hpp"
#include "actors/principal.hpp"
#include "base/bytes.hpp"
#include "base/reject.hpp"

/// Calls as they travel between actors: a request goes one way, one response comes back.
namespace moxzi::actors {

/// Who called, and the caller's how-manieth call it is. A receiver applies an identity once.
struct call_identity {
  principal caller;
  uint32_t epoch = 0; ///< of the caller's node; a new one begins where a node may have lost track
  uint64_t sequence = 0; ///< within caller and epoch, from 1
  auto operator<=>(const call_identity&) const = default;
};

/// Where a request comes from. The numbers are stored.
enum class request_origin : uint8_t {
  outside = 0, ///< HTTP or an agent
  actor = 1,   ///< another actor, or the actor itself
};

/// How a request is run. The numbers are stored.
enum class request_mode : uint8_t {
  update = 0, ///< recorded; a query method may be called so, too
  query = 1,  ///< what it does to the state is discarded, and it leaves no record
  /// A query that the management canister makes to reshape an answer from outside.
  transform = 2,
};

/// A call of one of an actor's methods.
struct call_request {
  call_identity identity;
  request_origin origin = request_origin::actor;
  request_mode mode = request_mode::update;
  std::string method;
  byte_string argument;     ///< Candid
  cycles attached;          ///< what the callee does not accept comes back with the response
  uint64_t deadline_ns = 0; ///< bounded wait: when the caller stops waiting; 0 = never
  /// What the caller holds after having made the call, for callees that charge it
  /// (`call_response::charged`). Not kept in records.
  cycles caller_balance;
  /// The caller's version when it made the call, for callees that are told it. Not kept in records.
  uint64_t caller_version = 0;
  /// The actors that wait for this query, outermost first; empty unless a composite query made it.
  std::vector<principal> query_chain;
  bool operator==(const call_request&) const = default;
};

/// What came of a call.
using call_answer = std::variant<reply_value, rejection>;

/// The one response to a request.
struct call_response {
  call_identity identity; ///< of the request
  call_answer answer;
  cycles refunded;
  /// What the management canister charges its caller beyond what was attached; at most its balance.
  cycles charged{};
  bool operator==(const call_response&) const = default;
};

} // namespace moxzi::actors
