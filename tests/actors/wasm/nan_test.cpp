// Whatever makes a NaN makes the same one: payloads and signs of NaNs differ between processors,
// and an actor must not be able to see that.

#include <cstring>

#include "tests/actors/wasm/nan_fixture.hpp"
#include "tests/actors/wasm/runner.hpp"

using namespace moxzi;
using namespace moxzi::actors;

TEST(nan, two_hundred_operations_give_the_canonical_one) {
  const auto module = compile_text(moxzi::actors::testing::all_nans());
  subject first{module};
  const auto out = first.update("nans");
  const auto bytes = reply_of(out);
  ASSERT_EQ(bytes.size(), moxzi::actors::testing::all_nans_bytes);
  ASSERT_GE(bytes.size() / 8, 200u);
  for (size_t at = 0; at < bytes.size(); at += 16) {
    uint64_t wide = 0;
    uint64_t narrow = 0;
    std::memcpy(&wide, bytes.data() + at, 8);
    std::memcpy(&narrow, bytes.data() + at + 8, 8);
    EXPECT_EQ(wide, 0x7ff8000000000000u) << at / 16;
    EXPECT_EQ(narrow, 0x7fc00000u) << at / 16;
  }
  subject again{module};
  EXPECT_EQ(again.update("nans").state_digest, out.state_digest);
}
