#include "tests/actors/wasm/fixture_text.hpp"
#include "tests/actors/wasm/runner.hpp"

using namespace moxzi;
using namespace moxzi::actors;

namespace {

constexpr uint64_t mib = 1u << 20;

const char* const unruly = R"(
  (data (i64.const 128) "out of memory in the run-time system")
  (func $loop (export "canister_update loop") (loop $again (br $again)))
  (func (export "canister_query loop_query") (call $loop))
  (func $dive (param $n i64) (result i64)
    (if (result i64) (i64.eqz (local.get $n))
      (then (i64.const 0))
      (else (i64.add (i64.const 1) (call $dive (i64.sub (local.get $n) (i64.const 1)))))))
  (func (export "canister_update dive")
    (call $arg_copy (i64.const 64) (i64.const 0) (i64.const 8))
    (call $answer (call $dive (i64.load (i64.const 64)))))
  (func (export "canister_update fill")
    (local $at i64)
    (local.set $at (i64.mul (memory.size) (i64.const 65536)))
    (loop $more
      (if (i64.eq (memory.grow (i64.const 16)) (i64.const -1))
        (then (call $trap (i64.const 128) (i64.const 36))))
      (memory.fill (local.get $at) (i32.const 1) (i64.const 1048576))
      (local.set $at (i64.add (local.get $at) (i64.const 1048576)))
      (br $more)))
  (func (export "canister_update fill_some")
    (drop (memory.grow (i64.const 800)))
    (memory.fill (i64.const 131072) (i32.const 1) (i64.const 52428800))
    (call $answer (memory.size)))
  (func (export "canister_update try_grow")
    (call $answer (memory.grow (i64.const 1000000))))
  (func (export "canister_update plain_trap") (call $trap (i64.const 128) (i64.const 36)))
  (func (export "canister_update divide")
    (call $answer (i64.div_u (i64.const 1) (i64.load (i64.const 4096)))))
  (func (export "canister_update outside") (call $answer (i64.load (i64.const 131072))))
  (func (export "canister_update far_outside") (call $answer (i64.load (i64.const -8))))
  (func (export "canister_update stable_loop")
    (drop (call $stable_grow (i64.const 16)))
    (loop $again
      (call $stable_write (i64.const 0) (i64.const 0) (i64.const 131072))
      (br $again)))
  (func (export "canister_update copy_loop")
    (drop (memory.grow (i64.const 160)))
    (loop $again
      (call $call_new (i64.const 128) (i64.const 3) (i64.const 128) (i64.const 3)
        (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0))
      (call $call_append (i64.const 0) (i64.const 10485760))
      (br $again)))
  (func (export "canister_update fill_loop")
    (drop (memory.grow (i64.const 160)))
    (loop $again
      (memory.fill (i64.const 0) (i32.const 1) (i64.const 10485760))
      (br $again)))
  (func (export "canister_update many_calls")
    (local $made i64)
    (loop $again
      (call $call_new (i64.const 128) (i64.const 3) (i64.const 128) (i64.const 3)
        (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0))
      (local.set $made (i64.add (local.get $made) (i64.const 1)))
      (br_if $again (i32.eqz (call $call_perform))))
    (call $answer (local.get $made)))
)";

std::shared_ptr<const compiled_module> module() {
  static auto compiled = compile_text(fixture(unruly));
  return compiled;
}

byte_string word(uint64_t value) {
  return {reinterpret_cast<const char*>(&value), 8};
}

execution_input endless() {
  auto input = input_of(entry_kind::update, "loop");
  input.instructions_max = 300'000'000'000;
  return input;
}

} // namespace

TEST(limits, an_endless_loop_ends_at_the_instruction_limit) {
  subject actor{module()};
  auto input = input_of(entry_kind::update, "loop");
  input.instructions_max = 20'000'000;
  auto out = actor.run(input);
  EXPECT_EQ(trap_code(out), "MX522");
  EXPECT_EQ(out.trapped->message, "the limit of 20000000 instructions for a message was exceeded");
  EXPECT_GE(out.instructions, 19'999'000u);
  input = input_of(entry_kind::query, "loop_query");
  input.instructions_max = 10'000'000;
  EXPECT_EQ(actor.run(input).trapped->message,
            "the limit of 10000000 instructions for a query was exceeded");
  EXPECT_EQ(number_of(actor.update("add")), 1u);
}

TEST(limits, a_deep_recursion_ends_cleanly_and_the_actor_goes_on) {
  subject actor{module()};
  EXPECT_EQ(number_of(actor.update("dive", word(10'000))), 10'000u);
  auto out = actor.update("dive", word(1'000'000));
  EXPECT_EQ(trap_code(out), "MX502");
  EXPECT_EQ(out.trapped->message, "call stack exhausted (recursion too deep) (in dive)");
  EXPECT_EQ(number_of(actor.update("add")), 1u);
  EXPECT_EQ(number_of(actor.update("dive", word(10'000))), 10'000u);
}

TEST(limits, a_heap_at_its_limit_rejects_the_message_and_gives_its_memory_back) {
  subject actor{module(), 64 * mib};
  actor.update("add");
  auto before = resident_bytes();
  auto out = actor.update("fill");
  EXPECT_EQ(trap_code(out), "MX539");
  EXPECT_EQ(out.trapped->message,
            "the heap limit of 64 MiB was reached: out of memory in the run-time system");
  EXPECT_LT(resident_bytes(), before + 16 * mib);
  EXPECT_EQ(out.heap_bytes, 2 * 65536u);
  EXPECT_EQ(number_of(actor.query("pages")), 2u);
  EXPECT_EQ(number_of(actor.update("add")), 2u);
}

TEST(limits, growth_above_the_limit_fails_in_the_code_which_may_go_on) {
  subject actor{module(), 64 * mib};
  EXPECT_EQ(number_of(actor.update("try_grow")), ~uint64_t{0});
  // The refusal was that message's; a later trap is not blamed on it.
  EXPECT_EQ(trap_code(actor.update("plain_trap")), "MX503");
}

TEST(limits, a_module_that_begins_above_the_heap_limit_is_refused) {
  auto body = make_wasm_body(test_pool().handle(), {self_id(), 65536});
  auto installed = pending{*body, install_of(module())}.wait();
  ASSERT_TRUE(installed.trapped);
  EXPECT_NE(installed.trapped->message.find("larger at its start than the heap may become"),
            std::string::npos)
    << installed.trapped->message;
}

TEST(limits, an_actor_that_is_destroyed_gives_its_memory_back) {
  {
    // The engine and the module's code stay: they are not to count.
    subject first{module()};
    EXPECT_EQ(number_of(first.update("fill_some")), 802u);
  }
  auto before = resident_bytes();
  {
    subject actor{module()};
    EXPECT_EQ(number_of(actor.update("fill_some")), 802u);
    if (before > 0) {
      EXPECT_GT(resident_bytes(), before + 40 * mib);
    }
  }
  EXPECT_LT(resident_bytes(), before + 16 * mib);
}

TEST(limits, traps_name_their_cause) {
  subject actor{module()};
  auto message = [&](const char* method) {
    auto out = actor.update(method);
    return trap_code(out) + ": " + (out.trapped ? out.trapped->message : "");
  };
  EXPECT_TRUE(message("divide").starts_with("MX502: integer divide by zero")) << message("divide");
  EXPECT_TRUE(message("outside").starts_with("MX502: out of bounds memory access"));
  EXPECT_TRUE(message("far_outside").starts_with("MX502: out of bounds memory access"));
  EXPECT_EQ(message("plain_trap"), "MX503: out of memory in the run-time system");
  EXPECT_EQ(message("stable_loop"),
            "MX522: the limit of 1000000000 instructions for a message was exceeded");
  EXPECT_EQ(message("ad"), "MX536: there is no update method 'ad'; did you mean 'add'?");
}

TEST(limits, ten_actors_are_served_while_others_never_end) {
  subject looping{module()};
  subject looping_too{module()};
  subject looping_as_well{module()};
  pending first{*looping.body, endless()};
  pending second{*looping_too.body, endless()};
  pending third{*looping_as_well.body, endless()};
  std::vector<std::unique_ptr<subject>> others;
  for (int i = 0; i < 10; ++i) others.push_back(std::make_unique<subject>(module()));
  for (uint64_t round = 1; round <= 5; ++round)
    for (auto& other : others) EXPECT_EQ(number_of(other->update("add")), round);
  EXPECT_EQ(trap_code(others[0]->update("dive", word(1'000'000))), "MX502");
  EXPECT_FALSE(first.has_ended());
  EXPECT_FALSE(second.has_ended());
  EXPECT_FALSE(third.has_ended());
}

TEST(limits, work_that_moves_many_bytes_gives_way_and_counts) {
  subject copying{module()};
  subject filling{module()};
  subject storing{module()};
  std::vector<pending> running;
  for (auto [actor, method] : {std::pair{&copying, "copy_loop"}, std::pair{&filling, "fill_loop"},
                               std::pair{&storing, "stable_loop"}}) {
    auto input = endless();
    input.method = method;
    running.emplace_back(*actor->body, input);
  }
  subject other{module()};
  for (uint64_t round = 1; round <= 20; ++round) EXPECT_EQ(number_of(other.update("add")), round);
  for (const auto& one : running) EXPECT_FALSE(one.has_ended());
  subject limited{module()};
  for (const auto* method : {"copy_loop", "fill_loop", "stable_loop"})
    EXPECT_EQ(trap_code(limited.update(method)), "MX522") << method;
}

TEST(limits, an_execution_cannot_queue_calls_without_end) {
  subject actor{module()};
  auto out = actor.update("many_calls");
  EXPECT_EQ(number_of(out), 10'001u);
  EXPECT_EQ(out.calls.size(), 10'000u);
}

TEST(limits, a_pool_ends_while_an_actor_loops) {
  auto pool = std::make_unique<wasm_pool>(2);
  auto body = make_wasm_body(pool->handle(), {self_id()});
  EXPECT_FALSE((pending{*body, install_of(module())}.wait().trapped));
  pending loop{*body, endless()};
  pool.reset();
  EXPECT_FALSE(loop.has_ended());
  body.reset();
  EXPECT_FALSE(loop.has_ended());
}

TEST(limits, a_body_is_destroyed_while_it_loops) {
  for (int i = 0; i < 20; ++i) {
    subject actor{module()};
    pending loop{*actor.body, endless()};
    actor.body.reset();
    EXPECT_FALSE(loop.has_ended());
  }
}
