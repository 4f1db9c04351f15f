#pragma once

#include <cstdint>
#include <memory>

namespace moxzi {

/// Where time comes from. `main` makes the real one and hands it down; nothing else reads a clock.
class clock {
public:
  virtual ~clock() = default;
  /// Nanoseconds since 1970-01-01T00:00Z.
  virtual uint64_t unix_ns() const noexcept = 0;
  /// Nanoseconds from an arbitrary point; never goes back.
  virtual uint64_t monotonic_ns() const noexcept = 0;
};

/// The machine's clock.
std::unique_ptr<clock> make_system_clock();

} // namespace moxzi
