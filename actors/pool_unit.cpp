#include "actors/pool_unit.hpp"

#include <memory>
#include <utility>

namespace moxzi::actors {

namespace {

// What an actor may take in before it goes to the end of the queue; CAF's workers do the same.
constexpr size_t messages_in_turn_max = 64;

} // namespace

pool_unit::pool_unit(caf::actor_system& system, pool_handle pool)
    : execution_unit(&system), pool_(std::move(pool)), brief_(system, *this) {
  // nop
}

void pool_unit::exec_later(caf::resumable* what) {
  schedule(what, false);
}

void pool_unit::brief_unit::exec_later(caf::resumable* what) {
  all_.schedule(what, true);
}

void pool_unit::schedule(caf::resumable* what, bool is_brief) {
  if (!pool_.post({&pool_unit::run, this, what, is_brief})) system().scheduler().enqueue(what);
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

void pool_unit::call_later(std::function<void()> what) {
  auto held = std::make_unique<std::function<void()>>(std::move(what));
  const auto run = [](void*, void* kept) {
    const std::unique_ptr<std::function<void()>> owned{static_cast<std::function<void()>*>(kept)};
    (*owned)();
  };
  if (pool_.post({run, nullptr, held.get()})) {
    static_cast<void>(held.release());
  } else {
    (*held)();
  }
}

} // namespace moxzi::actors
