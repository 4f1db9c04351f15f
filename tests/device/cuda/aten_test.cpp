#include "device/cuda/aten_backend.hpp"

#include <gtest/gtest.h>

#include "tests/device/backend_checks.hpp"

// The GPU's backend with ATen on the processor: the same code but for the memory it works on.

namespace moxzi::device {
namespace {

using namespace testing;

class processor final : public cuda::aten_place {
public:
  at::Device device() const override {
    return at::Device(at::kCPU);
  }
  void enter(const std::function<void()>& work) override {
    work();
  }
};

std::unique_ptr<backend> aten() {
  backend_info info;
  info.kind = "aten";
  info.parameter_types = {elem::f32, elem::f64};
  return cuda::make_aten_backend(std::make_unique<processor>(), std::move(info));
}

TEST(aten_backend, its_kernels_agree_with_plain_loops) {
  check_kernels(*aten(), 40);
}

TEST(aten_backend, its_optimizers_agree_with_plain_loops) {
  check_steps(*aten());
  check_gathering(*aten());
}

TEST(aten_backend, a_bad_index_is_named_and_changes_nothing) {
  device_core core(aten(), {});
  check_bad_indices(core);
}

TEST(aten_backend, it_learns_the_phrase_with_the_losses_of_the_reference) {
  check_letters(aten());
}

TEST(aten_backend, parameters_of_f64_train_in_f64) {
  check_f64(aten());
}

TEST(aten_backend, memory_that_nobody_has_is_refused) {
  fault why;
  EXPECT_FALSE(aten()->allocate(uint64_t{1} << 50, why));
  EXPECT_FALSE(why.what.empty());
}

} // namespace
} // namespace moxzi::device
