#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/core_driver.hpp"

// Composite queries on the state machine: what they may call, and what must wait for them.

namespace moxzi::actors {
namespace {

using testing::core_driver;
using ::testing::HasSubstr;
using ::testing::StartsWith;

uint64_t ask(core_driver& actor, byte_string script, std::string method = "ask",
             std::vector<principal> chain = {}) {
  call_request request;
  request.identity = {principal::anonymous(), 9, ++actor.sent};
  request.mode = request_mode::query;
  request.method = std::move(method);
  request.argument = std::move(script);
  request.query_chain = std::move(chain);
  actor.feed(std::move(request));
  return actor.sent;
}

void answer_query(core_driver& actor, size_t call, byte_string reply) {
  actor.feed(call_response{actor.calls.at(call).request.identity, reply_value{std::move(reply)}});
}

TEST(CompositeQuery, CallsAreQueriesAndTheAnswerComesFromTheCallback) {
  core_driver alice;
  alice.install();
  const auto records = alice.records.size();
  const auto call = ask(alice, "call bob {get} {echo} {echo}");
  ASSERT_EQ(alice.calls.size(), 1u);
  EXPECT_EQ(alice.calls[0].request.mode, request_mode::query);
  EXPECT_EQ(alice.calls[0].request.query_chain, std::vector{alice.self});
  EXPECT_EQ(alice.answer(call), "none");
  answer_query(alice, 0, "seven");
  EXPECT_EQ(alice.answer(call), "reply: seven");
  EXPECT_EQ(alice.body.seen.back().kind, entry_kind::composite_reply);
  EXPECT_EQ(alice.body.seen.back().query, 1u);
  EXPECT_FALSE(alice.body.seen.back().is_replicated);
  EXPECT_EQ(alice.records.size(), records);
  EXPECT_EQ(alice.core.open_contexts(), 0u);
}

TEST(CompositeQuery, ItCannotBeCalledAsAnUpdate) {
  core_driver alice;
  alice.install();
  EXPECT_THAT(alice.answer(alice.request("get", "ask")), StartsWith("5 MX527: "));
}

TEST(CompositeQuery, UpdatesAndChangesWaitForItAndQueriesOfItsTreeDoNot) {
  core_driver alice;
  alice.install();
  const auto open = ask(alice, "call bob {get} {echo} {echo}");
  const auto before = ask(alice, "get", "look");
  EXPECT_EQ(alice.answer(before), "reply: 0"); // nothing else waits
  const auto update = alice.request("add 1; reply done");
  const auto stop = alice.ask(lifecycle::stop{});
  const auto behind = ask(alice, "get", "look");
  const auto nested = ask(alice, "get", "look", {principal::of_actor("carol")});
  EXPECT_EQ(alice.answer(update), "none");
  EXPECT_EQ(alice.answer(behind), "none");
  EXPECT_EQ(alice.answer(nested), "reply: 0");
  EXPECT_EQ(alice.change(stop), "none");
  answer_query(alice, 0, "x");
  EXPECT_EQ(alice.answer(open), "reply: x");
  EXPECT_EQ(alice.change(stop), "done");
  EXPECT_THAT(alice.answer(update), StartsWith("5 MX508: "));
}

TEST(CompositeQuery, AnActorMayAskItselfAndThoseThatWaitForIt) {
  core_driver alice;
  alice.install();
  const auto outer = ask(alice, "add 5; call alice {get} {echo} {echo}");
  const auto bob = principal::of_actor("bob");
  const auto inner = ask(alice, "call bob {get} {echo} {echo}", "ask", {alice.self});
  const auto leaf = ask(alice, "get", "look", {alice.self, alice.self, bob});
  EXPECT_EQ(alice.answer(leaf), "reply: 0"); // each begins with the state that was committed
  answer_query(alice, 1, "inner");
  EXPECT_EQ(alice.answer(inner), "reply: inner");
  answer_query(alice, 0, "outer");
  EXPECT_EQ(alice.answer(outer), "reply: outer");
  EXPECT_EQ(alice.core.open_contexts(), 0u);
}

TEST(CompositeQuery, ATooDeepTreeIsRefused) {
  core_driver alice;
  alice.install();
  std::vector<principal> deep;
  for (size_t i = 0; i <= limits::query_depth_max; ++i) {
    deep.push_back(principal::of_actor(std::to_string(i)));
  }
  EXPECT_THAT(alice.answer(ask(alice, "get", "look", deep)), StartsWith("5 MX525: "));
  deep.pop_back();
  EXPECT_EQ(alice.answer(ask(alice, "get", "look", deep)), "reply: 0");
}

TEST(CompositeQuery, ItsTimeIsBounded) {
  core_driver alice;
  alice.install();
  const auto call = ask(alice, "call bob {get} {echo} {echo}");
  const auto update = alice.request("add 1; reply done");
  EXPECT_EQ(alice.core.wake_ns(), alice.now_ns + limits::query_time_ns_max);
  alice.pass_time(alice.now_ns + limits::query_time_ns_max);
  EXPECT_THAT(alice.answer(call), StartsWith("5 MX528: "));
  EXPECT_EQ(alice.answer(update), "reply: done");
  answer_query(alice, 0, "late");
  EXPECT_EQ(alice.answer_counts.at(call), 1);
  EXPECT_EQ(alice.core.open_calls(), 0u);
}

TEST(CompositeQuery, NothingIsWaitedForWhileItRuns) {
  core_driver alice;
  alice.install();
  alice.holds = true;
  ask(alice, "call bob {get} {echo} {echo}");
  EXPECT_EQ(alice.core.wake_ns(), std::nullopt);
  const auto begun = alice.now_ns;
  alice.pass_time(begun + limits::query_time_ns_max);
  EXPECT_EQ(alice.core.wake_ns(), std::nullopt);
  alice.holds = false;
  alice.finish();
  EXPECT_EQ(alice.core.wake_ns(), begun + limits::query_time_ns_max); // at once
  alice.pass_time(alice.now_ns);
  EXPECT_EQ(alice.core.open_contexts(), 0u);
}

TEST(CompositeQuery, ATrapInACallbackRunsItsCleanup) {
  core_driver alice;
  alice.install();
  const auto call = ask(alice, "call bob {get} {trap oh} {echo} {add 5}");
  answer_query(alice, 0, "x");
  EXPECT_THAT(alice.answer(call), HasSubstr("trapped: oh"));
  EXPECT_EQ(alice.body.seen.back().kind, entry_kind::composite_cleanup);
  EXPECT_EQ(alice.body.counter, 0);
}

} // namespace
} // namespace moxzi::actors
