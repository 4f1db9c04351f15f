#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/actors/core_driver.hpp"

// What is charged, against prices that make every sum easy to add up. The scripted body counts 10
// instructions and one for each byte of its argument.

namespace moxzi::actors {
namespace {

namespace lc = lifecycle;
using testing::core_driver;
using ::testing::StartsWith;

constexpr uint64_t billion = 1'000'000'000;

create_input charged(uint64_t balance) {
  create_input created;
  created.charging = true;
  created.balance = {balance};
  created.prices.execution = 1'000;
  created.prices.billion_instructions = billion; // one an instruction
  created.prices.call = 50;
  created.prices.call_byte = 2;
  created.prices.ingress = 300;
  created.prices.ingress_byte = 3;
  return created;
}

core_settings limited() {
  core_settings settings;
  settings.update_instructions_max = 5'000;
  settings.query_instructions_max = 5'000;
  settings.install_instructions_max = 5'000;
  return settings;
}

constexpr uint64_t rich = 100'000'000;

uint128 spent_by(core_driver& actor, auto&& act) {
  const auto before = actor.core.spent().value;
  act();
  return actor.core.spent().value - before;
}

TEST(Charging, CyclesAreTakenByTheCalleeAndTheRestComesBack) {
  create_input created;
  created.charging = true;
  created.balance = {1'000};
  core_driver alice{"alice", created};
  alice.install();
  call_request from_bob;
  from_bob.identity = {principal::of_actor("bob"), 1, 50};
  from_bob.method = "run";
  from_bob.argument = "accept 30; reply ok";
  from_bob.attached = {100};
  alice.feed(std::move(from_bob));
  EXPECT_EQ(alice.answers.at(50).refunded, cycles{70});
  EXPECT_EQ(alice.core.balance(), cycles{1'030});
}

TEST(Charging, AttachedCyclesLeaveTheBalanceAndRefundsAreAddedBeforeTheCallback) {
  create_input created;
  created.charging = true;
  created.balance = {1'000};
  core_driver alice{"alice", created};
  alice.install();
  alice.request("attach 400; call bob {get} {echo} {echo}");
  EXPECT_EQ(alice.core.balance(), cycles{600});
  alice.respond(1, reply_value{"ok"}, {150});
  EXPECT_EQ(alice.core.balance(), cycles{750});
  EXPECT_EQ(alice.body.seen.back().balance, cycles{750});
  EXPECT_EQ(alice.body.seen.back().refunded, cycles{150});
}

TEST(Charging, ARefusedRequestReturnsAllItsCycles) {
  core_driver alice;
  alice.install();
  call_request from_bob;
  from_bob.identity = {principal::of_actor("bob"), 1, 51};
  from_bob.method = "nothing";
  from_bob.attached = {100};
  alice.feed(std::move(from_bob));
  EXPECT_EQ(alice.answers.at(51).refunded, cycles{100});
}

TEST(Charging, WithoutChargingTheBalanceReadsAsALargeConstant) {
  core_driver alice;
  alice.install();
  const auto before = alice.core.balance();
  alice.request("attach 400; call bob {get} {echo} {echo}");
  EXPECT_EQ(alice.core.balance(), before);
  EXPECT_GE(before.value, uint128{1'000'000'000'000});
}

TEST(Charging, AnInstallationCostsItsBaseAndItsInstructions) {
  core_driver alice{"alice", charged(rich), limited()};
  const auto cost = spent_by(alice, [&] { alice.install("add 0"); });
  EXPECT_TRUE(cost == 1'000 + 10 + 5);
  EXPECT_TRUE(alice.core.balance().value == rich - cost);
}

TEST(Charging, ACallFromOutsideIsPaidForByTheActorThatIsCalled) {
  core_driver alice{"alice", charged(rich), limited()};
  alice.install();
  // "run" and "get": 6 bytes.
  EXPECT_TRUE(spent_by(alice, [&] { alice.request("get"); }) == 300 + 6 * 3 + 1'000 + 10 + 3);
  EXPECT_TRUE(spent_by(alice, [&] { alice.request("get", "look", request_mode::query); }) == 0);
  EXPECT_TRUE(spent_by(alice, [&] { alice.request("trap x"); })
              == 300 + 9 * 3 + 1'000 + 10 + 6); // a trap is no present
}

TEST(Charging, ACallSetsAsideWhatItsAnswerMayCostAndGivesTheRestBack) {
  core_driver alice{"alice", charged(rich), limited()};
  alice.install();
  const std::string script = "call bob {get} {echo} {echo}";
  const auto before = alice.core.balance().value;
  const auto cost = spent_by(alice, [&] { alice.request(script); });
  const auto entrance = 300 + (3 + script.size()) * 3 + 1'000 + 10 + script.size();
  EXPECT_TRUE(cost == entrance + 50 + (3 + 3) * 2); // the call itself: "run", "get"
  const auto held = uint128{limits::reply_bytes_max} * 2 + 1'000 + 5'000;
  EXPECT_TRUE(alice.core.held().value == held);
  EXPECT_TRUE(alice.core.balance().value == before - cost - held);
  EXPECT_TRUE(spent_by(alice, [&] { alice.reply(1, "four"); }) == 4 * 2 + 1'000 + 10 + 4);
  EXPECT_TRUE(alice.core.held().value == 0);
  EXPECT_TRUE(alice.core.balance().value + alice.core.spent().value == rich);
}

TEST(Charging, WithoutCyclesACallIsRejectedBeforeAnyWork) {
  core_driver alice{"alice", charged(8'000), limited()};
  alice.install();
  const auto executions = alice.body.seen.size();
  // 6,985 are left; a request may cost 318 + 1,000 + 5,000.
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 0");
  EXPECT_THAT(alice.answer(alice.request("get")), StartsWith("2 MX207: "));
  EXPECT_EQ(alice.body.seen.size(), executions + 1);
  const auto records = alice.records.size();
  alice.ask(lc::deposit{{10'000}});
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 0");
  EXPECT_EQ(alice.records.size(), records + 2);
}

TEST(Charging, ACallThatCannotBePaidForIsNotMade) {
  core_driver alice{"alice", charged(100'000), limited()};
  alice.install();
  EXPECT_EQ(alice.answer(alice.request("call bob {get} {echo} {reply poor}")), "reply: poor");
  EXPECT_TRUE(alice.calls.empty());
}

TEST(Charging, ATimerThatCannotBePaidForIsTriedAgain) {
  core_driver alice{"alice", charged(8'000), limited()};
  alice.install("timer 5000");
  alice.request("get"); // leaves too little
  alice.pass_time(5'000);
  EXPECT_EQ(alice.body.counter, 0);
  EXPECT_EQ(alice.core.wake_ns(), 5'000 + limits::task_retry_ns);
  alice.ask(lc::deposit{{10'000}});
  alice.pass_time(5'000 + limits::task_retry_ns);
  EXPECT_EQ(alice.body.counter, 1'000);
}

TEST(Charging, WhatManagementChargesIsTakenButNeverMoreThanThereIs) {
  core_driver alice{"alice", charged(rich), limited()};
  alice.install();
  alice.request("call bob {get} {reply ok} {echo}");
  const auto before = alice.core.balance().value + alice.core.held().value;
  alice.feed(call_response{{alice.self, 1, 1}, reply_value{}, {}, {777}});
  EXPECT_TRUE(alice.core.balance().value == before - 777 - 1'000 - 10);
  alice.request("call bob {get} {reply ok} {echo}");
  alice.feed(call_response{{alice.self, 1, 2}, reply_value{}, {}, {uint128{1} << 100}});
  EXPECT_LE(alice.core.balance().value, uint128{6'000});
  EXPECT_TRUE(alice.core.balance().value + alice.core.spent().value == rich);
}

TEST(Charging, NewPricesHoldFromThenOnAndAreReplayed) {
  core_driver alice{"alice", charged(rich), limited()};
  alice.install();
  lc::change_prices change;
  change.charging = true;
  change.prices.execution = 7;
  alice.ask(change);
  EXPECT_TRUE(spent_by(alice, [&] { alice.request("get"); }) == 7);
  core_settings settings = limited();
  settings.self = alice.self;
  testing::script_body fresh;
  const auto outcome = replay(alice.records, settings, fresh, testing::source_of(fresh));
  ASSERT_TRUE(outcome) << outcome.error().message;
}

TEST(Charging, BurnedCyclesAreGone) {
  core_driver alice{"alice", charged(rich), limited()};
  alice.install();
  const auto base = 300 + (3 + 8) * 3 + 1'000 + 10 + 8;
  EXPECT_TRUE(spent_by(alice, [&] { alice.request("burn 500"); }) == uint128{base} + 500);
}

} // namespace
} // namespace moxzi::actors
