#include "actors/canister_core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/core_driver.hpp"

// The message rules are those of the Internet Computer's interface specification ("Message
// processing", "Call contexts"); each test is one of its stories.

namespace moxzi::actors {
namespace {

using persist::record_kind;
using testing::core_driver;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint64_t second = 1'000'000'000;

rejection refused(std::string text) {
  return rejected(reject_code::canister_reject, "MX406", std::move(text));
}

TEST(CanisterCore, AReplyAnswersTheRequest) {
  core_driver alice;
  alice.install();
  const auto call = alice.request("reply hi");
  EXPECT_EQ(alice.answer(call), "reply: hi");
  EXPECT_EQ(alice.core.open_contexts(), 0u);
}

TEST(CanisterCore, ARejectCarriesCodeFourAndItsText) {
  core_driver alice;
  alice.install();
  EXPECT_EQ(alice.answer(alice.request("reject not today")), "4 MX406: not today");
}

TEST(CanisterCore, RequestsThatArriveDuringTheInstallationWaitForIt) {
  core_driver alice;
  EXPECT_THAT(alice.answer(alice.request("reply x")), HasSubstr("5 MX537: "));
  alice.holds = true;
  alice.install();
  const auto early = alice.request("reply early");
  EXPECT_EQ(alice.answer(early), "none");
  alice.holds = false;
  alice.finish();
  EXPECT_EQ(alice.answer(early), "reply: early");
}

TEST(CanisterCore, AFailedInstallationRejectsAllRequestsWithItsReason) {
  core_driver alice;
  alice.holds = true;
  alice.install("trap no greeting");
  const auto early = alice.request("reply early");
  alice.holds = false;
  alice.finish();
  EXPECT_EQ(alice.core.code(), nullptr);
  EXPECT_THAT(alice.answer(early), HasSubstr("5 MX537: "));
  EXPECT_THAT(alice.answer(early), HasSubstr("no greeting"));
  EXPECT_THAT(alice.answer(alice.request("get")), HasSubstr("MX537"));
  EXPECT_EQ(alice.records.size(), 2u); // the creation, and the installation that trapped
}

TEST(CanisterCore, ATrapIsCodeFiveAndLeavesNoTrace) {
  core_driver alice;
  alice.install();
  const auto call = alice.request("add 5; call bob {reply x} {echo} {echo}; timer 9; trap oops");
  EXPECT_EQ(alice.answer(call), "5 MX503: Canister " + alice.self.to_text() + " trapped: oops");
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 0");
  EXPECT_TRUE(alice.calls.empty());
  EXPECT_EQ(alice.core.wake_ns(), std::nullopt);
}

TEST(CanisterCore, AMethodThatDoesNotExistIsCodeFiveAndNotRecorded) {
  core_driver alice;
  alice.install();
  const auto call = alice.request("", "rnu");
  EXPECT_THAT(alice.answer(call), StartsWith("5 MX536: "));
  EXPECT_THAT(alice.answer(call), HasSubstr("no update method 'rnu'"));
  EXPECT_EQ(alice.records.size(), 2u); // creation and installation
}

TEST(CanisterCore, WithoutAnAnswerTheCallerLearnsThatThereIsNone) {
  core_driver alice;
  alice.install();
  EXPECT_THAT(alice.answer(alice.request("add 1")), HasSubstr("5 MX506: "));
  EXPECT_THAT(alice.answer(alice.request("add 1")), HasSubstr("did not produce a response"));
}

TEST(CanisterCore, OneMessageRunsAtATimeInOrderOfArrival) {
  core_driver alice;
  alice.install();
  alice.holds = true;
  const auto first = alice.request("add 1; get");
  const auto second_call = alice.request("add 1; get");
  EXPECT_TRUE(alice.core.busy());
  EXPECT_EQ(alice.core.waiting(), 1u);
  alice.finish();
  EXPECT_EQ(alice.answer(first), "reply: 1");
  EXPECT_EQ(alice.answer(second_call), "none");
  alice.finish();
  EXPECT_EQ(alice.answer(second_call), "reply: 2");
}

TEST(CanisterCore, WhatPrecedesAnAwaitStaysWhateverFollows) {
  core_driver alice;
  alice.install();
  const auto call = alice.request("add 7; call bob {get} {add 100; trap late} {echo}");
  ASSERT_EQ(alice.calls.size(), 1u);
  EXPECT_EQ(alice.calls[0].callee, principal::of_actor("bob"));
  EXPECT_EQ(alice.answer(call), "none");
  alice.reply(1);
  EXPECT_THAT(alice.answer(call), HasSubstr("5 MX503: "));
  EXPECT_THAT(alice.answer(call), HasSubstr("trapped: late"));
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 7");
}

TEST(CanisterCore, ACallbackAnswersInItsCallContext) {
  core_driver alice;
  alice.install();
  const auto call = alice.request("call bob {get} {echo} {echo}");
  alice.reply(1, "from bob");
  EXPECT_EQ(alice.answer(call), "reply: from bob");
  const auto again = alice.request("call bob {get} {echo} {echo}");
  alice.respond(2, refused("bob is busy"));
  EXPECT_EQ(alice.answer(again), "reply: bob is busy");
  EXPECT_EQ(alice.body.seen.back().reject_code, reject_code::canister_reject);
  EXPECT_EQ(alice.core.open_contexts(), 0u);
}

TEST(CanisterCore, TheCallerStaysTheSameInCallbacks) {
  core_driver alice;
  alice.install();
  alice.request("call bob {get} {echo} {echo}");
  alice.reply(1);
  EXPECT_EQ(alice.body.seen.back().kind, entry_kind::reply_callback);
  EXPECT_EQ(alice.body.seen.back().caller, principal::anonymous());
  EXPECT_TRUE(alice.body.seen.back().can_answer);
}

TEST(CanisterCore, AfterTheAnswerACallbackCannotAnswerAgain) {
  core_driver alice;
  alice.install();
  const auto call = alice.request("call bob {get} {add 1} {echo}; reply done");
  EXPECT_EQ(alice.answer(call), "reply: done");
  EXPECT_EQ(alice.core.open_contexts(), 1u);
  alice.reply(1);
  EXPECT_FALSE(alice.body.seen.back().can_answer);
  EXPECT_EQ(alice.answer_counts[call], 1);
  EXPECT_EQ(alice.core.open_contexts(), 0u);
}

TEST(CanisterCore, ATrapInACallbackRunsTheCleanupWhoseChangesStay) {
  core_driver alice;
  alice.install();
  const auto call = alice.request("add 1; call bob {get} {add 10; trap late} {echo} {add 100}");
  alice.reply(1);
  EXPECT_EQ(alice.body.seen.back().kind, entry_kind::cleanup_callback);
  EXPECT_FALSE(alice.body.seen.back().can_answer);
  EXPECT_THAT(alice.answer(call), HasSubstr("trapped: late"));
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 101");
}

TEST(CanisterCore, ACleanupThatTrapsTooChangesNothingAndKeepsTheFirstReason) {
  core_driver alice;
  alice.install();
  const auto call = alice.request("call bob {get} {trap late} {echo} {add 100; trap worse}");
  alice.reply(1);
  EXPECT_THAT(alice.answer(call), HasSubstr("trapped: late"));
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 0");
}

TEST(CanisterCore, ACleanupIsNotRunWhenTheCallbackSucceeds) {
  core_driver alice;
  alice.install();
  alice.request("call bob {get} {echo} {echo} {add 100}");
  alice.reply(1);
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 0");
}

TEST(CanisterCore, ATrapDoesNotAnswerWhileAnotherCallCouldStillDoSo) {
  core_driver alice;
  alice.install();
  const auto call =
    alice.request("call bob {get} {trap late} {echo}; call carol {get} {echo} {echo}");
  alice.reply(1);
  EXPECT_EQ(alice.answer(call), "none");
  alice.reply(2, "carol");
  EXPECT_EQ(alice.answer(call), "reply: carol");
}

TEST(CanisterCore, ASecondResponseToACallIsDropped) {
  core_driver alice;
  alice.install();
  alice.request("call bob {get} {add 1} {add 1}; reply ok");
  alice.reply(1);
  alice.reply(1);
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 1");
}

TEST(CanisterCore, AResponseToACallNeverMadeIsDropped) {
  core_driver alice;
  alice.install();
  alice.reply(7);
  EXPECT_EQ(alice.records.size(), 2u);
}

TEST(CanisterCore, TheFiveHundredFirstWaitingRequestIsRefused) {
  core_driver alice;
  alice.install();
  alice.holds = true;
  alice.request("reply running");
  for (size_t i = 0; i < limits::queue_length_max; ++i) alice.request("reply x");
  EXPECT_EQ(alice.core.waiting(), 500u);
  const auto over = alice.request("reply x");
  EXPECT_THAT(alice.answer(over), StartsWith("2 MX201: "));
  alice.finish();
  EXPECT_EQ(alice.answer(alice.request("reply x")), "none"); // there is room again
}

TEST(CanisterCore, ResponsesAreTakenEvenWhenTheQueueIsFull) {
  core_driver alice;
  alice.install();
  const auto call = alice.request("call bob {get} {echo} {echo}");
  alice.holds = true;
  for (size_t i = 0; i <= limits::queue_length_max; ++i) alice.request("reply x");
  alice.reply(1, "still");
  alice.holds = false;
  alice.finish();
  EXPECT_EQ(alice.answer(call), "reply: still");
}

TEST(CanisterCore, NoMoreThanFiveHundredCallsToOneCalleeAreOpen) {
  core_driver alice;
  alice.install();
  for (int i = 0; i < 500; ++i) alice.request("call bob {get} {echo} {echo}");
  ASSERT_EQ(alice.calls.size(), 500u);
  const auto over = alice.request("call bob {get} {echo} {reply refused}");
  EXPECT_EQ(alice.answer(over), "reply: refused");
  EXPECT_EQ(alice.answer(alice.request("call carol {get} {echo} {echo}; reply ok")), "reply: ok");
  alice.reply(1);
  alice.request("call bob {get} {echo} {echo}");
  EXPECT_EQ(alice.calls.size(), 502u);
}

TEST(CanisterCore, AQueryIsAnsweredButChangesNothingAndLeavesNoRecord) {
  core_driver alice;
  alice.install();
  const auto call = alice.request("add 3; get", "look", request_mode::query);
  EXPECT_EQ(alice.answer(call), "reply: 3");
  EXPECT_EQ(alice.answer(alice.request("get")), "reply: 0");
  EXPECT_EQ(alice.records.size(), 3u); // creation, installation and the update
}

TEST(CanisterCore, AQueryMethodCalledAsAnUpdateIsRolledBackButRecorded) {
  core_driver alice;
  alice.install();
  const auto call = alice.request("add 3; get", "look");
  EXPECT_EQ(alice.answer(call), "reply: 3");
  EXPECT_EQ(alice.body.counter, 0);
  EXPECT_EQ(alice.records.size(), 3u);
  EXPECT_EQ(alice.body.seen.back().instructions_max, limits::query_instructions_max);
}

TEST(CanisterCore, AnUpdateMethodCannotBeQueried) {
  core_driver alice;
  alice.install();
  EXPECT_THAT(alice.answer(alice.request("get", "run", request_mode::query)),
              HasSubstr("no query method 'run'"));
}

TEST(CanisterCore, AnInspectionDecidesAboutRequestsFromOutsideOnly) {
  core_driver alice;
  alice.body.entries = {entry_kind::inspect};
  alice.install();
  EXPECT_EQ(alice.answer(alice.request("reply ok")), "reply: ok");
  EXPECT_EQ(alice.answer(alice.request("get", "look")), "reply: 0"); // a query as an update, too
  alice.body.accepts = false;
  EXPECT_THAT(alice.answer(alice.request("reply ok")), HasSubstr("4 MX406: "));
  call_request from_bob;
  from_bob.identity = {principal::of_actor("bob"), 1, 900};
  from_bob.method = "run";
  from_bob.argument = "reply ok";
  alice.feed(std::move(from_bob));
  EXPECT_EQ(alice.answer(900), "reply: ok");
}

TEST(CanisterCore, TheTimerFiresOnceWhenDueAndIsClearedFirst) {
  core_driver alice;
  alice.install();
  alice.request("timer 5000; reply ok");
  EXPECT_EQ(alice.core.wake_ns(), 5000u);
  alice.pass_time(4999);
  EXPECT_EQ(alice.body.counter, 0);
  alice.pass_time(5000);
  EXPECT_EQ(alice.body.counter, 1000);
  EXPECT_EQ(alice.body.seen.back().global_timer_ns, 0u);
  EXPECT_TRUE(alice.body.seen.back().caller.is_management());
  alice.pass_time(9000);
  EXPECT_EQ(alice.body.counter, 1000);
  EXPECT_EQ(alice.core.wake_ns(), std::nullopt);
}

TEST(CanisterCore, ATimerTurnedOffWhileItWaitsDoesNotFire) {
  core_driver alice;
  alice.install();
  alice.request("timer 5000; reply ok");
  alice.holds = true;
  alice.request("timer 0; reply ok");
  alice.pass_time(6000);
  alice.holds = false;
  alice.finish();
  EXPECT_EQ(alice.body.counter, 0);
}

TEST(CanisterCore, AHeartbeatComesOnceASecondAndDoesNotPileUp) {
  core_driver alice;
  alice.body.entries = {entry_kind::heartbeat};
  alice.install();
  EXPECT_EQ(alice.core.wake_ns(), alice.now_ns + second);
  alice.pass_time(alice.now_ns + second);
  EXPECT_EQ(alice.body.counter, 1);
  alice.holds = true;
  alice.request("reply x");
  alice.pass_time(alice.now_ns + second);
  alice.pass_time(alice.now_ns + second);
  alice.holds = false;
  alice.finish();
  EXPECT_EQ(alice.body.counter, 2);
}

TEST(CanisterCore, ABoundedWaitEndsInCodeSixAndTheLateAnswerIsDropped) {
  core_driver alice;
  alice.install();
  const auto call = alice.request("wait 2; call bob {get} {trap never} {echo}");
  EXPECT_EQ(alice.calls[0].request.deadline_ns, alice.now_ns + 2 * second);
  EXPECT_EQ(alice.core.wake_ns(), alice.now_ns + 2 * second);
  alice.pass_time(alice.now_ns + 2 * second);
  EXPECT_THAT(alice.answer(call), HasSubstr("no response within"));
  EXPECT_EQ(alice.body.seen.back().reject_code, reject_code::sys_unknown);
  alice.reply(1);
  EXPECT_EQ(alice.core.open_contexts(), 0u);
  EXPECT_EQ(alice.records.size(), 4u);
}

TEST(CanisterCore, ABoundedWaitIsCappedAtThreeHundredSeconds) {
  core_driver alice;
  alice.install();
  alice.request("wait 100000; call bob {get} {echo} {echo}");
  EXPECT_EQ(alice.calls[0].request.deadline_ns, alice.now_ns + 300 * second);
}

TEST(CanisterCore, TimeNeverGoesBack) {
  core_driver alice;
  alice.install();
  alice.now_ns = 5000;
  alice.request("reply a");
  alice.now_ns = 3000;
  alice.request("reply b");
  EXPECT_EQ(alice.body.seen.back().time_ns, 5000u);
}

TEST(CanisterCore, ARequestSentTwiceIsAppliedOnceAndAnsweredFromMemory) {
  core_driver alice;
  alice.install();
  call_request from_bob;
  from_bob.identity = {principal::of_actor("bob"), 1, 40};
  from_bob.method = "run";
  from_bob.argument = "add 1; get";
  alice.feed(from_bob);
  alice.feed(from_bob);
  EXPECT_EQ(alice.answer(40), "reply: 1");
  EXPECT_EQ(alice.answer_counts[40], 2);
  EXPECT_EQ(alice.body.counter, 1);
}

TEST(CanisterCore, ARequestSentTwiceWhileItRunsIsAnsweredOnce) {
  core_driver alice;
  alice.install();
  call_request from_bob;
  from_bob.identity = {principal::of_actor("bob"), 1, 40};
  from_bob.method = "run";
  from_bob.argument = "call carol {get} {echo} {echo}";
  alice.feed(from_bob);
  alice.feed(from_bob);
  alice.reply(1, "c");
  EXPECT_EQ(alice.answer_counts[40], 1);
  EXPECT_EQ(alice.calls.size(), 1u);
}

TEST(CanisterCore, ARequestWhoseAnswerIsForgottenIsNotAppliedAgain) {
  core_driver alice;
  alice.install();
  call_request from_bob;
  from_bob.identity = {principal::of_actor("bob"), 1, 1};
  from_bob.method = "run";
  from_bob.argument = "add 1; get";
  const auto first = from_bob;
  for (uint64_t i = 1; i <= limits::answers_kept_max + 1; ++i) {
    from_bob.identity.sequence = i;
    alice.feed(from_bob);
  }
  const auto applied = alice.body.counter;
  alice.feed(first);
  EXPECT_THAT(alice.answer(1), StartsWith("6 MX602: "));
  EXPECT_EQ(alice.body.counter, applied);
}

TEST(CanisterCore, EachExecutionIsOneRecordInOrder) {
  core_driver alice;
  alice.install();
  alice.request("timer 2000; call bob {get} {echo} {echo}");
  alice.reply(1, "x");
  alice.request("call bob {get} {echo} {echo}");
  alice.respond(2, refused("no"));
  alice.pass_time(2000);
  std::vector<record_kind> kinds;
  uint64_t number = 0;
  for (const auto& record : alice.records) {
    EXPECT_EQ(record.number, ++number);
    EXPECT_EQ(record.actor, alice.self.bytes());
    kinds.push_back(record.kind);
  }
  EXPECT_THAT(kinds, ElementsAre(record_kind::create, record_kind::install, record_kind::request,
                                 record_kind::reply, record_kind::request, record_kind::reject,
                                 record_kind::timer));
}

TEST(CanisterCore, AfterTheShutDownNothingStartsAndRequestsAreRefused) {
  core_driver alice;
  alice.install();
  alice.holds = true;
  const auto running = alice.request("reply done");
  const auto waiting = alice.request("reply never");
  alice.feed(shut_down{});
  EXPECT_THAT(alice.answer(waiting), StartsWith("5 MX509: "));
  alice.finish();
  EXPECT_EQ(alice.answer(running), "reply: done");
  EXPECT_THAT(alice.answer(alice.request("reply x")), StartsWith("5 MX509: "));
  EXPECT_FALSE(alice.core.busy());
}

TEST(CanisterCore, DebugLinesLeaveEvenWhenTheExecutionTraps) {
  core_driver alice;
  alice.install();
  alice.request("print one; trap x");
  EXPECT_THAT(alice.lines, ElementsAre("one"));
}

} // namespace
} // namespace moxzi::actors
