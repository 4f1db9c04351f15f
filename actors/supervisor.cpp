#include "actors/supervisor.hpp"

#include <utility>

#include "actors/harden.hpp"
#include "base/limits.hpp"

namespace moxzi::actors {

supervisor_state::~supervisor_state() {
  if (setup_.services.alarms) setup_.services.alarms->cancel(self_->id());
}

supervisor_actor::behavior_type supervisor_state::make_behavior(supervisor_setup setup) {
  setup_ = std::move(setup);
  harden(self_, setup_.services.log);
  self_->set_down_handler([this](const caf::down_msg& down) { note_end(down); });
  self_->send(setup_.management, meet_supervisor{supervisor_actor{self_}});
  return {
    [this](create_actor& what) { create(what); }, [this](manage_actor& what) { manage(what); },
    [this](const principal& id) { forget(id); },  [this](list_atom) { return list(); },
    [this](stop_atom) { return stop(); },         [this](wake_atom) { interrupt(); },
  };
}

void supervisor_state::create(create_actor& what) {
  principal id;
  const auto refuse = [&](const char* code, std::string text) {
    const auto number = static_cast<reject_code>(code[2] - '0');
    if (!what.reply_to) return;
    self_->send(what.reply_to, managed{what.token, id, rejected(number, code, std::move(text))});
  };
  if (stopping_) return refuse("MX509", "the node is stopping");
  if (auto fault = lifecycle::fault_of(what.settings); !fault.empty()) {
    return refuse("MX408", "the settings of a new canister: " + fault);
  }
  if (what.id) {
    id = *what.id;
  } else if (!what.name.empty()) {
    id = principal::of_actor(what.name);
  } else {
    do id = principal::of_made_actor(setup_.node, setup_.made_actors++);
    while (actors_.contains(id));
  }
  if (actors_.contains(id)) {
    return refuse("MX205", fmt::format("canister {} is there already", id.to_text()));
  }
  auto setup = std::make_shared<hosted_setup>();
  setup->name = what.name.empty() ? id.to_text() : what.name;
  setup->settings = setup_.settings;
  setup->settings.self = id;
  setup->settings.has_heartbeat = what.habits.heartbeat;
  setup->settings.has_timers = what.habits.timers;
  setup->habits = what.habits;
  auto& created = setup->created;
  if (what.sender) created.settings.controllers = {*what.sender};
  lifecycle::apply(what.settings, created.settings);
  created.balance = what.balance;
  created.charging = setup_.charging;
  created.prices = setup_.prices;
  created.origin = what.sender.value_or(principal::anonymous());
  created.origin_version = what.sender_version;
  setup->services = setup_.services;
  setup->supervisor = supervisor_actor{self_};
  hosted_entry entry{what.name, id, {}};
  entry.handle = self_->spawn<canister_actor>(std::move(setup));
  self_->monitor(entry.handle);
  children_.emplace(entry.handle.address(), entry);
  actors_.emplace(id, entry);
  self_->send(setup_.router, entry);
  if (what.reply_to) self_->send(what.reply_to, managed{what.token, id, lifecycle::done{}});
}

void supervisor_state::manage(manage_actor& what) {
  const auto at = actors_.find(what.target);
  if (at != actors_.end()) return self_->send(at->second.handle, std::move(what));
  if (!what.reply_to) return;
  self_->send(what.reply_to, managed{what.token, what.target,
                                     rejected(reject_code::destination_invalid, "MX301",
                                              fmt::format("Canister {} is not hosted here",
                                                          what.target.to_text()))});
}

// The router has passed on what came before, and stops the actor behind it.
void supervisor_state::forget(const principal& id) {
  if (actors_.erase(id) > 0) self_->send(setup_.router, id);
}

actor_list supervisor_state::list() const {
  actor_list all;
  for (const auto& [id, entry] : actors_) all.entries.emplace_back(entry.name, id);
  return all;
}

caf::result<all_stopped> supervisor_state::stop() {
  stopping_ = self_->make_response_promise<all_stopped>();
  auto promise = *stopping_;
  for (const auto& [_, child] : children_) self_->send(child.handle, stop_atom::value);
  const auto at_ns = setup_.services.time->unix_ns() + limits::stop_grace_ms * uint64_t{1'000'000};
  setup_.services.alarms->set(self_->id(), at_ns, [self = supervisor_actor{self_}] {
    caf::anon_send(self, wake_atom::value);
  });
  finish_if_done();
  return promise;
}

void supervisor_state::interrupt() {
  for (const auto& [_, child] : children_) {
    setup_.services.log->warn("actor_interrupted actor={}", child.name);
    ++interrupted_;
    caf::anon_send_exit(child.handle, caf::exit_reason::kill);
  }
}

void supervisor_state::note_end(const caf::down_msg& down) {
  const auto at = children_.find(down.source);
  if (at == children_.end()) return;
  const auto& id = at->second.id;
  const auto known = actors_.find(id);
  // A deleted actor is unknown by now, or another one has its principal.
  const bool is_known = known != actors_.end() && known->second.handle == at->second.handle;
  if (!stopping_ && is_known) {
    setup_.services.log->error("actor_died actor={} reason=\"{}\"", id.to_text(),
                               self_->system().render(down.reason));
    // While stopping the router keeps its names: a call that comes is not for an unknown actor.
    forget(principal{id});
  }
  children_.erase(at);
  finish_if_done();
}

void supervisor_state::finish_if_done() {
  if (!stopping_ || !children_.empty()) return;
  self_->send(setup_.router, stop_atom::value);
  self_->send(setup_.management, stop_atom::value);
  stopping_->deliver(all_stopped{interrupted_});
  stopping_.reset();
  self_->quit();
}

supervisor_actor::behavior_type supervisor(supervisor_state::self_pointer self,
                                           supervisor_setup setup) {
  return self->state.make_behavior(std::move(setup));
}

} // namespace moxzi::actors
