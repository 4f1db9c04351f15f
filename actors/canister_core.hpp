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
#include "actors/record_payload.hpp"
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

/// All that can happen to an actor.
using core_input =
  std::variant<install_code, call_request, call_response, time_passed, shut_down, execution_ended>;

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

/// What a step asks its shell to do, in this order.
struct core_effects {
  /// Of the execution that ended in this step: to be appended to the journal.
  std::optional<persist::record> record;
  /// Answers to requests. What leaves the node waits until `record`, if there is one, is durable.
  std::vector<call_response> answers;
  std::vector<issued_call> calls;
  std::vector<std::string> debug_lines;
  /// To be executed; `execution_ended` follows. Never asked for while another one runs.
  std::optional<start_execution> execute;
  /// The ended execution's fuel, for logs.
  uint64_t instructions = 0;
};

/// How an actor is set up.
struct core_settings {
  principal self;
  std::vector<principal> controllers;
  uint32_t epoch = 1;
  bool charging = false; ///< off: the balance reads as a large constant and never moves
  cycles balance;        ///< opening balance where charging is on
  uint64_t update_instructions_max = limits::update_instructions_max;
  uint64_t query_instructions_max = limits::query_instructions_max;
  uint64_t install_instructions_max = limits::install_instructions_max;
};

/// The deterministic state machine of one hosted actor: the message rules of the Internet
/// Computer over any `actor_body`. It knows no clock, thread, socket or engine: time and the
/// outcome of executions are inputs, and the same inputs give the same effects.
///
/// One message runs at a time, in order of arrival. Each request gets exactly one response. An
/// execution's effects on the outside (answer, calls, timer, cycles) count only if it did not trap.
class canister_core {
public:
  /// `code` is asked which methods and entries there are; it outlives the core.
  canister_core(core_settings settings, const actor_body& code);

  /// Takes one input at the given time (which never goes back for the actor, whatever is given).
  core_effects step(core_input input, uint64_t time_ns);

  /// Takes a recorded input and starts its execution, as it was the first time. The core must be
  /// idle; nothing else may be fed in between. Fails if the record cannot follow what came before.
  result<core_effects> replay(recorded_input input, uint64_t time_ns);

  /// When `time_passed` is next of use; none if nothing waits for time.
  std::optional<uint64_t> wake_ns() const noexcept;

  /// True while an execution runs.
  bool busy() const noexcept {
    return running_.has_value();
  }
  /// True once the installation has succeeded, until the shut-down.
  bool installed() const noexcept {
    return life_ == life::running;
  }
  /// True once the installation has succeeded or failed.
  bool installation_ended() const noexcept {
    return life_ != life::fresh && life_ != life::installing;
  }
  /// Why the installation failed; empty if it did not.
  const std::string& install_failure() const noexcept {
    return install_failure_;
  }
  size_t open_contexts() const noexcept {
    return contexts_.size();
  }
  size_t open_calls() const noexcept {
    return calls_.size();
  }
  size_t waiting() const noexcept {
    return queue_.size();
  }
  cycles balance() const noexcept;

private:
  enum class life : uint8_t { fresh, installing, running, failed, ended };

  /// All that belongs to answering one request, or to one timer or heartbeat.
  struct call_context {
    std::optional<call_identity> request; ///< none for the actor's own tasks
    bool answered = false;
    bool is_recorded = true; ///< false for queries: no trace is kept
    cycles available;
    uint64_t deadline_ns = 0;
    uint64_t instructions = 0;
    size_t open_calls = 0;
    std::optional<rejection> failure; ///< of its last execution, if that trapped
  };
  struct open_call {
    uint32_t epoch = 0;
    uint64_t context = 0;
    principal callee;
    closure on_reply;
    closure on_reject;
    std::optional<closure> on_cleanup;
    uint64_t expires_ns = 0;   ///< bounded wait; 0 = never
    bool has_response = false; ///< it waits in the queue
  };
  struct execution {
    entry_kind kind = entry_kind::init;
    uint64_t context = 0;                  ///< none while installing or inspecting
    std::optional<call_request> inspected; ///< runs if this inspection accepts it
    std::optional<closure> on_cleanup;
    moxzi::reject_code reject_code = moxzi::reject_code::none; ///< of the response being handled
    bool is_recorded = true;
    persist::record record; ///< as far as it is known
    outcome_digest digest;
  };

  // -- inputs
  void take(install_code input, core_effects& out);
  void take(call_request request, core_effects& out);
  void take(call_response response, core_effects& out);
  void take(time_passed, core_effects& out);
  void take(shut_down, core_effects& out);
  void take(execution_ended ended, core_effects& out);

  // -- starting; each leaves an execution running, or has answered instead
  void start_next(core_effects& out);
  void start(call_request request, core_effects& out);
  void start(call_response response, core_effects& out);
  void start(fire_timer, core_effects& out);
  void start(beat, core_effects& out);
  void start(install_code input, core_effects& out);
  void run_inspection(call_request request, core_effects& out);
  void run_request(call_request request, entry_kind kind, core_effects& out);
  void run_cleanup(core_effects& out);
  void run_task(entry_kind kind, actor_input task, core_effects& out);
  void execute(execution_input input, uint64_t context, core_effects& out);
  void begin_record(const actor_input& input, cycles taken, uint64_t instructions_max);
  std::optional<entry_kind> entry_of(const call_request& request) const;
  uint64_t limit_of(entry_kind kind) const noexcept;

  // -- ending
  void end_installation(execution_output output, core_effects& out);
  void end_inspection(const execution_output& output, core_effects& out);
  void apply(execution_output& output, call_context* context, core_effects& out);
  void issue(outgoing_call call, call_context& context, core_effects& out);
  void settle(uint64_t context, core_effects& out);
  void finish_record(core_effects& out);
  void answer(call_context& context, call_answer value, core_effects& out);
  void refuse(const call_request& request, rejection why, core_effects& out);
  void refuse_waiting(core_effects& out);
  void expire_calls();
  rejection not_accepting() const;
  rejection rejection_of(const trap& what) const;

  core_settings settings_;
  const actor_body& code_;
  life life_ = life::fresh;
  std::string install_failure_;
  uint64_t time_ns_ = 0;
  uint64_t version_ = 0;
  uint64_t records_ = 0;
  uint64_t timer_ns_ = 0;
  uint64_t next_beat_ns_ = 0;
  bool timer_waits_ = false; ///< a `fire_timer` is in the queue
  bool beat_waits_ = false;
  cycles balance_;
  std::optional<execution> running_;
  std::deque<actor_input> queue_;
  size_t queued_requests_ = 0;
  uint64_t next_context_ = 0;
  uint64_t next_call_ = 0;
  std::map<uint64_t, call_context> contexts_;
  std::map<uint64_t, open_call> calls_;              ///< by sequence
  std::map<principal, size_t> calls_to_;             ///< open calls of each callee
  std::set<std::pair<uint64_t, uint64_t>> expiries_; ///< when, and which call
  std::optional<uint64_t> replayed_limit_;           ///< of the execution being replayed
  answer_memory answers_;
};

} // namespace moxzi::actors
