// The places where the project reads the machine's clock, its entropy and its free memory.

#include <sys/random.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/digest.hpp"
#include "base/entropy.hpp"
#include "base/memory.hpp"

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

class seeded_entropy final : public entropy {
public:
  explicit seeded_entropy(uint64_t seed) : seed_(seed) {
    // nop
  }

  void fill(std::span<uint8_t> bytes) noexcept override {
    const std::lock_guard lock{mutex_};
    for (auto& byte : bytes) {
      if (next_ == block_.size()) {
        const uint64_t words[] = {seed_, counter_++};
        block_ = sha256({reinterpret_cast<const char*>(words), sizeof(words)});
        next_ = 0;
      }
      byte = block_[next_++];
    }
  }

private:
  std::mutex mutex_;
  uint64_t seed_;
  uint64_t counter_ = 0;
  sha256_hash block_{};
  size_t next_ = sizeof(sha256_hash);
};

} // namespace

std::unique_ptr<clock> make_system_clock() {
  return std::make_unique<system_clock>();
}

uint64_t available_memory_bytes() noexcept {
  const std::unique_ptr<FILE, int (*)(FILE*)> file{std::fopen("/proc/meminfo", "re"), std::fclose};
  unsigned long long kilobytes = 0;
  char line[128];
  while (file && std::fgets(line, sizeof line, file.get()))
    if (std::sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1) return kilobytes << 10;
  return UINT64_MAX;
}

std::unique_ptr<entropy> make_system_entropy() {
  return std::make_unique<system_entropy>();
}

std::unique_ptr<entropy> make_seeded_entropy(uint64_t seed) {
  return std::make_unique<seeded_entropy>(seed);
}

} // namespace moxzi
