#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace moxzi::actors {

/// SIGTERM, SIGINT and SIGHUP, taken by a thread of its own. The first of the former two asks for a
/// clean stop; if the process has not ended `budget_ms` later, or at a second signal, it ends at
/// once. SIGHUP asks for the manifest to be read again.
///
/// Made before any other thread, since it blocks the signals in all threads that come after.
class stop_signals {
public:
  explicit stop_signals(uint32_t budget_ms);
  ~stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;

  /// True once a stop was asked for.
  bool asked() const noexcept {
    return asked_;
  }
  /// Waits until a stop or a reload is asked for, at most `limit_ms`. True if a stop was.
  bool wait(uint32_t limit_ms);
  /// True once after each SIGHUP (several at once count as one).
  bool take_reload() noexcept {
    return reload_.exchange(false);
  }

private:
  void run();

  uint32_t budget_ms_;
  std::atomic<bool> asked_{false};
  std::atomic<bool> reload_{false};
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

} // namespace moxzi::actors
