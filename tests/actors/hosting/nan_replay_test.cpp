#include <gtest/gtest.h>

#include "tests/actors/hosting/motoko_fixture.hpp"
#include "tests/actors/wasm/nan_fixture.hpp"

namespace moxzi::actors {
namespace {

using NanReplay = testing::motoko_fixture;

TEST_F(NanReplay, TheSameBitsComeOfAReplay) {
  const auto wasm = *wasm_from_text(testing::all_nans());
  const auto module = *testing::fixture_factory::engine()->compile(wasm);
  const auto code = std::make_shared<const wasm_code>(module);
  ASSERT_TRUE(start_with("nans", prepared_code{code}, {}).installed);
  modules_.insert_or_assign(code->hash(), code);
  const auto first = call("nans", "", "nans");
  ASSERT_EQ(first.size(), std::string_view{"reply: "}.size() + testing::all_nans_bytes);
  EXPECT_EQ(first.substr(7, 8), byte_string("\0\0\0\0\0\0\xf8\x7f", 8));
  EXPECT_EQ(call("nans", "", "nans"), first);
  expect_replays("nans"); // its digests are of the replies and of the heap that holds the bits
}

} // namespace
} // namespace moxzi::actors
