#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/lifecycle_checks.hpp"

// What an actor's settings do: its heap's limit, its log, who sees it, what calls need.

namespace moxzi::actors {
namespace {

using testing::expect_replays;
using testing::owned;
using testing::owner;
using testing::status_of;
using testing::stranger;
namespace lc = lifecycle;
using testing::core_driver;
using ::testing::StartsWith;

TEST(Settings, TheLogKeepsWhatWasPrintedAndTraps) {
  core_driver alice{"alice", owned()};
  alice.install();
  alice.request("print hello; trap oh");
  alice.request("print unseen", "look", request_mode::query);
  lc::change_settings change;
  change.what.logs = {lc::visibility::allowed_viewers, {stranger}};
  alice.ask(change);
  const auto lines =
    std::get<std::vector<lc::log_line>>(alice.changes.at(alice.ask(lc::read_log{}, stranger)));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].text, "hello");
  EXPECT_EQ(lines[1].text, "[TRAP]: oh");
  EXPECT_EQ(lines[1].number, 1u);
  for (int i = 0; i < 3'000; ++i) alice.request("print " + std::string(100, 'x'));
  const auto kept = status_of(alice).log_bytes;
  EXPECT_LE(kept, limits::actor_log_bytes_default);
  EXPECT_GT(kept, limits::actor_log_bytes_default - 101);
  lc::change_settings smaller;
  smaller.what.log_bytes_max = limits::actor_log_bytes_min;
  EXPECT_EQ(alice.change(alice.ask(smaller)), "done");
  EXPECT_EQ(status_of(alice).log_bytes, limits::actor_log_bytes_min / 100 * 100);
  smaller.what.log_bytes_max = 0;
  EXPECT_EQ(alice.change(alice.ask(smaller)), "done");
  alice.request("print again");
  EXPECT_EQ(status_of(alice).log_bytes, 0u);
  for (const uint64_t bad :
       {uint64_t{1}, limits::actor_log_bytes_min - 1, limits::actor_log_bytes_max + 1}) {
    smaller.what.log_bytes_max = bad;
    EXPECT_THAT(alice.change(alice.ask(smaller)), StartsWith("MX408: "));
  }
}

TEST(Settings, LittleMemoryIsToldOnceEachTimeItHappens) {
  core_driver alice{"alice", owned()};
  alice.body.entries = {entry_kind::low_memory};
  alice.install();
  lc::change_settings change;
  change.what.wasm_memory_limit = 1'000;
  change.what.wasm_memory_threshold = 300;
  alice.ask(change);
  alice.body.heap_bytes = 700; // 300 are left: not below the threshold
  alice.request("add 1");
  EXPECT_EQ(alice.body.counter, 1);
  alice.body.heap_bytes = 701;
  alice.request("add 1");
  EXPECT_EQ(alice.body.counter, 100'002);
  alice.request("add 1");
  EXPECT_EQ(alice.body.counter, 100'003);
  alice.body.heap_bytes = 10;
  alice.request("add 1");
  alice.body.heap_bytes = 900;
  alice.request("add 1");
  EXPECT_EQ(alice.body.counter, 200'005);
  EXPECT_EQ(alice.records.back().kind, persist::record_kind::low_memory);
}

// Interface specification, update_settings: |wasm_memory| <= New_wasm_memory_limit.
TEST(Settings, AHeapLimitBelowTheHeapIsRefused) {
  core_driver alice{"alice", owned()};
  alice.body.heap_bytes = 1'000;
  alice.install();
  lc::change_settings change;
  change.what.wasm_memory_limit = 999;
  EXPECT_THAT(alice.change(alice.ask(change)), StartsWith("MX539: "));
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 0");
  change.what.wasm_memory_limit = 1'000;
  EXPECT_EQ(alice.change(alice.ask(change)), "done");
  change.what.wasm_memory_limit = 0;
  EXPECT_EQ(alice.change(alice.ask(change)), "done");
}

// A hook, and a setting that makes what is left too little.
void make_memory_low(core_driver& actor) {
  actor.body.entries = {entry_kind::low_memory};
  actor.body.heap_bytes = 900;
  actor.install();
  lc::change_settings change;
  change.what.wasm_memory_limit = 1'000;
  change.what.wasm_memory_threshold = 101;
  actor.ask(change);
}

TEST(Settings, LittleMemoryIsNotToldAgainByAnUpgrade) {
  core_driver alice{"alice", owned()};
  make_memory_low(alice);
  EXPECT_EQ(alice.records.back().kind, persist::record_kind::low_memory);
  const auto executions = alice.body.seen.size();
  alice.install("add 0", lifecycle::install_mode::upgrade);
  EXPECT_EQ(alice.body.seen.size(), executions + 1);
  expect_replays(alice);
}

TEST(Settings, LittleMemoryIsToldAlsoWhenTheSettingMakesItSo) {
  core_driver alice{"alice", owned()};
  make_memory_low(alice);
  EXPECT_EQ(alice.records.back().kind, persist::record_kind::low_memory);
  expect_replays(alice);
}

TEST(Settings, LittleMemoryIsToldOnceItCanBePaidFor) {
  auto created = owned();
  created.charging = true;
  created.prices.execution = 10;
  created.balance = {15};
  core_driver alice{"alice", created};
  make_memory_low(alice); // leaves 5
  EXPECT_EQ(alice.records.back().kind, persist::record_kind::change);
  const auto retry_ns = alice.core.wake_ns();
  ASSERT_EQ(retry_ns, alice.now_ns + limits::task_retry_ns);
  alice.ask(lc::deposit{{100}});
  alice.pass_time(*retry_ns);
  EXPECT_EQ(alice.records.back().kind, persist::record_kind::low_memory);
  EXPECT_EQ(alice.core.balance(), cycles{95});
  EXPECT_EQ(alice.core.wake_ns(), std::nullopt);
  expect_replays(alice);
}

TEST(Settings, CallsOfOthersMayNeedCycles) {
  core_driver alice{"alice", owned()};
  alice.install();
  lc::change_settings change;
  change.what.call_cycles_min = {100};
  alice.ask(change);
  const auto call = [&](const principal& from, uint64_t attached, request_origin origin) {
    call_request request;
    request.identity = {from, 1, ++alice.sent};
    request.origin = origin;
    request.method = "run";
    request.argument = "reply taken";
    request.attached = {attached};
    alice.feed(std::move(request));
    return alice.answer(alice.sent);
  };
  EXPECT_THAT(call(stranger, 99, request_origin::actor), StartsWith("5 MX520: "));
  EXPECT_EQ(alice.answers.at(alice.sent).refunded, cycles{99});
  EXPECT_EQ(call(stranger, 100, request_origin::actor), "reply: taken");
  EXPECT_EQ(call(alice.self, 0, request_origin::actor), "reply: taken");
  EXPECT_EQ(call(principal::anonymous(), 0, request_origin::outside), "reply: taken");
}

TEST(Settings, StatusAndSnapshotsAreShownToWhomTheirSettingAdmits) {
  core_driver alice{"alice", owned()};
  const auto other = principal::of_actor("other");
  const auto sees = [&](const lc::request& what, const principal& who) {
    const auto answer = alice.change(alice.ask(what, who));
    EXPECT_TRUE(answer == "an answer" || answer.starts_with("MX512: ")) << answer;
    return answer == "an answer";
  };
  const auto set = [&](lc::visibility who, std::vector<principal> viewers) {
    lc::change_settings change;
    change.what.status = change.what.snapshots = {who, std::move(viewers)};
    EXPECT_EQ(alice.change(alice.ask(change)), "done");
  };
  for (const lc::request& what :
       {lc::request{lc::read_status{}}, lc::request{lc::list_snapshots{}}}) {
    set(lc::visibility::controllers, {});
    EXPECT_TRUE(sees(what, owner));
    EXPECT_FALSE(sees(what, stranger));
    set(lc::visibility::allowed_viewers, {stranger});
    EXPECT_TRUE(sees(what, stranger));
    EXPECT_FALSE(sees(what, other));
    set(lc::visibility::everyone, {});
    EXPECT_TRUE(sees(what, other));
    EXPECT_TRUE(sees(what, owner));
  }
  set(lc::visibility::controllers, {});
  EXPECT_TRUE(sees(lc::read_status{}, alice.self));
  lc::change_settings many;
  many.what.status = {lc::visibility::allowed_viewers,
                      std::vector<principal>(limits::viewers_max + 1, stranger)};
  EXPECT_THAT(alice.change(alice.ask(many)), StartsWith("MX408: "));
}

TEST(Settings, AnOwnHeapLimitHoldsForUpdatesButNotForTasksAndCallbacks) {
  core_driver alice{"alice", owned()};
  alice.body.entries = {entry_kind::heartbeat};
  alice.install();
  alice.request("call bob {get} {echo} {echo}");
  lc::change_settings change;
  change.what.wasm_memory_limit = 1'000;
  alice.ask(change);
  alice.body.heap_bytes = 1'001;
  alice.reply(1, "x");
  EXPECT_EQ(alice.body.seen.back().heap_bytes_max, limits::heap_bytes_max);
  alice.pass_time(alice.now_ns + limits::heartbeat_interval_ns);
  EXPECT_EQ(alice.body.seen.back().kind, entry_kind::heartbeat);
  EXPECT_EQ(alice.body.seen.back().heap_bytes_max, limits::heap_bytes_max);
  EXPECT_THAT(alice.answer(alice.request("get")), StartsWith("5 MX539: "));
  EXPECT_EQ(alice.answer(alice.request("get", "look", request_mode::query)), "reply: 1");
  change.what.wasm_memory_limit = 1'001;
  alice.ask(change);
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 1");
  EXPECT_EQ(alice.body.seen.back().heap_bytes_max, 1'001u);
  expect_replays(alice);
}

} // namespace
} // namespace moxzi::actors
