#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace moxzi::device {

/// The thread on which a device's long work runs, so that it holds up no scheduler thread. `main`
/// owns it: it goes after the worker has ended (its work tells the worker when it is done) and
/// before the actor system.
class device_thread {
public:
  device_thread();
  /// Finishes what was posted, then joins.
  ~device_thread();
  device_thread(const device_thread&) = delete;
  device_thread& operator=(const device_thread&) = delete;

  /// Runs `work` after all that was posted before. It must not throw.
  void post(std::function<void()> work);

private:
  void loop();

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> work_;
  bool stopping_ = false;
  std::thread thread_; // last: it uses all the others
};

} // namespace moxzi::device
