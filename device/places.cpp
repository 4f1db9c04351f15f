#include "device/places.hpp"

#include <algorithm>

namespace moxzi::device {

namespace {

/// Hands out places in a buffer that grows as far as needed: first fit, neighbours joined.
class arena_places {
public:
  uint64_t take(uint64_t bytes) {
    for (auto i = free_.begin(); i != free_.end(); ++i) {
      auto [offset, size] = *i;
      if (size < bytes) continue;
      free_.erase(i);
      if (size > bytes) free_.emplace(offset + bytes, size - bytes);
      return offset;
    }
    auto offset = end_;
    // A hole at the end is part of the new place.
    if (!free_.empty() && free_.rbegin()->first + free_.rbegin()->second == end_) {
      offset = free_.rbegin()->first;
      free_.erase(std::prev(free_.end()));
    }
    end_ = offset + bytes;
    return offset;
  }

  void give_back(uint64_t offset, uint64_t bytes) {
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && next->first == offset + bytes) {
      bytes += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == offset) {
        before->second += bytes;
        return;
      }
    }
    free_.emplace(offset, bytes);
  }

  uint64_t end() const noexcept {
    return end_;
  }

private:
  std::map<uint64_t, uint64_t> free_;
  uint64_t end_ = 0;
};

} // namespace

uint64_t assign_places(std::vector<block>& blocks) {
  std::vector<uint32_t> order(blocks.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&blocks](uint32_t i) { return blocks[i].first; });
  arena_places places;
  std::multimap<uint32_t, uint32_t> ends;
  /// Takes the place of a block that ends where this one starts.
  auto replace = [&](block& mine) {
    for (auto old : mine.may_replace) {
      auto& over = blocks[old];
      if (over.last != mine.first || over.bytes != mine.bytes) continue;
      auto [from, to] = ends.equal_range(over.last);
      auto found = std::find_if(from, to, [old](auto& end) { return end.second == old; });
      if (found == to) continue;
      ends.erase(found);
      mine.offset = over.offset;
      return true;
    }
    return false;
  };
  for (auto i : order) {
    auto& mine = blocks[i];
    while (!ends.empty() && ends.begin()->first < mine.first) {
      auto& over = blocks[ends.begin()->second];
      places.give_back(over.offset, over.bytes);
      ends.erase(ends.begin());
    }
    if (mine.bytes == 0) continue;
    if (!replace(mine)) mine.offset = places.take(mine.bytes);
    ends.emplace(mine.last, i);
  }
  return places.end();
}

} // namespace moxzi::device
