#include "tests/device/row_walk.hpp"

// What holds for every row of the table, on the reference backend.

namespace moxzi::device {
namespace {

using namespace testing;

TEST(rows, have_everything_that_the_tests_need) {
  for (auto& how : table()) {
    SCOPED_TRACE(how.name);
    if (how.runs == row_runs::bound) continue;
    EXPECT_TRUE(how.example) << "a right call";
    EXPECT_TRUE(how.costs) << "a cost";
    EXPECT_EQ(how.runs == row_runs::view, how.look != nullptr);
    if (how.internal()) continue;
    EXPECT_FALSE(how.pytorch.empty()) << "the same by PyTorch";
    EXPECT_TRUE(how.wrong) << "a wrong call";
  }
}

TEST(rows, refuse_wrong_calls_and_types_they_do_not_take) {
  for (auto& how : table()) {
    if (how.internal() || how.runs == row_runs::bound) continue;
    SCOPED_TRACE(how.name);
    std::mt19937 random(1);
    for (size_t t = 0; t < dtype_count; ++t) {
      auto type = static_cast<dtype>(t);
      sampler samples(t + 1, type);
      auto what =
        how.takes.contains(type) ? how.wrong(samples) : wrong_sample{how.example(samples), {}};
      auto operands = operands_of(what.call, random);
      auto call = make_call(how, what.call, operands);
      ASSERT_FALSE(call) << name_of(type);
      if (how.takes.contains(type))
        EXPECT_EQ(call.error().code, what.why) << call.error().message;
      else
        EXPECT_EQ(call.error().code, device_errc::dtype_mismatch) << call.error().message;
    }
  }
}

/// The loss for contents of one operand.
double loss_of(backend& on, const call_gradient& what) {
  auto results = run_program(on, what.code.code, {what.loss}, what.operands);
  return values_of(results.at(0)).at(0);
}

// Central differences in f64, at some elements of each operand.
TEST(rows, have_the_gradients_that_differences_show) {
  auto on = make_reference_backend();
  for_each_call(20, [&](const row_call& call, std::mt19937& random) {
    if (!has_gradient(call) || call.code.types[call.result].type != dtype::f64) return;
    auto what = differentiate_call(call, random);
    ASSERT_TRUE(what) << call.text() << ": " << what.error().message;
    for (size_t n = 0; n < what->names.size(); ++n) {
      auto found = std::ranges::find(what->operands, what->names[n], &row_operand::parameter);
      if (found->contents.type != elem::f64) continue;
      byte_string data(byte_view(found->contents.data));
      auto elements = data.size() / sizeof(double);
      std::vector<double> gradient(elements);
      if (auto r = what->code.gradients[n]; r != no_register)
        gradient = values_of(run_program(*on, what->code.code, {r}, what->operands).at(0));
      ASSERT_EQ(gradient.size(), elements) << call.text();
      for (int tries = 0; tries < 3 && elements > 0; ++tries) {
        auto at = random() % elements;
        double before, h = 1e-6;
        std::memcpy(&before, data.data() + at * sizeof(double), sizeof(double));
        auto with = [&](double value) {
          std::memcpy(data.data() + at * sizeof(double), &value, sizeof(double));
          found->contents.data = data;
          return loss_of(*on, *what);
        };
        auto slope = (with(before + h) - with(before - h)) / (2 * h);
        with(before);
        ASSERT_NEAR(gradient[at], slope,
                    2e-5 * std::max(1.0, std::abs(slope)) * call.how->tolerance)
          << call.text() << " operand " << what->names[n] << " element " << at;
      }
    }
  });
}

} // namespace
} // namespace moxzi::device
