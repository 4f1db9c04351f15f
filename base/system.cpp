// The two places where the project reads the machine's clock and its entropy.

#include <sys/random.h>

#include <chrono>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/entropy.hpp"

namespace moxzi {

namespace {

template <class Clock>
uint64_t now_ns() noexcept {
  const auto since = Clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

class system_clock final : public clock {
public:
  uint64_t unix_ns() const noexcept override {
    return now_ns<std::chrono::system_clock>();
  }
  uint64_t monotonic_ns() const noexcept override {
    return now_ns<std::chrono::steady_clock>();
  }
};

class system_entropy final : public entropy {
public:
  void fill(std::span<uint8_t> bytes) noexcept override {
    while (!bytes.empty()) {
      const auto got = getrandom(bytes.data(), bytes.size(), 0);
      moxzi_assert(got > 0 || errno == EINTR, "errno={}", errno);
      if (got > 0) bytes = bytes.subspan(static_cast<size_t>(got));
    }
  }
};

} // namespace

std::unique_ptr<clock> make_system_clock() {
  return std::make_unique<system_clock>();
}

std::unique_ptr<entropy> make_system_entropy() {
  return std::make_unique<system_entropy>();
}

} // namespace moxzi
