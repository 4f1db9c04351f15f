#pragma once

#include <functional>

#include <caf/all.hpp>

#include "actors/wasm/wasm_pool.hpp"

namespace moxzi::actors {

/// Runs actors on the threads of a wasm pool. A hosted actor and its code so share a thread, and a
/// call goes from the one to the other and back without waking anybody; whatever it sends a message
/// to, and is idle, runs there too. Thread-safe.
class pool_unit final : public caf::execution_unit {
public:
  /// `system` need not be made yet; its actors may use the unit until it is gone.
  pool_unit(caf::actor_system& system, pool_handle pool);

  /// Runs `what` on the pool soon; on CAF's scheduler if the pool has stopped.
  void exec_later(caf::resumable* what) override;

  /// The same for actors whose turns are brief, as those of hosted actors are: a guest of the pool
  /// that sends to one runs it as well. What these send to runs on the pool's own threads.
  caf::execution_unit* for_brief_turns() noexcept {
    return &brief_;
  }

  /// Calls `what` on the pool soon; at once if the pool has stopped.
  void call_later(std::function<void()> what);

private:
  class brief_unit final : public caf::execution_unit {
  public:
    brief_unit(caf::actor_system& system, pool_unit& all) : execution_unit(&system), all_(all) {
      // nop
    }
    void exec_later(caf::resumable* what) override;

  private:
    pool_unit& all_;
  };

  void schedule(caf::resumable* what, bool is_brief);
  static void run(void* unit, void* what);

  pool_handle pool_;
  brief_unit brief_;
};

} // namespace moxzi::actors
