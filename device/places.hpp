#pragma once

#include <cstdint>
#include <vector>

namespace moxzi::device {

/// Tensors of at least so many bytes begin at a multiple of it, smaller ones at one of 8, which is
/// the largest element.
inline constexpr uint64_t tensor_alignment = 64;

/// What an address of so many bytes is a multiple of.
constexpr uint64_t alignment_of(uint64_t bytes) noexcept {
  return bytes < tensor_alignment ? 8 : tensor_alignment;
}
/// The next multiple of `alignment`.
constexpr uint64_t aligned_up(uint64_t bytes, uint64_t alignment) noexcept {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// A piece of a plan's arena, from the instruction that writes it to the last that reads it.
struct block {
  uint64_t bytes = 0;
  uint64_t offset = 0;
  uint32_t first = 0;
  uint32_t last = 0;
  /// Blocks in whose place this one may be, if their last reader is its writer.
  std::vector<uint32_t> may_replace = {};
};

/// Gives each block an offset so that blocks that live at the same time don't overlap; the bytes
/// of the whole. The largest first, each as low as it fits (Pisarchyk and Lee, "Efficient memory
/// management for deep neural net inference", 2020: greedy by size).
uint64_t assign_places(std::vector<block>& blocks);

} // namespace moxzi::device
