#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/canister_core.hpp"
#include "actors/replay.hpp"
#include "tests/actors/script_body.hpp"

namespace moxzi::actors::testing {

/// One state machine over a script body, stepped by hand. Executions are run at once, unless
/// `holds` is set: then the test ends them with `finish`.
class core_driver {
public:
  explicit core_driver(std::string name = "alice", create_input created = {},
                       core_settings settings = {})
      : self(principal::of_actor(name)), core(with_self(std::move(settings), self)) {
    feed(std::move(created));
  }

  void install(byte_string script = "add 0",
               lifecycle::install_mode mode = lifecycle::install_mode::install) {
    lifecycle::install_code what;
    what.mode = mode;
    what.argument = std::move(script);
    ask(std::move(what));
  }

  /// Asks for a change, as the host unless a sender is given; returns the token of its answer.
  uint64_t ask(lifecycle::request what, std::optional<principal> sender = {}) {
    change_input input;
    input.sender = std::move(sender);
    input.what = std::move(what);
    input.code = code_of(body);
    input.module = body.hash();
    input.token = ++asked;
    feed(std::move(input));
    return asked;
  }

  /// The answer to a change, as text: `done`, `none` while there is none, or `MX510: …`.
  std::string change(uint64_t token) const {
    const auto at = changes.find(token);
    if (at == changes.end()) return "none";
    if (std::holds_alternative<lifecycle::done>(at->second)) return "done";
    const auto* why = std::get_if<rejection>(&at->second);
    return why != nullptr ? why->error_code + ": " + why->message : "an answer";
  }

  /// Sends a request from outside; its number identifies it.
  uint64_t request(byte_string script, std::string method = "run",
                   request_mode mode = request_mode::update) {
    call_request what;
    what.identity = {principal::anonymous(), 1, ++sent};
    what.origin = request_origin::outside;
    what.mode = mode;
    what.method = std::move(method);
    what.argument = std::move(script);
    feed(std::move(what));
    return sent;
  }

  /// Answers the actor's n-th call (from 1).
  void respond(uint64_t call, call_answer answer, cycles refunded = {}) {
    feed(call_response{{self, 1, call}, std::move(answer), refunded});
  }
  void reply(uint64_t call, byte_string argument = "") {
    respond(call, reply_value{std::move(argument)});
  }

  void pass_time(uint64_t to_ns) {
    now_ns = to_ns;
    feed(time_passed{});
  }

  void feed(core_input input) {
    collect(core.step(std::move(input), now_ns));
  }

  /// Ends the held execution.
  void finish() {
    auto held = std::move(*held_);
    held_.reset();
    collect(core.step(execution_ended{body.run(std::move(held.input), held.may_call)}, now_ns));
  }

  /// The answer to request n, as text: `reply: …`, or `5 MX503: …`; `none` while there is none.
  std::string answer(uint64_t n) const {
    const auto at = answers.find(n);
    if (at == answers.end()) return "none";
    if (const auto* reply = std::get_if<reply_value>(&at->second.answer)) {
      return "reply: " + reply->argument;
    }
    const auto& why = std::get<rejection>(at->second.answer);
    return fmt::format("{} {}: {}", static_cast<int>(why.code), why.error_code, why.message);
  }

  principal self;
  script_body body;
  canister_core core;
  uint64_t now_ns = 1'000;
  uint64_t sent = 0;
  uint64_t asked = 0;
  bool holds = false;
  bool removed = false;
  std::map<uint64_t, lifecycle::answer> changes; ///< by token
  std::map<uint64_t, int> change_counts;
  std::map<uint64_t, call_response> answers; ///< by the request's number
  std::map<uint64_t, int> answer_counts;
  std::vector<std::pair<call_identity, call_response>> all_answers; ///< in order
  std::vector<issued_call> calls;
  std::vector<persist::record> records;
  std::vector<std::string> lines;

private:
  static core_settings with_self(core_settings settings, const principal& self) {
    settings.self = self;
    return settings;
  }

  void collect(core_effects effects) {
    for (;;) {
      for (auto& record : effects.records) records.push_back(std::move(record));
      for (auto& change : effects.changes) {
        ++change_counts[change.token];
        changes.insert_or_assign(change.token, std::move(change.answer));
      }
      if (effects.clears_body) body.clear();
      removed = removed || effects.removed;
      for (auto& answer : effects.answers) {
        ++answer_counts[answer.identity.sequence];
        all_answers.emplace_back(answer.identity, answer);
        answers.insert_or_assign(answer.identity.sequence, std::move(answer));
      }
      for (auto& call : effects.calls) calls.push_back(std::move(call));
      for (auto& line : effects.debug_lines) lines.push_back(std::move(line));
      if (!effects.execute) return;
      if (holds) {
        held_ = std::move(effects.execute);
        return;
      }
      auto& run = *effects.execute;
      auto output = body.run(std::move(run.input), run.may_call);
      effects = core.step(execution_ended{std::move(output)}, now_ns);
    }
  }

  std::optional<start_execution> held_;
};

/// The records' code is that of `body`.
inline code_source source_of(const script_body& body) {
  return [&body](const sha256_hash&) { return result<code_ptr>{code_of(body)}; };
}

} // namespace moxzi::actors::testing
