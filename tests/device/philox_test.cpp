#include "device/philox.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace moxzi::device {
namespace {

using words = std::array<uint32_t, 4>;

// Known answers of the Random123 library (kat_vectors, philox4x32 10).
TEST(philox, gives_the_published_answers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32_10({ones, ones, ones, ones}, {ones, ones}),
            (words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
    philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
    (words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(random_stream, normal_numbers_have_the_moments_of_the_normal_distribution) {
  random_stream random(42);
  constexpr int n = 200'000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < n; ++i) {
    auto x = random.normal(static_cast<uint64_t>(i));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  // Five standard errors.
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96.0 / n));
}

TEST(random_stream, uniform_numbers_are_below_one) {
  random_stream random(1);
  double sum = 0;
  constexpr int n = 100'000;
  for (int i = 0; i < n; ++i) {
    auto x = random.uniform(static_cast<uint64_t>(i));
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / n, 0.5, 5 / std::sqrt(12.0 * n));
}

// Any of the four makes another stream; the parts are delimited.
TEST(random_stream, depends_on_seed_owner_name_and_creation) {
  auto first = [](random_stream random) { return random.uniform(0); };
  auto base = first(stream_of_parameter(0, "a", "bc", 0));
  EXPECT_EQ(base, first(stream_of_parameter(0, "a", "bc", 0)));
  EXPECT_NE(base, first(stream_of_parameter(1, "a", "bc", 0)));
  EXPECT_NE(base, first(stream_of_parameter(0, "ab", "c", 0)));
  EXPECT_NE(base, first(stream_of_parameter(0, "a", "bd", 0)));
  EXPECT_NE(base, first(stream_of_parameter(0, "a", "bc", 1)));
}

} // namespace
} // namespace moxzi::device
