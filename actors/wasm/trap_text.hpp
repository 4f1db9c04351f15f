#pragma once

#include "actors/body.hpp"
#include "actors/wasm/execution_state.hpp"
#include "actors/wasm/wasmtime_handles.hpp"

namespace moxzi::actors {

/// Why an execution ended early, for its caller: the cause, then the function it happened in.
/// Exactly one of the two is given.
trap explain(const wasm_trap_t* why, const wasmtime_error_t* error, const execution_state& state);

/// True if `why` is an exhausted call stack.
bool is_stack_overflow(const wasm_trap_t* why);

/// The name a person knows a function by, from the module's name section; empty for those of the
/// language's run-time system.
std::string source_name(std::string_view function);

} // namespace moxzi::actors
