#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/body.hpp"

namespace moxzi::actors::testing {

/// An actor whose messages say what it is to do. Methods: `run` (update), `look` (query). The
/// argument is a script, its steps separated by `;`:
///
///     reply TEXT · reject TEXT · echo (reply with the argument of the callback, or the reject's
///     text) add N (to the counter) · get (reply with the counter) · trap TEXT call NAME {SCRIPT}
///     {ON REPLY} {ON REJECT} {CLEANUP}    calls `run`; the last block may be absent attach N ·
///     wait SECONDS (both for the next call) · accept N · timer NS · print TEXT · method NAME
///
/// Deterministic, with a state (the counter and the continuations) that a trap restores.
class script_body : public actor_body {
public:
  bool has_update(const std::string& method) const override {
    return method == "run";
  }
  bool has_query(const std::string& method) const override {
    return method == "look";
  }
  bool has_entry(entry_kind kind) const override {
    return entries.contains(kind);
  }
  void execute(execution_input input, may_call_function may_call,
               std::function<void(execution_output)> done) override {
    done(run(std::move(input), may_call));
  }

  /// Runs at once.
  execution_output run(execution_input input, const may_call_function& may_call);

  /// Optional entries; what a heartbeat and a timer run, and what an inspection says.
  std::set<entry_kind> entries;
  std::string on_timer = "add 1000";
  std::string on_heartbeat = "add 1";
  bool accepts = true;
  /// What was seen by executions, in order.
  std::vector<execution_input> seen;
  int64_t counter = 0;

private:
  struct run_state;
  void perform(const std::string& script, run_state& at);
  std::string script_of(const execution_input& input);
  closure keep(std::string script);

  uint64_t next_ = 0;
  std::map<uint64_t, std::string> continuations_;
};

} // namespace moxzi::actors::testing
