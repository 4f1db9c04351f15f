#pragma once

#include <memory>

#include <caf/all.hpp>
#include <spdlog/spdlog.h>

namespace moxzi::actors {

/// Sets the handlers that keep an actor alive: CAF's defaults end it when a message of its own was
/// not understood, when somebody it watches ends, or when it gets a message it does not know.
/// Every actor calls this first. An exit message still ends the actor.
template <class Self>
void harden(Self* self, std::shared_ptr<spdlog::logger> log) {
  self->set_error_handler([log](auto* me, caf::error& why) {
    log->error("actor_error actor={} id={} reason=\"{}\"", me->name(), me->id(),
               me->system().render(why));
  });
  self->set_down_handler([log](auto* me, caf::down_msg& down) {
    log->warn("unexpected_down actor={} id={} of={}", me->name(), me->id(), down.source.id());
  });
  self->set_default_handler([log](auto* me, caf::message_view&) -> caf::result<caf::message> {
    log->warn("unexpected_message actor={} id={}", me->name(), me->id());
    return caf::sec::unexpected_message;
  });
}

} // namespace moxzi::actors
