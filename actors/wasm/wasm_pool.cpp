#include "actors/wasm/wasm_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace moxzi::actors {

namespace {

// A thread that has just worked looks this long for more before it sleeps: waking one up costs as
// much, and a chain of messages comes back in less.
constexpr std::chrono::microseconds spin_time{30};
// On a busy machine the one who would bring the work may be waiting for this very core. After
// looking in vain, threads sleep at once this many times.
constexpr unsigned rests_after_failure = 64;
// A slice that waits has its turn after so many jobs.
constexpr unsigned jobs_in_row_max = 16;

void pause_briefly() {
  for (int i = 0; i < 16; ++i) __builtin_ia32_pause();
}

} // namespace

class pool_core {
public:
  void start(unsigned threads);
  void stop();
  void submit(pool_task& task);
  bool post(const pool_job& job);
  void cancel(pool_task& task);

private:
  using lock = std::unique_lock<std::mutex>;
  void work();
  void run_job(lock& held);
  void run_slice(lock& held);
  bool needs_waking() const noexcept;
  void count();
  void wait_for_work(lock& held, bool has_worked);
  void enqueue(pool_task& task);

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable slice_ended_;
  std::deque<pool_job> jobs_;
  std::deque<pool_task*> queue_;
  std::atomic<size_t> queued_{0}; // jobs_.size() + queue_.size(), for the spinning thread
  unsigned jobs_in_row_ = 0;
  std::atomic<bool> stopping_{false};
  bool spinning_ = false;
  unsigned rests_ = 0;
  size_t parked_ = 0;
  std::vector<std::thread> threads_;
};

namespace {

// The pool that this thread works for.
thread_local const pool_core* pool_of_thread = nullptr;

} // namespace

void pool_core::start(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

void pool_core::stop() {
  {
    lock held{mutex_};
    stopping_ = true;
  }
  work_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void pool_core::enqueue(pool_task& task) {
  task.place_ = pool_task::place::queued;
  queue_.push_back(&task);
  count();
}

void pool_core::count() {
  queued_.store(jobs_.size() + queue_.size(), std::memory_order_release);
}

// The spinning thread sees one piece of work by itself, and a thread of ours that hands work in
// comes back for one.
bool pool_core::needs_waking() const noexcept {
  const size_t taken = (spinning_ ? 1u : 0u) + (pool_of_thread == this ? 1u : 0u);
  return parked_ > 0 && jobs_.size() + queue_.size() > taken;
}

void pool_core::submit(pool_task& task) {
  lock held{mutex_};
  if (stopping_) return;
  moxzi_assert(task.place_ == pool_task::place::outside, "the task is in the pool already");
  enqueue(task);
  const bool wake = needs_waking();
  held.unlock();
  if (wake) work_.notify_one();
}

bool pool_core::post(const pool_job& job) {
  lock held{mutex_};
  if (stopping_) return false;
  jobs_.push_back(job);
  count();
  const bool wake = needs_waking();
  held.unlock();
  if (wake) work_.notify_one();
  return true;
}

void pool_core::cancel(pool_task& task) {
  lock held{mutex_};
  if (task.place_ == pool_task::place::queued) {
    queue_.erase(std::find(queue_.begin(), queue_.end(), &task));
    count();
    task.place_ = pool_task::place::outside;
  }
  if (task.place_ == pool_task::place::running) task.place_ = pool_task::place::cancelled;
  slice_ended_.wait(held, [&task] { return task.place_ == pool_task::place::outside; });
}

void pool_core::work() {
  pool_of_thread = this;
  lock held{mutex_};
  bool has_worked = false;
  while (!stopping_ || !jobs_.empty()) {
    const bool is_slices_turn =
      !stopping_ && !queue_.empty() && (jobs_.empty() || jobs_in_row_ >= jobs_in_row_max);
    if (is_slices_turn) {
      run_slice(held);
    } else if (!jobs_.empty()) {
      run_job(held);
    } else {
      wait_for_work(held, has_worked);
      has_worked = false;
      continue;
    }
    has_worked = true;
  }
}

void pool_core::wait_for_work(lock& held, bool has_worked) {
  if (has_worked && rests_ > 0) {
    --rests_;
  } else if (has_worked && !spinning_) {
    spinning_ = true;
    held.unlock();
    auto until = std::chrono::steady_clock::now() + spin_time;
    while (queued_.load(std::memory_order_acquire) == 0 && !stopping_
           && std::chrono::steady_clock::now() < until)
      pause_briefly();
    held.lock();
    spinning_ = false;
    if (jobs_.empty() && queue_.empty()) rests_ = rests_after_failure;
    return;
  }
  ++parked_;
  work_.wait(held, [this] { return stopping_ || !jobs_.empty() || !queue_.empty(); });
  --parked_;
}

void pool_core::run_job(lock& held) {
  const auto job = jobs_.front();
  jobs_.pop_front();
  ++jobs_in_row_;
  count();
  held.unlock();
  job.run(job.with, job.what);
  held.lock();
}

void pool_core::run_slice(lock& held) {
  auto& task = *queue_.front();
  queue_.pop_front();
  jobs_in_row_ = 0;
  count();
  task.place_ = pool_task::place::running;
  held.unlock();
  auto outcome = task.run_slice();
  held.lock();
  bool is_cancelled = task.place_ == pool_task::place::cancelled;
  task.place_ = pool_task::place::outside;
  if (is_cancelled) {
    slice_ended_.notify_all();
    return;
  }
  if (!outcome.finished) {
    enqueue(task);
    return;
  }
  // From here on the task may be gone, or be back in the queue.
  held.unlock();
  if (outcome.completion) outcome.completion();
  outcome.completion = nullptr;
  held.lock();
}

void pool_handle::submit(pool_task& task) const {
  core_->submit(task);
}

bool pool_handle::post(pool_job job) const {
  return core_->post(job);
}

void pool_handle::cancel(pool_task& task) const {
  core_->cancel(task);
}

wasm_pool::wasm_pool(unsigned threads) {
  handle_.core_ = std::make_shared<pool_core>();
  handle_.core_->start(threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency()));
}

wasm_pool::~wasm_pool() {
  stop();
}

void wasm_pool::stop() {
  handle_.core_->stop();
}

} // namespace moxzi::actors
