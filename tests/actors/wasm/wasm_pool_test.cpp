#include "actors/wasm/wasm_pool.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/actors/wasm/pool_fixture.hpp"

using namespace moxzi::actors;

TEST(wasm_pool, every_task_gets_all_its_slices) {
  latch all{50};
  std::vector<std::unique_ptr<countdown>> tasks;
  for (int i = 0; i < 50; ++i)
    tasks.push_back(std::make_unique<countdown>(i + 1, [&all] { all.arrive(); }));
  wasm_pool pool{3};
  for (auto& task : tasks) pool.handle().submit(*task);
  ASSERT_TRUE(all.wait());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(tasks[i]->slices, i + 1);
}

TEST(wasm_pool, short_tasks_end_while_one_never_does) {
  countdown endless{1'000'000'000, [] {}};
  latch all{10};
  std::vector<std::unique_ptr<countdown>> tasks;
  for (int i = 0; i < 10; ++i)
    tasks.push_back(std::make_unique<countdown>(3, [&all] { all.arrive(); }));
  wasm_pool pool{1};
  pool.handle().submit(endless);
  for (auto& task : tasks) pool.handle().submit(*task);
  EXPECT_TRUE(all.wait());
  pool.handle().cancel(endless);
}

TEST(wasm_pool, a_task_may_be_submitted_from_its_completion) {
  wasm_pool pool{2};
  latch all{1'000};
  countdown* self = nullptr;
  std::atomic<int> rounds{0};
  countdown task{2, [&] {
                   if (++rounds < 1'000) {
                     self->rewind(2);
                     pool.handle().submit(*self);
                   }
                   all.arrive();
                 }};
  self = &task;
  pool.handle().submit(task);
  ASSERT_TRUE(all.wait());
  EXPECT_EQ(task.slices, 2'000);
}

TEST(wasm_pool, after_cancel_no_thread_uses_the_task) {
  wasm_pool pool{2};
  for (int i = 0; i < 200; ++i) {
    auto task = std::make_unique<countdown>(1'000'000'000, [] {});
    pool.handle().submit(*task);
    if (i % 2 == 0)
      while (task->slices == 0) std::this_thread::yield();
    pool.handle().cancel(*task);
  }
}

TEST(wasm_pool, a_handle_outlives_its_pool_and_does_nothing) {
  pool_handle handle;
  countdown task{1, [] { FAIL() << "ran without a pool"; }};
  {
    wasm_pool pool{1};
    handle = pool.handle();
  }
  handle.submit(task);
  handle.cancel(task);
  EXPECT_EQ(task.slices, 0);
}

TEST(wasm_pool, jobs_go_first_yet_slices_have_their_turn) {
  // One job that is there for good: each run posts it again.
  struct chain {
    pool_handle pool;
    latch done{10'000};
    static void run(void* with, void*) {
      auto* self = static_cast<chain*>(with);
      self->done.arrive();
      static_cast<void>(self->pool.post({&chain::run, self, nullptr}));
    }
  };
  chain jobs;
  latch all{10};
  std::vector<std::unique_ptr<countdown>> tasks;
  for (int i = 0; i < 10; ++i)
    tasks.push_back(std::make_unique<countdown>(3, [&all] { all.arrive(); }));
  wasm_pool pool{1};
  jobs.pool = pool.handle();
  ASSERT_TRUE(jobs.pool.post({&chain::run, &jobs, nullptr}));
  for (auto& task : tasks) pool.handle().submit(*task);
  EXPECT_TRUE(all.wait());
  countdown endless{1'000'000'000, [] {}};
  pool.handle().submit(endless);
  EXPECT_TRUE(jobs.done.wait());
  pool.handle().cancel(endless);
  pool.stop();
}

TEST(wasm_pool, a_stopped_pool_has_run_every_job_that_it_took) {
  for (int i = 0; i < 50; ++i) {
    std::atomic<int> runs{0};
    const pool_job job{[](void* with, void*) { ++*static_cast<std::atomic<int>*>(with); }, &runs,
                       nullptr};
    wasm_pool pool{2};
    std::atomic<int> taken{0};
    std::thread poster{[&] {
      while (pool.handle().post(job)) ++taken;
    }};
    while (taken < 100) std::this_thread::yield();
    pool.stop();
    poster.join();
    EXPECT_EQ(runs, taken);
  }
}

TEST(wasm_pool, submissions_from_many_threads_are_all_served) {
  wasm_pool pool{2};
  constexpr int threads = 4, each = 300;
  latch all{threads * each};
  std::vector<std::thread> submitters;
  std::vector<std::unique_ptr<countdown>> tasks;
  for (int i = 0; i < threads * each; ++i)
    tasks.push_back(std::make_unique<countdown>(1 + i % 3, [&all] { all.arrive(); }));
  for (int t = 0; t < threads; ++t)
    submitters.emplace_back([&tasks, &pool, t] {
      for (int i = 0; i < each; ++i) pool.handle().submit(*tasks[t * each + i]);
    });
  for (auto& thread : submitters) thread.join();
  EXPECT_TRUE(all.wait());
}
