#include "actors/pool_unit.hpp"

#include <utility>

namespace moxzi::actors {

namespace {

// What an actor may take in before it goes to the end of the queue; CAF's workers do the same.
constexpr size_t messages_in_turn_max = 64;

} // namespace

pool_unit::pool_unit(caf::actor_system& system, pool_handle pool)
    : execution_unit(&system), pool_(std::move(pool)) {
  // nop
}

void pool_unit::exec_later(caf::resumable* what) {
  if (!pool_.post({&pool_unit::run, this, what})) system().scheduler().enqueue(what);
}

// Whoever is scheduled is held by one reference, which goes back when it has nothing more to do.
void pool_unit::run(void* unit, void* what) {
  auto* self = static_cast<pool_unit*>(unit);
  auto* scheduled = static_cast<caf::resumable*>(what);
  if (scheduled->resume(self, messages_in_turn_max) == caf::resumable::resume_later) {
    self->exec_later(scheduled);
  } else {
    caf::intrusive_ptr_release(scheduled);
  }
}

} // namespace moxzi::actors
