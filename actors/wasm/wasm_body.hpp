#pragma once

#include <cstdint>
#include <memory>

#include "actors/body.hpp"
#include "actors/wasm/wasm_pool.hpp"
#include "base/limits.hpp"

namespace moxzi::actors {

/// Who an actor is and how much it may hold.
struct wasm_body_options {
  principal self;
  uint64_t heap_bytes_max = limits::heap_bytes_max;
  uint64_t stable_bytes_max = limits::stable_bytes_max;
};

/// Makes the body of an actor that runs wasm modules (`wasm_code`) on the pool's threads. It has no
/// code, and takes no memory, until its first execution.
///
/// When the body is destroyed, or the pool, an execution in progress is given up: it leaves nothing
/// and its `done` is not called.
std::unique_ptr<actor_body> make_wasm_body(pool_handle pool, wasm_body_options options);

} // namespace moxzi::actors
