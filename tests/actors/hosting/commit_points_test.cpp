#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/hosting/motoko_fixture.hpp"
#include "tests/actors/hosting/resident.hpp"

// Commit points, on the compiler's own output: what of an actor's state remains when something goes
// wrong before, in or after an await. The expected marks follow from the Internet Computer
// interface specification: an execution is kept as a whole or not at all, and an await ends one.

namespace moxzi::actors {
namespace {

using ::testing::HasSubstr;

struct commit_case {
  const char* method;
  int code;          ///< 0: replies, else the reject code
  const char* marks; ///< what is left in the caller
  int noted;         ///< what is left in the callee
};

const commit_case table[] = {
  {"trap_before_await", 5, "", 0},
  {"trap_after_await", 5, "a", 0},
  {"throw_before_await", 4, "a", 0}, // a throw is an answer, not a trap
  {"throw_after_await", 4, "ab", 0},
  {"trap_in_callee", 4, "a", 0}, // passed on as a throw of the caller's
  {"catch_trap", 0, "a5b", 0},
  {"catch_reject", 0, "a4no", 0},
  {"trap_in_catch", 5, "a", 0},
  {"finally_without_fault", 0, "abf", 0},
  {"finally_after_trap", 5, "af", 0},
  {"finally_after_throw", 4, "abf", 0},
  {"finally_after_reject", 4, "af", 0},
  {"nested", 0, "aijb", 0},
  {"nested_trap", 0, "aic", 0},
  {"self_call_trap", 0, "ac", 0},
  {"unawaited", 0, "ab", 1},
  {"unawaited_trap", 5, "", 0},
  {"unawaited_to_trap", 0, "ab", 0},
  {"oneway", 0, "ab", 1},
  {"oneway_to_trap", 0, "ab", 0},
  {"oneway_trap", 5, "", 0},
  {"star_is_no_commit", 5, "", 0},
  {"star_with_await", 5, "as", 0},
  {"two_at_once", 5, "abc", 0},
  {"async_block", 5, "ai", 0},
  {"in_a_loop", 5, "a01", 0},
  {"called_back", 0, "apb", 1},
  {"query_called", 5, "a", 0},
};

class CommitPoints : public testing::motoko_fixture,
                     public ::testing::WithParamInterface<commit_case> {};

TEST_P(CommitPoints, AreWhereTheTableSays) {
  const auto& expected = GetParam();
  host("callee", "callee");
  host("caller", "commit_points",
       testing::candid_of("(text)", "[\"" + principal::of_actor("callee").to_text() + "\"]"));
  const auto answer = post("caller", expected.method, "[]");
  if (expected.code == 0) {
    EXPECT_EQ(answer.status, 200) << answer.body;
  } else {
    EXPECT_THAT(answer.body, HasSubstr("\"code\":" + std::to_string(expected.code)));
  }
  EXPECT_EQ(query("caller", "marks"), "[\"" + std::string{expected.marks} + "\"]");
  // A call that nobody awaits may still be on its way.
  const auto noted = "[" + std::to_string(expected.noted) + "]";
  const auto give_up = std::chrono::steady_clock::now() + testing::patience;
  while (query("callee", "noted") != noted && std::chrono::steady_clock::now() < give_up) continue;
  EXPECT_EQ(query("callee", "noted"), noted);
  expect_replays("caller");
  expect_replays("callee");
}

INSTANTIATE_TEST_SUITE_P(Motoko, CommitPoints, ::testing::ValuesIn(table),
                         [](const auto& which) { return std::string{which.param.method}; });

using Flood = testing::motoko_fixture;

TEST_F(Flood, TenThousandCallsInOneMessageAreRefusedPastTheBound) {
  host("callee", "callee");
  host("caller", "commit_points",
       testing::candid_of("(text)", "[\"" + principal::of_actor("callee").to_text() + "\"]"));
  const auto before = testing::resident_bytes();
  const auto answer = post("caller", "flood", "[]");
  EXPECT_EQ(answer.body, "[" + std::to_string(10'000 - limits::queue_length_max) + "]");
  const auto give_up = std::chrono::steady_clock::now() + testing::patience;
  while (query("callee", "noted") != "[500]" && std::chrono::steady_clock::now() < give_up)
    continue;
  EXPECT_EQ(query("callee", "noted"), "[500]");
  EXPECT_LE(testing::resident_bytes(), before + (64u << 20));
}

} // namespace
} // namespace moxzi::actors
