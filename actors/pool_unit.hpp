#pragma once

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

private:
  static void run(void* unit, void* what);

  pool_handle pool_;
};

} // namespace moxzi::actors
