#pragma once

#include <cstdint>
#include <memory>

#include "actors/body.hpp"
#include "actors/wasm/dirty_pages.hpp"
#include "actors/wasm/engine.hpp"
#include "actors/wasm/wasm_pool.hpp"
#include "base/limits.hpp"
#include "base/result.hpp"

namespace moxzi::actors {

/// Who an actor is and how much it may hold.
struct wasm_body_options {
  principal self;
  uint64_t heap_bytes_max = limits::heap_bytes_max;
  uint64_t stable_bytes_max = limits::stable_bytes_max;
};

/// Makes the body of an actor that runs `module` on the pool's threads. Nothing of the module runs
/// before its first execution, which is an `init`. `has_query` is false for composite queries.
///
/// When the body is destroyed, or the pool, an execution in progress is given up: it leaves nothing
/// and its `done` is not called.
result<std::unique_ptr<actor_body>> make_wasm_body(std::shared_ptr<const compiled_module> module,
                                                   const wasm_pool& pool,
                                                   wasm_body_options options);

} // namespace moxzi::actors
