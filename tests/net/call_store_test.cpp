#include "net/call_store.hpp"

#include <map>
#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck.h>

using namespace moxzi::net;

namespace {

constexpr client_key alice{0xffff, 1};
constexpr client_key bob{0xffff, 2};

http_limits small_limits() {
  http_limits limits;
  limits.calls_kept_max = 4;
  limits.answers_kept_bytes_max = 4'000;
  limits.answer_kept_ms = 100;
  limits.call_kept_ms = 1'000;
  return limits;
}

call_store::state state_of(call_store& store, std::string_view id, uint64_t now_ms) {
  return store.find(id, now_ms).state;
}

} // namespace

TEST(call_store, a_call_is_processing_then_answered_then_forgotten) {
  call_store store{small_limits()};
  EXPECT_EQ(state_of(store, "a", 0), call_store::state::unknown);
  store.open("a", alice, 0);
  EXPECT_EQ(state_of(store, "a", 500), call_store::state::processing);
  store.close("a", {.status = 422, .body = "why"}, 600);
  store.close("a", {.body = "second"}, 610);
  const auto found = store.find("a", 699);
  ASSERT_EQ(found.state, call_store::state::answered);
  EXPECT_EQ(found.answer->status, 422);
  EXPECT_EQ(found.answer->body, "why");
  EXPECT_EQ(state_of(store, "a", 700), call_store::state::unknown);
  EXPECT_EQ(store.size(), 0u);
}

TEST(call_store, a_call_without_answer_is_forgotten_in_the_end) {
  call_store store{small_limits()};
  store.open("a", alice, 0);
  EXPECT_EQ(state_of(store, "a", 999), call_store::state::processing);
  EXPECT_EQ(state_of(store, "a", 1'000), call_store::state::unknown);
  store.close("a", {}, 1'001);
  EXPECT_EQ(store.size(), 0u);
  EXPECT_TRUE(store.has_room());
}

TEST(call_store, what_was_answered_first_makes_room) {
  call_store store{small_limits()};
  for (auto id : {"a", "b", "c", "d"}) store.open(id, alice, 0);
  EXPECT_FALSE(store.has_room());
  store.close("b", {.body = std::string(3'000, 'x')}, 1);
  store.close("a", {.body = std::string(3'000, 'x')}, 2);
  EXPECT_TRUE(store.has_room());
  EXPECT_EQ(state_of(store, "b", 3), call_store::state::unknown);
  EXPECT_EQ(state_of(store, "a", 3), call_store::state::answered);
  EXPECT_EQ(state_of(store, "c", 3), call_store::state::processing);
}

TEST(call_store, the_client_that_keeps_most_makes_room) {
  call_store store{small_limits()};
  store.open("small", alice, 0);
  store.close("small", {.body = std::string(100, 'x')}, 0);
  for (auto id : {"a", "b", "c"}) {
    store.open(id, bob, 1);
    store.close(id, {.body = std::string(1'500, 'x')}, 2);
  }
  EXPECT_EQ(state_of(store, "small", 3), call_store::state::answered);
  EXPECT_EQ(state_of(store, "a", 3), call_store::state::unknown);
  EXPECT_EQ(state_of(store, "b", 3), call_store::state::answered);
  EXPECT_EQ(state_of(store, "c", 3), call_store::state::answered);
}

TEST(call_store, the_client_that_keeps_most_answers_makes_room) {
  call_store store{small_limits()};
  store.open("first", alice, 0);
  store.close("first", {}, 0);
  for (auto id : {"a", "b", "c", "d"}) {
    store.open(id, bob, 1);
    store.close(id, {}, 2);
  }
  EXPECT_EQ(state_of(store, "first", 3), call_store::state::answered);
  EXPECT_EQ(state_of(store, "a", 3), call_store::state::unknown);
  EXPECT_EQ(store.size(), 4u);
}

TEST(call_store, stays_within_its_bounds_whatever_comes) {
  rc::check([](const std::vector<std::tuple<uint8_t, uint8_t, uint8_t>>& steps) {
    const auto limits = small_limits();
    call_store store{limits};
    uint64_t now = 0;
    std::map<std::string, bool> opened; // id → answered
    for (auto [what, which, wait] : steps) {
      now += wait;
      const auto id = std::to_string(which % 16);
      if (what % 2 == 0) {
        if (!store.has_room() || opened.contains(id)) continue;
        store.open(id, which % 3 == 0 ? alice : bob, now);
        opened[id] = false;
      } else {
        store.close(id, {.body = std::string(which * 8, 'x')}, now);
        if (opened.contains(id)) opened[id] = true;
      }
      RC_ASSERT(store.processing() <= limits.calls_kept_max);
      RC_ASSERT(store.size() <= 2 * limits.calls_kept_max);
      for (const auto& [name, answered] : opened)
        if (!answered) RC_ASSERT(state_of(store, name, now) != call_store::state::answered);
    }
    static_cast<void>(store.find("none", now + 10'000));
    RC_ASSERT(store.size() == 0u);
    RC_ASSERT(store.has_room());
  });
}
