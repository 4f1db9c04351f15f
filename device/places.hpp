#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace moxzi::device {

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
/// of the whole. First fit, neighbours joined.
uint64_t assign_places(std::vector<block>& blocks);

} // namespace moxzi::device
