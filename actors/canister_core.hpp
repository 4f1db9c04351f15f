#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/answer_memory.hpp"
#include "actors/body.hpp"
#include "actors/call.hpp"
#include "actors/lifecycle.hpp"
#include "actors/record_payload.hpp"
#include "base/actor_limits.hpp"
#include "base/limits.hpp"
#include "persist/record.hpp"

namespace moxzi::actors {

/// The execution that the last `execute` asked for has ended.
struct execution_ended {
  execution_output output;
};

/// Time has passed: timers and bounded waits that are due take effect.
struct time_passed {};

/// Nothing more is to start: what waits is rejected, and so is what still comes.
struct shut_down {};

/// All that can happen to an actor. A change that only reads is answered at once, whatever runs.
using core_input = std::variant<create_input, change_input, call_request, call_response,
                                time_passed, shut_down, execution_ended>;

/// A call that the actor made, ready to be delivered.
struct issued_call {
  principal callee;
  call_request request;
};

/// An execution to be started on the actor's body.
struct start_execution {
  execution_input input;
  may_call_function may_call;
};

/// The answer to a `change_input`.
struct change_answer {
  uint64_t token = 0;
  lifecycle::answer answer;
};

/// What a step asks its shell to do, in this order.
struct core_effects {
  /// Of what ended in this step: to be appended to the journal, in order.
  std::vector<persist::record> records;
  /// Answers to requests. What leaves the node waits until `records` are durable.
  std::vector<call_response> answers;
  std::vector<change_answer> changes;
  std::vector<issued_call> calls;
  std::vector<std::string> debug_lines;
  /// Composite queries that have ended: for the body's `end_query`, when it next rests.
  std::vector<uint64_t> ended_queries;
  /// The body is to `clear` itself.
  bool clears_body = false;
  /// What the actor has on the device goes with its code.
  bool forgets_space = false;
  /// The actor has been deleted: it only refuses from now on.
  bool removed = false;
  /// To be executed; `execution_ended` follows. Never asked for while another one runs.
  std::optional<start_execution> execute;
  /// The ended execution's fuel, for logs.
  uint64_t instructions = 0;
};

/// How an actor is hosted: what its node says, as opposed to what is asked of the actor itself.
struct core_settings {
  principal self;
  uint32_t epoch = 1;
  uint64_t update_instructions_max = limits::update_instructions_max;
  uint64_t query_instructions_max = limits::query_instructions_max;
  uint64_t install_instructions_max = limits::install_instructions_max;
  uint64_t heap_bytes_max = limits::heap_bytes_max;
  bool has_heartbeat = true; ///< false: the code's heartbeat is never run
  bool has_timers = true;    ///< false: its timer never fires
  principal subnet;          ///< for `ic0.subnet_self`
  byte_string root_key;
};

/// The deterministic state machine of one hosted actor: the message rules of the Internet
/// Computer over any `actor_body`. It knows no clock, thread, socket or engine: time and the
/// outcome of executions are inputs, and the same inputs give the same effects.
///
/// One message runs at a time, in order of arrival. Each request gets exactly one response. An
/// execution's effects on the outside (answer, calls, timer, cycles) count only if it did not trap.
class canister_core {
public:
  explicit canister_core(core_settings settings);

  /// Takes one input at the given time (which never goes back for the actor, whatever is given).
  /// The first is `create_input`.
  core_effects step(core_input input, uint64_t time_ns);

  /// Takes a recorded input and starts its execution, as it was the first time. The core must be
  /// idle; nothing else may be fed in between. Fails if the record cannot follow what came before.
  /// Installations carry their code.
  result<core_effects> replay(recorded_input input, uint64_t time_ns);

  /// When `time_passed` is next of use; none if nothing waits for time.
  std::optional<uint64_t> wake_ns() const noexcept;

  /// True while an execution runs.
  bool busy() const noexcept {
    return running_.has_value();
  }
  /// The actor's code; null if it has none.
  const code_ptr& code() const noexcept {
    return code_;
  }
  lifecycle::run_status run() const noexcept {
    return run_;
  }
  const std::string& install_failure() const noexcept {
    return install_failure_;
  }
  size_t open_contexts() const noexcept {
    return contexts_.size();
  }
  size_t open_calls() const noexcept {
    return calls_.size() + query_calls_.size();
  }
  size_t waiting() const noexcept {
    return queue_.size();
  }
  cycles balance() const noexcept;
  /// Cycles that are neither the actor's nor anybody else's any more: charged or burned.
  cycles spent() const noexcept {
    return spent_;
  }
  /// Cycles set aside for the answers of open calls.
  cycles held() const noexcept;

private:
  enum class life : uint8_t { fresh, active, removed, ended };

  /// All that belongs to answering one request, or to one timer, heartbeat or such.
  struct call_context {
    std::optional<call_identity> request; ///< none for the actor's own tasks
    bool answered = false;
    bool is_query = false; ///< called as one: counted apart, and not recorded
    cycles available;
    uint64_t deadline_ns = 0;
    uint64_t instructions = 0;
    size_t open_calls = 0;
    std::optional<rejection> failure; ///< of its last execution, if that trapped
    uint64_t query = 0;               ///< a composite query's number
    uint64_t expires_ns = 0;          ///< a composite query's
    std::vector<principal> chain;     ///< who waits for it
  };
  struct open_call {
    uint32_t epoch = 0;
    uint64_t context = 0; ///< 0: the code that made it is gone
    principal callee;
    closure on_reply;
    closure on_reject;
    std::optional<closure> on_cleanup;
    cycles held;
    uint64_t expires_ns = 0;   ///< bounded wait; 0 = never
    bool has_response = false; ///< it waits in the queue
  };
  struct execution {
    entry_kind kind = entry_kind::init;
    uint64_t context = 0;                  ///< none for what is no message
    std::optional<call_request> inspected; ///< runs if this inspection accepts it
    std::optional<change_input> change;    ///< an installation or a snapshot
    code_ptr code;
    std::optional<closure> on_cleanup;
    moxzi::reject_code reject_code = moxzi::reject_code::none; ///< of the response being handled
    bool is_recorded = true;
    uint64_t version = 0;   ///< that the code sees
    cycles held;            ///< for its instructions
    persist::record record; ///< as far as it is known
    outcome_digest digest;
  };
  struct pending_stop {
    uint64_t token = 0;
    uint64_t deadline_ns = 0;
  };
  struct kept_snapshot {
    lifecycle::snapshot what;
    state_ptr state;
    byte_string certified;
    uint64_t timer_ns = 0;
  };
  using queued_input = std::variant<call_request, call_response, fire_timer, beat>;

  // -- inputs (canister_core.cpp)
  void take(create_input input, core_effects& out);
  void take(change_input input, core_effects& out);
  void take(call_request request, core_effects& out);
  void take(call_response response, core_effects& out);
  void take(time_passed, core_effects& out);
  void take(shut_down, core_effects& out);
  void take(execution_ended ended, core_effects& out);
  void start_next(core_effects& out);
  std::optional<queued_input> next_input();
  bool may_start(const queued_input& input, bool is_first) const;
  void forget_call(uint64_t sequence, cycles refunded);
  void expire_calls();
  void expire_queries(core_effects& out);

  // -- starting; each leaves an execution running, or has answered instead (canister_start.cpp)
  void start(call_request request, core_effects& out);
  void start(call_response response, core_effects& out);
  void start(fire_timer, core_effects& out);
  void start(beat, core_effects& out);
  void start(memory_low, core_effects& out);
  void start(create_input input, core_effects& out);
  void start(change_input input, core_effects& out);
  void run_inspection(call_request request, core_effects& out);
  void run_request(call_request request, entry_kind kind, core_effects& out);
  void run_response(call_response response, open_call call, core_effects& out);
  void run_cleanup(core_effects& out);
  /// Fails if the actor cannot pay for it.
  bool run_task(entry_kind kind, actor_input task, core_effects& out);
  void execute(execution_input input, uint64_t context, core_effects& out);
  may_call_function bound_calls() const;
  void begin_record(const actor_input& input, cycles taken, uint64_t instructions_max);
  uint64_t limit_of(entry_kind kind) const noexcept;
  std::optional<rejection> why_not(const call_request& request) const;
  /// What an execution may cost; none if the actor does not have it.
  std::optional<cycles> hold(uint64_t instructions_max, uint128 extra = 0);

  // -- changes (canister_lifecycle.cpp)
  void read(const change_input& input, core_effects& out);
  std::optional<rejection> why_forbidden(const change_input& input) const;
  void change(const lifecycle::install_code& what, change_input& input, core_effects& out);
  void change(const lifecycle::uninstall_code& what, change_input& input, core_effects& out);
  void change(const lifecycle::start& what, change_input& input, core_effects& out);
  void change(const lifecycle::stop& what, change_input& input, core_effects& out);
  void change(const lifecycle::remove& what, change_input& input, core_effects& out);
  void change(const lifecycle::change_settings& what, change_input& input, core_effects& out);
  void change(const lifecycle::deposit& what, change_input& input, core_effects& out);
  void change(const lifecycle::take_snapshot& what, change_input& input, core_effects& out);
  void change(const lifecycle::load_snapshot& what, change_input& input, core_effects& out);
  void change(const lifecycle::delete_snapshot& what, change_input& input, core_effects& out);
  void change(const lifecycle::change_prices& what, change_input& input, core_effects& out);
  template <class Read>
  void change(const Read&, change_input&, core_effects&) {
    // nop: `read` has answered it
  }
  void refuse_change(const change_input& input, const char* error_code, std::string message,
                     core_effects& out);
  /// Writes the record of a change without an execution.
  void record_change(const change_input& input);
  void end_change(const change_input& input, core_effects& out);
  void drop_code(core_effects& out);
  void begin_change_execution(entry_kind kind, change_input input, execution_input what,
                              core_effects& out);
  void finish_new_code(const change_input& change, execution_output& output, core_effects& out);
  lifecycle::answer finish_snapshot(const change_input& change, execution_output& output,
                                    core_effects& out);
  void end_change_execution(execution_output output, core_effects& out);
  void note_change(lifecycle::change::kind what, const change_input& from,
                   lifecycle::snapshot snapshot = {});
  void keep_change(lifecycle::change entry);
  uint64_t history_bytes() const noexcept;
  void settle_stop(core_effects& out);
  void renew_facts();
  lifecycle::status status() const;
  uint64_t heap_limit() const noexcept;
  bool may_see(const lifecycle::audience& what, const change_input& input) const;

  // -- ending (canister_outcome.cpp)
  void end_inspection(const execution_output& output, core_effects& out);
  void apply(execution_output& output, call_context* context, core_effects& out);
  void note_memory(const execution_output& output);
  void watch_memory();
  void issue(outgoing_call call, call_context& context, core_effects& out);
  void issue_query(outgoing_call call, call_context& context, core_effects& out);
  void settle(uint64_t context, core_effects& out);
  void settle_charge(uint64_t instructions);
  void finish_record(core_effects& out);
  void answer(call_context& context, call_answer value, core_effects& out);
  void refuse(const call_request& request, rejection why, core_effects& out);
  void refuse_waiting(core_effects& out);
  rejection rejection_of(const trap& what) const;
  void log(std::string text);
  void trim_log();

  core_settings host_;
  life life_ = life::fresh;
  uint64_t time_ns_ = 0;
  uint64_t records_ = 0;

  // What is asked of the actor.
  lifecycle::settings settings_;
  std::shared_ptr<const actor_facts> facts_;
  bool charging_ = false;
  price_table prices_;
  cycles balance_;
  cycles spent_;
  lifecycle::run_status run_ = lifecycle::run_status::running;
  std::deque<change_input> changes_;
  std::vector<pending_stop> stops_;
  std::deque<lifecycle::change> history_;
  uint64_t history_count_ = 0;
  std::deque<lifecycle::log_line> log_;
  uint64_t log_count_ = 0;
  size_t log_bytes_ = 0;
  std::map<byte_string, kept_snapshot> snapshots_;
  uint64_t snapshot_count_ = 0;
  lifecycle::counters counts_;

  // Its code and what that asked for.
  code_ptr code_;
  std::string install_failure_;
  uint64_t version_ = 0;
  uint64_t heap_bytes_ = 0;
  uint64_t stable_bytes_ = 0;
  byte_string certified_;
  uint64_t timer_ns_ = 0;
  uint64_t next_beat_ns_ = 0;
  uint64_t task_retry_ns_ = 0; ///< timers and heartbeats wait: the actor could not pay for them
  bool timer_waits_ = false;   ///< a `fire_timer` is in the queue
  bool beat_waits_ = false;
  enum class low_hook : uint8_t { off, ready, done } low_memory_ = low_hook::off;

  // Messages.
  std::optional<execution> running_;
  std::deque<queued_input> queue_;
  size_t queued_requests_ = 0;
  uint64_t next_context_ = 0;
  uint64_t next_call_ = 0;
  uint64_t next_query_ = 0;
  uint64_t next_query_call_ = 0;
  size_t open_queries_ = 0; ///< composite queries that wait for answers
  std::map<uint64_t, call_context> contexts_;
  std::map<uint64_t, open_call> calls_;              ///< by sequence
  std::map<uint64_t, open_call> query_calls_;        ///< of composite queries: never recorded
  std::map<principal, size_t> calls_to_;             ///< open calls of each callee
  std::set<std::pair<uint64_t, uint64_t>> expiries_; ///< when, and which call
  bool replaying_ = false;                           ///< nothing starts by itself
  std::optional<uint64_t> replayed_limit_;           ///< of the execution being replayed
  answer_memory answers_;
};

} // namespace moxzi::actors
