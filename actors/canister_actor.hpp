#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <spdlog/spdlog.h>

#include "actors/alarm_clock.hpp"
#include "actors/canister_core.hpp"
#include "actors/json_interface.hpp"
#include "actors/messages.hpp"
#include "base/clock.hpp"
#include "persist/journal.hpp"

namespace moxzi::actors {

/// What one hosted actor is made of. Journal, clock, alarms and unit outlive the actor.
struct hosted_setup {
  std::string name;
  core_settings settings;
  std::unique_ptr<actor_body> body;
  byte_string install_argument = byte_string{"DIDL\0\0", 6};
  std::shared_ptr<const json_interface> json; ///< none: JSON calls are refused
  callee_actor calls;                         ///< takes the calls to other actors
  callee_actor management;                    ///< takes the calls to `aaaaa-aa`
  persist::journal* journal = nullptr;
  const clock* time = nullptr;
  alarm_clock* alarms = nullptr;
  caf::execution_unit* unit = nullptr; ///< where it runs; none: on CAF's scheduler
  std::shared_ptr<spdlog::logger> log;
};

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
  using origin = std::variant<outside_call, caller_actor>;
  /// An answer that leaves the node.
  struct outside_answer {
    net::http_call_ptr call;
    net::http_answer answer;
  };

  // -- verbs
  void deliver(deliver_request& what);
  void call(const net::http_call_ptr& what);
  caf::result<install_report> install(install_code& what);
  void feed(core_input input);
  void wake();
  void stop();

  void act(core_effects effects);
  void answer(std::vector<call_response> answers, std::optional<persist::record> record);
  /// Replaces a reply that its receiver should not be shown.
  void guard_caller(call_response& what) const;
  /// A call of the actor to itself.
  bool is_own(const call_identity& call) const;
  void send_calls(std::vector<issued_call> calls);
  void execute(start_execution what);
  void set_alarm();
  void report_installation();
  net::http_answer to_http(const net::http_call& call, const call_answer& answer) const;

  self_pointer self_;
  hosted_setup_ptr setup_;
  std::optional<canister_core> core_;
  std::map<call_identity, origin> origins_;
  uint64_t outside_calls_ = 0;
  std::optional<uint64_t> alarm_ns_;
  std::optional<caf::typed_response_promise<install_report>> installing_;
  bool stopping_ = false;
};

/// A hosted actor, ready for `install_code`. Runs on the unit of its setup, whoever sends to it.
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
