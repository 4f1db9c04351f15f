#include "device/places.hpp"

#include <algorithm>
#include <numeric>

namespace moxzi::device {

namespace {

/// Blocks that follow one another in one place.
struct shared_place {
  uint64_t bytes = 0;
  uint64_t offset = 0;
  uint32_t first = 0;
  uint32_t last = 0;
};

/// Puts each block that may be where another one ends into the same place. `place_of` says which
/// place each block has.
std::vector<shared_place> join_blocks(const std::vector<block>& blocks,
                                      std::vector<uint32_t>& place_of) {
  std::vector<uint32_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&blocks](uint32_t i) { return blocks[i].first; });
  std::vector<shared_place> out;
  std::vector<bool> replaced(blocks.size());
  for (auto i : order) {
    auto& mine = blocks[i];
    auto found = std::ranges::find_if(mine.may_replace, [&](uint32_t old) {
      auto& place = out[place_of[old]];
      return !replaced[old] && blocks[old].last == mine.first && place.bytes == mine.bytes;
    });
    if (found != mine.may_replace.end()) {
      replaced[*found] = true;
      place_of[i] = place_of[*found];
      out[place_of[i]].last = mine.last;
    } else {
      place_of[i] = static_cast<uint32_t>(out.size());
      out.push_back({mine.bytes, 0, mine.first, mine.last});
    }
  }
  return out;
}

/// The lowest offset at which `mine` overlaps none of those that were placed, by offset, and live
/// with it.
uint64_t lowest_fit(const shared_place& mine, const std::vector<const shared_place*>& placed) {
  uint64_t offset = 0;
  for (auto other : placed) {
    if (other->first > mine.last || mine.first > other->last) continue;
    if (other->offset >= offset + mine.bytes) break;
    offset = std::max(offset, aligned_up(other->offset + other->bytes, alignment_of(mine.bytes)));
  }
  return offset;
}

} // namespace

uint64_t assign_places(std::vector<block>& blocks) {
  std::vector<uint32_t> place_of(blocks.size());
  auto places = join_blocks(blocks, place_of);
  std::vector<shared_place*> order;
  for (auto& place : places)
    if (place.bytes > 0) order.push_back(&place);
  std::ranges::stable_sort(order, std::greater{}, &shared_place::bytes);
  std::vector<const shared_place*> placed;
  uint64_t end = 0;
  for (auto place : order) {
    place->offset = lowest_fit(*place, placed);
    end = std::max(end, place->offset + place->bytes);
    placed.insert(std::ranges::upper_bound(placed, place->offset, {}, &shared_place::offset),
                  place);
  }
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i].offset = places[place_of[i]].offset;
  return end;
}

} // namespace moxzi::device
