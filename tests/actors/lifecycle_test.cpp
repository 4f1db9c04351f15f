#include "actors/lifecycle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/lifecycle_checks.hpp"

// What is asked of an actor beside its own methods, on the state machine alone. Error codes are
// those of the Internet Computer's replica with another prefix.

namespace moxzi::actors {
namespace {

namespace lc = lifecycle;
using lc::install_mode;
using testing::code_of;
using testing::core_driver;
using testing::expect_replays;
using ::testing::HasSubstr;
using testing::owned;
using testing::owner;
using testing::script_body;
using testing::source_of;
using ::testing::StartsWith;
using testing::status_of;
using testing::stranger;

TEST(Lifecycle, AnActorWithoutCodeRejectsCallsAndTakesCode) {
  core_driver alice{"alice", owned()};
  EXPECT_THAT(alice.answer(alice.request("get")), StartsWith("5 MX537: "));
  EXPECT_FALSE(status_of(alice).module_hash);
  alice.install();
  EXPECT_EQ(status_of(alice).module_hash, alice.body.hash());
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 0");
}

TEST(Lifecycle, CodeIsInstalledOnceUnlessItIsReinstalledOrUpgraded) {
  core_driver alice{"alice", owned()};
  EXPECT_THAT(alice.change(alice.ask([] {
    lc::install_code upgrade;
    upgrade.mode = install_mode::upgrade;
    return upgrade;
  }())),
              StartsWith("MX537: "));
  alice.install("add 3");
  alice.install("add 5");
  EXPECT_THAT(alice.change(alice.asked), StartsWith("MX538: "));
  alice.install("add 5", install_mode::upgrade);
  EXPECT_EQ(alice.change(alice.asked), "done");
  EXPECT_EQ(alice.body.seen.back().kind, entry_kind::upgrade);
  alice.install("add 7", install_mode::reinstall);
  EXPECT_EQ(alice.body.seen.back().kind, entry_kind::init);
  expect_replays(alice);
}

TEST(Lifecycle, AnUpgradeThatTrapsLeavesTheOldCode) {
  core_driver alice{"alice", owned()};
  alice.install("timer 5000");
  const auto version = status_of(alice).version;
  alice.install("trap not today", install_mode::upgrade);
  EXPECT_THAT(alice.change(alice.asked), HasSubstr("trapped: not today"));
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 0");
  EXPECT_EQ(alice.core.wake_ns(), 5'000u);          // its timer still runs
  EXPECT_EQ(status_of(alice).version, version + 1); // the request
  expect_replays(alice);
}

TEST(Lifecycle, NewCodeStartsWithoutATimer) {
  core_driver alice{"alice", owned()};
  alice.install("timer 5000");
  alice.install("add 1", install_mode::upgrade);
  EXPECT_EQ(alice.core.wake_ns(), std::nullopt);
}

TEST(Lifecycle, AHeapIsNeverDroppedSilently) {
  core_driver alice{"alice", owned()};
  alice.body.keeps = true;
  alice.install();
  lc::install_code upgrade;
  upgrade.mode = install_mode::upgrade;
  upgrade.argument = "add 0";
  alice.ask(upgrade);
  EXPECT_TRUE(alice.body.seen.back().keeps_heap);
  alice.body.keeps = false; // the next code
  script_body old;
  old.keeps = true;
  const auto executions = alice.body.seen.size();
  // The code that is there is asked too: the body is both here.
  upgrade.heap = lc::heap_policy::keep;
  EXPECT_THAT(alice.change(alice.ask(upgrade)), HasSubstr("does not keep its heap"));
  EXPECT_EQ(alice.body.seen.size(), executions);
  upgrade.heap = lc::heap_policy::replace;
  EXPECT_EQ(alice.change(alice.ask(upgrade)), "done");
  EXPECT_FALSE(alice.body.seen.back().keeps_heap);
}

TEST(Lifecycle, OnlyControllersMayChangeAnActor) {
  core_driver alice{"alice", owned()};
  alice.install();
  const std::vector<lc::request> changes{
    lc::stop{},           lc::start{},           lc::remove{},
    lc::uninstall_code{}, lc::change_settings{}, lc::take_snapshot{},
    lc::read_status{},    lc::list_snapshots{},  lc::read_log{},
    lc::change_prices{}};
  for (const auto& change : changes) {
    EXPECT_THAT(alice.change(alice.ask(change, stranger)), StartsWith("MX512: ")) << change.index();
  }
  EXPECT_THAT(alice.change(alice.ask(lc::change_prices{}, owner)), StartsWith("MX512: "));
  EXPECT_EQ(alice.change(alice.ask(lc::deposit{{5}}, stranger)), "done");
  EXPECT_EQ(alice.change(alice.ask(lc::read_info{}, stranger)), "an answer");
  EXPECT_EQ(alice.change(alice.ask(lc::read_status{}, alice.self)), "an answer");
  EXPECT_EQ(alice.change(alice.ask(lc::stop{}, owner)), "done");
}

TEST(Lifecycle, StoppingWaitsForOpenCallsAndTakesNoNewOnes) {
  core_driver alice{"alice", owned()};
  alice.install();
  const auto call = alice.request("call bob {get} {echo} {echo}");
  const auto stop = alice.ask(lc::stop{});
  EXPECT_EQ(alice.change(stop), "none");
  EXPECT_EQ(status_of(alice).run, lc::run_status::stopping);
  EXPECT_THAT(alice.answer(alice.request("get")), StartsWith("5 MX509: "));
  alice.reply(1, "late");
  EXPECT_EQ(alice.body.seen.back().status, 2);
  EXPECT_EQ(alice.answer(call), "reply: late");
  EXPECT_EQ(alice.change(stop), "done");
  EXPECT_EQ(status_of(alice).run, lc::run_status::stopped);
  EXPECT_THAT(alice.answer(alice.request("get")), StartsWith("5 MX508: "));
  EXPECT_THAT(alice.answer(alice.request("get", "look", request_mode::query)),
              StartsWith("5 MX508: "));
  EXPECT_EQ(alice.change(alice.ask(lc::start{})), "done");
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 0");
  expect_replays(alice);
}

TEST(Lifecycle, AStopThatTakesTooLongIsAnsweredAndGoesOn) {
  core_driver alice{"alice", owned()};
  alice.install();
  alice.request("call bob {get} {echo} {echo}");
  const auto stop = alice.ask(lc::stop{});
  EXPECT_EQ(alice.core.wake_ns(), alice.now_ns + limits::stop_timeout_ns);
  alice.pass_time(alice.now_ns + limits::stop_timeout_ns);
  EXPECT_THAT(alice.change(stop), StartsWith("MX206: "));
  EXPECT_EQ(status_of(alice).run, lc::run_status::stopping);
  const auto again = alice.ask(lc::stop{});
  EXPECT_EQ(alice.change(alice.ask(lc::start{})), "done");
  EXPECT_THAT(alice.change(again), StartsWith("MX511: "));
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 0");
}

TEST(Lifecycle, TimersAndHeartbeatsRestWhileStopped) {
  core_driver alice{"alice", owned()};
  alice.body.entries = {entry_kind::heartbeat};
  alice.install("timer 3000");
  alice.ask(lc::stop{});
  EXPECT_EQ(alice.core.wake_ns(), std::nullopt);
  alice.pass_time(2'000'000'000);
  EXPECT_EQ(alice.body.counter, 0);
  alice.ask(lc::start{});
  alice.pass_time(2'000'000'000);
  EXPECT_EQ(alice.body.counter, 1'001);
}

TEST(Lifecycle, UninstallingRejectsOpenCallsAndForgetsTheState) {
  core_driver alice{"alice", owned()};
  alice.install();
  const auto open = alice.request("add 4; call bob {get} {echo} {echo}");
  EXPECT_EQ(alice.change(alice.ask(lc::uninstall_code{})), "done");
  EXPECT_THAT(alice.answer(open), StartsWith("4 MX406: "));
  EXPECT_THAT(alice.answer(open), HasSubstr("has been uninstalled"));
  const auto executions = alice.body.seen.size();
  alice.reply(1, "nobody listens");
  EXPECT_EQ(alice.body.seen.size(), executions);
  EXPECT_EQ(alice.core.open_calls(), 0u);
  EXPECT_EQ(alice.answer_counts.at(open), 1);
  alice.install();
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 0");
  expect_replays(alice);
}

TEST(Lifecycle, OnlyAStoppedActorIsDeletedAndThenItIsGone) {
  core_driver alice{"alice", owned()};
  alice.install();
  EXPECT_THAT(alice.change(alice.ask(lc::remove{})), StartsWith("MX510: "));
  alice.ask(lc::stop{});
  EXPECT_EQ(alice.change(alice.ask(lc::remove{})), "done");
  EXPECT_TRUE(alice.removed);
  EXPECT_THAT(alice.answer(alice.request("get")), StartsWith("3 MX301: "));
  EXPECT_THAT(alice.change(alice.ask(lc::start{})), StartsWith("MX301: "));
}

TEST(Lifecycle, SettingsOutOfBoundsAreRefusedAsAWhole) {
  core_driver alice{"alice", owned()};
  lc::change_settings change;
  change.what.compute_allocation = 101;
  change.what.wasm_memory_limit = 5;
  EXPECT_THAT(alice.change(alice.ask(change)), StartsWith("MX408: "));
  change.what.compute_allocation = 100;
  change.what.controllers = std::vector<principal>(11, owner);
  EXPECT_THAT(alice.change(alice.ask(change)), StartsWith("MX408: "));
  change.what.controllers.reset();
  change.what.environment.emplace().emplace(std::string(129, 'x'), "v");
  EXPECT_THAT(alice.change(alice.ask(change)), StartsWith("MX408: "));
  EXPECT_EQ(status_of(alice).current, owned().settings);
  change.what.environment.emplace().emplace(std::string(128, 'x'), "v");
  EXPECT_EQ(alice.change(alice.ask(change)), "done");
  EXPECT_EQ(status_of(alice).current.wasm_memory_limit, 5u);
}

TEST(Lifecycle, SettingsReachTheCode) {
  core_driver alice{"alice", owned()};
  alice.install();
  lc::change_settings change;
  change.what.environment.emplace().emplace("KEY", "value");
  change.what.controllers = {stranger};
  change.what.wasm_memory_limit = 1u << 20;
  alice.ask(change);
  alice.request("get");
  const auto& seen = alice.body.seen.back();
  EXPECT_EQ(seen.facts->controllers, std::vector{stranger});
  EXPECT_EQ(seen.facts->environment.at(0), (std::pair<std::string, std::string>{"KEY", "value"}));
  EXPECT_EQ(seen.heap_bytes_max, 1u << 20);
  EXPECT_THAT(alice.change(alice.ask(lc::stop{}, owner)), StartsWith("MX512: "));
}

TEST(Lifecycle, TheHistoryNamesWhoDidWhat) {
  core_driver alice{"alice", owned()};
  alice.install();
  lc::change_settings change;
  change.what.controllers = {owner, stranger};
  alice.ask(change, owner);
  alice.ask(lc::uninstall_code{}, owner);
  const auto info = std::get<lc::info>(alice.changes.at(alice.ask(lc::read_info{3}, stranger)));
  EXPECT_EQ(info.changes, 4u);
  ASSERT_EQ(info.latest.size(), 3u);
  EXPECT_EQ(info.latest[0].what, lc::change::kind::install);
  EXPECT_EQ(info.latest[0].module_hash, alice.body.hash());
  EXPECT_EQ(info.latest[1].what, lc::change::kind::controllers);
  EXPECT_EQ(info.latest[1].origin, owner);
  EXPECT_EQ(info.latest[1].controllers, (std::vector{owner, stranger}));
  EXPECT_EQ(info.latest[2].what, lc::change::kind::uninstall);
  EXPECT_FALSE(info.module_hash);
}

// Interface specification, "Canister version": 0 at creation; pre_upgrade sees the old one.
TEST(Lifecycle, TheVersionStartsAtZeroAndGrowsWithEveryChange) {
  core_driver alice{"alice", owned()};
  EXPECT_EQ(status_of(alice).version, 0u);
  uint64_t last = 0;
  const auto expect_grown = [&](const char* what) {
    const auto now = status_of(alice).version;
    EXPECT_GT(now, last) << what;
    last = now;
  };
  alice.install();
  expect_grown("install_code");
  alice.request("add 1; reply x");
  EXPECT_EQ(alice.body.seen.back().canister_version, last);
  expect_grown("an update");
  alice.request("reply x", "look");
  expect_grown("a query as an update");
  alice.request("reply x", "look", request_mode::query);
  EXPECT_EQ(status_of(alice).version, last);
  alice.request("trap no");
  EXPECT_EQ(status_of(alice).version, last);
  alice.request("call bob {get} {echo} {echo}");
  expect_grown("an update");
  EXPECT_EQ(alice.calls.back().request.caller_version, alice.body.seen.back().canister_version);
  alice.ask(lc::stop{});
  expect_grown("stop_canister");
  alice.reply(1, "x");
  const auto of_callback = alice.body.seen.back().canister_version;
  EXPECT_EQ(status_of(alice).version, of_callback + 2); // the callback, then stopped
  expect_grown("a callback");
  alice.ask(lc::start{});
  expect_grown("start_canister");
  alice.ask(lc::change_settings{});
  expect_grown("update_settings");
  alice.ask(lc::uninstall_code{});
  expect_grown("uninstall_code");
  expect_replays(alice);
}

TEST(Lifecycle, QueriesAreCountedApart) {
  core_driver alice{"alice", owned()};
  alice.install();
  alice.request("reply four", "look", request_mode::query);
  alice.request("trap no", "look", request_mode::query);
  const auto text = std::get<rejection>(alice.answers.at(alice.sent).answer).message;
  alice.request("reply x", "look");
  const auto counts = status_of(alice).counts;
  EXPECT_EQ(counts.queries, 2u);
  EXPECT_EQ(counts.query_bytes_in, std::string_view{"reply four"}.size() + 7);
  EXPECT_EQ(counts.query_bytes_out, 4 + text.size());
}

TEST(Lifecycle, ChangesWaitForTheExecutionInProgressAndGoBeforeWhatWaits) {
  core_driver alice{"alice", owned()};
  alice.install();
  alice.holds = true;
  const auto running = alice.request("add 1; reply ran");
  const auto waiting = alice.request("reply x");
  const auto stop = alice.ask(lc::stop{});
  EXPECT_EQ(alice.change(stop), "none");
  EXPECT_EQ(alice.change(alice.ask(lc::read_status{})), "an answer"); // at once
  alice.holds = false;
  alice.finish();
  EXPECT_EQ(alice.answer(running), "reply: ran");
  EXPECT_EQ(alice.change(stop), "done");
  EXPECT_THAT(alice.answer(waiting), StartsWith("5 MX508: "));
}

} // namespace
} // namespace moxzi::actors
