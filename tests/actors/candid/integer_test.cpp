#include "actors/candid/integer.hpp"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>

using moxzi::to_hex;
using moxzi::candid::integer;

namespace {

std::string leb(const char* text) {
  std::string out;
  integer::from_text(text).value().append_leb128(out);
  return to_hex(out);
}

std::string sleb(const char* text) {
  std::string out;
  integer::from_text(text).value().append_sleb128(out);
  return to_hex(out);
}

} // namespace

TEST(integer, leb128) {
  // The examples of the DWARF standard, then powers of two.
  EXPECT_EQ(leb("2"), "02");
  EXPECT_EQ(leb("127"), "7f");
  EXPECT_EQ(leb("128"), "8001");
  EXPECT_EQ(leb("12857"), "b964");
  EXPECT_EQ(leb("18446744073709551615"), "ffffffffffffffffff01");
  EXPECT_EQ(leb("18446744073709551616"), "80808080808080808002");
  EXPECT_EQ(sleb("2"), "02");
  EXPECT_EQ(sleb("-2"), "7e");
  EXPECT_EQ(sleb("127"), "ff00");
  EXPECT_EQ(sleb("-127"), "817f");
  EXPECT_EQ(sleb("128"), "8001");
  EXPECT_EQ(sleb("-128"), "807f");
  EXPECT_EQ(sleb("-129"), "ff7e");
  EXPECT_EQ(sleb("9223372036854775807"), "ffffffffffffffffff00");
  EXPECT_EQ(sleb("9223372036854775808"), "80808080808080808001");
  EXPECT_EQ(sleb("-9223372036854775808"), "8080808080808080807f");
  EXPECT_EQ(sleb("-9223372036854775809"), "ffffffffffffffffff7e");
  EXPECT_EQ(sleb("-18446744073709551616"), "8080808080808080807e");
}

TEST(integer, text_of_any_length) {
  // 2^256, from bc.
  const auto* two_256 =
    "115792089237316195423570985008687907853269984665640564039457584007913129639936";
  EXPECT_EQ(integer::from_text(two_256)->to_text(), two_256);
  EXPECT_EQ(integer::from_text("1" + std::string(64, '0'), 16)->to_text(), two_256);
  EXPECT_EQ(integer::from_text("-000")->to_text(), "0");
  EXPECT_FALSE(integer::from_text(""));
  EXPECT_FALSE(integer::from_text("-"));
  EXPECT_FALSE(integer::from_text("1e3"));
  EXPECT_FALSE(integer::from_text(std::string(40'000, '9')));
}

TEST(integer, conversions_and_order) {
  constexpr auto least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(integer::from_text("-9223372036854775808")->to_int64(), least);
  EXPECT_EQ(integer::from_text("9223372036854775808")->to_int64(), std::nullopt);
  EXPECT_EQ(integer::from_text("18446744073709551615")->to_uint64(),
            std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(integer::from_int64(-1).to_uint64(), std::nullopt);
  EXPECT_EQ(integer::from_text("18446744073709551616")->to_double(), 18446744073709551616.0);
  // Halfway between two doubles, and just above: to even, and up.
  EXPECT_EQ(integer::from_text("36893488147419107328")->to_double(), 36893488147419103232.0);
  EXPECT_EQ(integer::from_text("36893488147419107329")->to_double(), 36893488147419111424.0);
  const char* ascending[]{"-18446744073709551616", "-9223372036854775809", "-1", "0", "7",
                          "9223372036854775808",   "18446744073709551616"};
  for (size_t i = 0; i + 1 < std::size(ascending); ++i) {
    EXPECT_LT(integer::from_text(ascending[i]).value(),
              integer::from_text(ascending[i + 1]).value());
  }
}

TEST(integer, sixty_four_bits_agree_with_the_machine) {
  EXPECT_TRUE(rc::check([](int64_t n, uint64_t m) {
    RC_ASSERT(integer::from_int64(n).to_text() == std::to_string(n));
    RC_ASSERT(integer::from_text(std::to_string(m)).value() == integer::from_uint64(m));
    RC_ASSERT(integer::from_uint64(m).to_uint64() == m);
    RC_ASSERT(integer::from_uint64(m).to_double() == static_cast<double>(m));
  }));
}
