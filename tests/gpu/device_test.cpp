#include <gtest/gtest.h>

#include "tests/device/row_walk.hpp"

// What the processor's device is tested for, on the first GPU.

namespace moxzi::device {
namespace {

using namespace testing;

class gpu : public ::testing::Test {
protected:
  void SetUp() override {
    auto made = open_backend("cuda:0", 0, built_programs());
    if (!made) GTEST_SKIP() << made.error().message;
    on = std::move(*made);
  }

  std::unique_ptr<backend> on;
};

TEST_F(gpu, says_what_it_is) {
  fmt::print("{}: {}, {}, {} MiB\n", on->info().kind, on->info().name, on->info().version,
             on->info().memory_bytes >> 20);
  EXPECT_EQ(on->info().kind, "cuda:0");
  EXPECT_GT(on->info().memory_bytes, uint64_t{1} << 30);
}

TEST_F(gpu, its_kernels_agree_with_plain_loops) {
  check_rows(*on, 10);
}

TEST_F(gpu, its_optimizers_agree_with_plain_loops) {
  check_steps(*on);
  check_gathering(*on);
}

TEST_F(gpu, a_bad_index_is_named_and_changes_nothing) {
  device_core core(std::move(on), {});
  check_bad_indices(core);
}

TEST_F(gpu, it_learns_the_phrase_with_the_losses_of_the_reference) {
  check_letters(std::move(on));
}

TEST_F(gpu, parameters_of_f64_train_in_f64) {
  check_f64(std::move(on));
}

TEST_F(gpu, two_runs_give_the_same_digits) {
  auto again = open_backend("cuda:0", 0, built_programs());
  ASSERT_TRUE(again);
  device_core one(std::move(on), {.seed = 5}), two(std::move(*again), {.seed = 5});
  EXPECT_EQ(letters_losses(one, 50), letters_losses(two, 50));
}

TEST_F(gpu, memory_that_it_lacks_is_refused) {
  fault why;
  EXPECT_FALSE(on->allocate(on->info().memory_bytes * 2, why));
  EXPECT_EQ(why.code, device_errc::out_of_memory) << why.what;
}

} // namespace
} // namespace moxzi::device
