#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/cycles.hpp"
#include "actors/module_parts.hpp"
#include "actors/prices.hpp"
#include "actors/principal.hpp"
#include "base/bytes.hpp"
#include "base/digest.hpp"
#include "base/reject.hpp"
#include "base/result.hpp"

/// What a hosted actor's code looks like to the state machine above it. Two kinds are planned for:
/// a wasm module (`actors/wasm/`) and a C++ class; neither the router nor the journal can tell them
/// apart.
namespace moxzi::actors {

/// Which piece of the code runs, and so what it may do.
enum class entry_kind : uint8_t {
  init,    ///< new code in a new actor, or in place of the old: `(start)`, then `canister_init`
  upgrade, ///< `canister_pre_upgrade` of the old code, then `(start)` and `canister_post_upgrade`
  update,
  query,           ///< also when called as an update; always rolled back
  composite_query, ///< a query that calls queries; what it changed is kept until it has ended
  inspect,         ///< always rolled back
  heartbeat,
  timer,
  low_memory,
  reply_callback,
  reject_callback,
  cleanup_callback,
  composite_reply, ///< the three callbacks of a composite query
  composite_reject,
  composite_cleanup,
  take_snapshot, ///< none of the code runs
  load_snapshot,
};

/// True for the executions of a composite query: what they change lasts for its other executions,
/// and no longer.
constexpr bool is_composite(entry_kind kind) noexcept {
  return kind == entry_kind::composite_query || kind == entry_kind::composite_reply
         || kind == entry_kind::composite_reject || kind == entry_kind::composite_cleanup;
}

/// True if what the entry does to the actor's state is always undone.
constexpr bool is_discarded(entry_kind kind) noexcept {
  return kind == entry_kind::query || kind == entry_kind::inspect || is_composite(kind);
}

/// A continuation in the actor's code: an index into its function table and what to pass.
struct closure {
  uint64_t function = 0;
  uint64_t environment = 0;
  bool operator==(const closure&) const = default;
};

/// Code that an actor may have. Immutable, used by any number of actors and threads at once.
class actor_code {
public:
  virtual ~actor_code() = default;

  /// How a method is exported; none if there is no such method.
  virtual std::optional<method_mode> find_method(const std::string& method) const = 0;
  /// True if the code has an entry of this kind that is run only where there is one: `inspect`
  /// (before each request from outside), `heartbeat`, `timer`, `low_memory`.
  virtual bool has_entry(entry_kind) const {
    return false;
  }
  /// All methods by name, those for the compiler's own use left out.
  virtual std::map<std::string, method_mode> methods() const {
    return {};
  }
  /// A custom section; null if there is none.
  virtual const module_metadata* find_metadata(const std::string&) const {
    return nullptr;
  }
  /// True if the code's heap outlives an upgrade (the section `enhanced-orthogonal-persistence`).
  virtual bool keeps_heap() const {
    return false;
  }
  /// Of the module as it was given.
  virtual sha256_hash hash() const {
    return {};
  }
  virtual code_sizes sizes() const {
    return {};
  }
};
using code_ptr = std::shared_ptr<const actor_code>;

/// What a body keeps in a snapshot; immutable. Only bodies of the same kind can read it.
class body_state {
public:
  virtual ~body_state() = default;
  virtual uint64_t bytes() const = 0;
  virtual code_ptr code() const = 0;
};
using state_ptr = std::shared_ptr<const body_state>;

/// What seldom changes about an actor and what its code may ask for.
struct actor_facts {
  std::vector<principal> controllers;
  std::vector<std::pair<std::string, std::string>> environment; ///< by name
  principal subnet;
  byte_string root_key;
  bool charging = false;
  price_table prices;
  /// Of a callback: a call reserves what it may cost.
  uint64_t callback_instructions_max = 0;
};

/// All that an execution can observe. There is no other way in.
struct execution_input {
  entry_kind kind = entry_kind::update;
  bool is_replicated = true; ///< recorded; false for what is called as a query
  bool is_transform = false; ///< a query that reshapes an answer from outside
  std::string method;        ///< update, query, inspect
  closure callback;          ///< the callbacks
  byte_string argument;      ///< argument, or the reply in a reply callback
  principal caller;
  moxzi::reject_code reject_code = moxzi::reject_code::none; ///< reject and cleanup callback
  std::string reject_message;
  uint64_t time_ns = 0;
  uint64_t deadline_ns = 0; ///< of the call being answered; 0 = none
  uint64_t instructions_max = 0;
  uint64_t call_instructions = 0;         ///< spent by earlier executions of this call context
  uint64_t heap_bytes_max = ~uint64_t{0}; ///< on top of the body's own limit
  cycles balance;
  cycles available;        ///< attached to the call, not yet accepted
  cycles refunded;         ///< came back with the reply
  bool can_answer = false; ///< the call context has not been answered yet
  uint64_t canister_version = 0;
  uint8_t status = 1;           ///< 1 running, 2 stopping, 3 stopped
  uint64_t global_timer_ns = 0; ///< as it stands; `global_timer_set` returns it
  std::shared_ptr<const actor_facts> facts;
  code_ptr code;                  ///< init, upgrade: the new one
  bool skips_pre_upgrade = false; ///< upgrade
  bool keeps_heap = false;        ///< upgrade
  state_ptr snapshot;             ///< load_snapshot
  uint64_t query = 0;             ///< which composite query this is an execution of
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
/// were before, and every other field but `instructions`, `debug_lines` and the sizes is empty.
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
  uint64_t stable_bytes = 0;
  std::optional<uint64_t> dirty_pages; ///< of the heap that changed, where it was committed
  state_ptr snapshot;                  ///< take_snapshot
  /// XXH3-128 over the changed pages (index and contents), the globals, and the stable memory's
  /// changed parts, in ascending order; what was rolled back does not count.
  digest128 state_digest;
};

/// Asked by the body once for every `call_perform`, which gives 2 where this says no (too many
/// calls to that callee are open). A yes takes one of the places. Used on the thread that executes.
using may_call_function = std::function<bool(const principal& callee)>;

/// The code and memory of one hosted actor. One execution at a time. A new body has no code: its
/// first execution is `init` or `load_snapshot`.
class actor_body {
public:
  virtual ~actor_body() = default;

  /// Starts an execution and returns. When it has ended — its effects on the state committed, or
  /// undone if it trapped or its kind is discarded — `done` is called, once, on a thread of the
  /// body's own (or at once). `done` hands the output on and returns.
  virtual void execute(execution_input input, may_call_function may_call,
                       std::function<void(execution_output)> done) = 0;

  /// The composite query has ended: what it changed is forgotten. Between executions only.
  virtual void end_query(uint64_t) {
    // nop
  }
  /// Forgets code and state. Between executions only.
  virtual void clear() = 0;
};

/// Code with what was read from the module beside it.
struct prepared_code {
  code_ptr code;
};

/// Makes code of modules, and bodies to run it. Thread-safe.
class code_factory {
public:
  virtual ~code_factory() = default;

  /// A body without code for the actor `self`.
  virtual std::unique_ptr<actor_body> make_body(const principal& self) = 0;

  /// Checks and compiles a module (wasm, or gzip of it) that may come from anyone, on a thread of
  /// its own; one that was compiled before comes from the cache. Then `done` is called there, once,
  /// and hands the result on. Errors are sentences for whoever sent the module.
  virtual void prepare(byte_string module, std::function<void(result<prepared_code>)> done) = 0;
};

} // namespace moxzi::actors
