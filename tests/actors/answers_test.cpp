#include <gtest/gtest.h>

#include "tests/actors/core_driver.hpp"

// Each call is answered exactly once, whatever its handler does.

namespace moxzi::actors {
namespace {

using testing::core_driver;

constexpr uint64_t second = 1'000'000'000;

struct handler {
  const char* script;
  int code; ///< of the answer: 0 = a reply
};

const handler handlers[] = {
  {"reply ok", 0},
  {"reject no", 4},
  {"trap oh", 5},
  {"add 1", 5},                                           // never answers
  {"call bob {get} {echo} {echo}", 0},                    // after an await
  {"call bob {get} {reject no} {echo}", 4},               // rejects after an await
  {"call bob {get} {trap oh} {echo}", 5},                 // traps after an await
  {"call bob {get} {trap oh} {echo} {trap again}", 5},    // and in its cleanup
  {"call bob {get} {add 1} {add 1}", 5},                  // never answers after an await
  {"reply early; call bob {get} {reply late} {echo}", 0}, // a second answer is none
  {"wait 1; call nobody {get} {echo} {echo}", 0},         // the bounded wait ends it
  {"call bob {get} {call bob {get} {echo} {echo}} {echo}", 0},
};

/// A hundred requests of each kind to a new actor; the callee answers, and time passes.
void check_one_actor() {
  core_driver alice;
  alice.install();
  const auto bob = principal::of_actor("bob");
  size_t answered = 0;
  const auto settle = [&] {
    for (; answered < alice.calls.size(); ++answered) {
      const auto call = alice.calls[answered]; // a copy: more may come
      if (call.callee == bob) alice.respond(call.request.identity.sequence, reply_value{"yes"});
    }
    alice.pass_time(alice.now_ns + 2 * second);
  };
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 10; ++i) {
      for (const auto& each : handlers) alice.request(each.script);
    }
    settle();
  }
  ASSERT_EQ(alice.answer_counts.size(), 100 * std::size(handlers));
  for (size_t i = 0; i < alice.answer_counts.size(); ++i) {
    const auto& each = handlers[i % std::size(handlers)];
    const auto* why = std::get_if<rejection>(&alice.answers.at(i + 1).answer);
    ASSERT_EQ(alice.answer_counts.at(i + 1), 1) << i;
    ASSERT_EQ(why != nullptr ? static_cast<int>(why->code) : 0, each.code) << each.script;
  }
  EXPECT_EQ(alice.core.open_contexts(), 0u);
  EXPECT_EQ(alice.core.open_calls(), 0u);
}

TEST(Answers, FiftyThousandCallsHaveOneEach) {
  for (size_t calls = 0; calls < 50'000; calls += 100 * std::size(handlers)) check_one_actor();
}

} // namespace
} // namespace moxzi::actors
