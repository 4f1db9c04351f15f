#include "actors/daemon/stop_signals.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>

namespace moxzi::actors {

namespace {

constexpr long slice_ms = 20; // how soon the thread notices that the process ends

sigset_t stop_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  return set;
}

} // namespace

stop_signals::stop_signals(uint32_t budget_ms) : budget_ms_(budget_ms) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto set = stop_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread{[this] { run(); }};
}

stop_signals::~stop_signals() {
  ended_ = true;
  thread_.join();
}

bool stop_signals::wait(uint32_t limit_ms) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, std::chrono::milliseconds{limit_ms},
                    [this] { return asked_.load() || reload_.load(); });
  return asked_;
}

void stop_signals::run() {
  const auto set = stop_set();
  const timespec slice{0, slice_ms * 1'000'000};
  std::chrono::steady_clock::time_point give_up;
  while (!ended_) {
    const int signal = sigtimedwait(&set, nullptr, &slice);
    if (signal == SIGHUP) {
      {
        const std::lock_guard lock{mutex_};
        reload_ = true;
      }
      changed_.notify_all();
      continue;
    }
    if (asked_) {
      if (signal > 0) std::_Exit(128 + signal);
      if (std::chrono::steady_clock::now() >= give_up) std::_Exit(EXIT_SUCCESS);
    } else if (signal > 0) {
      give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds{budget_ms_};
      {
        const std::lock_guard lock{mutex_};
        asked_ = true;
      }
      changed_.notify_all();
    }
  }
}

} // namespace moxzi::actors
