#include <gtest/gtest.h>

#include "device/ops/table.hpp"
#include "device/reference/kernels.hpp"
#include "tests/device/support.hpp"

namespace moxzi::device {
namespace {

using namespace testing;

TEST(backends, have_a_kernel_for_every_row) {
  for (auto& on : {make_reference_backend(), make_null_backend()})
    for (auto& entry : table())
      EXPECT_TRUE(on->supports(entry.id)) << on->info().kind << " lacks " << entry.name;
}

TEST(backends, null_gives_zeros_of_the_right_shape) {
  device_core core(make_null_backend(), {});
  ASSERT_TRUE(core.define_params("a", letters_params()));
  ASSERT_TRUE(core.define_optimizer("a", letters_optimizer()));
  auto step = letters_step();
  step.tensors = {7};
  auto reply = core.run("a", step);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->scalars, std::vector<double>{0});
  EXPECT_EQ(reply->tensors.at(0).dims, (std::vector<uint32_t>{1, 64, 256}));
  EXPECT_EQ(reply->tensors.at(0).data.size(), 64u * 256 * 4);
}

TEST(backends, open_by_kind_or_say_what_there_is) {
  auto open = [](std::string_view kind) { return open_backend(kind, 1, "/nonexistent"); };
  ASSERT_TRUE(open("reference"));
  EXPECT_EQ(open("null").value()->info().kind, "null");
  EXPECT_EQ(open("burn:wgpu").error().message,
            "--device burn:wgpu: not built into this moxzid; built in: reference, null");
  EXPECT_EQ(open("burn:cpu").error().message,
            "--device burn:cpu: not built into this moxzid; built in: reference, null");
  EXPECT_EQ(open("burn:cup").error().message,
            "--device burn:cup: no such kind of device; did you mean 'burn:cpu'?; built in: "
            "reference, null");
  EXPECT_EQ(open("cuda:x").error().message,
            "--device cuda:x: the number of a card wanted after the colon");
}

} // namespace
} // namespace moxzi::device
