#pragma once

#include <cstddef>
#include <cstdint>

/// The limits of hosted actors that nothing below `actors` needs, with their reasons; the others
/// are in `base/limits.hpp`.
namespace moxzi::limits {

/// A composite query and the queries that it calls: how deep, and how long they may take together.
/// Updates of its actor wait for it.
inline constexpr size_t query_depth_max = 6;
inline constexpr uint64_t query_time_ns_max = 10'000'000'000;

/// How long the answer to `stop_canister` may take; the actor goes on stopping after that.
inline constexpr uint64_t stop_timeout_ns = 300'000'000'000;
/// An actor that could not pay for a timer or a heartbeat tries again after this.
inline constexpr uint64_t task_retry_ns = 1'000'000'000;
/// Changes that may wait for one actor.
inline constexpr size_t changes_waiting_max = 500;

/// What an actor may be set to: controllers, viewers of its log, status or snapshots, environment
/// variables and their bytes (names and values each), and bytes of memory.
inline constexpr size_t controllers_max = 10;
inline constexpr size_t viewers_max = 10;
inline constexpr size_t environment_max = 20;
inline constexpr size_t environment_bytes_max = 128;
inline constexpr uint64_t memory_setting_max = 1ull << 48;

/// What is kept of an actor: lines of its log (bytes: unless it is set, and what it can be set to),
/// changes, snapshots.
inline constexpr uint64_t actor_log_bytes_default = 64u << 10;
inline constexpr uint64_t actor_log_bytes_min = 4u << 10;
inline constexpr uint64_t actor_log_bytes_max = 2u << 20;
inline constexpr size_t history_max = 20;
inline constexpr size_t snapshots_max = 10;

} // namespace moxzi::limits
