#include <gtest/gtest.h>

#include "tests/device/support.hpp"

namespace moxzi::device {
namespace {

using namespace testing;

std::vector<double> losses_of(device_core& core, byte_view owner, int steps) {
  EXPECT_TRUE(core.define_params(owner, letters_params()));
  EXPECT_TRUE(core.define_optimizer(owner, letters_optimizer()));
  std::vector<double> losses;
  auto request = letters_step();
  for (int i = 0; i < steps; ++i) {
    auto reply = core.run(owner, request);
    EXPECT_TRUE(reply) << reply.error().message;
    if (!reply) break;
    losses.push_back(reply->scalars.at(0));
    EXPECT_EQ(reply->step, static_cast<uint64_t>(i + 1));
  }
  return losses;
}

// The bounds are those of twenty runs of another implementation from other initial values.
TEST(letters, learns_the_phrase_in_two_hundred_steps) {
  for (uint64_t seed : {0, 1, 2}) {
    auto core = reference_core({.seed = seed});
    auto losses = losses_of(core, "a", 200);
    ASSERT_EQ(losses.size(), 200u);
    EXPECT_GE(losses.front(), 5.49);
    EXPECT_LE(losses.front(), 5.60);
    EXPECT_GE(losses.back(), 0.8759);
    EXPECT_LE(losses.back(), 0.8763);
    EXPECT_EQ(core.cache().misses, 1u);
    EXPECT_EQ(core.cache().hits, 199u);
  }
}

TEST(letters, the_same_seed_gives_the_same_digits) {
  auto one = reference_core({.seed = 7}), two = reference_core({.seed = 7});
  auto other = reference_core({.seed = 8});
  auto losses = losses_of(one, "a", 20);
  EXPECT_EQ(losses, losses_of(two, "a", 20));
  EXPECT_NE(losses, losses_of(other, "a", 20));
}

} // namespace
} // namespace moxzi::device
