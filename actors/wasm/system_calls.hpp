#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace moxzi::actors {

class call_frame;

/// Where in an actor's life wasm code runs: the context letters of the Internet Computer's system
/// API, as bits, so that a system call can say from where it may be called.
using context_set = uint32_t;
namespace context {
inline constexpr context_set start = 1u << 0;              // s
inline constexpr context_set init = 1u << 1;               // I
inline constexpr context_set pre_upgrade = 1u << 2;        // G
inline constexpr context_set update = 1u << 3;             // U
inline constexpr context_set replicated_query = 1u << 4;   // RQ
inline constexpr context_set query = 1u << 5;              // NRQ
inline constexpr context_set transform = 1u << 6;          // TQ
inline constexpr context_set composite_query = 1u << 7;    // CQ
inline constexpr context_set reply_callback = 1u << 8;     // Ry
inline constexpr context_set reject_callback = 1u << 9;    // Rt
inline constexpr context_set composite_reply = 1u << 10;   // CRy
inline constexpr context_set composite_reject = 1u << 11;  // CRt
inline constexpr context_set cleanup = 1u << 12;           // C
inline constexpr context_set composite_cleanup = 1u << 13; // CC
inline constexpr context_set inspect = 1u << 14;           // F
inline constexpr context_set system_task = 1u << 15;       // T
inline constexpr context_set all = (1u << 16) - 1;
inline constexpr context_set not_start = all & ~start;
} // namespace context

/// A context's letters, in the order of their bits.
inline constexpr std::string_view context_letters[] = {
  "s", "I", "G", "U", "RQ", "NRQ", "TQ", "CQ", "Ry", "Rt", "CRy", "CRt", "C", "CC", "F", "T"};

/// One row of the table: everything about a system call.
struct system_call {
  std::string_view name;
  /// One letter a parameter: I = a word (i32 or i64 after the memory's width), i = i32, l = i64.
  std::string_view parameters;
  /// The same letters; empty for none.
  std::string_view results;
  context_set contexts;
  void (*run)(call_frame&);
  /// True if it moves as many bytes as its caller likes: they count as instructions, and the
  /// execution may give way after it. Such a call has no result.
  bool is_bulk = false;
  /// True if only modules whose memory is not 64-bit can import it.
  bool is_narrow = false;
};

/// The calls of one source file each.
std::span<const system_call> message_calls() noexcept;
std::span<const system_call> outgoing_calls() noexcept;
std::span<const system_call> cycle_calls() noexcept;
std::span<const system_call> actor_calls() noexcept;
std::span<const system_call> stable_calls() noexcept;

/// All system calls of the host, sorted by name.
std::span<const system_call> system_calls() noexcept;

/// The row of that name, or null.
const system_call* find_system_call(std::string_view name) noexcept;

} // namespace moxzi::actors
