#include "shapescript/check/dims.hpp"

#include <random>

#include <gtest/gtest.h>

using namespace shapescript;

namespace {

const auto a = size_form::of(0);
const auto b = size_form::of(1);
const auto c = size_form::of(2);

std::string shown(const size_form& size) {
  return size.print([](symbol one) { return std::string(1, static_cast<char>('a' + one)); });
}

size_form over(const size_form& x, const size_form& y) {
  return quotient(x, y).value();
}

__extension__ using wide = __int128;

/// A fraction of two integers, worked out beside the normal form.
struct fraction {
  wide over = 0;
  wide under = 1;
  bool operator==(const fraction& y) const {
    return over * y.under == y.over * under;
  }
};

} // namespace

TEST(dims, a_quotient_times_what_it_was_divided_by_is_the_whole) {
  EXPECT_EQ(over(a, 2) * 2, a);
  EXPECT_EQ(over(a, 2) + over(a, 2), a);
  EXPECT_EQ(over(a, b) * b, a);
  EXPECT_EQ(over(a * b, b), a);
  EXPECT_EQ(over(over(a, 2), 3), over(a, 6));
  EXPECT_EQ(over(a * b + b * c, a + c), b);
  EXPECT_EQ(over(a, b + c) * (c + b), a);
  EXPECT_EQ(over(a, 2) + over(b, 3), over(a * 3 + b * 2, 6));
}

TEST(dims, different_quotients_differ) {
  EXPECT_FALSE(over(a, 2) == over(a, 3));
  EXPECT_FALSE(over(a, 2) == over(b, 2));
  EXPECT_FALSE(over(a, 2) == a);
  EXPECT_FALSE(over(a, b) == over(b, a));
  EXPECT_FALSE(over(a, b + c) == over(a, b) + over(a, c));
}

TEST(dims, what_stays_a_quotient_is_not_exact_for_all_sizes) {
  EXPECT_EQ(divide(a * 6, 3), a * 2);
  EXPECT_EQ(divide(a, 2), std::nullopt);
  EXPECT_EQ(divide(a, 0), std::nullopt);
  EXPECT_EQ(quotient(a, 0), std::nullopt);
  // 3 * 2 / 2 is whole, 3 / 2 is not.
  EXPECT_EQ(divide(over(a * b, 2), b), std::nullopt);
  EXPECT_EQ(divide(over(a, 2), 1), over(a, 2));
}

TEST(dims, a_quotient_of_known_sizes_is_a_number_or_inexact) {
  const auto with = [](const size_form& size, int64_t number) {
    return size.replace([&](symbol) { return size_form{number}; });
  };
  EXPECT_EQ(with(over(a, 2), 4).number(), 2);
  EXPECT_FALSE(with(over(a, 2), 4).inexact());
  EXPECT_EQ(with(over(a, 2), 5).number(), std::nullopt);
  EXPECT_TRUE(with(over(a, 2), 5).inexact());
  EXPECT_TRUE(with(over(a, b - c), 5).inexact()); // by 0
  EXPECT_FALSE(over(a, 2).inexact());
}

TEST(dims, quotients_are_printed_as_people_write_them) {
  EXPECT_EQ(shown(over(a, 2)), "a/2");
  EXPECT_EQ(shown(over(a, 2) + 1), "a/2+1");
  EXPECT_EQ(shown(over(a - 3, 2) + 1), "(a-1)/2");
  EXPECT_EQ(shown(over(a, 2) - 1), "a/2-1");
  EXPECT_EQ(shown(over(a * b, c)), "a*b/c");
  EXPECT_EQ(shown(over(a, b * c)), "a/(b*c)");
  EXPECT_EQ(shown(over(a, b * 2)), "a/(2*b)");
  EXPECT_EQ(shown(over(a, b + 1)), "a/(b+1)");
  EXPECT_EQ(shown(over(a, 2) + over(b, 3)), "(3*a+2*b)/6");
}

// Random formulas, against fractions of 128 bits at random sizes: equal forms have equal values,
// and with the values put in the form is their fraction.
TEST(dims, forms_agree_with_the_fractions_they_stand_for) {
  size_t equal = 0;
  for (uint32_t seed = 0; seed < 3'000; ++seed) {
    std::mt19937 random{seed};
    const auto pick = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
    const int64_t values[3] = {pick(9) + 1, pick(9) + 1, pick(9) + 1};
    std::vector<std::pair<size_form, fraction>> made;
    for (symbol one = 0; one < 3; ++one)
      made.emplace_back(size_form::of(one), fraction{values[one], 1});
    made.emplace_back(size_form{pick(5) + 1}, fraction{});
    made.back().second.over = *made.back().first.number();
    for (int step = 0; step < 5; ++step) {
      const auto& [x, p] = made[static_cast<size_t>(pick(static_cast<uint32_t>(made.size())))];
      const auto& [y, q] = made[static_cast<size_t>(pick(static_cast<uint32_t>(made.size())))];
      switch (pick(4)) {
        case 0:
          made.emplace_back(x + y,
                            fraction{p.over * q.under + q.over * p.under, p.under * q.under});
          break;
        case 1:
          made.emplace_back(x - y,
                            fraction{p.over * q.under - q.over * p.under, p.under * q.under});
          break;
        case 2:
          made.emplace_back(x * y, fraction{p.over * q.over, p.under * q.under});
          break;
        default:
          if (q.over == 0) break;
          if (const auto z = quotient(x, y))
            made.emplace_back(*z, fraction{p.over * q.under, p.under * q.over});
      }
    }
    for (const auto& [x, p] : made) {
      if (x.too_large() || p.under == 0) continue;
      const auto value = x.replace([&](symbol one) { return size_form{values[one]}; });
      if (p.over % p.under == 0)
        EXPECT_EQ(value.number(), static_cast<int64_t>(p.over / p.under)) << shown(x);
      else
        EXPECT_TRUE(value.inexact()) << shown(x);
      for (const auto& [y, q] : made) {
        if (x.inexact() || y.inexact() || !(x == y)) continue;
        ++equal;
        EXPECT_TRUE(p == q) << seed << ": " << shown(x) << " and " << shown(y);
      }
    }
  }
  EXPECT_GT(equal, 20'000u);
}
