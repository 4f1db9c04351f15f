#include <gtest/gtest.h>

#include "device/gradient.hpp"
#include "device/plan.hpp"
#include "tests/device/support.hpp"

namespace moxzi::device {
namespace {

using namespace testing;

constexpr uint32_t blocks = 6, layers = 5, width = 32;

/// Blocks of a few layers each, with `recompute` behind every block or without.
program deep(bool again) {
  program code{input(0), param("w")};
  reg h = 0;
  auto add = [&code, &h](operation what) {
    code.push_back(std::move(what));
    h = static_cast<reg>(code.size() - 1);
  };
  for (uint32_t b = 0; b < blocks; ++b) {
    auto start = h;
    for (uint32_t l = 0; l < layers; ++l) {
      add(linear(h, 1));
      add({op::tanh, {h}, {}});
    }
    add({op::add, {h, start}, {}});
    if (again) add({op::recompute, {h}, {}});
  }
  add({op::square, {h}, {}});
  add({op::sum, {h}, {attribute(), attribute()}});
  return code;
}

device_core trained(bool again) {
  auto core = reference_core({.seed = 4});
  EXPECT_TRUE(
    core.define_params("a", {{.name = "w", .dims = {width, width}, .init = init_normal{0.2}}}));
  EXPECT_TRUE(core.define_optimizer(
    "a", {.name = "o", .params = {"w"}, .lr = 0.01, .kind = optimizer_kind::sgd}));
  auto code = deep(again);
  auto loss = static_cast<reg>(code.size() - 1);
  std::vector<float> x(8 * width);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) / 7;
  run_request step{.inputs = {tensor_of<float>(elem::f32, {8, width}, x)},
                   .code = shared(std::move(code)),
                   .train = train_spec{.loss = loss, .optimizer = "o"},
                   .scalars = {loss}};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(core.run("a", step));
  return core;
}

// Other chains are fused, which round elsewhere.
TEST(recompute, changes_the_gradient_by_roundings_at_most) {
  std::vector<std::vector<double>> contents;
  for (bool again : {false, true}) {
    auto core = trained(again);
    auto reply = core.run("a", {.code = shared({param("w")}), .tensors = {0}});
    ASSERT_TRUE(reply) << reply.error().message;
    contents.push_back(numbers(reply->tensors[0]));
  }
  for (size_t i = 0; i < contents[0].size(); ++i)
    ASSERT_NEAR(contents[0][i], contents[1][i], 1e-6) << "element " << i;
}

plan planned(bool again) {
  auto code = deep(again);
  auto loss = static_cast<reg>(code.size() - 1);
  environment where;
  where.inputs = {{elem::f32, {8, width}}};
  where.parameters.emplace("w", register_type{dtype::f32, elem::f32, {width, width}, {}});
  auto typed = check(code, where);
  EXPECT_TRUE(typed) << typed.error().message;
  auto full = differentiate(std::move(*typed), loss, {"w"});
  EXPECT_TRUE(full) << full.error().message;
  return make_plan(*full, {.scalars = {loss}, .differentiate = {"w"}, .loss = loss});
}

// All layers' results without it; with it those between blocks, and those of one block.
TEST(recompute, keeps_what_is_between_the_blocks_and_not_what_is_in_them) {
  constexpr uint64_t one = 8 * width * 4, weight = width * width * 4;
  auto plain = planned(false), again = planned(true);
  EXPECT_GE(plain.arena_bytes, blocks * layers * one);
  EXPECT_LE(again.arena_bytes, (blocks + 2 * layers + 6) * one + 4 * weight);
  // Each layer of each block once more.
  EXPECT_GT(again.total.flops, 1.25 * plain.total.flops);
  EXPECT_LT(again.total.flops, 1.45 * plain.total.flops);
}

TEST(recompute, without_training_is_nothing) {
  auto core = reference_core();
  std::vector<float> x{1, 2, 3};
  auto reply = core.run("a", {.inputs = {tensor_of<float>(elem::f32, {3}, x)},
                              .code = shared({input(0), {op::recompute, {0}, {}}}),
                              .tensors = {1}});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(numbers(reply->tensors[0]), (std::vector<double>{1, 2, 3}));
}

} // namespace
} // namespace moxzi::device
