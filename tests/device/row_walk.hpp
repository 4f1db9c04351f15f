#pragma once

#include "tests/device/backend_checks.hpp"
#include "tests/device/row_call.hpp"

/// Walks over the table: every row that runs, on random operands of every type that it takes.
namespace moxzi::device::testing {

/// Calls `work` with calls of every row, `rounds` for each type.
template <class Work>
void for_each_call(int rounds, const Work& work) {
  for (auto& how : table()) {
    if (how.runs == row_runs::bound) continue;
    SCOPED_TRACE(how.name);
    ASSERT_TRUE(how.example) << "the row has no example";
    for (size_t t = 0; t < dtype_count; ++t) {
      auto type = static_cast<dtype>(t);
      if (!how.takes.contains(type)) continue;
      std::mt19937 random(static_cast<uint32_t>(how.id) * 8 + static_cast<uint32_t>(t));
      sampler samples(random(), type);
      for (int i = 0; i < rounds; ++i) {
        auto what = how.example(samples);
        auto operands = operands_of(what, random);
        auto call = make_call(how, std::move(what), std::move(operands));
        ASSERT_TRUE(call) << name_of(type) << ": " << call.error().message;
        work(*call, random);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

inline void expect_equal(const tensor& got, const tensor& wanted, double tolerance,
                         const std::string& name) {
  EXPECT_EQ(got.type, wanted.type) << name;
  EXPECT_EQ(got.dims, wanted.dims) << name;
  expect_near(values_of(got), values_of(wanted), tolerance, name);
}

/// Results, second results and gradients agree with those of plain loops in f64.
inline void check_rows(backend& on, int rounds, bool parallel = false) {
  auto reference = make_reference_backend();
  for_each_call(rounds, [&](const row_call& call, std::mt19937& random) {
    std::vector<reg> wanted{call.result};
    if (call.second != no_register) wanted.push_back(call.second);
    auto right = run_program(*reference, call.code, wanted, call.operands);
    auto got = run_program(on, call.code, wanted, call.operands, parallel);
    ASSERT_EQ(got.size(), right.size()) << call.text();
    for (size_t i = 0; i < got.size(); ++i)
      expect_equal(got[i], right[i], tolerance_of(call, right[i].type), call.text());
    if (!has_gradient(call)) return;
    auto gradient = differentiate_call(call, random);
    ASSERT_TRUE(gradient) << call.text() << ": " << gradient.error().message;
    wanted.clear();
    for (auto r : gradient->code.gradients)
      if (r != no_register) wanted.push_back(r);
    right = run_program(*reference, gradient->code.code, wanted, gradient->operands);
    got = run_program(on, gradient->code.code, wanted, gradient->operands, parallel);
    ASSERT_EQ(got.size(), right.size());
    for (size_t i = 0; i < got.size(); ++i)
      expect_equal(got[i], right[i], 8 * tolerance_of(call, right[i].type),
                   "gradient of " + call.text());
  });
}

} // namespace moxzi::device::testing
