#include "actors/supervisor.hpp"

#include <utility>

#include "actors/canister_actor.hpp"
#include "actors/harden.hpp"
#include "base/limits.hpp"

namespace moxzi::actors {

supervisor_state::~supervisor_state() {
  if (setup_.alarms) setup_.alarms->cancel(self_->id());
}

supervisor_actor::behavior_type supervisor_state::make_behavior(supervisor_setup setup) {
  setup_ = std::move(setup);
  harden(self_, setup_.log);
  self_->set_down_handler([this](const caf::down_msg& down) { note_end(down); });
  return {
    [this](const start_actor& what) { return start(what); },
    [this](stop_atom) { return stop(); },
    [this](wake_atom) { interrupt(); },
  };
}

caf::result<install_report> supervisor_state::start(const start_actor& what) {
  const auto& setup = *what.setup;
  hosted_entry entry{setup.name, setup.settings.self, {}};
  install_code install{setup.install_argument};
  entry.handle = self_->spawn<canister_actor>(what.setup);
  self_->monitor(entry.handle);
  children_.emplace(entry.handle.address(), entry);
  self_->send(setup_.router, entry);
  return self_->delegate(entry.handle, std::move(install));
}

caf::result<all_stopped> supervisor_state::stop() {
  stopping_ = self_->make_response_promise<all_stopped>();
  auto promise = *stopping_;
  for (const auto& [_, child] : children_) self_->send(child.handle, stop_atom::value);
  const auto at_ns = setup_.time->unix_ns() + limits::stop_grace_ms * uint64_t{1'000'000};
  setup_.alarms->set(self_->id(), at_ns,
                     [self = supervisor_actor{self_}] { caf::anon_send(self, wake_atom::value); });
  finish_if_done();
  return promise;
}

void supervisor_state::interrupt() {
  for (const auto& [_, child] : children_) {
    setup_.log->warn("actor_interrupted actor={}", child.name);
    ++interrupted_;
    caf::anon_send_exit(child.handle, caf::exit_reason::kill);
  }
}

void supervisor_state::note_end(const caf::down_msg& down) {
  const auto at = children_.find(down.source);
  if (at == children_.end()) return;
  if (!stopping_) {
    setup_.log->error("actor_died actor={} reason=\"{}\"", at->second.name,
                      self_->system().render(down.reason));
  }
  // While stopping the router keeps its names: a call that still comes is not for an unknown actor.
  if (!stopping_) self_->send(setup_.router, at->second.id);
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
