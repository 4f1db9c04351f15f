#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include <gtest/gtest.h>

#include "actors/wasm/wasm_pool.hpp"
#include "tests/actors/wasm/runner.hpp"

namespace moxzi::actors {

/// Counts down, then tells.
class countdown : public pool_task {
public:
  countdown(int slices, std::function<void()> told) : left_(slices), told_(std::move(told)) {
    // nop
  }
  outcome run_slice(bool) override {
    EXPECT_FALSE(inside_.exchange(true)) << "two slices of one task at once";
    ++slices;
    bool finished = --left_ <= 0;
    inside_ = false;
    return finished ? outcome{true, told_} : outcome{};
  }
  void rewind(int slices_next) {
    left_ = slices_next;
  }
  std::atomic<int> slices{0};

private:
  int left_;
  std::function<void()> told_;
  std::atomic<bool> inside_{false};
};

/// Waits until so many have arrived.
class latch {
public:
  explicit latch(int count) : left_(count) {
    // nop
  }
  void arrive() {
    std::lock_guard held{mutex_};
    if (--left_ == 0) ended_.notify_all();
  }
  bool wait() {
    std::unique_lock held{mutex_};
    return ended_.wait_for(held, liveness, [this] { return left_ <= 0; });
  }

private:
  std::mutex mutex_;
  std::condition_variable ended_;
  int left_;
};

} // namespace moxzi::actors
