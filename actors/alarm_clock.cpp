#include "actors/alarm_clock.hpp"

#include <algorithm>
#include <chrono>

namespace moxzi::actors {

namespace {

// The wall clock may be set while we wait, so that no wait is longer than this.
constexpr uint64_t wait_ns_max = 1'000'000'000;

} // namespace

alarm_clock::alarm_clock(const clock& time) : time_(time), thread_([this] { run(); }) {
  // nop
}

alarm_clock::~alarm_clock() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void alarm_clock::set(uint64_t who, uint64_t unix_ns, std::function<void()> ring) {
  bool is_first = false;
  {
    const std::lock_guard lock{mutex_};
    auto& alarm = alarms_[who];
    order_.erase({alarm.unix_ns, who});
    alarm = {unix_ns, std::move(ring)};
    order_.emplace(unix_ns, who);
    is_first = order_.begin()->second == who;
  }
  if (is_first) changed_.notify_one();
}

void alarm_clock::cancel(uint64_t who) {
  std::function<void()> dropped; // outlives the lock: it may hold an actor
  const std::lock_guard lock{mutex_};
  const auto at = alarms_.find(who);
  if (at == alarms_.end()) return;
  order_.erase({at->second.unix_ns, who});
  dropped = std::move(at->second.ring);
  alarms_.erase(at);
}

void alarm_clock::run() {
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    if (order_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto [due_ns, who] = *order_.begin();
    const auto now_ns = time_.unix_ns();
    if (due_ns > now_ns) {
      const auto wait_ns = std::min(due_ns - now_ns, wait_ns_max);
      changed_.wait_for(lock, std::chrono::nanoseconds{wait_ns});
      continue;
    }
    order_.erase(order_.begin());
    const auto at = alarms_.find(who);
    auto ring = std::move(at->second.ring);
    alarms_.erase(at);
    lock.unlock();
    ring();
    ring = nullptr;
    lock.lock();
  }
}

} // namespace moxzi::actors
