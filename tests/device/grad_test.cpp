#include <gtest/gtest.h>

#include <cmath>

#include "base/limits.hpp"
#include "tests/device/support.hpp"

// The operation `grad`: gradients as registers of a program.

namespace moxzi::device {
namespace {

using namespace testing;

operation grad(reg loss, reg x) {
  return {op::grad, {loss, x}, {}};
}
operation sum_all(reg x) {
  return {op::sum, {x}, {{}, {}}};
}
operation cube(reg x) {
  return {op::pow_scalar, {x}, {3.0}};
}

tensor floats(std::vector<uint32_t> dims, std::vector<float> values) {
  return tensor_of(elem::f32, std::move(dims), std::move(values));
}

std::vector<double> answer(const run_request& what) {
  auto core = reference_core();
  auto reply = core.run("a", what);
  EXPECT_TRUE(reply) << reply.error().message;
  return reply ? numbers(reply->tensors.at(0)) : std::vector<double>{};
}

// x³ has 3x², 6x, 6 and 0.
TEST(grad, of_an_input_and_of_its_own_results) {
  program code{input(0), cube(0), sum_all(1)};
  const std::vector<std::vector<double>> wanted{{3, 12, 0.75}, {6, -12, 3}, {6, 6, 6}, {0, 0, 0}};
  for (auto& values : wanted) {
    code.push_back(grad(static_cast<reg>(code.size() - 1), 0));
    auto made = static_cast<reg>(code.size() - 1);
    EXPECT_EQ(
      answer({.inputs = {floats({3}, {1, -2, 0.5})}, .code = shared(code), .tensors = {made}}),
      values);
    code.push_back(sum_all(made));
  }
}

// loss = sum((2h)²) of h = x², with respect to h: 8h.
TEST(grad, of_a_register_on_the_way) {
  program code{input(0),
               {op::square, {0}, {}},
               {op::mul_scalar, {1}, {2.0}},
               {op::square, {2}, {}},
               sum_all(3),
               grad(4, 1)};
  EXPECT_EQ(answer({.inputs = {floats({2}, {1, 3})}, .code = shared(code), .tensors = {5}}),
            (std::vector<double>{8, 72}));
}

TEST(grad, is_zero_where_the_loss_does_not_depend_on_it) {
  program code{input(0), input(1), sum_all(0), grad(2, 1)};
  EXPECT_EQ(answer({.inputs = {floats({2}, {1, 3}), floats({3}, {INFINITY, NAN, 1})},
                    .code = shared(code),
                    .tensors = {3}}),
            (std::vector<double>{0, 0, 0}));
}

/// sum(tanh(x w')²) + the sum of squares of its gradient with respect to x.
run_request with_penalty() {
  program code{input(0),
               {op::cast, {0}, {static_cast<int64_t>(dtype::f64)}},
               param("w"),
               linear(1, 2),
               {op::tanh, {3}, {}},
               {op::square, {4}, {}},
               sum_all(5),
               grad(6, 1),
               {op::square, {7}, {}},
               sum_all(8),
               {op::add, {6, 9}, {}}};
  return {.inputs = {floats({2, 3}, {0.5, -1, 0.25, 1, 0.75, -0.5})},
          .code = shared(code),
          .scalars = {10}};
}

double penalty_at(const std::vector<double>& w) {
  auto core = reference_core();
  EXPECT_TRUE(core.define_params("a", {{.name = "w",
                                        .dims = {2, 3},
                                        .init = init_data{tensor_of(elem::f64, {2, 3}, w)},
                                        .type = dtype::f64}}));
  auto reply = core.run("a", with_penalty());
  EXPECT_TRUE(reply) << reply.error().message;
  return reply ? reply->scalars[0] : 0;
}

// A training step of lr 1 takes the gradient from the parameter; differences say what it is.
TEST(grad, may_be_trained_through) {
  const std::vector<double> w{0.3, -0.2, 0.5, -0.7, 0.1, 0.4};
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", {{.name = "w",
                                        .dims = {2, 3},
                                        .init = init_data{tensor_of(elem::f64, {2, 3}, w)},
                                        .type = dtype::f64}}));
  ASSERT_TRUE(core.define_optimizer(
    "a", {.name = "o", .params = {"w"}, .lr = 1, .beta1 = 0, .kind = optimizer_kind::sgd}));
  auto request = with_penalty();
  request.train = train_spec{.loss = 10, .optimizer = "o"};
  auto done = core.run("a", request);
  ASSERT_TRUE(done) << done.error().message;
  auto read = core.read("a", {.names = {"w"}});
  ASSERT_TRUE(read);
  auto after = numbers((*read)[0]);
  for (size_t i = 0; i < w.size(); ++i) {
    auto above = w, below = w;
    above[i] += 1e-5;
    below[i] -= 1e-5;
    auto slope = (penalty_at(above) - penalty_at(below)) / 2e-5;
    EXPECT_NEAR(w[i] - after[i], slope, 1e-6 * std::max(1.0, std::abs(slope))) << i;
  }
}

// PyTorch 2.11 gives these.
TEST(grad, of_a_power_at_zero_is_a_number) {
  program code{input(0), input(1), {op::pow, {0, 1}, {}}, sum_all(2), grad(3, 0), grad(3, 1)};
  auto slopes = [&](std::vector<float> a, std::vector<float> b, reg which) {
    auto n = static_cast<uint32_t>(a.size());
    return answer({.inputs = {floats({n}, std::move(a)), floats({n}, std::move(b))},
                   .code = shared(code),
                   .tensors = {which}});
  };
  EXPECT_EQ(slopes({0, 2}, {0, 3}, 4), (std::vector<double>{0, 12}));
  auto by_exponent = slopes({0, 3, 0, 2, -0.f}, {2, 2, 0, 1, 3}, 5);
  EXPECT_EQ(by_exponent[0], 0);
  EXPECT_NEAR(by_exponent[1], 9.8875106, 1e-5);
  EXPECT_EQ(by_exponent[2], 0);
  EXPECT_NEAR(by_exponent[3], 1.3862944, 1e-6);
  EXPECT_EQ(by_exponent[4], 0);
}

TEST(grad, wants_a_number_and_a_float) {
  auto core = reference_core();
  std::vector<tensor> inputs{floats({2}, {1, 2}), tensor_of<uint8_t>(elem::u8, {1}, {1})};
  auto fails = [&](program code) {
    auto reply = core.run("a", {.inputs = inputs, .code = shared(std::move(code))});
    return reply ? std::string{} : reply.error().message;
  };
  EXPECT_EQ(fails({input(0), grad(0, 0)}),
            "MXD040: program[1] grad: loss is f32 [2]; one floating-point number wanted");
  EXPECT_EQ(fails({input(0), input(1), sum_all(0), grad(2, 1)}).substr(0, 25),
            "MXD012: program[3] grad: ");
}

// Each one doubles the program: that is refused, and soon.
TEST(grad, of_many_gradients_is_too_long) {
  auto core = reference_core();
  program code{input(0), {op::tanh, {0}, {}}, sum_all(1)};
  for (int i = 0; i < 60; ++i) {
    auto loss = static_cast<reg>(code.size() - 1);
    code.push_back(grad(loss, 0));
    code.push_back(sum_all(loss + 1));
  }
  auto reply = core.run("a", {.inputs = {floats({1}, {1})}, .code = shared(std::move(code))});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, device_errc::program_too_long) << reply.error().message;
}

} // namespace
} // namespace moxzi::device
