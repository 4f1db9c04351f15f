#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/body.hpp"

namespace moxzi::actors::testing {

/// An actor whose messages say what it is to do. Methods: `run` (update), `look` (query), `ask`
/// (composite query). The
/// argument is a script, its steps separated by `;`:
///
///     reply TEXT · reject TEXT · echo (reply with the argument of the callback, or the reject's
///     text) add N (to the counter) · get (reply with the counter) · trap TEXT call NAME {SCRIPT}
///     {ON REPLY} {ON REJECT} {CLEANUP}    calls `run`; the last block may be absent attach N ·
///     wait SECONDS (both for the next call) · accept N · timer NS · print TEXT · method NAME
///
/// Deterministic, with a state (the counter and the continuations) that a trap restores.
class script_body : public actor_body, public actor_code {
public:
  std::optional<method_mode> find_method(const std::string& method) const override {
    if (method == "run") return method_mode::update;
    if (method == "look") return method_mode::query;
    if (method == "ask") return method_mode::composite_query;
    return std::nullopt;
  }
  bool has_entry(entry_kind kind) const override {
    return kind == entry_kind::timer || entries.contains(kind);
  }
  bool keeps_heap() const override {
    return keeps;
  }
  sha256_hash hash() const override {
    return sha256(name);
  }
  void clear() override {
    counter = 0;
    continuations_.clear();
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
  bool keeps = false;     ///< as code
  std::string name = "a"; ///< as code
  uint64_t heap_bytes = 0;
  /// What was seen by executions, in order.
  std::vector<execution_input> seen;
  int64_t counter = 0;

private:
  struct run_state;
  void perform(const std::string& script, run_state& at);
  void perform_call(std::string_view& rest, run_state& at);
  std::string script_of(const execution_input& input);
  closure keep(std::string script);

  uint64_t next_ = 0;
  std::map<uint64_t, std::string> continuations_;
};

/// The body as code, which does not own it.
inline code_ptr code_of(const script_body& body) {
  return {code_ptr{}, &body};
}

} // namespace moxzi::actors::testing
