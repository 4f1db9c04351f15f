#include <set>

#include "tests/actors/wasm/fixture_text.hpp"
#include "tests/actors/wasm/runner.hpp"

using namespace moxzi;
using namespace moxzi::actors;

namespace {

const char* const spoiling = R"(
  (data (i64.const 128) "somebody")
  (data (i64.const 192) "ping")
  (elem $table (i64.const 1) $on_reply)
  (func $on_reply (param i64))
  (func $spoil
    (call $add (i64.const 1000))
    (drop (call $stable_grow (i64.const 1)))
    (call $stable_write (i64.const 0) (i64.const 0) (i64.const 8))
    (drop (call $timer (i64.const 77)))
    (call $call_new (i64.const 128) (i64.const 8) (i64.const 192) (i64.const 4)
      (i64.const 1) (i64.const 0) (i64.const 1) (i64.const 0))
    (drop (call $call_perform)))
  (func (export "canister_update spoil_and_trap") (call $spoil) unreachable)
  (func (export "canister_update spoil") (call $spoil) (call $answer (i64.const 1)))
  (func (export "canister_query spoil_in_query")
    (call $add (i64.const 1000))
    (call $answer (i64.load (i64.const 0))))
  (func (export "canister_query stable_pages") (call $answer (call $stable_size)))
  (func (export "canister_update grow_and_trap")
    (drop (memory.grow (i64.const 1600)))
    (memory.fill (i64.const 131072) (i32.const 7) (i64.const 104857600))
    (call $add (i64.const 1000))
    unreachable)
  (func (export "canister_update grow")
    (drop (memory.grow (i64.const 3)))
    (i64.store (i64.const 300000) (i64.const 42))
    (call $answer (memory.size)))
  (func (export "canister_update rename") (i64.store8 (i64.const 128) (i64.const 83))
    (call $answer (i64.const 0)))
  (func (export "canister_query name") (call $answer (i64.load (i64.const 128))))
  (func (export "canister_query far") (call $answer (i64.load (i64.const 300000))))
  (func (export "canister_update many")
    (local $i i64)
    (loop $next
      (i64.store (i64.mul (local.get $i) (i64.const 512))
        (i64.add (local.get $i) (i64.load (i64.const 0))))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $i) (i64.const 256))))
    (call $answer (i64.const 0)))
)";

std::shared_ptr<const compiled_module> module() {
  static auto compiled = compile_text(fixture(spoiling));
  return compiled;
}

} // namespace

TEST(rollback, a_trap_undoes_heap_globals_stable_memory_timer_and_calls) {
  subject actor{module()};
  actor.update("add");
  auto out = actor.update("spoil_and_trap");
  EXPECT_EQ(trap_code(out), "MX502");
  EXPECT_TRUE(out.trapped->message.starts_with("wasm `unreachable` instruction executed"))
    << out.trapped->message;
  EXPECT_FALSE(out.answer);
  EXPECT_TRUE(out.calls.empty());
  EXPECT_FALSE(out.global_timer_ns);
  EXPECT_EQ(out.state_digest, digest128{});
  EXPECT_GT(out.instructions, 0u);
  EXPECT_EQ(number_of(actor.query("heap")), 1u);
  EXPECT_EQ(number_of(actor.query("global")), 1u);
  EXPECT_EQ(number_of(actor.query("stable_pages")), 0u);
  EXPECT_EQ(number_of(actor.update("add")), 2u);
}

TEST(rollback, what_the_same_code_does_without_a_trap_is_kept) {
  subject actor{module()};
  auto out = actor.update("spoil");
  ASSERT_FALSE(out.trapped);
  EXPECT_EQ(out.calls.size(), 1u);
  EXPECT_EQ(out.global_timer_ns, 77u);
  EXPECT_EQ(number_of(actor.query("heap")), 1000u);
  EXPECT_EQ(number_of(actor.query("global")), 1000u);
  EXPECT_EQ(number_of(actor.query("stable_pages")), 1u);
}

TEST(rollback, a_query_sees_its_own_changes_and_leaves_none) {
  subject actor{module()};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(number_of(actor.query("spoil_in_query")), 1000u);
  EXPECT_EQ(number_of(actor.query("heap")), 0u);
  EXPECT_EQ(number_of(actor.query("global")), 0u);
  EXPECT_EQ(actor.query("spoil_in_query").state_digest, digest128{});
}

TEST(rollback, memory_grown_by_a_trapped_execution_goes_back_to_the_system) {
  subject actor{module()};
  actor.update("add");
  auto before = resident_bytes();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(trap_code(actor.update("grow_and_trap")), "MX502");
  // It wrote 100 MiB each time.
  EXPECT_LT(resident_bytes(), before + (30u << 20));
  EXPECT_EQ(number_of(actor.query("pages")), 2u);
  EXPECT_EQ(number_of(actor.query("heap")), 1u);
  EXPECT_EQ(number_of(actor.update("add")), 2u);
}

TEST(rollback, growth_that_was_committed_survives_a_later_trap) {
  subject actor{module()};
  EXPECT_EQ(number_of(actor.update("grow")), 5u);
  EXPECT_EQ(trap_code(actor.update("grow_and_trap")), "MX502");
  EXPECT_EQ(number_of(actor.query("pages")), 5u);
  EXPECT_EQ(number_of(actor.query("far")), 42u);
  EXPECT_EQ(number_of(actor.update("grow")), 8u);
}

TEST(rollback, an_instance_made_anew_does_not_bring_the_module_s_data_back) {
  subject actor{module()};
  auto before = number_of(actor.query("name"));
  actor.update("rename");
  auto after = number_of(actor.query("name"));
  EXPECT_EQ(after, (before & ~uint64_t{255}) | 'S');
  EXPECT_EQ(trap_code(actor.update("grow_and_trap")), "MX502");
  EXPECT_EQ(number_of(actor.query("name")), after);
}

TEST(rollback, digests_agree_between_runs_and_bodies_and_tell_states_apart) {
  auto history = [] {
    subject actor{module()};
    std::vector<digest128> digests{actor.installed.state_digest};
    for (const auto* method : {"add", "spoil", "grow", "many", "add", "many"})
      digests.push_back(actor.update(method).state_digest);
    return digests;
  };
  auto first = history();
  EXPECT_EQ(first, history());
  std::set<std::string> distinct;
  for (const auto& digest : first) distinct.insert(to_hex(digest));
  EXPECT_EQ(distinct.size(), first.size());
}

TEST(rollback, rolled_back_executions_do_not_change_later_digests) {
  subject calm{module()};
  subject eventful{module()};
  calm.update("add");
  eventful.update("grow_and_trap");
  eventful.query("spoil_in_query");
  eventful.update("add");
  eventful.update("spoil_and_trap");
  EXPECT_EQ(calm.update("many").state_digest, eventful.update("many").state_digest);
  EXPECT_EQ(calm.update("spoil").state_digest, eventful.update("spoil").state_digest);
}

TEST(rollback, an_installation_that_traps_can_be_tried_again) {
  auto compiled = compile_text(fixture(R"(
    (data (i64.const 256) "\2a")
    (func $start (global.set $state (i64.load8_u (i64.const 256))))
    (start $start)
    (func (export "canister_init")
      (i64.store (i64.const 256) (i64.const 99))
      (if (i64.eq (call $arg_size) (i64.const 0)) (then unreachable)))
  )"));
  auto body = make_wasm_body(test_pool().handle(), {self_id()});
  EXPECT_EQ(trap_code(pending{*body, install_of(compiled)}.wait()), "MX502");
  auto again = pending{*body, install_of(compiled, "x")}.wait();
  EXPECT_FALSE(again.trapped);
  auto query = pending{*body, input_of(entry_kind::query, "global")}.wait();
  EXPECT_EQ(number_of(query), 42u);
}
