#include "device/device_thread.hpp"

namespace moxzi::device {

device_thread::device_thread() : thread_([this] { loop(); }) {
  // nop
}

device_thread::~device_thread() {
  {
    std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  more_.notify_one();
  thread_.join();
}

void device_thread::post(std::function<void()> work) {
  {
    std::lock_guard guard(mutex_);
    work_.push_back(std::move(work));
  }
  more_.notify_one();
}

void device_thread::loop() {
  for (;;) {
    std::function<void()> next;
    {
      std::unique_lock guard(mutex_);
      more_.wait(guard, [this] { return stopping_ || !work_.empty(); });
      if (work_.empty()) return;
      next = std::move(work_.front());
      work_.pop_front();
    }
    next();
  }
}

} // namespace moxzi::device
