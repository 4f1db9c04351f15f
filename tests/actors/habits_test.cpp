#include <gtest/gtest.h>

#include "tests/actors/core_driver.hpp"

// What a host may keep an actor from doing (`heartbeat` and `timers` of its manifest entry).

namespace moxzi::actors {
namespace {

using testing::core_driver;

constexpr uint64_t second = 1'000'000'000;

TEST(habits, an_actor_without_heartbeat_never_runs_it) {
  core_settings settings;
  settings.has_heartbeat = false;
  core_driver alice{"alice", {}, settings};
  alice.body.entries = {entry_kind::heartbeat};
  alice.install();
  EXPECT_EQ(alice.core.wake_ns(), std::nullopt);
  alice.pass_time(alice.now_ns + 5 * second);
  EXPECT_EQ(alice.body.counter, 0);
}

TEST(habits, an_actor_without_timers_keeps_what_it_set_and_never_fires) {
  core_settings settings;
  settings.has_timers = false;
  core_driver alice{"alice", {}, settings};
  alice.body.entries = {entry_kind::timer};
  alice.install();
  EXPECT_EQ(alice.answer(alice.request("timer 5000; reply ok")), "reply: ok");
  EXPECT_EQ(alice.core.wake_ns(), std::nullopt);
  alice.pass_time(9'000);
  EXPECT_EQ(alice.body.counter, 0);
}

} // namespace
} // namespace moxzi::actors
