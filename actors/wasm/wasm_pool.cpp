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
// A guest works this long in a row.
constexpr std::chrono::microseconds visit_time_max{500};
// A task that a guest did not finish within this time goes past guests so many times.
constexpr std::chrono::microseconds brief_time_max{250};
constexpr unsigned visits_refused_after_long = 32;

void pause_briefly() {
  for (int i = 0; i < 16; ++i) __builtin_ia32_pause();
}

} // namespace

/// What a guest has to do. Belongs to the pool's lock.
struct guest_luggage {
  std::thread::id owner; // none until it works
  std::deque<pool_job> jobs;
  std::deque<pool_task*> tasks;

  bool empty() const noexcept {
    return jobs.empty() && tasks.empty();
  }
};

namespace {

// The pool that this thread works for.
thread_local const pool_core* pool_of_thread = nullptr;

using steady = std::chrono::steady_clock;

template <class T>
T take_first(std::deque<T>& from) {
  auto first = from.front();
  from.pop_front();
  return first;
}

} // namespace

class pool_core {
public:
  void start(unsigned threads);
  void stop();
  void submit(pool_task& task);
  bool post(const pool_job& job);
  void cancel(pool_task& task);

  void welcome(guest_luggage& guest);
  void work_as(guest_luggage& guest);
  void see_off(guest_luggage& guest);

private:
  using lock = std::unique_lock<std::mutex>;
  void work();
  static void run_job(lock& held, const pool_job& job);
  void run_slice(lock& held, pool_task& task, bool is_brief);
  guest_luggage* guest_here() const noexcept;
  void take_over(guest_luggage& guest);
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
  std::vector<guest_luggage*> guests_;
  std::vector<std::thread> threads_;
};

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
  if (auto* guest = guest_here()) {
    if (task.visits_refused_ == 0) {
      task.place_ = pool_task::place::queued;
      return guest->tasks.push_back(&task);
    }
    --task.visits_refused_;
  }
  enqueue(task);
  const bool wake = needs_waking();
  held.unlock();
  if (wake) work_.notify_one();
}

bool pool_core::post(const pool_job& job) {
  lock held{mutex_};
  if (stopping_) return false;
  if (auto* guest = guest_here(); guest != nullptr && job.is_brief) {
    guest->jobs.push_back(job);
    return true;
  }
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
    std::erase(queue_, &task);
    for (auto* guest : guests_) std::erase(guest->tasks, &task);
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
      jobs_in_row_ = 0;
      auto& task = *take_first(queue_);
      count();
      run_slice(held, task, false);
    } else if (!jobs_.empty()) {
      ++jobs_in_row_;
      const auto job = take_first(jobs_);
      count();
      run_job(held, job);
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

void pool_core::run_job(lock& held, const pool_job& job) {
  held.unlock();
  job.run(job.with, job.what);
  held.lock();
}

void pool_core::run_slice(lock& held, pool_task& task, bool is_brief) {
  task.place_ = pool_task::place::running;
  held.unlock();
  const auto began = is_brief ? steady::now() : steady::time_point{};
  auto outcome = task.run_slice(is_brief);
  const bool was_long = is_brief && (!outcome.finished || steady::now() - began > brief_time_max);
  held.lock();
  bool is_cancelled = task.place_ == pool_task::place::cancelled;
  task.place_ = pool_task::place::outside;
  if (was_long) task.visits_refused_ = visits_refused_after_long;
  if (is_cancelled) {
    slice_ended_.notify_all();
    return;
  }
  if (!outcome.finished) {
    enqueue(task);
    if (needs_waking()) work_.notify_one();
    return;
  }
  // From here on the task may be gone, or be back in the queue.
  held.unlock();
  if (outcome.completion) outcome.completion();
  outcome.completion = nullptr;
  held.lock();
}

// -- guests --------------------------------------------------------------------

guest_luggage* pool_core::guest_here() const noexcept {
  const auto here = std::this_thread::get_id();
  for (auto* guest : guests_)
    if (guest->owner == here) return guest;
  return nullptr;
}

void pool_core::welcome(guest_luggage& guest) {
  const lock held{mutex_};
  guests_.push_back(&guest);
}

void pool_core::work_as(guest_luggage& guest) {
  lock held{mutex_};
  guest.owner = std::this_thread::get_id();
  if (guest.empty()) return;
  const auto end = steady::now() + visit_time_max;
  while (!guest.empty()) {
    if (!guest.jobs.empty()) {
      run_job(held, take_first(guest.jobs));
    } else if (stopping_) {
      return;
    } else {
      run_slice(held, *take_first(guest.tasks), true);
    }
    if (!guest.empty() && steady::now() > end) return take_over(guest);
  }
}

void pool_core::take_over(guest_luggage& guest) {
  jobs_.insert(jobs_.end(), guest.jobs.begin(), guest.jobs.end());
  queue_.insert(queue_.end(), guest.tasks.begin(), guest.tasks.end());
  guest.jobs.clear();
  guest.tasks.clear();
  count();
  if (needs_waking()) work_.notify_all();
}

void pool_core::see_off(guest_luggage& guest) {
  const lock held{mutex_};
  take_over(guest);
  std::erase(guests_, &guest);
}

pool_guest::pool_guest(const pool_handle& pool)
    : core_(pool.core_), held_(std::make_unique<guest_luggage>()) {
  core_->welcome(*held_);
}

pool_guest::~pool_guest() {
  core_->see_off(*held_);
}

void pool_guest::work() {
  core_->work_as(*held_);
}

// -- handles -------------------------------------------------------------------

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
