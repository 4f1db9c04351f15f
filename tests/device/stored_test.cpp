#include <cmath>

#include <gtest/gtest.h>

#include "tests/device/backend_checks.hpp"

// What runs leave behind besides trained parameters: stored values, assigned parameters, running
// statistics.

namespace moxzi::device {
namespace {

using namespace testing;

operation value(std::string name) {
  return {op::value, {}, {std::move(name)}};
}
operation store(reg x, std::string name) {
  return {op::store, {x}, {std::move(name)}};
}
operation assign(reg x, std::string name) {
  return {op::assign, {x}, {std::move(name)}};
}
operation add(reg a, reg b) {
  return {op::add, {a, b}, {}};
}

tensor floats(std::vector<uint32_t> dims, std::vector<float> values) {
  return tensor_of<float>(elem::f32, std::move(dims), values);
}

std::vector<double> read(device_core& core, operation what) {
  auto reply = core.run("a", {.code = shared({std::move(what)}), .tensors = {0}});
  EXPECT_TRUE(reply) << reply.error().message;
  return reply ? numbers(reply->tensors.at(0)) : std::vector<double>{};
}

device_errc code_of(const error& why) {
  return static_cast<device_errc>(why.code.value());
}

TEST(stored, a_name_is_a_parameter_or_a_value) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", {{.name = "w", .dims = {1}, .init = init_constant{1}}}));
  auto run = [&](const char* name) {
    return core.run("a", {.code = shared({param("w"), store(0, name)})});
  };
  auto taken = run("w");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, device_errc::exists);
  ASSERT_TRUE(run("v"));
  auto other = core.define_params("a", {{.name = "v", .dims = {1}, .init = init_constant{1}}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, device_errc::exists);
}

TEST(stored_values, are_kept_from_run_to_run) {
  auto core = reference_core();
  run_request first{.inputs = {floats({2}, {1, 2})}, .code = shared({input(0), store(0, "sum")})};
  ASSERT_TRUE(core.run("a", first));
  run_request more{.inputs = {floats({2}, {10, 20})},
                   .code = shared({input(0), value("sum"), add(0, 1), store(2, "sum")}),
                   .tensors = {1, 3}};
  auto reply = core.run("a", more);
  ASSERT_TRUE(reply) << reply.error().message;
  // A run reads what was there before it.
  EXPECT_EQ(numbers(reply->tensors[0]), (std::vector<double>{1, 2}));
  EXPECT_EQ(numbers(reply->tensors[1]), (std::vector<double>{11, 22}));
  EXPECT_EQ(read(core, value("sum")), (std::vector<double>{11, 22}));
  ASSERT_TRUE(core.run("a", more));
  EXPECT_EQ(read(core, value("sum")), (std::vector<double>{21, 42}));
}

TEST(stored_values, change_places_in_one_run) {
  auto core = reference_core();
  ASSERT_TRUE(core.run("a", {.inputs = {floats({1}, {1}), floats({1}, {2})},
                             .code = shared({input(0), input(1), store(0, "x"), store(1, "y")})}));
  ASSERT_TRUE(
    core.run("a", {.code = shared({value("x"), value("y"), store(0, "y"), store(1, "x")})}));
  EXPECT_EQ(read(core, value("x")), std::vector<double>{2});
  EXPECT_EQ(read(core, value("y")), std::vector<double>{1});
}

TEST(stored_values, belong_to_their_owner_and_take_its_memory) {
  auto core = reference_core();
  run_request put{.inputs = {floats({64}, std::vector<float>(64))},
                  .code = shared({input(0), store(0, "x")})};
  ASSERT_TRUE(core.run("a", put));
  EXPECT_EQ(core.memory_bytes("a"), 256u);
  auto other = core.run("b", {.code = shared({value("x")})});
  ASSERT_FALSE(other);
  EXPECT_EQ(code_of(other.error()), device_errc::unknown_value) << other.error().message;
  // Another shape takes the old one's place.
  put.inputs = {floats({2}, {1, 2})};
  ASSERT_TRUE(core.run("a", put));
  EXPECT_EQ(core.memory_bytes("a"), 8u);
  core.drop_space("a");
  EXPECT_EQ(core.memory_bytes("a"), 0u);
}

TEST(stored_values, a_missing_one_is_named_with_the_nearest) {
  auto core = reference_core();
  ASSERT_TRUE(
    core.run("a", {.inputs = {floats({1}, {1})}, .code = shared({input(0), store(0, "hidden")})}));
  auto reply = core.run("a", {.code = shared({value("hiden")})});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message,
            "MXD022: program[0] value: no stored value \"hiden\"; did you mean 'hidden'?");
}

TEST(stored_values, are_listed_and_forgotten) {
  auto core = reference_core();
  ASSERT_TRUE(
    core.run("a", {.inputs = {text_tensor("abc"), floats({2}, {1, 2})},
                   .code = shared({input(0), input(1), store(0, "text"), store(1, "numbers")})}));
  auto list = core.list("a");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->values.size(), 2u);
  EXPECT_EQ(list->values[0].name, "numbers");
  EXPECT_EQ(list->values[1].dims, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(list->values[1].bytes, 3u);
  ASSERT_TRUE(core.remove("a", {.values = {"text"}}));
  EXPECT_EQ(core.memory_bytes("a"), 8u);
  EXPECT_FALSE(core.remove("a", {.values = {"text"}}));
  ASSERT_TRUE(core.remove("a", {.everything = true}));
  EXPECT_EQ(core.memory_bytes("a"), 0u);
}

TEST(stored_values, a_quota_holds_for_them) {
  auto core = reference_core({.owner_bytes = 100});
  auto reply = core.run("a", {.inputs = {floats({64}, std::vector<float>(64))},
                              .code = shared({input(0), store(0, "x")})});
  ASSERT_FALSE(reply);
  EXPECT_EQ(code_of(reply.error()), device_errc::quota) << reply.error().message;
  EXPECT_EQ(core.memory_bytes("a"), 0u);
}

TEST(writes, a_run_that_fails_makes_none) {
  auto core = reference_core();
  ASSERT_TRUE(
    core.define_params("a", {{.name = "table", .dims = {2, 1}, .init = init_constant{5}},
                             {.name = "other", .dims = {2, 1}, .init = init_constant{6}}}));
  run_request bad{.inputs = {tensor_of<uint8_t>(elem::u8, {1}, {9})},
                  .code = shared({param("table"), param("other"), store(0, "x"), assign(0, "other"),
                                  input(0), embedding(0, 4)}),
                  .tensors = {5}};
  ASSERT_FALSE(core.run("a", bad));
  EXPECT_FALSE(core.run("a", {.code = shared({value("x")})}));
  EXPECT_EQ(read(core, param("other")), (std::vector<double>{6, 6}));
  bad.inputs = {tensor_of<uint8_t>(elem::u8, {1}, {1})};
  ASSERT_TRUE(core.run("a", bad));
  EXPECT_EQ(read(core, value("x")), (std::vector<double>{5, 5}));
  EXPECT_EQ(read(core, param("other")), (std::vector<double>{5, 5}));
}

TEST(writes, a_parameter_is_assigned_to_or_stepped) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", letters_params()));
  ASSERT_TRUE(core.define_optimizer("a", letters_optimizer()));
  auto step = letters_step();
  auto code = *step.code;
  code.push_back(assign(4, "head"));
  step.code = shared(code);
  auto reply = core.run("a", step);
  ASSERT_FALSE(reply);
  EXPECT_EQ(code_of(reply.error()), device_errc::two_optimizers) << reply.error().message;
}

// PyTorch's running_mean and running_var after the same two batches: momentum 0.5, variance
// unbiased.
TEST(batch_norm, moves_its_running_statistics_in_runs_that_train) {
  auto core = reference_core();
  const auto norm = [](attribute train) {
    return operation{op::batch_norm,
                     {0, no_register, no_register},
                     {std::string("m"), std::string("v"), 0.5, attribute{}, std::move(train)}};
  };
  run_request run{
    .inputs = {floats({2, 1}, {1, 3})}, .code = shared({input(0), norm(true)}), .tensors = {1}};
  auto reply = core.run("a", run);
  ASSERT_TRUE(reply) << reply.error().message;
  expect_near(numbers(reply->tensors[0]), {-1 / std::sqrt(1 + 1e-5), 1 / std::sqrt(1 + 1e-5)}, 1e-6,
              "normalised");
  EXPECT_EQ(read(core, value("m")), std::vector<double>{1});
  EXPECT_EQ(read(core, value("v")), std::vector<double>{1.5});
  run.inputs = {floats({2, 1}, {5, 5})};
  ASSERT_TRUE(core.run("a", run));
  EXPECT_EQ(read(core, value("m")), std::vector<double>{3});
  EXPECT_EQ(read(core, value("v")), std::vector<double>{0.75});
  // Without training they are used and stay.
  run.code = shared({input(0), norm({})});
  reply = core.run("a", run);
  ASSERT_TRUE(reply);
  expect_near(numbers(reply->tensors[0]), {2 / std::sqrt(0.75 + 1e-5), 2 / std::sqrt(0.75 + 1e-5)},
              1e-6, "by running statistics");
  EXPECT_EQ(read(core, value("m")), std::vector<double>{3});
}

} // namespace
} // namespace moxzi::device
