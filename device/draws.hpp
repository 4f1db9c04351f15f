#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "base/bytes.hpp"
#include "device/program.hpp"

/// The random numbers of runs. A number follows from the keys of its run, its call site and its
/// place in the tensor alone: neither from how many threads draw it nor on which device.
namespace moxzi::device {

/// What all draws of one run depend on.
struct draw_keys {
  uint64_t seed = 0;        ///< the run's, or the device's
  uint64_t owner = 0;       ///< see `owner_key`
  uint64_t step = 0;        ///< which run of the owner's, or the same as `seeded_step`
  uint64_t seeded_step = 0; ///< which training step, for operations with a seed of their own
};

/// A hash of the owner.
uint64_t owner_key(byte_view owner);

/// The counters of Philox for one operation of one run.
struct draw_counters {
  /// `site` is the operation's place in the caller's program; `seed` its own seed, if it has one.
  draw_counters(const draw_keys& keys, uint32_t site, const attribute& seed);

  /// The four words of block `n`.
  std::array<uint32_t, 4> block(uint64_t n) const noexcept;

  std::array<uint32_t, 2> key{};
  uint32_t site = 0;
  std::array<uint32_t, 2> step{};
};

// -- from words to numbers -----------------------------------------------------

/// Each element of a tensor has one word. So many blocks are beside each other: elements n to
/// n + 15, for a multiple n of 64, are the first words of 16 blocks, the next 16 the second ones.
inline constexpr uint64_t draw_lanes = 16;

constexpr uint64_t block_of_element(uint64_t n) noexcept {
  return n / (4 * draw_lanes) * draw_lanes + n % draw_lanes;
}
constexpr size_t word_of_element(uint64_t n) noexcept {
  return n / draw_lanes % 4;
}

/// In [0, 1), 24 bits.
constexpr float uniform_of(uint32_t word) noexcept {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}
/// In [0, 1), 52 bits: times a number it is below that number, rounded or not.
constexpr double uniform_of(uint32_t high, uint32_t low) noexcept {
  return static_cast<double>((uint64_t{high} << 32 | low) >> 12) * 0x1p-52;
}
/// Of all words, how many are to be below this bound for a probability.
inline uint64_t words_below(double probability) noexcept {
  return static_cast<uint64_t>(std::llround(probability * 0x1p32));
}
/// Element `n` of a standard normal tensor (Box-Muller in double), from the words of its block.
float normal_of(const std::array<uint32_t, 4>& words, uint64_t n) noexcept;

/// What a dropped tensor's kept elements are multiplied by.
constexpr double dropout_scale(double p) noexcept {
  return p < 1 ? 1 / (1 - p) : 0;
}

} // namespace moxzi::device
