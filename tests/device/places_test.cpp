#include "device/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace moxzi::device {
namespace {

bool lives_with(const block& a, const block& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// The most bytes that live at one time: no plan of places can do with fewer.
uint64_t most_alive(const std::vector<block>& blocks) {
  uint64_t most = 0;
  for (auto& at : blocks) {
    uint64_t sum = 0;
    for (auto& other : blocks)
      if (other.first <= at.first && at.first <= other.last) sum += other.bytes;
    most = std::max(most, sum);
  }
  return most;
}

TEST(places, blocks_that_live_at_one_time_are_apart) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<block> blocks(random() % 60);
    for (auto& one : blocks) {
      one.bytes = random() % 2 == 0 ? 64 * (random() % 9) : 8 * (random() % 8);
      one.first = random() % 40;
      one.last = one.first + random() % 10;
    }
    auto end = assign_places(blocks);
    EXPECT_GE(end, most_alive(blocks));
    for (size_t i = 0; i < blocks.size(); ++i) {
      auto& a = blocks[i];
      if (a.bytes == 0) continue;
      EXPECT_LE(a.offset + a.bytes, end);
      EXPECT_EQ(a.offset % (a.bytes < 64 ? 8 : 64), 0u);
      for (size_t j = 0; j < i; ++j) {
        auto& b = blocks[j];
        if (b.bytes == 0 || !lives_with(a, b)) continue;
        EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset);
      }
    }
  }
}

TEST(places, a_large_block_may_be_where_small_ones_were) {
  // Two small ones at first, then one of both their sizes: no more than that is needed.
  std::vector<block> blocks{{64, 0, 0, 1}, {64, 0, 1, 2}, {128, 0, 3, 4}, {64, 0, 4, 5}};
  EXPECT_EQ(assign_places(blocks), 192u);
}

TEST(places, one_block_takes_the_place_of_another_once) {
  // 1 and 2 are both written where 0 is read last.
  std::vector<block> blocks{{64, 0, 0, 1}, {64, 0, 1, 1, {0}}, {64, 0, 1, 2, {0}}};
  EXPECT_EQ(assign_places(blocks), 128u);
  EXPECT_EQ(blocks[1].offset, blocks[0].offset);
  EXPECT_NE(blocks[2].offset, blocks[1].offset);
}

} // namespace
} // namespace moxzi::device
