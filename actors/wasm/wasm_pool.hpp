#pragma once

#include <functional>
#include <memory>

namespace moxzi::actors {

/// Work done in slices by a `wasm_pool`. One slice at a time, each perhaps on another thread.
class pool_task {
public:
  virtual ~pool_task() = default;

  /// What a slice leaves: either more to do, or what to call when the pool has let go of the task.
  struct outcome {
    bool finished = false;
    std::function<void()> completion; ///< must not need the task: it may be gone by then
  };
  /// A brief one gives way soon, within some 100 us, since its thread has other things to do.
  virtual outcome run_slice(bool is_brief) = 0;

private:
  friend class pool_core;
  struct guest_luggage;
  enum class place : unsigned char { outside, queued, running, cancelled };
  place place_ = place::outside;
  unsigned visits_refused_ = 0; ///< so many times more it goes past guests: it took them long
};

/// Something short to do once: `run(with, what)`.
struct pool_job {
  void (*run)(void* with, void* what) = nullptr;
  void* with = nullptr;
  void* what = nullptr;
  bool is_brief = false; ///< so short that a guest may do it
};

class pool_core;
struct guest_luggage;

/// What tasks need of a pool; stays valid, and then does nothing, when the pool is gone.
class pool_handle {
public:
  /// Queues a task that is not queued or running. After the pool has stopped nothing happens.
  void submit(pool_task& task) const;
  /// Queues a job; jobs go before slices, though never so many in a row that no slice has its turn.
  /// False after the pool has stopped: then the job is never run.
  [[nodiscard]] bool post(pool_job job) const;
  /// Takes the task back: when this returns, no thread uses it. Waits for the end of a slice in
  /// progress; not to be called from within the task's own slice.
  void cancel(pool_task& task) const;

private:
  friend class wasm_pool;
  friend class pool_guest;
  std::shared_ptr<pool_core> core_;
};

/// A thread that is not the pool's and does brief work that it hands in itself, where waking one of
/// the pool's would take longer than the work. What turns out not to be brief goes on in the pool.
/// Used by one thread, the first that calls `work`.
class pool_guest {
public:
  explicit pool_guest(const pool_handle& pool);
  /// Leaves what it has not done to the pool.
  ~pool_guest();
  pool_guest(const pool_guest&) = delete;
  pool_guest& operator=(const pool_guest&) = delete;

  /// Does what this thread has handed in since the last time, and what follows from that. Returns
  /// after half a millisecond or so at most, if nothing of it is longer.
  void work();

private:
  std::shared_ptr<pool_core> core_;
  std::unique_ptr<guest_luggage> held_;
};

/// Threads that run the slices of all tasks in turn, so that a few of them serve many actors, and
/// one that never ends holds up the others by a slice at most. What a thread of the pool hands in
/// itself is usually what it does next, so that a chain of jobs and slices wakes nobody.
class wasm_pool {
public:
  /// `threads` = 0: one a core.
  explicit wasm_pool(unsigned threads = 0);
  ~wasm_pool();
  wasm_pool(const wasm_pool&) = delete;
  wasm_pool& operator=(const wasm_pool&) = delete;

  /// Ends the threads after the slices in progress and all jobs. Tasks that are not finished stay
  /// so; their completions are never called. So does the destructor.
  void stop();

  pool_handle handle() const noexcept {
    return handle_;
  }

private:
  pool_handle handle_;
};

} // namespace moxzi::actors
