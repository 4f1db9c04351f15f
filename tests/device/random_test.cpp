#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "device/tensors.hpp"
#include "tests/device/backend_checks.hpp"

// Random numbers of runs: what they depend on and how they are spread.

namespace moxzi::device {
namespace {

using namespace testing;

operation random(std::vector<uint32_t> dims, attribute kind, attribute seed = {}) {
  return {op::random, {}, {std::move(dims), std::move(kind), std::move(seed)}};
}

constexpr int64_t uniform = 0, normal = 1;

/// Runs a program of one operation and gives its result.
std::vector<double> drawn(device_core& core, operation what, std::optional<uint64_t> seed = {},
                          byte_view owner = "a") {
  auto reply = core.run(owner, {.code = shared({std::move(what)}), .tensors = {0}, .seed = seed});
  EXPECT_TRUE(reply) << reply.error().message;
  return reply ? numbers(reply->tensors.at(0)) : std::vector<double>{};
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (auto value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double moment_of(std::vector<double> values, int power) {
  for (auto& value : values) value = std::pow(value, power);
  return mean_of(values);
}

/// Every backend that this build has and this machine runs.
std::vector<std::unique_ptr<backend>> backends() {
  std::vector<std::unique_ptr<backend>> out;
  out.push_back(make_reference_backend());
  for (const uint32_t threads : {1u, 2u})
    if (auto cpu = opened("cpu", threads)) out.push_back(std::move(cpu));
  return out;
}

TEST(random_numbers, are_spread_as_their_kind_says) {
  auto core = reference_core({.seed = 3});
  const std::vector<uint32_t> many{40'000};
  const double tolerance = 5 / std::sqrt(40'000.0); // of a deviation
  auto flat = drawn(core, random(many, uniform));
  EXPECT_NEAR(mean_of(flat), 0.5, 0.29 * tolerance);
  EXPECT_NEAR(moment_of(flat, 2), 1.0 / 3, 0.3 * tolerance);
  EXPECT_GE(*std::ranges::min_element(flat), 0);
  EXPECT_LT(*std::ranges::max_element(flat), 1);
  auto bell = drawn(core, random(many, normal));
  EXPECT_NEAR(mean_of(bell), 0, tolerance);
  EXPECT_NEAR(moment_of(bell, 2), 1, 1.42 * tolerance);
  EXPECT_NEAR(moment_of(bell, 4), 3, 9.8 * tolerance);
  auto coins = drawn(core, random(many, 0.3));
  EXPECT_NEAR(mean_of(coins), 0.3, 0.46 * tolerance);
  EXPECT_EQ(moment_of(coins, 2), mean_of(coins));
  EXPECT_EQ(mean_of(drawn(core, random(many, 1.0))), 1);
  EXPECT_EQ(mean_of(drawn(core, random(many, 0.0))), 0);
}

TEST(random_numbers, differ_from_run_to_run_unless_there_is_a_seed) {
  auto core = reference_core(), again = reference_core();
  const auto first = drawn(core, random({9}, uniform));
  EXPECT_NE(first, drawn(core, random({9}, uniform)));
  EXPECT_EQ(first, drawn(again, random({9}, uniform))); // a fresh device repeats itself
  EXPECT_NE(first, drawn(core, random({9}, uniform), {}, "b"));
  const auto seeded = drawn(core, random({9}, uniform), 5);
  EXPECT_EQ(seeded, drawn(core, random({9}, uniform), 5));
  EXPECT_NE(seeded, drawn(core, random({9}, uniform), 6));
  const auto own = drawn(core, random({9}, uniform, int64_t{5}));
  EXPECT_EQ(own, drawn(core, random({9}, uniform, int64_t{5})));
  EXPECT_EQ(own, seeded);
  // The beginning of a larger tensor is not another one.
  auto longer = drawn(core, random({300}, uniform), 5);
  longer.resize(9);
  EXPECT_EQ(longer, seeded);
}

TEST(random_numbers, of_two_call_sites_have_nothing_to_do_with_each_other) {
  auto core = reference_core();
  auto reply = core.run(
    "a", {.code = shared({random({64}, uniform), random({64}, uniform)}), .tensors = {0, 1}});
  ASSERT_TRUE(reply);
  EXPECT_NE(numbers(reply->tensors[0]), numbers(reply->tensors[1]));
}

TEST(random_numbers, are_the_same_on_every_backend) {
  std::map<int, std::vector<double>> first;
  for (auto& on : backends()) {
    device_core core(std::move(on), {.seed = 8});
    int n = 0;
    for (auto& kind : {attribute{uniform}, attribute{normal}, attribute{0.7}}) {
      auto values = drawn(core, random({70'001}, kind), 77);
      auto [found, fresh] = first.emplace(n++, values);
      EXPECT_EQ(found->second, values) << core.info().kind << " kind " << n;
    }
  }
}

// -- dropout -------------------------------------------------------------------

/// y = dropout(x) and the gradient of its sum, in a run that trains the parameter x.
struct dropout_step {
  explicit dropout_step(device_core& core, std::optional<uint64_t> seed = {}) {
    run_request step{
      .train = train_spec{.loss = 3, .optimizer = "o"}, .tensors = {0, 1}, .seed = seed};
    // The sum, as a product with ones.
    step.code = shared({param("x"),
                        {op::dropout, {0}, {0.25, attribute{}}},
                        {op::random, {}, {std::vector<uint32_t>{1, 4000}, 1.0, attribute{}}},
                        {op::linear, {1, 2, no_register}, {}}});
    auto reply = core.run("a", step);
    EXPECT_TRUE(reply) << reply.error().message;
    if (!reply) return;
    x = numbers(reply->tensors[0]);
    y = numbers(reply->tensors[1]);
  }
  std::vector<double> x, y;
};

void define_dropout(device_core& core) {
  ASSERT_TRUE(
    core.define_params("a", {{.name = "x", .dims = {1, 4000}, .init = init_constant{3}}}));
  ASSERT_TRUE(core.define_optimizer(
    "a", {.name = "o", .params = {"x"}, .lr = 1, .kind = optimizer_kind::sgd}));
}

TEST(dropout, drops_a_share_and_the_same_of_the_gradient) {
  for (auto& on : backends()) {
    device_core core(std::move(on), {});
    define_dropout(core);
    dropout_step first(core), second(core);
    size_t dropped = 0;
    for (size_t i = 0; i < first.y.size(); ++i) {
      dropped += first.y[i] == 0;
      ASSERT_NEAR(first.y[i], first.y[i] == 0 ? 0 : 4, 1e-6);
      // One step of plain descent: less the gradient, which is 1 / (1 - p) or 0.
      ASSERT_NEAR(second.x[i], first.y[i] == 0 ? 3 : 3 - 4.0 / 3, 1e-6);
    }
    EXPECT_NEAR(static_cast<double>(dropped) / 4000, 0.25, 0.035);
    EXPECT_NE(first.y, second.y);
  }
}

TEST(dropout, without_training_gives_what_it_gets) {
  auto core = reference_core();
  auto x = tensor_of<float>(elem::f32, {3}, {1, 2, 3});
  auto reply = core.run("a", {.inputs = {x},
                              .code = shared({input(0), {op::dropout, {0}, {0.9, attribute{}}}}),
                              .tensors = {1}});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(numbers(reply->tensors[0]), (std::vector<double>{1, 2, 3}));
}

TEST(dropout, of_a_seeded_step_is_repeated_by_the_same_step) {
  auto one = reference_core({.seed = 1}), two = reference_core({.seed = 2});
  for (auto core : {&one, &two}) define_dropout(*core);
  drawn(two, random({3}, uniform)); // other draws in between don't matter
  EXPECT_EQ(dropout_step(one, 4).y, dropout_step(two, 4).y);
  EXPECT_EQ(dropout_step(one, 4).y, dropout_step(two, 4).y);
  EXPECT_NE(dropout_step(one, 4).y, dropout_step(one, 4).y);
}

// -- categorical ---------------------------------------------------------------

/// How often each class is drawn for the same logits.
std::vector<double> shares(const std::vector<float>& logits, std::vector<attribute> how) {
  constexpr uint32_t rows = 20'000;
  std::vector<float> all;
  for (uint32_t i = 0; i < rows; ++i) all.insert(all.end(), logits.begin(), logits.end());
  auto core = reference_core();
  const auto classes = static_cast<uint32_t>(logits.size());
  auto reply = core.run("a", {.inputs = {tensor_of<float>(elem::f32, {rows, classes}, all)},
                              .code = shared({input(0), {op::categorical, {0}, std::move(how)}}),
                              .tensors = {1}});
  EXPECT_TRUE(reply) << reply.error().message;
  std::vector<double> out(classes);
  if (reply)
    for (auto picked : elements<int64_t>(reply->tensors[0]))
      out[static_cast<size_t>(picked)] += 1.0 / rows;
  return out;
}

TEST(categorical, draws_by_softmax_of_what_may_be_drawn) {
  const attribute none;
  const std::vector<float> logits{0, std::log(2.0f), std::log(5.0f), std::log(2.0f)};
  expect_near(shares(logits, {none, none, none, none}), {0.1, 0.2, 0.5, 0.2}, 0.015, "all");
  expect_near(shares(logits, {0.5, none, none, none}), {1 / 34.0, 4 / 34.0, 25 / 34.0, 4 / 34.0},
              0.015, "temperature");
  expect_near(shares(logits, {none, int64_t{2}, none, none}), {0, 2 / 7.0, 5 / 7.0, 0}, 0.015,
              "the first of equals");
  expect_near(shares(logits, {none, none, 0.6, none}), {0, 2 / 7.0, 5 / 7.0, 0}, 0.015, "top_p");
  expect_near(shares(logits, {none, none, 0.0, none}), {0, 0, 1, 0}, 1e-9, "never none");
  expect_near(shares(logits, {0.0, none, none, none}), {0, 0, 1, 0}, 1e-9, "the likeliest");
}

TEST(categorical, wants_numbers_to_choose_by) {
  for (auto& on : backends()) {
    device_core core(std::move(on), {});
    auto reply =
      core.run("a", {.inputs = {tensor_of<float>(elem::f32, {2, 2}, {0, 1, std::nanf(""), 1})},
                     .code = shared({input(0), {op::categorical, {0}, std::vector<attribute>(4)}}),
                     .tensors = {1}});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().message, "MXD015: program[1] categorical: row 1 of logits has no "
                                     "largest number to choose by");
  }
}

} // namespace
} // namespace moxzi::device
