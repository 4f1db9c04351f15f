#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "actors/wasm/execution_state.hpp"
#include "actors/wasm/system_calls.hpp"

namespace moxzi::actors {

/// At most `max` bytes of `text`, cut between two code points.
byte_view cut_text(byte_view text, size_t max) noexcept;

/// An amount of cycles from its two halves.
constexpr cycles from_halves(uint64_t high, uint64_t low) noexcept {
  return {(static_cast<uint128>(high) << 64) | low};
}

/// One system call in progress: its arguments, its result, and checked access to the heap.
class call_frame {
public:
  /// `slots` are the engine's raw values, two words each; results go where the arguments were.
  call_frame(const system_call& which, execution_state& running, uint64_t* slots) noexcept
      : row(which), state(running), slots_(slots) {
    // nop
  }

  const system_call& row;
  execution_state& state;

  /// Argument `n`, at the memory's width.
  uint64_t word(size_t n) const noexcept {
    return state.memory64 ? slots_[2 * n] : static_cast<uint32_t>(slots_[2 * n]);
  }
  uint32_t i32(size_t n) const noexcept {
    return static_cast<uint32_t>(slots_[2 * n]);
  }
  uint64_t i64(size_t n) const noexcept {
    return slots_[2 * n];
  }
  /// The result: any of the three widths.
  void give(uint64_t value) noexcept {
    slots_[0] = value;
  }

  /// Ends the execution. The first failure counts.
  void fail(std::string_view error_code, std::string message);
  /// A call against the contract (MX504): `<name>: <what>`.
  void violation(std::string_view what);
  bool failed() const noexcept {
    return state.failure.has_value();
  }

  /// Counts `bytes` as instructions; false, and the limit is exceeded, if there are not that many
  /// left.
  bool charge(uint64_t bytes);

  /// The heap's bytes at the two word arguments from `n` on (address, size); a violation if they
  /// are not all inside. A bulk call is charged for them.
  std::optional<byte_view> bytes(size_t n);
  /// Copies `bytes`, or a part of it, to the heap: word arguments destination, offset, size from
  /// `n` on; a violation if either range is not inside.
  /// A bulk call is charged for them.
  void copy_out(byte_view bytes, size_t n = 0);
  /// Writes 16 bytes, little-endian, to the address in word argument `n`.
  void put128(cycles value, size_t n);
  /// [address, address + size) of the heap, or null and a violation.
  char* range(uint64_t address, uint64_t size);

private:
  uint64_t* slots_;
};

} // namespace moxzi::actors
