// Upgrades, reinstallation and snapshots of small modules: what is kept, what is not, and that a
// failure leaves everything as it was.

#include "tests/actors/wasm/fixture_text.hpp"
#include "tests/actors/wasm/runner.hpp"

using namespace moxzi;
using namespace moxzi::actors;

namespace {

// Stores what pre_upgrade sees; `version` tells the codes apart.
std::shared_ptr<const compiled_module> version(int number, const std::string& more) {
  return compile_text(fixture(R"(
    (func (export "canister_query version") (call $answer (i64.const )"
                              + std::to_string(number) + R"()))
    (func (export "canister_update store")
      (drop (call $stable_grow (i64.const 1)))
      (i64.store (i64.const 8) (i64.const 1234))
      (call $stable_write (i64.const 0) (i64.const 8) (i64.const 8))
      (call $answer (i64.const 0)))
    (func (export "canister_update grow")
      (drop (memory.grow (i64.const 3)))
      (i64.store (i64.const 196600) (i64.const 5))
      (call $answer (memory.size)))
    (func (export "canister_query far") (call $answer (i64.load (i64.const 196600))))
    (func (export "canister_query stored")
      (call $stable_read (i64.const 64) (i64.const 0) (i64.const 8))
      (call $append (i64.const 64) (i64.const 8))
      (call $msg_reply))
  )" + more));
}

const char* const leaves_marks = R"(
  (func (export "canister_pre_upgrade")
    (i64.store (i64.const 0) (i64.add (i64.load (i64.const 0)) (i64.const 100)))
    (drop (memory.grow (i64.const 1)))
    (drop (call $stable_grow (i64.const 1)))
    (i64.store (i64.const 8) (i64.const 4321))
    (call $stable_write (i64.const 0) (i64.const 8) (i64.const 8))))";

struct counting : subject {
  explicit counting(const std::string& more = leaves_marks) : subject(version(1, more)) {
    for (int i = 0; i < 3; ++i) update("add");
    update("store");
  }
  uint64_t number(const std::string& method) {
    return number_of(query(method));
  }
};

} // namespace

TEST(upgrade, a_kept_heap_is_there_and_globals_are_fresh) {
  counting actor;
  auto next = code_of(version(2, leaves_marks));
  auto out = actor.install(entry_kind::upgrade, next, {}, true);
  EXPECT_FALSE(out.trapped) << out.trapped->message;
  EXPECT_EQ(actor.number("version"), 2u);
  EXPECT_EQ(actor.number("heap"), 103u); // with what pre_upgrade did
  EXPECT_EQ(actor.number("global"), 0u);
  EXPECT_EQ(actor.number("pages"), 3u);
  EXPECT_EQ(actor.number("stored"), 4321u);
  EXPECT_EQ(number_of(actor.update("add")), 104u);
}

TEST(upgrade, a_replaced_heap_is_empty_and_stable_memory_stays) {
  counting actor;
  EXPECT_FALSE(actor.install(entry_kind::upgrade, code_of(version(2, ""))).trapped);
  EXPECT_EQ(actor.number("heap"), 0u);
  EXPECT_EQ(actor.number("pages"), 2u);
  EXPECT_EQ(actor.number("stored"), 4321u);
}

TEST(upgrade, pre_upgrade_can_be_skipped) {
  counting actor{R"((func (export "canister_pre_upgrade") unreachable))"};
  auto next = code_of(version(2, ""));
  EXPECT_EQ(trap_code(actor.install(entry_kind::upgrade, next, {}, true)), "MX502");
  EXPECT_EQ(actor.number("version"), 1u);
  auto input = input_of(entry_kind::upgrade);
  input.code = next;
  input.keeps_heap = true;
  input.skips_pre_upgrade = true;
  EXPECT_FALSE(actor.run(input).trapped);
  EXPECT_EQ(actor.number("heap"), 3u);
}

TEST(upgrade, a_trap_in_the_new_code_leaves_the_old_one_exactly) {
  for (const bool keeps_heap : {true, false}) {
    counting actor;
    actor.update("grow");
    auto bad = code_of(version(2, R"(
      (func (export "canister_post_upgrade")
        (i64.store (i64.const 0) (i64.const 999))
        (drop (memory.grow (i64.const 5)))
        (call $stable_write (i64.const 0) (i64.const 0) (i64.const 8))
        unreachable))"));
    EXPECT_EQ(trap_code(actor.install(entry_kind::upgrade, bad, {}, keeps_heap)), "MX502");
    EXPECT_EQ(actor.number("version"), 1u);
    EXPECT_EQ(actor.number("heap"), 3u);
    EXPECT_EQ(actor.number("global"), 3u);
    EXPECT_EQ(actor.number("pages"), 5u);
    EXPECT_EQ(actor.number("far"), 5u);
    EXPECT_EQ(actor.number("stored"), 1234u);
    EXPECT_EQ(number_of(actor.update("add")), 4u);
    EXPECT_FALSE(actor.install(entry_kind::upgrade, actor.code, {}, keeps_heap).trapped);
    EXPECT_EQ(actor.number("stored"), 4321u);
  }
}

TEST(upgrade, the_instructions_of_both_codes_count_together) {
  const std::string loop = R"((local $i i64)
    (loop $again
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $again (i64.lt_u (local.get $i) (i64.const 100000)))))";
  counting actor{"(func (export \"canister_pre_upgrade\") " + loop + ")"};
  auto next = code_of(version(2, "(func (export \"canister_post_upgrade\") " + loop + ")"));
  const auto whole = actor.install(entry_kind::upgrade, next, {}, true).instructions;
  auto input = input_of(entry_kind::upgrade);
  input.code = actor.code;
  input.keeps_heap = true;
  actor.run(input);
  input.code = next;
  EXPECT_EQ(actor.run(input).instructions, whole);
  input.code = actor.code;
  actor.run(input);
  input.code = next;
  input.instructions_max = whole - 1'000; // a block of code may end what it has begun
  EXPECT_EQ(trap_code(actor.run(input)), "MX522");
  EXPECT_EQ(actor.number("version"), 1u);
  input.instructions_max = whole;
  EXPECT_FALSE(actor.run(input).trapped);
}

TEST(upgrade, a_reinstallation_begins_with_nothing) {
  counting actor;
  EXPECT_FALSE(actor.install(entry_kind::init, code_of(version(2, ""))).trapped);
  EXPECT_EQ(actor.number("heap"), 0u);
  EXPECT_EQ(trap_code(actor.query("stored")), "MX504"); // no stable memory
  counting other;
  auto bad = code_of(version(2, R"((func (export "canister_init") unreachable))"));
  EXPECT_EQ(trap_code(other.install(entry_kind::init, bad)), "MX502");
  EXPECT_EQ(other.number("heap"), 3u);
  EXPECT_EQ(other.number("stored"), 1234u);
}

TEST(upgrade, code_that_is_cleared_away_leaves_nothing) {
  counting actor;
  actor.body->clear();
  EXPECT_EQ(trap_code(actor.query("heap")), "MX537");
  EXPECT_FALSE(actor.install(entry_kind::init, actor.code).trapped);
  EXPECT_EQ(actor.number("heap"), 0u);
}

TEST(snapshot, brings_back_code_heap_globals_and_stable_memory) {
  counting actor;
  actor.update("grow");
  const auto taken = actor.run(input_of(entry_kind::take_snapshot));
  ASSERT_TRUE(taken.snapshot);
  EXPECT_EQ(taken.snapshot->bytes(), 5 * 65536 + 65536 + 16);
  actor.update("add");
  actor.install(entry_kind::upgrade, code_of(version(2, "")), {}, true);
  auto load = input_of(entry_kind::load_snapshot);
  load.snapshot = taken.snapshot;
  EXPECT_FALSE(actor.run(load).trapped);
  EXPECT_EQ(actor.number("version"), 1u);
  EXPECT_EQ(actor.number("heap"), 3u);
  EXPECT_EQ(actor.number("global"), 3u);
  EXPECT_EQ(actor.number("pages"), 5u);
  EXPECT_EQ(actor.number("far"), 5u);
  EXPECT_EQ(actor.number("stored"), 1234u);
  EXPECT_EQ(number_of(actor.update("add")), 4u);
}

TEST(composite_query, keeps_what_it_changed_between_its_own_executions_only) {
  subject actor{version(1, R"(
    (func (export "canister_composite_query begin")
      (call $add (i64.const 40))
      (drop (memory.grow (i64.const 1)))
      (i64.store (i64.const 131080) (i64.const 7))
      (drop (call $stable_grow (i64.const 1)))
      (call $stable_write (i64.const 8) (i64.const 131080) (i64.const 8)))
    (func $go_on (param i64)
      (call $stable_read (i64.const 72) (i64.const 8) (i64.const 8))
      (call $answer (i64.add (i64.add (global.get $state) (i64.load (i64.const 0)))
                             (i64.load (i64.const 131080)))))
    (elem (i64.const 3) $go_on)
  )")};
  actor.update("add");
  auto begin = input_of(entry_kind::composite_query, "begin");
  begin.query = 5;
  EXPECT_FALSE(actor.run(begin).trapped);
  EXPECT_EQ(number_of(actor.query("heap")), 1u);
  EXPECT_EQ(number_of(actor.query("pages")), 2u);
  auto callback = input_of(entry_kind::composite_reply);
  callback.callback = {3, 0};
  callback.query = 5;
  EXPECT_EQ(number_of(actor.run(callback)), 41u + 41u + 7u);
  EXPECT_EQ(number_of(actor.run(callback)), 41u + 41u + 7u) << "as often as it has calls";
  actor.body->end_query(5);
  EXPECT_EQ(trap_code(actor.run(callback)), "MX504"); // nothing of it is left: no stable memory
  EXPECT_EQ(number_of(actor.update("add")), 2u);
}
