#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/candid/did_parser.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/json.hpp"
#include "actors/replay.hpp"
#include "actors/wasm/wasm_body.hpp"
#include "tests/actors/hosting/hosting_fixture.hpp"

// The compiler's own output, hosted: tests/actors/wasm/fixtures/tour.mo.

namespace moxzi::actors {
namespace {

using ::testing::HasSubstr;
using testing::hosting_fixture;

byte_string motoko(const std::string& name) {
  std::ifstream file{MOXZI_MOTOKO_DIR "/" + name + ".wasm", std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

code_ptr tour_code() {
  static const auto code =
    std::make_shared<const wasm_code>(*testing::fixture_factory::engine()->compile(motoko("tour")));
  return code;
}

class MotokoHosting : public hosting_fixture {
protected:
  MotokoHosting() {
    unit = &*on_pool;
    settings.update_instructions_max =
      300'000'000; // an endless loop ends in a fraction of a second
  }

  void host(const std::string& name) {
    const auto types = candid::parse_types("(record { greeting : text; n : nat })");
    const auto values = candid::json_to_values(*types, R"([{"greeting":"hi","n":5}])");
    lifecycle::install_code install;
    install.argument = *candid::encode(*types, *values);
    const auto report = start_with(name, prepared_code{tour_code()}, std::move(install));
    ASSERT_TRUE(report.installed) << report.failure;
  }

  /// Waits until a query answers `wanted`.
  void expect_soon(const std::string& name, const std::string& method, const std::string& wanted) {
    const auto give_up = std::chrono::steady_clock::now() + testing::patience;
    std::string body;
    while (body != wanted && std::chrono::steady_clock::now() < give_up) {
      body = post(name, method, "[]", net::call_kind::query).body;
    }
    EXPECT_EQ(body, wanted);
  }

  std::string query(const std::string& name, const std::string& method) {
    return post(name, method, "[]", net::call_kind::query).body;
  }
};

TEST_F(MotokoHosting, UpdatesStayAndQueriesDoNot) {
  host("tour");
  EXPECT_EQ(post("tour", "bump", "[2]").body, "[7]");
  EXPECT_EQ(query("tour", "spoil"), "[8]");
  EXPECT_EQ(post("tour", "spoil", "").body, "[8]");
  EXPECT_EQ(query("tour", "get"), "[7]");
  EXPECT_EQ(query("tour", "greeting"), R"(["hi"])");
}

TEST_F(MotokoHosting, ATrapIs422NamesItsCauseAndLeavesNoTrace) {
  host("tour");
  const auto answer = post("tour", "give_up", "[]");
  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(answer.body, HasSubstr("enough of this"));
  EXPECT_EQ(post("tour", "divide", "[0]").status, 422);
  EXPECT_EQ(query("tour", "get"), "[5]");
}

TEST_F(MotokoHosting, SelfCallsAndCaughtRejectsWork) {
  host("tour");
  EXPECT_EQ(post("tour", "call_self", "[]").body, "[6]");
  EXPECT_EQ(post("tour", "catch_other", "[]").body, R"(["caught"])"); // nobody has that principal
}

TEST_F(MotokoHosting, MethodsNamedLikeKeywordsAreCalledByTheNamesOfTheInterface) {
  host("tour");
  EXPECT_EQ(post("tour", "loop", "[]").body, "[11]"); // exported as `loop_`
  EXPECT_EQ(query("tour", "if"), "[12]");
  EXPECT_EQ(post("tour", "call_loop", "[]").body, "[11]");
  EXPECT_EQ(post("tour", "loop_", "[]").status, 404);
}

TEST_F(MotokoHosting, WhatPrecedesAnAwaitStaysAndFinallyRuns) {
  host("tour");
  EXPECT_EQ(post("tour", "call_and_trap", "[]").status, 422);
  EXPECT_EQ(query("tour", "get"), "[16]"); // 5 + 1 before the await + 10 in `finally`
}

TEST_F(MotokoHosting, ATimerOfTheCoreLibraryFires) {
  host("tour");
  EXPECT_EQ(post("tour", "tick", "[]").status, 200);
  expect_soon("tour", "ticked", "[1]");
}

TEST_F(MotokoHosting, AnEndlessLoopAndADeepRecursionEndInTheirOwnRejects) {
  host("tour");
  for (int i = 0; i < 10; ++i) host("other" + std::to_string(i));
  const auto forever = send("tour", "forever", "[]");
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(post("other" + std::to_string(i), "bump", "[1]").body,
                fmt::format("[{}]", 5 + round));
    }
  }
  EXPECT_EQ(forever->wait().status, 422);
  EXPECT_THAT(forever->wait().body, HasSubstr("MX522"));
  EXPECT_EQ(post("tour", "deep", "[1000000]").status, 422);
  EXPECT_EQ(post("tour", "bump", "[1]").body, "[6]");
}

TEST_F(MotokoHosting, ActorsAnswerWhileEveryThreadOfThePoolIsBusy) {
  for (int i = 0; i < 3; ++i) host("busy" + std::to_string(i));
  host("tour");
  std::vector<std::shared_ptr<testing::waiting_sink>> busy;
  for (int i = 0; i < 3; ++i) busy.push_back(send("busy" + std::to_string(i), "forever", "[]"));
  EXPECT_EQ(post("tour", "bump", "[2]").body, "[7]");
  EXPECT_EQ(post("tour", "call_self", "[]").body, "[8]");
  EXPECT_EQ(post("nobody", "bump", "[2]").status, 404);
  for (auto& sink : busy) EXPECT_EQ(sink->wait().status, 422);
}

TEST_F(MotokoHosting, ActorsOutliveTheirPoolAndThenEndOnTheScheduler) {
  host("tour");
  pool.stop();
  send("tour", "bump", "[2]"); // its code can run no more
  EXPECT_EQ(post("nobody", "bump", "[2]").status, 404);
  EXPECT_EQ(stop(), 1u);
}

TEST_F(MotokoHosting, StoppingInterruptsAnEndlessLoop) {
  settings.update_instructions_max = limits::update_instructions_max;
  host("tour");
  host("other");
  send("tour", "forever", "[]");
  post("other", "bump", "[1]"); // answered: the router has passed on what came before
  EXPECT_EQ(stop(), 1u);
}

TEST_F(MotokoHosting, TheRecordsReplayToTheSameDigests) {
  host("tour");
  post("tour", "bump", "[2]");
  post("tour", "give_up", "[]");
  post("tour", "call_self", "[]");
  post("tour", "call_and_trap", "[]");
  post("tour", "catch_other", "[]");
  post("tour", "spoil", "[]");
  post("tour", "store", "[7]");
  post("tour", "forever", "[]");
  post("tour", "tick", "[]");
  expect_soon("tour", "ticked", "[1]");
  core_settings again = settings;
  again.self = principal::of_actor("tour");
  const auto body = factory.make_body(again.self);
  const auto records = journal.records();
  const auto outcome =
    replay(records, again, *body, [](const sha256_hash&) { return result<code_ptr>{tour_code()}; });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->records, records.size());
}

} // namespace
} // namespace moxzi::actors
