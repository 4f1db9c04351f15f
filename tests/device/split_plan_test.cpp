#include "device/split_plan.hpp"

#include <gtest/gtest.h>

#include "tests/device/row_walk.hpp"

namespace moxzi::device {
namespace {

using namespace testing;

register_type f32(shape dims) {
  return {dtype::f32, elem::f32, dims, {}};
}

TEST(split_plan, holds_the_largest_part) {
  EXPECT_EQ(elements_held({7, 3}, {}, 3), 21);
  EXPECT_EQ(elements_held({7, 3}, {placed::partial}, 3), 21);
  EXPECT_EQ(elements_held({7, 3}, {placed::split, 0}, 3), 3 * 3);
  EXPECT_EQ(elements_held({7, 3}, {placed::split, 1}, 3), 7);
  EXPECT_EQ(elements_held({7, 3}, {placed::sharded}, 2), 11);
  EXPECT_EQ(elements_held({0, 3}, {placed::split, 0}, 2), 0);
}

TEST(split_plan, has_room_for_what_is_put_together_while_it_is_read) {
  environment where;
  where.inputs = {{elem::f32, {64, 32}}};
  where.parameters = {{"w", f32({32, 48})}, {"v", f32({48, 16})}};
  program code{testing::input(0),
               testing::param("w"),
               {op::matmul, {0, 1}, {{}, {}}},
               testing::param("v"),
               {op::matmul, {2, 3}, {{}, {}}}};
  auto made = check(code, where);
  ASSERT_TRUE(made) << made.error().message;
  split_request how{2, {{placed::split, 0}}, {}, {}, {}};
  const auto bytes = [&] {
    return arena_bytes(*made, split_over(*made, how), how.devices, {{4}, {}});
  };
  // Half of [64 48] and of [64 16].
  EXPECT_EQ(bytes(), 4u * (32 * 48 + 32 * 16));
  // All of w beside the first, all of v beside both; w is read no more by then.
  how.parameters = {{"w", {placed::sharded}}, {"v", {placed::sharded}}};
  EXPECT_EQ(bytes(), 4u * std::max(32 * 48 + 32 * 48, 48 * 16 + 32 * 48 + 32 * 16));
}

TEST(split_plan, frees_what_is_consumed) {
  environment where;
  where.inputs = {{elem::f32, {64}}};
  program code{testing::input(0),
               {op::cumsum, {0}, {int64_t{0}}},
               {op::cumsum, {1}, {int64_t{0}}},
               {op::cumsum, {2}, {int64_t{0}}},
               {op::cumsum, {3}, {int64_t{0}}}};
  auto made = check(code, where);
  ASSERT_TRUE(made) << made.error().message;
  auto split = split_over(*made, {});
  EXPECT_EQ(arena_bytes(*made, split, 1, {{1, 2, 3, 4}, {}}), 4u * 64 * 4);
  // The first two go together once the second is there; the fourth stays.
  EXPECT_EQ(arena_bytes(*made, split, 1, {{4}, {{1, 2}}}), 4u * 64 * 2);
}

} // namespace
} // namespace moxzi::device
