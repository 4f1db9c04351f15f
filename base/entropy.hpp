#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace moxzi {

/// Where randomness comes from. `main` makes the real one and hands it down.
class entropy {
public:
  virtual ~entropy() = default;
  virtual void fill(std::span<uint8_t> bytes) noexcept = 0;
};

/// The operating system's generator (getrandom).
std::unique_ptr<entropy> make_system_entropy();

/// The same bytes for the same seed, for tests: SHA-256 of seed and a counter, 32 bytes at a time.
std::unique_ptr<entropy> make_seeded_entropy(uint64_t seed);

} // namespace moxzi
