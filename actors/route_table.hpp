#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "actors/messages.hpp"
#include "actors/pool_unit.hpp"

namespace moxzi::actors {

/// Who can be reached under which name, for threads that would rather not ask the router: it keeps
/// this up to date. Thread-safe.
class route_table {
public:
  void put(const hosted_entry& entry);
  void drop(const hosted_entry& entry);
  /// The actor of this name or principal's text; null if there is none.
  hosted_actor find(const std::string& name_or_id) const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, hosted_actor> actors_;
};

/// The handler that hands each call of an HTTP server to its actor, and to the router those that
/// have none. The router runs on `unit` then, if it is idle; large calls go through a thread of its
/// pool, since to read them takes a while.
std::function<void(net::http_call_ptr)> calls_to(std::shared_ptr<const route_table> table,
                                                 router_actor router, pool_unit* unit);

} // namespace moxzi::actors
