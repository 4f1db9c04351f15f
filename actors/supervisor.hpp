#pragma once

#include <map>
#include <memory>
#include <optional>

#include <spdlog/spdlog.h>

#include "actors/alarm_clock.hpp"
#include "actors/messages.hpp"
#include "base/clock.hpp"

namespace moxzi::actors {

/// What the supervisor works with. Clock and alarms outlive it.
struct supervisor_setup {
  router_actor router;
  management_actor management;
  const clock* time = nullptr;
  alarm_clock* alarms = nullptr;
  std::shared_ptr<spdlog::logger> log;
};

/// The state of the SUPERVISOR.
class supervisor_state {
public:
  using self_pointer = supervisor_actor::stateful_pointer<supervisor_state>;

  static inline const char* name = "supervisor"; ///< for logs

  explicit supervisor_state(self_pointer self) : self_(self) {
    // nop
  }
  ~supervisor_state();

  supervisor_actor::behavior_type make_behavior(supervisor_setup setup);

private:
  // -- verbs
  caf::result<install_report> start(const start_actor& what);
  caf::result<all_stopped> stop();
  void interrupt();
  void note_end(const caf::down_msg& down);
  void finish_if_done();

  self_pointer self_;
  supervisor_setup setup_;
  std::map<caf::actor_addr, hosted_entry> children_;
  std::optional<caf::typed_response_promise<all_stopped>> stopping_;
  uint32_t interrupted_ = 0;
};

/// The supervisor, with nobody to watch yet.
supervisor_actor::behavior_type supervisor(supervisor_state::self_pointer self,
                                           supervisor_setup setup);

} // namespace moxzi::actors
