#include "device/aten/backend.hpp"

#include <gtest/gtest.h>

#include "device/collectives/collectives.hpp"
#include "tests/device/row_walk.hpp"

// The GPU's backend with ATen on the processor: the same code but for the memory it works on.

namespace moxzi::device {
namespace {

using namespace testing;

class processor final : public aten::aten_place {
public:
  at::Device device() const override {
    return at::Device(at::kCPU);
  }
  void enter(const std::function<void()>& work) override {
    work();
  }
  aten::chain_function make_chain(const pointwise_chain& what) override {
    return aten::host_chain(what);
  }
  std::unique_ptr<aten::recording> record(const std::function<void()>& work) override {
    class again final : public aten::recording {
    public:
      explicit again(std::function<void()> work) : work_(std::move(work)) {
        // nop
      }
      void replay() override {
        work_();
      }

    private:
      std::function<void()> work_;
    };
    return std::make_unique<again>(work);
  }
  byte_string new_group(fault&) override {
    return {};
  }
  std::unique_ptr<collectives> join_group(byte_view, uint32_t, uint32_t, fault&) override {
    return nullptr;
  }
};

std::unique_ptr<backend> on_the_processor() {
  backend_info info;
  info.kind = "aten";
  info.parameter_types = {elem::f32, elem::f64};
  return aten::make_backend(std::make_unique<processor>(), std::move(info));
}

TEST(aten_backend, its_kernels_agree_with_plain_loops) {
  check_rows(*on_the_processor(), 10);
}

TEST(aten_backend, its_optimizers_agree_with_plain_loops) {
  check_steps(*on_the_processor());
  check_gathering(*on_the_processor());
}

TEST(aten_backend, a_bad_index_is_named_and_changes_nothing) {
  device_core core(on_the_processor(), {});
  check_bad_indices(core);
}

TEST(aten_backend, it_learns_the_phrase_with_the_losses_of_the_reference) {
  check_letters(on_the_processor());
}

TEST(aten_backend, parameters_of_f64_train_in_f64) {
  check_f64(on_the_processor());
}

TEST(aten_backend, memory_that_nobody_has_is_refused) {
  fault why;
  EXPECT_FALSE(on_the_processor()->allocate(uint64_t{1} << 50, why));
  EXPECT_FALSE(why.what.empty());
}

} // namespace
} // namespace moxzi::device
