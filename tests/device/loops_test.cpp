#include <gtest/gtest.h>

#include "tests/device/backend_checks.hpp"

// The processor's own loops that copy and reduce, on sizes and strides that small calls don't have.

namespace moxzi::device {
namespace {

using namespace testing;

class torch_loops : public ::testing::Test {
protected:
  void SetUp() override {
    if (!std::filesystem::exists(built_programs() / "libmoxzi_torch.so"))
      GTEST_SKIP() << "this build has no libtorch";
  }
};

/// A look at an input: some dimensions in another order, some repeated, some with steps.
struct looked {
  shape dims, strides;
};

looked any_look(case_maker& make, const std::vector<uint32_t>& whole) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < whole.size(); i++)
    order.insert(order.begin() + make.below(static_cast<uint32_t>(i) + 1), static_cast<int64_t>(i));
  looked out;
  for (const auto from : order) {
    int64_t size = whole[static_cast<size_t>(from)], stride = 1;
    for (auto i = static_cast<size_t>(from) + 1; i < whole.size(); i++) stride *= whole[i];
    switch (make.below(6)) {
      case 0:
        size = (size + 1) / 2;
        stride *= 2;
        break;
      case 1:
        stride = 0;
        break;
      default:
        break;
    }
    out.dims.push(size);
    out.strides.push(stride);
  }
  return out;
}

/// The plan on one thread, on two, and by plain loops.
void check(const kernel_case& one, bool same_digits) {
  auto reference = make_reference_backend();
  auto ready = one;
  run_results wanted, single, two;
  ASSERT_FALSE(run_plan(*reference, one.what, one.inputs, wanted));
  ASSERT_FALSE(run_plan(*opened("cpu", 1), one.what, one.inputs, single));
  ready.what.parallel = true;
  ASSERT_FALSE(run_plan(*opened("cpu", 2), ready.what, ready.inputs, two));
  EXPECT_EQ(single.tensors, two.tensors) << one.name << ": two threads have other digits";
  if (same_digits)
    EXPECT_EQ(single.tensors, wanted.tensors) << one.name;
  else
    expect_near(result_numbers(one.what, single, 0), result_numbers(one.what, wanted, 0),
                one.tolerance, one.name);
}

std::vector<uint32_t> any_sizes(case_maker& make) {
  switch (make.below(5)) {
    case 0:
      return {1 + make.below(600), 1 + make.below(600)};
    case 1:
      return {1 + make.below(40), 1 + make.below(90), 1 + make.below(40)};
    case 2:
      return {1 + make.below(12), 1 + make.below(12), 1 + make.below(20), 1 + make.below(40)};
    case 3:
      return {1 + make.below(200'000)};
    default:
      return {1 + make.below(20'000), 1 + make.below(6)};
  }
}

TEST_F(torch_loops, copy_any_look_at_memory) {
  case_maker make(21);
  for (int round = 0; round < 60; round++) {
    const auto sizes = any_sizes(make);
    auto from = make.below(2) ? make.floats(make.below(2) ? elem::f32 : elem::f64, sizes)
                              : make.ids(sizes, 100);
    const auto type = from.type;
    const auto look = any_look(make, sizes);
    case_builder builder(
      fmt::format("{} strides {}", to_string(look.dims), to_string(look.strides)));
    const auto x = builder.view(builder.input(std::move(from)), 0, look.dims, look.strides);
    const auto out = builder.output(type, look.dims);
    check(builder.run(op::contiguous, {x}, {out}, {}, 0), true);
  }
}

TEST_F(torch_loops, reduce_any_look_at_memory) {
  case_maker make(22);
  for (const auto id : {op::sum, op::mean, op::max, op::min})
    for (int round = 0; round < 40; round++) {
      const auto sizes = any_sizes(make);
      const auto type = make.below(2) ? elem::f32 : elem::f64;
      const auto look = any_look(make, sizes);
      std::vector<uint32_t> dims;
      shape kept;
      for (uint32_t i = 0; i < look.dims.rank(); i++) {
        if (make.below(2)) dims.push_back(i);
        kept.push(!dims.empty() && dims.back() == i ? 1 : look.dims[i]);
      }
      case_builder builder(fmt::format("{} of {} strides {} over [{}]", find_row(id)->name,
                                       to_string(look.dims), to_string(look.strides),
                                       fmt::join(dims, ", ")));
      const auto x =
        builder.view(builder.input(make.floats(type, sizes)), 0, look.dims, look.strides);
      const auto out = builder.output(type, kept);
      check(builder.run(id, {x}, {out}, {dims, true}, 1e-5), false);
    }
}

} // namespace
} // namespace moxzi::device
