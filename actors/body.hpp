#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/cycles.hpp"
#include "actors/principal.hpp"
#include "base/bytes.hpp"
#include "base/digest.hpp"
#include "base/reject.hpp"

/// What a hosted actor's code looks like to the state machine above it. Two kinds are planned for:
/// a wasm module (`actors/wasm/`) and a C++ class; neither the router nor the journal can tell them
/// apart.
namespace moxzi::actors {

/// Which piece of the code runs, and so what it may do (context letters of the Internet Computer's
/// system API).
enum class entry_kind : uint8_t {
  init, ///< `(start)` then `canister_init`
  pre_upgrade,
  post_upgrade, ///< `(start)` then `canister_post_upgrade`
  update,
  query,   ///< also when called as an update; always rolled back
  inspect, ///< always rolled back
  heartbeat,
  timer,
  reply_callback,
  reject_callback,
  cleanup_callback,
};

/// True if what the entry does to the actor's state is always undone.
constexpr bool is_discarded(entry_kind kind) noexcept {
  return kind == entry_kind::query || kind == entry_kind::inspect;
}

/// A continuation in the actor's code: an index into its function table and what to pass.
struct closure {
  uint64_t function = 0;
  uint64_t environment = 0;
  bool operator==(const closure&) const = default;
};

/// All that an execution can observe. There is no other way in.
struct execution_input {
  entry_kind kind = entry_kind::update;
  std::string method;   ///< update, query, inspect
  closure callback;     ///< the three callbacks
  byte_string argument; ///< argument, or the reply in a reply callback
  principal caller;
  moxzi::reject_code reject_code = moxzi::reject_code::none; ///< reject callback
  std::string reject_message;
  uint64_t time_ns = 0;
  uint64_t deadline_ns = 0; ///< of the call being answered; 0 = none
  uint64_t instructions_max = 0;
  uint64_t call_instructions = 0; ///< spent by earlier executions of this call context
  cycles balance;
  cycles available;        ///< attached to the call, not yet accepted
  cycles refunded;         ///< came back with the reply
  bool can_answer = false; ///< the call context has not been answered yet
  bool is_controller_caller = false;
  std::vector<principal> controllers;
  uint64_t canister_version = 0;
  uint8_t status = 1;           ///< 1 running, 2 stopping, 3 stopped
  uint64_t global_timer_ns = 0; ///< as it stands; `global_timer_set` returns it
};

/// A call that the execution made; takes effect only if the execution commits.
struct outgoing_call {
  principal callee;
  std::string method;
  byte_string argument;
  closure on_reply;
  closure on_reject;
  std::optional<closure> on_cleanup;
  cycles attached;
  std::optional<uint32_t> timeout_seconds; ///< bounded wait
  bool operator==(const outgoing_call&) const = default;
};

struct reply_value {
  byte_string argument;
  bool operator==(const reply_value&) const = default;
};
struct reject_value {
  std::string message;
  bool operator==(const reject_value&) const = default;
};

/// Why an execution left no trace.
struct trap {
  std::string error_code; ///< "MX502", "MX503", "MX522", …
  std::string message;    ///< for the caller; names the cause first
};

/// What came of an execution. Where `trapped` is set, memory, globals and stable memory are as they
/// were before, and every other field but `instructions` and `debug_lines` is empty.
struct execution_output {
  std::optional<trap> trapped;
  std::optional<std::variant<reply_value, reject_value>> answer;
  std::vector<outgoing_call> calls;
  std::optional<uint64_t> global_timer_ns; ///< set by the execution; 0 = off
  std::optional<byte_string> certified_data;
  bool accepted = false; ///< inspect
  cycles cycles_accepted;
  cycles cycles_burned;
  std::vector<std::string> debug_lines;
  uint64_t instructions = 0;
  uint64_t heap_bytes = 0;
  /// XXH3-128 over the changed pages (index and contents), the globals, and the stable memory's
  /// changed parts, in ascending order; what was rolled back does not count.
  digest128 state_digest;
};

/// Asked by the body once for every `call_perform`, which gives 2 where this says no (too many
/// calls to that callee are open). A yes takes one of the places. Used on the thread that executes.
using may_call_function = std::function<bool(const principal& callee)>;

/// The code and memory of one hosted actor. One execution at a time.
class actor_body {
public:
  virtual ~actor_body() = default;

  /// True if the code has this method as an update, or as a query.
  virtual bool has_update(const std::string& method) const = 0;
  virtual bool has_query(const std::string& method) const = 0;

  /// True if the code has an entry of this kind that is run only where there is one: `inspect`
  /// (before each request from outside) and `heartbeat`.
  virtual bool has_entry(entry_kind) const {
    return false;
  }

  /// Starts an execution and returns. When it has ended — its effects on the state committed, or
  /// undone if it trapped or its kind is discarded — `done` is called, once, on a thread of the
  /// body's own (or at once). `done` hands the output on and returns.
  virtual void execute(execution_input input, may_call_function may_call,
                       std::function<void(execution_output)> done) = 0;
};

} // namespace moxzi::actors
