#pragma once

#include <map>
#include <memory>
#include <optional>

#include <spdlog/spdlog.h>

#include "actors/canister_actor.hpp"
#include "actors/messages.hpp"

namespace moxzi::actors {

/// What the supervisor works with.
struct supervisor_setup {
  router_actor router;
  management_actor management;
  node_services services;   ///< of the actors that it makes
  core_settings settings;   ///< of the actors that it makes, but for `self`
  bool charging = false;    ///< of new actors
  price_table prices;       ///< of new actors
  uint16_t node = 0;        ///< in the principals of actors made at run time
  uint64_t made_actors = 0; ///< how many have been made before
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
  void create(create_actor& what);
  void manage(manage_actor& what);
  void forget(const principal& id);
  actor_list list() const;
  caf::result<all_stopped> stop();
  void interrupt();
  void note_end(const caf::down_msg& down);
  void finish_if_done();

  self_pointer self_;
  supervisor_setup setup_;
  std::map<principal, hosted_entry> actors_;         ///< those that can be reached
  std::map<caf::actor_addr, hosted_entry> children_; ///< those that have not ended
  std::optional<caf::typed_response_promise<all_stopped>> stopping_;
  uint32_t interrupted_ = 0;
};

/// The supervisor, with nobody to watch yet.
supervisor_actor::behavior_type supervisor(supervisor_state::self_pointer self,
                                           supervisor_setup setup);

} // namespace moxzi::actors
