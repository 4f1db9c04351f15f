#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <spdlog/spdlog.h>

#include "actors/alarm_clock.hpp"
#include "actors/canister_core.hpp"
#include "actors/host_metrics.hpp"
#include "actors/json_interface.hpp"
#include "actors/messages.hpp"
#include "actors/outside_call.hpp"
#include "base/clock.hpp"
#include "persist/journal.hpp"

namespace moxzi::actors {

/// What all hosted actors of a node share. All of it outlives them.
struct node_services {
  callee_actor calls;      ///< takes the calls to other actors
  callee_actor management; ///< takes the calls to `aaaaa-aa`
  persist::journal* journal = nullptr;
  const clock* time = nullptr;
  alarm_clock* alarms = nullptr;
  caf::execution_unit* unit = nullptr; ///< where actors run; none: on CAF's scheduler
  code_factory* factory = nullptr;
  std::shared_ptr<spdlog::logger> log;
  host_metrics* metrics = nullptr; ///< none: nothing is counted
};

/// What one hosted actor is made of.
struct hosted_setup {
  std::string name; ///< for logs and people; the principal's text for those without
  core_settings settings;
  create_input created;
  actor_habits habits;
  node_services services;
  supervisor_actor supervisor; ///< learns of the end
};
using hosted_setup_ptr = std::shared_ptr<const hosted_setup>;

/// The state of a HOSTED ACTOR: feeds the state machine what comes in, and does what it asks for.
class canister_state {
public:
  using self_pointer = hosted_actor::stateful_pointer<canister_state>;

  static inline const char* name = "canister"; ///< for logs

  explicit canister_state(self_pointer self) : self_(self) {
    // nop
  }
  ~canister_state();

  hosted_actor::behavior_type make_behavior(hosted_setup_ptr setup);

private:
  /// A call from outside that is not answered yet.
  struct outside_call {
    net::http_call_ptr call;
  };
  /// A call of another actor that is not answered yet.
  struct inside_call {
    caller_actor reply_to;
    std::string method;
  };
  using origin = std::variant<outside_call, inside_call>;
  /// An answer that leaves the node.
  struct outside_answer {
    net::http_call_ptr call;
    net::http_answer answer;
  };

  // -- verbs
  void deliver(deliver_request& what);
  void call(const net::http_call_ptr& what);
  void manage(manage_actor& what);
  /// Feeds the changes that wait, as far as no module has to be made ready first.
  void feed_changes();
  void take_code(code_ready& what);
  void feed(core_input input);
  void wake();
  void stop();

  void act(core_effects effects);
  void answer(std::vector<call_response> answers, std::vector<persist::record> records);
  void answer_change(change_answer what);
  /// Says which stable variables kept the new code from taking over.
  void explain_upgrade(const manage_actor& asked, rejection& why) const;
  void report(const manage_actor& what, lifecycle::answer answer);
  /// Reads the interface of code that is new.
  void follow_code();
  /// Replaces a reply that its receiver should not be shown.
  void guard_caller(call_response& what) const;
  /// A call of the actor to itself.
  bool is_own(const call_identity& call) const;
  void send_calls(std::vector<issued_call> calls);
  void forget_space();
  void execute(start_execution what);
  void end(execution_ended& what);
  void set_alarm();
  outside_target target() const;

  self_pointer self_;
  hosted_setup_ptr setup_;
  std::unique_ptr<actor_body> body_;
  std::optional<canister_core> core_;
  std::map<call_identity, origin> origins_;
  uint64_t outside_calls_ = 0;
  std::unique_ptr<actor_meters> meters_;
  uint64_t execution_began_ns_ = 0; ///< monotonic
  std::optional<uint64_t> alarm_ns_;
  std::deque<manage_actor> changes_; ///< in order; the first one's module may be in the making
  bool compiling_ = false;
  std::map<uint64_t, manage_actor> asked_; ///< of the core, by its token
  uint64_t tokens_ = 0;
  std::vector<uint64_t> ended_queries_; ///< that the body has not been told of
  code_ptr code_;                       ///< whose interface `json_` is
  std::optional<std::string> did_;      ///< said with the installation
  std::shared_ptr<const json_interface> json_;
  bool stopping_ = false;
};

/// A hosted actor without code. Runs on the unit of its setup, whoever sends to it.
class canister_actor final : public hosted_actor::stateful_base<canister_state> {
public:
  using super = hosted_actor::stateful_base<canister_state>;

  canister_actor(caf::actor_config& config, hosted_setup_ptr setup);

  using super::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* from) override;
  void launch(caf::execution_unit* from, bool lazy, bool hide) override;

protected:
  behavior_type make_behavior() override;

private:
  caf::execution_unit* unit_;
  hosted_setup_ptr setup_;
};

} // namespace moxzi::actors
