#pragma once

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/device/kernel_cases.hpp"
#include "tests/device/step_checks.hpp"

/// What every backend that computes must do, whatever it is made of.
namespace moxzi::device::testing {

/// Where the programs and plugins of this build are.
inline std::filesystem::path built_programs() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

/// Opens a device; null with the reason printed where it is not there.
inline std::unique_ptr<backend> opened(std::string_view kind, uint32_t threads = 1) {
  auto made = open_backend(kind, threads, built_programs());
  if (made) return std::move(*made);
  fmt::print("skipped: {}\n", made.error().message);
  return nullptr;
}

/// Runs a plan without parameters.
inline std::optional<fault> run_plan(backend& on, const plan& what,
                                     const std::vector<tensor>& inputs, run_results& out) {
  fault why;
  auto ready = on.prepare(what, why);
  if (!ready) return why;
  return ready->run({.inputs = inputs}, out);
}

inline std::vector<double> result_numbers(const plan& what, const run_results& from, size_t n) {
  return numbers({from.tensors.at(n), what.tensors[what.results[n]].type, {}});
}

inline void expect_near(const std::vector<double>& got, const std::vector<double>& wanted,
                        double tolerance, const std::string& name) {
  ASSERT_EQ(got.size(), wanted.size()) << name;
  for (size_t i = 0; i < got.size(); i++) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << name << " element " << i;
      continue;
    }
    ASSERT_NEAR(got[i], wanted[i], tolerance * std::max(1.0, std::abs(wanted[i])))
      << name << " element " << i;
  }
}

/// An index out of range is a fault that names it, and the step behind it does not happen.
inline void check_bad_indices(device_core& core) {
  ASSERT_TRUE(core.define_params("a", letters_params()));
  ASSERT_TRUE(core.define_optimizer("a", letters_optimizer()));
  run_request look{.code = shared({param("embed"), param("head")}), .tensors = {0, 1}};
  const auto before = core.run("a", look);
  ASSERT_TRUE(before);
  auto bad = letters_step();
  std::vector<int32_t> ids(65, 3);
  for (const int wrong : {256, -1, 1 << 30}) {
    ids[20] = wrong;
    bad.inputs = {tensor_of<int32_t>(elem::i32, {1, 65}, ids)};
    const auto reply = core.run("a", bad);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, device_errc::index_range);
    EXPECT_NE(reply.error().message.find("MXD015: program[5] embedding"), std::string::npos)
      << reply.error().message;
    EXPECT_NE(reply.error().message.find(std::to_string(wrong)), std::string::npos);
  }
  ids[20] = 3;
  ids[64] = 256; // a target only
  bad.inputs = {tensor_of<int32_t>(elem::i32, {1, 65}, ids)};
  const auto reply = core.run("a", bad);
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().message.find("MXD015: program[9] cross_entropy"), std::string::npos)
    << reply.error().message;
  const auto after = core.run("a", look);
  ASSERT_TRUE(after);
  EXPECT_EQ(before->tensors, after->tensors);
  EXPECT_TRUE(core.run("a", letters_step()));
}

/// The losses of the page's model.
inline std::vector<double> letters_losses(device_core& core, int steps) {
  EXPECT_TRUE(core.define_params("a", letters_params()));
  EXPECT_TRUE(core.define_optimizer("a", letters_optimizer()));
  const auto request = letters_step();
  std::vector<double> losses;
  for (int i = 0; i < steps; i++) {
    const auto reply = core.run("a", request);
    EXPECT_TRUE(reply) << reply.error().message;
    if (!reply) break;
    losses.push_back(reply->scalars.at(0));
  }
  return losses;
}

/// A model of f64 parameters trains in f64.
inline void check_f64(std::unique_ptr<backend> on) {
  device_core core(std::move(on), {.seed = 2}), reference(make_reference_backend(), {.seed = 2});
  auto params = letters_params();
  for (auto& param : params) param.type = dtype::f64;
  params.push_back({.name = "bias", .dims = {256}, .init = init_normal{0.1}, .type = dtype::f64});
  auto optimizer = letters_optimizer();
  optimizer.params.push_back("bias");
  auto request = letters_step();
  request.code = shared({input(0), narrow(0, 1, 0, 64), narrow(0, 1, 1, 64), reshape(2, {64}),
                         param("embed"), embedding(4, 1), param("head"), param("bias"),
                         linear(5, 6, 7), reshape(8, {64, 256}), cross_entropy(9, 3)});
  request.train->loss = 10;
  request.train->clip = 0.2;
  request.scalars = {10};
  for (auto* one : {&core, &reference}) {
    ASSERT_TRUE(one->define_params("a", params));
    ASSERT_TRUE(one->define_optimizer("a", optimizer));
  }
  for (int step = 0; step < 20; step++) {
    const auto got = core.run("a", request), wanted = reference.run("a", request);
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_TRUE(wanted) << wanted.error().message;
    EXPECT_NEAR(got->scalars[0], wanted->scalars[0], 1e-9) << "step " << step;
    EXPECT_NEAR(*got->grad_norm, *wanted->grad_norm, 1e-9) << "step " << step;
  }
}

/// It learns the phrase, and for twenty steps its losses are the reference's.
inline void check_letters(std::unique_ptr<backend> on) {
  device_core core(std::move(on), {.seed = 1}), reference(make_reference_backend(), {.seed = 1});
  const auto losses = letters_losses(core, 200);
  const auto wanted = letters_losses(reference, 20);
  ASSERT_EQ(losses.size(), 200u);
  for (size_t i = 0; i < wanted.size(); i++)
    EXPECT_NEAR(losses[i], wanted[i], 1e-5 * wanted[i]) << "step " << i;
  EXPECT_GE(losses.back(), 0.8759);
  EXPECT_LE(losses.back(), 0.8763);
}

} // namespace moxzi::device::testing
