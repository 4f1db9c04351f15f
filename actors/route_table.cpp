#include "actors/route_table.hpp"

#include <utility>

namespace moxzi::actors {

namespace {

// So much is read in some 100 us.
constexpr size_t brief_call_bytes_max = 16u << 10;

} // namespace

void route_table::put(const hosted_entry& entry) {
  const std::lock_guard lock{mutex_};
  if (!entry.name.empty()) actors_.insert_or_assign(entry.name, entry.handle);
  actors_.insert_or_assign(entry.id.to_text(), entry.handle);
}

void route_table::drop(const hosted_entry& entry) {
  const std::lock_guard lock{mutex_};
  for (const auto& key : {entry.name, entry.id.to_text()}) {
    const auto at = actors_.find(key);
    if (at != actors_.end() && at->second == entry.handle) actors_.erase(at);
  }
}

hosted_actor route_table::find(const std::string& name_or_id) const {
  const std::lock_guard lock{mutex_};
  const auto at = actors_.find(name_or_id);
  return at == actors_.end() ? hosted_actor{} : at->second;
}

std::function<void(net::http_call_ptr)> calls_to(std::shared_ptr<const route_table> table,
                                                 router_actor router, pool_unit* unit) {
  return [table = std::move(table), to_router = net::send_to(std::move(router), unit),
          unit](net::http_call_ptr call) {
    const auto target = table->find(call->actor);
    if (!target) return to_router(std::move(call));
    if (call->body.size() <= brief_call_bytes_max) {
      target->eq_impl(caf::make_message_id(), nullptr, unit, std::move(call));
      return;
    }
    unit->call_later([target, unit, call = std::move(call)]() mutable {
      target->eq_impl(caf::make_message_id(), nullptr, unit, std::move(call));
    });
  };
}

} // namespace moxzi::actors
