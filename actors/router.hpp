#pragma once

#include <map>
#include <memory>
#include <string>

#include <spdlog/spdlog.h>

#include "actors/messages.hpp"
#include "actors/route_table.hpp"

namespace moxzi::actors {

/// The state of the ROUTER: names and principals to handles.
class router_state {
public:
  using self_pointer = router_actor::stateful_pointer<router_state>;

  static inline const char* name = "router"; ///< for logs

  explicit router_state(self_pointer self) : self_(self) {
    // nop
  }

  /// `management` takes the calls to `aaaaa-aa`.
  router_actor::behavior_type make_behavior(callee_actor management,
                                            std::shared_ptr<spdlog::logger> log,
                                            std::shared_ptr<route_table> table = nullptr);

private:
  // -- verbs
  void route(net::http_call_ptr call);
  void route(deliver_request& what);
  void add(const hosted_entry& entry);
  void forget(const principal& id);

  const hosted_entry* find(const std::string& name_or_id) const;

  self_pointer self_;
  callee_actor management_;
  std::shared_ptr<route_table> table_; ///< kept up to date; may be null
  std::map<principal, hosted_entry> entries_;
  std::map<std::string, principal> ids_; ///< by name
};

/// The router, knowing nobody yet.
router_actor::behavior_type router(router_state::self_pointer self, callee_actor management,
                                   std::shared_ptr<spdlog::logger> log);

/// The same, which keeps `table` up to date.
router_actor::behavior_type published_router(router_state::self_pointer self,
                                             callee_actor management,
                                             std::shared_ptr<spdlog::logger> log,
                                             std::shared_ptr<route_table> table);

} // namespace moxzi::actors
