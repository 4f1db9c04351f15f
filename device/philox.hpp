#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"

namespace moxzi::device {

/// Philox-4x32-10 (Salmon et al., SC'11): four random words for each (counter, key), so that any
/// place of a tensor can be drawn by itself, in any order, on any number of threads.
std::array<uint32_t, 4> philox4x32_10(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) noexcept;

/// Random numbers of one stream, by position. Each position has a block of 128 bits.
class random_stream {
public:
  explicit random_stream(uint64_t key) noexcept : key_(key) {
    // nop
  }
  /// Uniform in [0, 1), 53 bits; two per block.
  double uniform(uint64_t n) const noexcept;
  /// Standard normal; two per block (Box-Muller in double).
  double normal(uint64_t n) const noexcept;

private:
  std::array<double, 2> uniforms(uint64_t block) const noexcept;

  uint64_t key_;
};

/// The stream that fills a parameter: depends on nothing but these four, so neither on the device
/// nor on what other owners do. Fixed for good: the same seed gives the same digits.
random_stream stream_of_parameter(uint64_t device_seed, byte_view owner, std::string_view name,
                                  uint64_t creation);

/// The stream that fills a parameter with a seed of its own. Fixed for good.
random_stream stream_of_seed(uint64_t seed, std::string_view name);

} // namespace moxzi::device
