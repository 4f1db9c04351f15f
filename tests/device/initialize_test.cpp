#include "device/initialize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "device/erfinv.hpp"
#include "tests/device/support.hpp"

namespace moxzi::device {
namespace {

using namespace testing;

/// What a new f64 parameter "p" with this seed holds.
std::vector<double> drawn(initializer init, std::vector<uint32_t> dims, uint64_t seed = 7,
                          dtype type = dtype::f64) {
  auto core = reference_core();
  auto made = core.define_params(
    "a", {{.name = "p", .dims = std::move(dims), .init = init, .type = type, .seed = seed}});
  EXPECT_TRUE(made) << made.error().message;
  auto reply = core.run("a", {.code = shared({param("p")}), .tensors = {0}});
  EXPECT_TRUE(reply) << reply.error().message;
  return reply ? numbers(reply->tensors.at(0)) : std::vector<double>{};
}

std::string refusal(initializer init, std::vector<uint32_t> dims, dtype type = dtype::f32) {
  auto core = reference_core();
  auto made =
    core.define_params("a", {{.name = "p", .dims = std::move(dims), .init = init, .type = type}});
  EXPECT_FALSE(made);
  return made ? std::string{} : made.error().message;
}

// -- fans ----------------------------------------------------------------------

// torch.nn.init: a weight [4, 3, 5] has fan_in 3·5 = 15 and fan_out 4·5 = 20.
TEST(initializers, xavier_spreads_by_both_fans) {
  auto deviation = 2 * std::sqrt(2.0 / 35), bound = std::sqrt(3.0) * deviation;
  EXPECT_EQ(drawn(init_xavier_uniform{2}, {4, 3, 5}),
            drawn(init_uniform{-bound, bound}, {4, 3, 5}));
  EXPECT_EQ(drawn(init_xavier_normal{2}, {4, 3, 5}), drawn(init_normal{deviation}, {4, 3, 5}));
}

// torch.nn.Linear's own: kaiming_uniform with slope sqrt(5) gives bounds of 1 / sqrt(fan_in).
TEST(initializers, kaiming_spreads_by_what_comes_in) {
  auto linear = drawn(init_kaiming_uniform{std::sqrt(5.0)}, {10, 16});
  auto wanted = drawn(init_uniform{-0.25, 0.25}, {10, 16});
  ASSERT_EQ(linear.size(), wanted.size());
  for (size_t i = 0; i < linear.size(); ++i) EXPECT_NEAR(linear[i], wanted[i], 1e-15);
  auto deviation = std::sqrt(2.0) / std::sqrt(15.0);
  EXPECT_EQ(drawn(init_kaiming_normal{0}, {4, 3, 5}), drawn(init_normal{deviation}, {4, 3, 5}));
}

TEST(initializers, fans_need_two_dimensions) {
  EXPECT_EQ(refusal(init_xavier_normal{1}, {5}),
            "MXD011: params[0] \"p\": xavier_normal of [5]; at least 2 dimensions wanted");
  EXPECT_EQ(refusal(init_kaiming_uniform{0}, {}),
            "MXD011: params[0] \"p\": kaiming_uniform of []; at least 2 dimensions wanted");
  EXPECT_TRUE(drawn(init_xavier_uniform{1}, {0, 3}).empty());
  EXPECT_TRUE(drawn(init_kaiming_normal{1}, {3, 0}).empty());
}

// -- truncated normal ----------------------------------------------------------

// Values of erfinv from tables (Abramowitz and Stegun 7.1; Wolfram's InverseErf).
TEST(erfinv, has_the_known_values) {
  EXPECT_EQ(erfinv(0), 0);
  EXPECT_NEAR(erfinv(0.5), 0.47693627620446987, 1e-15);
  EXPECT_NEAR(erfinv(0.9), 1.1630871536766743, 1e-15);
  EXPECT_NEAR(erfinv(-0.99), -1.8213863677184496, 1e-15);
  EXPECT_NEAR(erfinv(1e-10), 8.862269254527581e-11, 1e-24);
}

TEST(erfinv, turns_the_error_function_back) {
  for (double y = -2.5; y < 2.5; y += 0.037) EXPECT_NEAR(erfinv(std::erf(y)), y, 1e-13) << y;
  // Near 1 the error function has no digits left; the distance to 1 has all of them.
  for (int n = 1; n <= 53; ++n)
    EXPECT_NEAR(std::erfc(erfinv(1 - std::ldexp(1, -n))) / std::ldexp(1, -n), 1, 1e-13) << n;
}

TEST(initializers, a_truncated_normal_has_the_moments_of_one) {
  auto values = drawn(init_trunc_normal{0.5, 1}, {200'000});
  double sum = 0, squares = 0;
  for (auto x : values) {
    ASSERT_LE(std::abs(x), 1);
    sum += x;
    squares += x * x;
  }
  auto n = static_cast<double>(values.size());
  // Cut at two deviations, the variance is 1 - 2·2·φ(2) / (2·Φ(2) - 1) = 0.77374 of the whole.
  EXPECT_NEAR(sum / n, 0, 5 * 0.44 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 0.25 * 0.7737413, 5 * 0.25 * std::sqrt(2 / n));
  EXPECT_GT(*std::ranges::max_element(values), 0.99);
}

TEST(initializers, a_wide_cut_leaves_the_normal_distribution) {
  auto values = drawn(init_trunc_normal{1, 100}, {100'000});
  double squares = 0, fourth = 0;
  for (auto x : values) {
    squares += x * x;
    fourth += x * x * x * x;
  }
  auto n = static_cast<double>(values.size());
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96 / n));
  EXPECT_EQ(drawn(init_trunc_normal{0, 1}, {2}), (std::vector<double>{0, 0}));
}

// -- matrices ------------------------------------------------------------------

/// [rows, columns] times its transpose, or the transpose times it, whichever is smaller.
std::vector<double> gram(const std::vector<double>& x, size_t rows, size_t columns) {
  auto small = std::min(rows, columns), large = std::max(rows, columns);
  auto at = [&](size_t n, size_t k) {
    return rows <= columns ? x[n * columns + k] : x[k * columns + n];
  };
  std::vector<double> out;
  for (size_t i = 0; i < small; ++i)
    for (size_t j = 0; j < small; ++j) {
      double sum = 0;
      for (size_t k = 0; k < large; ++k) sum += at(i, k) * at(j, k);
      out.push_back(sum);
    }
  return out;
}

TEST(initializers, orthogonal_rows_or_columns_are_orthogonal) {
  for (auto dims : std::vector<std::vector<uint32_t>>{
         {1, 1}, {7, 3}, {3, 7}, {40, 40}, {4, 2, 5}, {50, 2, 3}, {33, 90}}) {
    size_t rows = dims[0], columns = 1;
    for (size_t i = 1; i < dims.size(); ++i) columns *= dims[i];
    auto values = drawn(init_orthogonal{2}, dims);
    auto small = std::min(rows, columns);
    auto products = gram(values, rows, columns);
    for (size_t i = 0; i < products.size(); ++i)
      EXPECT_NEAR(products[i], i / small == i % small ? 4 : 0, 1e-12) << rows << " x " << columns;
  }
  EXPECT_TRUE(drawn(init_orthogonal{1}, {0, 4}).empty());
}

// torch.nn.init.orthogonal_ takes the Q whose R has a positive diagonal, of the transpose if there
// are more columns than rows.
TEST(initializers, orthogonal_is_the_q_of_a_normal_matrix) {
  constexpr size_t rows = 6, columns = 4;
  auto a = drawn(init_normal{1}, {rows, columns}), q = drawn(init_orthogonal{1}, {rows, columns});
  for (size_t i = 0; i < columns; ++i)
    for (size_t j = 0; j < columns; ++j) {
      double r = 0;
      for (size_t k = 0; k < rows; ++k) r += q[k * columns + i] * a[k * columns + j];
      if (i == j) {
        EXPECT_GT(r, 0);
      } else if (i > j) {
        EXPECT_NEAR(r, 0, 1e-12);
      }
    }
  auto wide = drawn(init_normal{1}, {columns, rows}),
       l = drawn(init_orthogonal{1}, {columns, rows});
  for (size_t i = 0; i < columns; ++i)
    for (size_t j = 0; j <= i; ++j) {
      double r = 0;
      for (size_t k = 0; k < rows; ++k) r += l[i * rows + k] * wide[j * rows + k];
      if (i == j)
        EXPECT_GT(r, 0);
      else
        EXPECT_NEAR(r, 0, 1e-12);
    }
}

TEST(initializers, eye_has_ones_on_the_diagonal) {
  EXPECT_EQ(drawn(init_eye{}, {2, 3}), (std::vector<double>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(drawn(init_eye{}, {3, 2}), (std::vector<double>{1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(refusal(init_eye{}, {2, 2, 2}),
            "MXD011: params[0] \"p\": eye of [2, 2, 2]; 2 dimensions wanted");
}

TEST(initializers, refuse_what_makes_no_sense) {
  EXPECT_EQ(refusal(init_trunc_normal{1, 0}, {2}),
            "MXD032: params[0] \"p\": trunc_normal of 1 cut at 0: finite in f32, not negative, and "
            "a cut above 0 wanted");
  EXPECT_EQ(refusal(init_xavier_uniform{-1}, {2, 2}),
            "MXD032: params[0] \"p\": xavier_uniform -1: finite and not negative wanted");
  EXPECT_EQ(refusal(init_kaiming_normal{std::nan("")}, {2, 2}),
            "MXD032: params[0] \"p\": kaiming_normal nan: finite wanted");
  EXPECT_EQ(refusal(init_orthogonal{1e39}, {2, 2}),
            "MXD032: params[0] \"p\": orthogonal 1e+39: finite in f32 and not negative wanted");
  EXPECT_EQ(refusal(init_orthogonal{1}, {8192, 8192}),
            "MXD032: params[0] \"p\": orthogonal of [8192, 8192] takes 5.5e+11 multiplications; at "
            "most 1.7e+10");
  EXPECT_NE(refusal(init_xavier_normal{1e38}, {2, 2}).find("draws finite in f32"),
            std::string::npos);
}

// -- seeds ---------------------------------------------------------------------

TEST(initializers, a_seed_makes_the_draw_the_same_everywhere) {
  auto make = [](uint64_t device_seed, byte_view owner, std::optional<uint64_t> seed, int times) {
    auto core = reference_core({.seed = device_seed});
    for (int i = 0; i < times; ++i)
      EXPECT_TRUE(core.define_params(
        owner, {{.name = "p", .dims = {3}, .init = init_normal{1}, .seed = seed}}));
    auto reply = core.run(owner, {.code = shared({param("p")}), .tensors = {0}});
    return numbers(reply->tensors.at(0));
  };
  EXPECT_EQ(make(0, "a", 5, 1), make(1, "b", 5, 3));
  EXPECT_NE(make(0, "a", 5, 1), make(0, "a", 6, 1));
  EXPECT_NE(make(0, "a", 5, 1), make(0, "a", {}, 1));
  EXPECT_NE(make(0, "a", {}, 1), make(0, "a", {}, 2));
}

TEST(initializers, f32_is_f64_rounded_once) {
  auto wide = drawn(init_orthogonal{1}, {9, 5}, 3),
       narrow = drawn(init_orthogonal{1}, {9, 5}, 3, dtype::f32);
  for (size_t i = 0; i < wide.size(); ++i)
    EXPECT_EQ(narrow[i], static_cast<double>(static_cast<float>(wide[i])));
}

} // namespace
} // namespace moxzi::device
