#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/replay.hpp"
#include "tests/actors/hosting/hosting_fixture.hpp"

// Real actors on CAF's scheduler: router, supervisor and hosted actors together.

namespace moxzi::actors {
namespace {

using testing::code_of;
using ::testing::HasSubstr;
using testing::hosting_fixture;
using testing::script_body;
using testing::spinning_body;
using ::testing::StartsWith;

class Hosting : public hosting_fixture {};

TEST_F(Hosting, ACallReachesTheActorAndItsResponseComesBack) {
  EXPECT_TRUE(start("alice").installed);
  EXPECT_EQ(call("alice", "add 2; get"), "reply: 2");
}

TEST_F(Hosting, ActorsCallEachOther) {
  start("alice");
  start("bob");
  EXPECT_EQ(call("alice", "call bob {add 3; get} {echo} {echo}"), "reply: 3");
  EXPECT_EQ(call("alice", "call bob {trap no} {echo} {echo}"),
            "reply: Canister " + principal::of_actor("bob").to_text() + " trapped: no");
}

TEST_F(Hosting, AnActorCallsItself) {
  start("alice");
  EXPECT_EQ(call("alice", "call alice {add 5; get} {echo} {echo}"), "reply: 5");
}

TEST_F(Hosting, AMessageThatCostsFarMoreToReadThanToWriteIsNotShownToAnActor) {
  const byte_string bomb{"DIDL\x01\x6d\x7f\x01\0\x80\x94\xeb\xdc\x03", 14}; // vec null of 10^9
  auto body = std::make_unique<script_body>();
  const auto* there = body.get();
  start("there", std::move(body));
  start("here");
  const auto why = call("there", bomb);
  EXPECT_THAT(why, StartsWith("5 MX400: the argument of 'run' costs more to read"));
  EXPECT_THAT(call("here", "reply " + bomb), StartsWith("5 MX504: the reply of actor 'here'"));
  EXPECT_THAT(call("here", "call there {" + bomb + "} {reply no} {echo}"),
              StartsWith("reply: the argument of 'run' costs more to read"));
  EXPECT_EQ(there->seen.size(), 1u); // its installation
  // What is not sound, or no Candid at all, is the receiver's own affair.
  EXPECT_EQ(call("here", "reply DIDL"), "reply: DIDL");
  EXPECT_EQ(call("here", "reply " + bomb.substr(0, 9)), "reply: " + bomb.substr(0, 9));
}

TEST_F(Hosting, ACallToNobodyIsCodeThree) {
  start("alice");
  EXPECT_THAT(call("alice", "call nobody {get} {echo} {echo}"), HasSubstr("is not hosted here"));
  EXPECT_THAT(call("nobody", "get"), StartsWith("3 MX301: "));
}

TEST_F(Hosting, AnActorWhoseInstallationTrapsReportsWhyAndRejectsCalls) {
  const auto report = start("alice", std::make_unique<script_body>(), "trap no greeting");
  EXPECT_FALSE(report.installed);
  EXPECT_EQ(report.failure.substr(report.failure.size() - 11), "no greeting");
  EXPECT_THAT(call("alice", "get"), StartsWith("5 MX537: "));
}

TEST_F(Hosting, ATimerFires) {
  start("alice");
  call("alice", fmt::format("timer {}; reply ok", time->unix_ns() + 20'000'000));
  const auto give_up = std::chrono::steady_clock::now() + testing::patience;
  std::string counter;
  while (counter != "reply: 1000" && std::chrono::steady_clock::now() < give_up) {
    counter = call("alice", "get");
  }
  EXPECT_EQ(counter, "reply: 1000");
}

TEST_F(Hosting, AnActorThatNeverEndsHoldsUpNobodyElse) {
  start("alice", std::make_unique<spinning_body>());
  for (int i = 0; i < 10; ++i) start("other" + std::to_string(i));
  caf::scoped_actor self{*system};
  call_request request;
  request.identity = {principal::of_actor("tester"), 2, 1};
  request.method = "spin";
  self->send(route, deliver_request{principal::of_actor("alice"), std::move(request),
                                    caf::actor_cast<caller_actor>(self)});
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(call("other" + std::to_string(i), "add 1; get"),
                "reply: " + std::to_string(round + 1));
    }
  }
  EXPECT_FALSE(self->has_next_message());
}

TEST_F(Hosting, StoppingInterruptsWhatNeverEndsWithinTheBudget) {
  start("alice", std::make_unique<spinning_body>());
  start("bob");
  caf::scoped_actor self{*system};
  call_request request;
  request.identity = {principal::of_actor("tester"), 2, 1};
  request.method = "spin";
  self->send(route, deliver_request{principal::of_actor("alice"), std::move(request),
                                    caf::actor_cast<caller_actor>(self)});
  // The same sender's messages keep their order: once this is refused, alice spins.
  EXPECT_EQ(call("bob", "reply here"), "reply: here");
  EXPECT_EQ(stop(), 1u);
}

TEST_F(Hosting, AnIdleNodeStopsAtOnceAndInterruptsNobody) {
  for (int i = 0; i < 20; ++i) start("actor" + std::to_string(i));
  EXPECT_EQ(stop(), 0u);
}

TEST_F(Hosting, MessagesThatNobodyKnowsEndNobody) {
  start("alice");
  caf::scoped_actor self{*system};
  const auto receivers = {caf::actor_cast<caf::actor>(route), caf::actor_cast<caf::actor>(boss()),
                          caf::actor_cast<caf::actor>(management)};
  for (int i = 0; i < 1'000; ++i) {
    for (const auto& to : receivers) self->send(to, std::string{"what"}, i);
  }
  EXPECT_EQ(call("alice", "add 2; get"), "reply: 2");
  EXPECT_TRUE(start("bob").installed);
}

TEST_F(Hosting, TheJournalReplaysToTheSameDigests) {
  auto owned = std::make_unique<script_body>();
  const auto& original = *owned;
  start("alice", std::move(owned));
  start("bob");
  for (int i = 0; i < 50; ++i) {
    call("alice", "add 1; call bob {add 2; get} {add 1; echo} {echo}");
    call("bob", "call alice {trap x} {echo} {add 1; trap y} {add 3}");
  }
  core_settings settings;
  settings.self = principal::of_actor("alice");
  script_body fresh;
  const auto outcome = replay(journal.records(), settings, fresh, [&fresh](const sha256_hash&) {
    return result<code_ptr>{code_of(fresh)};
  });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->records,
            152u); // creation, installation, 50 requests, their replies, bob's calls
  EXPECT_EQ(fresh.counter, original.counter);
}

TEST_F(Hosting, AnUnknownActorIs404WithTheNearestName) {
  start("letters");
  const auto answer = post("lettres", "learn", "[200]");
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, HasSubstr(R"("error_code":"MX301")"));
  EXPECT_THAT(answer.body, HasSubstr("did you mean 'letters'?"));
}

TEST_F(Hosting, AnActorWithoutAnInterfaceRefusesJsonAndSaysWhy) {
  start("alice");
  const auto answer = post("alice", "run", "[]");
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("no Candid interface"));
}

class JsonCalls : public hosting_fixture {
protected:
  void host(std::unique_ptr<testing::text_body> body = std::make_unique<testing::text_body>()) {
    const std::string did{testing::text_body::did};
    ASSERT_TRUE(start("letters", std::move(body), "add 0", did).installed);
  }
};

TEST_F(JsonCalls, ArgumentsAndResultsAreJsonAtTheMethodsTypes) {
  host();
  const auto answer = post("letters", "run", R"(["reply hi"])");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_EQ(answer.body, R"(["hi"])");
}

TEST_F(JsonCalls, AnActorIsFoundByItsPrincipalToo) {
  host();
  const auto id = principal::of_actor("letters").to_text();
  EXPECT_EQ(post(id, "run", R"(["reply hi"])").body, R"(["hi"])");
}

TEST_F(JsonCalls, AQueryChangesNothing) {
  host();
  EXPECT_EQ(post("letters", "look", R"(["add 1; get"])", net::call_kind::query).body, R"(["1"])");
  EXPECT_EQ(post("letters", "look", R"(["add 1; get"])", net::call_kind::update).body, R"(["1"])");
  EXPECT_EQ(post("letters", "run", R"(["get"])").body, R"(["0"])");
}

TEST_F(JsonCalls, BadJsonAndWrongArgumentsAre400AndNameThePlace) {
  host();
  EXPECT_EQ(post("letters", "run", "[").status, 400);
  const auto answer = post("letters", "run", "[7]");
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("args[0]"));
  EXPECT_THAT(answer.body, HasSubstr(R"("code":0,"name":"bad_request")"));
}

TEST_F(JsonCalls, AnUnknownMethodIs404WithTheNearestName) {
  host();
  const auto answer = post("letters", "rnu", "[]");
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, HasSubstr(R"("error_code":"MX536")"));
  EXPECT_THAT(answer.body, HasSubstr("did you mean 'run'?"));
  EXPECT_EQ(post("letters", "run", R"(["get"])", net::call_kind::query).status, 404);
}

TEST_F(JsonCalls, ARejectAndATrapAre422WithTheErrorObject) {
  host();
  const auto rejected_call = post("letters", "run", R"(["reject not now"])");
  EXPECT_EQ(rejected_call.status, 422);
  EXPECT_EQ(rejected_call.body, R"({"error":{"code":4,"name":"canister_reject",)"
                                R"("message":"not now","error_code":"MX406"}})");
  const auto trapped = post("letters", "run", R"(["trap oops"])");
  EXPECT_EQ(trapped.status, 422);
  EXPECT_THAT(trapped.body, HasSubstr(R"("code":5,"name":"canister_error")"));
  EXPECT_THAT(trapped.body, HasSubstr("trapped: oops"));
}

TEST_F(JsonCalls, AReplyThatDoesNotFitTheInterfaceIs422) {
  auto body = std::make_unique<testing::text_body>();
  body->raw_reply = "not Candid";
  host(std::move(body));
  const auto answer = post("letters", "run", R"(["reply x"])");
  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(answer.body, HasSubstr("MX504"));
}

TEST_F(JsonCalls, AFullQueueIs429) {
  const std::string did = "service : { spin : () -> (); }";
  ASSERT_TRUE(start("letters", std::make_unique<spinning_body>(), "add 0", did).installed);
  std::vector<std::shared_ptr<testing::waiting_sink>> waiting;
  for (size_t i = 0; i < limits::queue_length_max + 1; ++i) {
    waiting.push_back(send("letters", "spin", "[]"));
  }
  EXPECT_EQ(post("letters", "spin", "[]").status, 429);
  for (const auto& sink : waiting) EXPECT_FALSE(sink->has_answer());
  EXPECT_EQ(stop(), 1u);
  // What waited is refused, what ran is given up; both learn of it, once.
  EXPECT_EQ(waiting.back()->wait().status, 409);
  const auto given_up = waiting.front()->wait();
  EXPECT_EQ(given_up.status, 409);
  EXPECT_THAT(given_up.body, HasSubstr(R"("code":6)"));
  for (const auto& sink : waiting) EXPECT_EQ(sink->answers, 1);
}

} // namespace
} // namespace moxzi::actors
