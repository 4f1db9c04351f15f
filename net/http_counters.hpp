#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace moxzi::net {

/// What a server has done since its start, and holds now: for `/metrics` and `/status`.
struct http_numbers {
  uint64_t requests = 0;                ///< whose header was understood
  std::array<uint64_t, 6> answers = {}; ///< by the first digit of the status
  uint64_t connections_accepted = 0;
  uint64_t connections_refused = 0; ///< of these
  uint64_t connections_open = 0;
  uint64_t calls_kept = 0; ///< whose answers can be asked for
};

/// The same while it is counted. Thread-safe.
struct http_counters {
  std::atomic<uint64_t> requests{0};
  std::array<std::atomic<uint64_t>, 6> answers = {};
  std::atomic<uint64_t> connections_accepted{0};
  std::atomic<uint64_t> connections_refused{0};
  std::atomic<uint64_t> calls_kept{0};

  void count(uint16_t status) noexcept {
    const size_t kind = status / 100;
    if (kind < answers.size()) answers[kind].fetch_add(1, std::memory_order_relaxed);
  }
};

} // namespace moxzi::net
