#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/clock.hpp"

namespace moxzi::actors {

/// Wakes actors at a time: one alarm each, on one thread of its own (delayed messages of CAF's
/// would keep their receivers alive). Thread-safe.
class alarm_clock {
public:
  /// `time` outlives the alarm clock.
  explicit alarm_clock(const clock& time);
  ~alarm_clock();
  alarm_clock(const alarm_clock&) = delete;
  alarm_clock& operator=(const alarm_clock&) = delete;

  /// Sets the one alarm of `who`, in place of an earlier one. `ring` runs once, on the alarm
  /// clock's thread, at `unix_ns` or soon after; it hands something on and returns.
  void set(uint64_t who, uint64_t unix_ns, std::function<void()> ring);

  /// The alarm of `who` does not ring any more, unless it is ringing now.
  void cancel(uint64_t who);

private:
  struct alarm {
    uint64_t unix_ns = 0;
    std::function<void()> ring;
  };
  void run();

  const clock& time_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::map<uint64_t, alarm> alarms_;
  std::set<std::pair<uint64_t, uint64_t>> order_; ///< when, and whose
  std::thread thread_;
};

} // namespace moxzi::actors
