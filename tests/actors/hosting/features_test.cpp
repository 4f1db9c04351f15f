#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/hosting/motoko_fixture.hpp"

// What a Motoko actor may do beside calling and being called: fixtures/features.mo.

namespace moxzi::actors {
namespace {

namespace lc = lifecycle;
using ::testing::HasSubstr;

class Features : public testing::motoko_fixture {
protected:
  void host_both() {
    host("callee", "callee");
    host("features", "features",
         testing::candid_of("(text)", "[\"" + principal::of_actor("callee").to_text() + "\"]"));
  }
  std::string update(const std::string& method, const std::string& arguments = "[]") {
    return post("features", method, arguments).body;
  }
  void expect_soon(const std::string& method, const std::string& wanted) {
    const auto give_up = std::chrono::steady_clock::now() + testing::patience;
    while (query("features", method) != wanted && std::chrono::steady_clock::now() < give_up) {
      continue;
    }
    EXPECT_EQ(query("features", method), wanted);
  }

  const principal id = principal::of_actor("features");
};

TEST_F(Features, AHeartbeatBeats) {
  host_both();
  expect_soon("counted", "[true]");
  expect_replays("features");
}

TEST_F(Features, TheEnvironmentIsRead) {
  host_both();
  EXPECT_EQ(update("env", R"(["KEY"])"), "[null]");
  lc::change_settings change;
  change.what.environment.emplace() = {{"KEY", "value"}, {"PUBLIC_CANISTER_ID:callee", "x"}};
  EXPECT_EQ(brief(manage(id, change)), "done");
  EXPECT_EQ(update("env", R"(["KEY"])"), R"(["value"])");
  EXPECT_EQ(update("env_names"), R"([["KEY","PUBLIC_CANISTER_ID:callee"]])");
  EXPECT_EQ(update("whoami"), "[true]");
  expect_replays("features");
}

TEST_F(Features, CompositeQueriesCallQueriesAndCompositeQueries) {
  host_both();
  EXPECT_EQ(query("features", "composed"), "[15]");
  EXPECT_THAT(update("composed"), HasSubstr("MX527"));
  EXPECT_EQ(query("features", "composed"), "[15]");
  EXPECT_EQ(query("features", "asks_itself"), "[5,0]");
  EXPECT_EQ(query("features", "lowered"), "[0]");
}

TEST_F(Features, QueriesKnowHowTheyAreRun) {
  host_both();
  EXPECT_EQ(query("features", "replicated"), "[false]");
  EXPECT_EQ(update("replicated"), "[true]");
  EXPECT_EQ(update("replicated_update"), "[true]");
  EXPECT_EQ(update("deadline"), "[true]");
  EXPECT_EQ(update("certify"), "[true]");
  expect_replays("features");
}

TEST_F(Features, InspectionRefusesWhatItDoesNotAccept) {
  host_both();
  EXPECT_THAT(update("forbidden"), HasSubstr("explicitly refused message"));
  EXPECT_EQ(update("whoami"), "[true]");
}

TEST_F(Features, ABoundedWaitEndsWithoutAnAnswer) {
  host_both();
  start("stuck", std::make_unique<testing::spinning_body>());
  caf::scoped_actor self{*system};
  call_request spin;
  spin.identity = {principal::of_actor("tester"), 1, ++sequence};
  spin.method = "spin";
  self->send(route, deliver_request{principal::of_actor("stuck"), std::move(spin),
                                    caf::actor_cast<caller_actor>(self)});
  EXPECT_EQ(update("wait", "[\"" + principal::of_actor("stuck").to_text() + "\"]"),
            R"(["unknown"])");
  expect_replays("features");
}

TEST_F(Features, CyclesAreOfferedTakenAndBurned) {
  charging = true;
  balance = {1'000'000};
  host_both();
  EXPECT_EQ(update("balance"), "[1000000]");
  EXPECT_EQ(update("give", "[100]"), "[70]");
  EXPECT_EQ(update("balance"), "[1000000]"); // it gave to itself
  EXPECT_EQ(update("burn", "[600000]"), "[600000]");
  EXPECT_EQ(update("burn", "[600000]"), "[400000]");
  EXPECT_THAT(update("give", "[1]"), HasSubstr("MX520"));
  expect_replays("features");
}

TEST_F(Features, TheHeapIsLimitedAndLittleMemoryIsTold) {
  host_both();
  lc::change_settings change;
  change.what.wasm_memory_limit = 96u << 20;
  change.what.wasm_memory_threshold = 64u << 20;
  EXPECT_EQ(brief(manage(id, change)), "done");
  EXPECT_EQ(query("features", "lowered"), "[0]");
  EXPECT_EQ(update("hold", "[5000000]"), "[5000000]");
  expect_soon("lowered", "[1]");
  EXPECT_THAT(update("hold", "[20000000]"), HasSubstr("MX539"));
  change.what.wasm_memory_limit = 1u << 20;
  EXPECT_EQ(brief(manage(id, change)), "MX539");
  EXPECT_EQ(query("features", "lowered"), "[1]");
  expect_replays("features");
}

TEST_F(Features, UpgradesRunTheHooksOfBothCodes) {
  host_both();
  lc::install_code upgrade;
  upgrade.mode = lc::install_mode::upgrade;
  upgrade.argument =
    testing::candid_of("(text)", "[\"" + principal::of_actor("callee").to_text() + "\"]");
  EXPECT_EQ(brief(manage(id, upgrade, prepared_code{testing::motoko_code("features")})), "done");
  EXPECT_EQ(query("features", "history"), R"(["<>"])");
  EXPECT_EQ(query("features", "composed"), "[15]");
  expect_replays("features");
}

} // namespace
} // namespace moxzi::actors
