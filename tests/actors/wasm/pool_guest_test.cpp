#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/actors/wasm/pool_fixture.hpp"

using namespace moxzi::actors;
using std::this_thread::get_id;

namespace {

// A job that tells on which thread it ran, and then does something.
class noted_job {
public:
  explicit noted_job(std::function<void()> then = {}) : then_(std::move(then)) {
    // nop
  }
  pool_job handed_in(bool is_brief) {
    return {[](void* with, void*) { static_cast<noted_job*>(with)->run(); }, this, nullptr,
            is_brief};
  }
  std::thread::id where() {
    EXPECT_TRUE(done_.wait());
    return where_;
  }

private:
  void run() {
    where_ = get_id();
    if (then_) then_();
    done_.arrive();
  }

  std::function<void()> then_;
  std::thread::id where_;
  latch done_{1};
};

// Tells where its slices ran.
class noted_task : public pool_task {
public:
  explicit noted_task(int slices = 1) : left_(slices) {
    // nop
  }
  outcome run_slice(bool is_brief) override {
    where.push_back(get_id());
    brief.push_back(is_brief);
    if (--left_ > 0) return {};
    return {true, [this] { done->arrive(); }};
  }
  void rewind() {
    left_ = 1;
    where.clear();
    brief.clear();
    done.emplace(1);
  }

  std::vector<std::thread::id> where;
  std::vector<bool> brief;
  std::optional<latch> done{std::in_place, 1};

private:
  int left_;
};

void spend(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

} // namespace

TEST(pool_guest, does_what_its_thread_hands_in_and_what_follows) {
  wasm_pool pool{1};
  const auto handle = pool.handle();
  pool_guest guest{handle};
  guest.work(); // from here on this thread is the guest
  noted_task task;
  noted_job last;
  noted_job first{[&] {
    handle.submit(task);
    ASSERT_TRUE(handle.post(last.handed_in(true)));
  }};
  ASSERT_TRUE(handle.post(first.handed_in(true)));
  guest.work();
  EXPECT_EQ(first.where(), get_id());
  EXPECT_EQ(last.where(), get_id());
  EXPECT_EQ(task.where, std::vector{get_id()});
  EXPECT_EQ(task.brief, std::vector{true});
}

TEST(pool_guest, leaves_to_the_pool_what_is_not_brief) {
  wasm_pool pool{1};
  const auto handle = pool.handle();
  pool_guest guest{handle};
  guest.work();
  noted_job job;
  ASSERT_TRUE(handle.post(job.handed_in(false)));
  EXPECT_NE(job.where(), get_id());
}

TEST(pool_guest, what_others_hand_in_is_not_the_guests) {
  wasm_pool pool{1};
  const auto handle = pool.handle();
  pool_guest guest{handle};
  guest.work();
  noted_job job;
  std::thread other{[&] { EXPECT_TRUE(handle.post(job.handed_in(true))); }};
  other.join();
  EXPECT_NE(job.where(), get_id());
}

TEST(pool_guest, a_task_that_takes_more_than_a_slice_goes_on_in_the_pool) {
  wasm_pool pool{1};
  const auto handle = pool.handle();
  pool_guest guest{handle};
  guest.work();
  noted_task task{3};
  handle.submit(task);
  guest.work();
  ASSERT_TRUE(task.done->wait());
  ASSERT_EQ(task.where.size(), 3u);
  EXPECT_EQ(task.where[0], get_id());
  EXPECT_NE(task.where[1], get_id());
  EXPECT_EQ(task.brief, (std::vector{true, false, false}));

  // Then it goes past the guest for a while, and is tried again some time.
  int elsewhere = 0;
  for (;; ++elsewhere) {
    ASSERT_LT(elsewhere, 1'000);
    task.rewind();
    handle.submit(task);
    guest.work();
    ASSERT_TRUE(task.done->wait());
    if (task.where[0] == get_id()) break;
  }
  EXPECT_GT(elsewhere, 0);
}

TEST(pool_guest, after_a_long_job_the_pool_has_the_rest) {
  wasm_pool pool{1};
  const auto handle = pool.handle();
  pool_guest guest{handle};
  guest.work();
  noted_job rest;
  noted_task task;
  noted_job slow{[] { spend(std::chrono::milliseconds{2}); }};
  ASSERT_TRUE(handle.post(slow.handed_in(true)));
  ASSERT_TRUE(handle.post(rest.handed_in(true)));
  handle.submit(task);
  guest.work();
  EXPECT_EQ(slow.where(), get_id());
  EXPECT_NE(rest.where(), get_id());
  ASSERT_TRUE(task.done->wait());
  EXPECT_NE(task.where[0], get_id());
}

TEST(pool_guest, what_it_has_not_done_is_the_pools) {
  wasm_pool pool{1};
  const auto handle = pool.handle();
  noted_job job;
  noted_task task;
  {
    pool_guest guest{handle};
    guest.work();
    ASSERT_TRUE(handle.post(job.handed_in(true)));
    handle.submit(task);
  }
  EXPECT_NE(job.where(), get_id());
  ASSERT_TRUE(task.done->wait());
  // The thread is nobody's guest any more.
  noted_job later;
  ASSERT_TRUE(handle.post(later.handed_in(true)));
  EXPECT_NE(later.where(), get_id());
}

TEST(pool_guest, a_cancelled_task_is_not_done) {
  wasm_pool pool{1};
  const auto handle = pool.handle();
  pool_guest guest{handle};
  guest.work();
  auto task = std::make_unique<noted_task>();
  handle.submit(*task);
  handle.cancel(*task);
  EXPECT_TRUE(task->where.empty());
  task.reset();
  guest.work();
}

TEST(pool_guest, a_stopped_pool_has_no_tasks_done_but_all_jobs) {
  wasm_pool pool{1};
  const auto handle = pool.handle();
  pool_guest guest{handle};
  guest.work();
  noted_job job;
  noted_task task;
  ASSERT_TRUE(handle.post(job.handed_in(true)));
  handle.submit(task);
  pool.stop();
  guest.work();
  EXPECT_EQ(job.where(), get_id());
  EXPECT_TRUE(task.where.empty());
  EXPECT_FALSE(handle.post(job.handed_in(true)));
  handle.cancel(task);
}
