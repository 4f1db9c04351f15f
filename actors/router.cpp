#include "actors/router.hpp"

#include <utility>
#include <vector>

#include "actors/harden.hpp"
#include "actors/http_status.hpp"
#include "base/nearest.hpp"

namespace moxzi::actors {

router_actor::behavior_type router_state::make_behavior(callee_actor management,
                                                        std::shared_ptr<spdlog::logger> log,
                                                        std::shared_ptr<route_table> table) {
  harden(self_, std::move(log));
  management_ = std::move(management);
  table_ = std::move(table);
  return {
    [this](net::http_call_ptr& call) { route(std::move(call)); },
    [this](deliver_request& what) { route(what); },
    [this](const hosted_entry& entry) { add(entry); },
    [this](const principal& id) { forget(id); },
    [this](stop_atom) { self_->quit(); },
  };
}

void router_state::route(net::http_call_ptr call) {
  if (const auto* entry = find(call->actor)) {
    self_->send(entry->handle, std::move(call));
    return;
  }
  std::vector<std::string_view> names;
  for (const auto& [name, _] : ids_) names.emplace_back(name);
  const auto why = rejected(
    reject_code::destination_invalid, "MX301",
    fmt::format("no actor '{}' is hosted here{}", call->actor, did_you_mean(call->actor, names)));
  call->sink->answer(http_refusal(why));
}

void router_state::route(deliver_request& what) {
  if (what.callee.is_management()) {
    self_->send(management_, std::move(what));
    return;
  }
  const auto at = entries_.find(what.callee);
  if (at != entries_.end()) {
    self_->send(caf::actor_cast<callee_actor>(at->second.handle), std::move(what));
    return;
  }
  call_response response;
  response.identity = what.request.identity;
  response.answer = rejected(reject_code::destination_invalid, "MX301",
                             fmt::format("Canister {} is not hosted here", what.callee.to_text()));
  response.refunded = what.request.attached;
  self_->send(what.reply_to, std::move(response));
}

void router_state::add(const hosted_entry& entry) {
  if (!entry.name.empty()) ids_.insert_or_assign(entry.name, entry.id);
  entries_.insert_or_assign(entry.id, entry);
  if (table_) table_->put(entry);
}

void router_state::forget(const principal& id) {
  const auto at = entries_.find(id);
  if (at == entries_.end()) return;
  if (table_) table_->drop(at->second);
  ids_.erase(at->second.name);
  self_->send(at->second.handle, stop_atom::value);
  entries_.erase(at);
}

const hosted_entry* router_state::find(const std::string& name_or_id) const {
  auto at = entries_.end();
  if (const auto id = ids_.find(name_or_id); id != ids_.end()) {
    at = entries_.find(id->second);
  } else if (const auto parsed = principal::from_text(name_or_id)) {
    at = entries_.find(*parsed);
  }
  return at == entries_.end() ? nullptr : &at->second;
}

router_actor::behavior_type router(router_state::self_pointer self, callee_actor management,
                                   std::shared_ptr<spdlog::logger> log) {
  return self->state.make_behavior(std::move(management), std::move(log));
}

router_actor::behavior_type published_router(router_state::self_pointer self,
                                             callee_actor management,
                                             std::shared_ptr<spdlog::logger> log,
                                             std::shared_ptr<route_table> table) {
  return self->state.make_behavior(std::move(management), std::move(log), std::move(table));
}

} // namespace moxzi::actors
