#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "actors/body.hpp"
#include "actors/wasm/memory_image.hpp"
#include "actors/wasm/stable_memory.hpp"
#include "actors/wasm/system_calls.hpp"

namespace moxzi::actors {

/// What system calls see and change during one execution. Lives as long as the instance; `begin`
/// makes it ready for the next execution.
class execution_state {
public:
  explicit execution_state(principal self_id) : self(std::move(self_id)) {
    // nop
  }

  void begin(execution_input next, may_call_function may_call_next);
  /// Gives the output, and lets go of what the execution held: an actor may be idle for long.
  execution_output end();

  /// The context letter of an entry (the start function runs before it, in a context of its own).
  static context_set context_of(const execution_input& input) noexcept;

  /// The actor that is running.
  const principal self;
  /// Of the code that runs now; an upgrade runs two.
  bool memory64 = false;
  memory_image* heap = nullptr;
  stable_memory* stable = nullptr;

  execution_input input;
  execution_output output;
  may_call_function may_call;
  context_set now = context::init;

  /// The reply under construction, and whether the call has been answered by this execution.
  byte_string reply;
  /// The call under construction.
  std::optional<outgoing_call> call;
  /// Cycles the actor holds now.
  cycles balance;
  /// Cycles attached to the call being answered, not yet accepted.
  cycles available;
  uint64_t global_timer_ns = 0;
  size_t debug_bytes = 0;
  /// Why the system call that is running ends the execution.
  std::optional<trap> failure;

  /// True if `msg_reply` or `msg_reject` may still be called.
  bool can_answer() const noexcept {
    return input.can_answer && !output.answer;
  }

  /// Fuel left; set by the instance.
  std::function<uint64_t()> fuel_left;
  /// Instructions for work that wasm's own do not show: bytes moved by system calls.
  uint64_t charged = 0;
  /// Those of the slice in progress, and how many it may have.
  uint64_t since_yield = 0;
  uint64_t slice_instructions = 0;
  /// Bytes of the calls made.
  size_t call_bytes = 0;

  /// Fuel that was given to the instance that runs, and what instances before it took.
  uint64_t fuel_given = 0;
  uint64_t fuel_spent = 0;

  /// Instructions of the execution so far.
  uint64_t instructions() const {
    return fuel_spent + (fuel_left ? fuel_given - fuel_left() : 0) + charged;
  }
  /// What a call costs whose name and argument have so many bytes.
  call_price price_of_call(uint64_t bytes) const;
  /// Says that the execution took more instructions than it may.
  std::string limit_text() const;
};

} // namespace moxzi::actors
