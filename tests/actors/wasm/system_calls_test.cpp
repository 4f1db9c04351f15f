#include "actors/wasm/system_calls.hpp"

#include <algorithm>

#include "tests/actors/wasm/fixture_text.hpp"
#include "tests/actors/wasm/runner.hpp"

using namespace moxzi;
using namespace moxzi::actors;

namespace {

const char* const callers = R"(
  (data (i64.const 128) "\00\01\02ping\ff")
  (data (i64.const 256) "callee-id")
  (elem $table (i64.const 1) $on_reply $on_reject $on_cleanup $wrong)
  (func $on_reply (param $env i64)
    (local $size i64)
    (local.set $size (call $arg_size))
    (call $arg_copy (i64.const 1024) (i64.const 0) (local.get $size))
    (i64.store (i64.const 512) (local.get $env))
    (call $append (i64.const 512) (i64.const 8))
    (call $append (i64.const 1024) (local.get $size))
    (call $msg_reply))
  (func $on_reject (param $env i64)
    (local $size i64)
    (local.set $size (call $reject_size))
    (i32.store8 (i64.const 1023) (call $reject_code))
    (call $reject_copy (i64.const 1024) (i64.const 0) (local.get $size))
    (call $append (i64.const 1023) (i64.add (local.get $size) (i64.const 1)))
    (call $msg_reply))
  (func $on_cleanup (param $env i64) (call $add (local.get $env)))
  (func $wrong (param i32))
  (func $new (call $call_new (i64.const 256) (i64.const 9) (i64.const 131) (i64.const 4)
    (i64.const 1) (i64.const 71) (i64.const 2) (i64.const 72)))
  (func (export "canister_update full_call")
    (call $new)
    (call $call_cleanup (i64.const 3) (i64.const 73))
    (call $call_append (i64.const 128) (i64.const 3))
    (call $call_append (i64.const 256) (i64.const 2))
    (call $call_cycles (i64.const 0) (i64.const 400))
    (call $call_bounded (i32.const 1000))
    (drop (call $call_perform)))
  (func (export "canister_update two_calls")
    (call $new)
    (call $call_cycles (i64.const 0) (i64.const 999999))
    (call $new)
    (call $call_cycles (i64.const 0) (i64.const 999999))
    (drop (call $call_perform))
    (call $new)
    (i64.store (i64.const 64) (i64.extend_i32_u (call $call_perform)))
    (call $append (i64.const 64) (i64.const 8))
    (call $msg_reply))
  (func (export "canister_update call_not_performed") (call $new) (call $answer (i64.const 1)))
  (func (export "canister_update no_call") (drop (call $call_perform)))
  (func (export "canister_update two_cleanups") (call $new)
    (call $call_cleanup (i64.const 3) (i64.const 0))
    (call $call_cleanup (i64.const 3) (i64.const 0)))
  (func (export "canister_update too_many_cycles") (call $new)
    (call $call_cycles (i64.const 1) (i64.const 0)))
  (func (export "canister_update bad_name")
    (call $call_new (i64.const 256) (i64.const 9) (i64.const 131) (i64.const 5)
      (i64.const 1) (i64.const 0) (i64.const 2) (i64.const 0)))
  (func (export "canister_update long_callee")
    (call $call_new (i64.const 256) (i64.const 30) (i64.const 131) (i64.const 4)
      (i64.const 1) (i64.const 0) (i64.const 2) (i64.const 0)))
  (func (export "canister_query call_from_query") (call $new))
  (func (export "canister_update refunded_in_update") (call $refunded (i64.const 64)))
  (func (export "canister_update answer_twice")
    (call $msg_reply) (call $msg_reject (i64.const 256) (i64.const 3)))
  (func (export "canister_update reject") (call $msg_reject (i64.const 256) (i64.const 6)))
  (func (export "canister_update reject_bytes") (call $msg_reject (i64.const 135) (i64.const 1)))
  (func (export "canister_update source_outside")
    (call $append (i64.const 131070) (i64.const 3)))
  (func (export "canister_update source_wraps") (call $append (i64.const -8) (i64.const 16)))
  (func (export "canister_update target_outside")
    (call $arg_copy (i64.const 131071) (i64.const 0) (i64.const 2)))
  (func (export "canister_update offset_outside")
    (call $arg_copy (i64.const 0) (i64.const 3) (i64.const 2)))
  (func (export "canister_update offset_wraps")
    (call $arg_copy (i64.const 0) (i64.const -1) (i64.const 2)))
  (func (export "canister_update at_the_end")
    (call $append (i64.const 131072) (i64.const 0)) (call $msg_reply))
  (func (export "canister_update reply_too_long")
    (loop $more (call $append (i64.const 0) (i64.const 65536)) (br $more)))
  (func (export "canister_update argument_too_long") (call $new)
    (loop $more (call $call_append (i64.const 0) (i64.const 65536)) (br $more)))
  (func (export "canister_update print")
    (call $print (i64.const 256) (i64.const 6))
    (call $print (i64.const 131071) (i64.const 2))
    (call $print (i64.const 0) (i64.const 100000))
    (call $msg_reply))
  (func (export "canister_update print_and_trap")
    (call $print (i64.const 256) (i64.const 6)) unreachable)
  (func (export "canister_update print_much")
    (loop $more (call $print (i64.const 0) (i64.const 32768)) (br $more)))
  (func (export "canister_update who")
    (call $caller_copy (i64.const 1024) (i64.const 0) (call $caller_size))
    (call $append (i64.const 1024) (call $caller_size))
    (call $self_copy (i64.const 1024) (i64.const 0) (call $self_size))
    (call $append (i64.const 1024) (call $self_size))
    (call $msg_reply))
  (func (export "canister_query controller")
    (call $caller_copy (i64.const 1024) (i64.const 0) (call $caller_size))
    (call $answer (i64.extend_i32_u (call $is_controller (i64.const 1024) (call $caller_size)))))
  (func (export "canister_query now") (call $answer (call $time)))
  (func (export "canister_update timers")
    (drop (call $timer (i64.const 5)))
    (call $answer (call $timer (i64.const 9))))
  (func (export "canister_query here") (call $answer (call $counter (i32.const 0))))
  (func (export "canister_query whole") (call $answer (call $counter (i32.const 1))))
  (func (export "canister_query no_counter") (call $answer (call $counter (i32.const 2))))
  (func (export "canister_update stable")
    (call $arg_copy (i64.const 1024) (i64.const 0) (call $arg_size))
    (drop (call $stable_grow (i64.const 2)))
    (call $stable_write (i64.const 65530) (i64.const 1024) (call $arg_size))
    (call $stable_read (i64.const 2048) (i64.const 65528) (i64.const 12))
    (call $append (i64.const 2048) (i64.const 12))
    (call $msg_reply))
  (func (export "canister_update stable_outside")
    (call $stable_read (i64.const 2048) (i64.const 131070) (i64.const 3)))
  (func (export "canister_update stable_huge")
    (call $answer (call $stable_grow (i64.const 1000000000000))))
)";

std::shared_ptr<const compiled_module> module() {
  static auto compiled = compile_text(fixture(callers));
  return compiled;
}

std::string failure(const execution_output& out) {
  return out.trapped ? out.trapped->error_code + ": " + out.trapped->message : "none";
}

} // namespace

TEST(system_calls, the_table_is_sorted_and_has_what_the_compiler_always_imports) {
  auto rows = system_calls();
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(),
                             [](const auto& x, const auto& y) { return x.name < y.name; }));
  // The imports of a one-line actor of the compiler's version 4.10.0.
  for (std::string_view name : {"call_data_append",
                                "call_cycles_add128",
                                "call_with_best_effort_response",
                                "call_new",
                                "call_perform",
                                "call_on_cleanup",
                                "canister_self_size",
                                "canister_self_copy",
                                "canister_status",
                                "is_controller",
                                "debug_print",
                                "msg_arg_data_size",
                                "msg_arg_data_copy",
                                "msg_caller_size",
                                "msg_caller_copy",
                                "msg_cycles_refunded128",
                                "msg_reject_code",
                                "msg_reject_msg_size",
                                "msg_reject_msg_copy",
                                "msg_reject",
                                "msg_reply_data_append",
                                "msg_reply",
                                "performance_counter",
                                "trap",
                                "stable64_size",
                                "stable64_grow",
                                "stable64_read",
                                "stable64_write",
                                "time",
                                "global_timer_set"})
    EXPECT_NE(find_system_call(name), nullptr) << name;
  EXPECT_EQ(find_system_call("msg_replay"), nullptr);
}

TEST(system_calls, a_call_carries_all_that_was_put_into_it) {
  subject actor{module()};
  auto out = actor.update("full_call");
  ASSERT_EQ(failure(out), "none");
  outgoing_call expected;
  expected.callee = *principal::from_bytes("callee-id");
  expected.method = "ping";
  expected.argument = byte_string{"\0\1\2ca", 5};
  expected.on_reply = {1, 71};
  expected.on_reject = {2, 72};
  expected.on_cleanup = closure{3, 73};
  expected.attached.value = 400;
  expected.timeout_seconds = 300; // the longest bounded wait
  ASSERT_EQ(out.calls.size(), 1u);
  EXPECT_EQ(out.calls[0], expected);
}

TEST(system_calls, cycles_of_a_call_that_is_not_made_come_back) {
  subject actor{module()};
  auto out = actor.update("two_calls");
  ASSERT_EQ(failure(out), "none");
  EXPECT_EQ(out.calls.size(), 2u);
  int asked = 0;
  out = actor.run(input_of(entry_kind::update, "two_calls"),
                  [&asked](const principal&) { return ++asked == 1; });
  EXPECT_EQ(number_of(out), 2u) << "call_perform gives 2 for the refused one";
  EXPECT_EQ(out.calls.size(), 1u);
  EXPECT_TRUE(actor.update("call_not_performed").calls.empty());
}

TEST(system_calls, callbacks_get_environment_reply_and_reject) {
  subject actor{module()};
  auto input = input_of(entry_kind::reply_callback, {}, "pong");
  input.callback = {1, 0x0807060504030201};
  EXPECT_EQ(reply_of(actor.run(input)), "\1\2\3\4\5\6\7\bpong");
  input = input_of(entry_kind::reject_callback);
  input.callback = {2, 0};
  input.reject_code = reject_code::canister_reject;
  input.reject_message = "busy";
  EXPECT_EQ(reply_of(actor.run(input)), "\4busy");
  input = input_of(entry_kind::cleanup_callback);
  input.callback = {3, 5};
  EXPECT_EQ(failure(actor.run(input)), "none");
  EXPECT_EQ(number_of(actor.query("heap")), 5u);
}

TEST(system_calls, a_callback_must_be_a_function_of_the_right_type_in_the_table) {
  subject actor{module()};
  for (uint64_t function : {0u, 4u, 7u, 8u, 1u << 31}) { // null, wrong type, null, outside, outside
    auto input = input_of(entry_kind::reply_callback);
    input.callback = {function, 0};
    EXPECT_EQ(failure(actor.run(input)),
              fmt::format("MX513: function {} of the table is no callback", function));
  }
}

TEST(system_calls, calls_against_the_contract_trap_with_the_call_s_name) {
  subject actor{module()};
  const std::pair<const char*, const char*> rows[] = {
    {"no_call", "MX504: call_perform: no call is under construction (call_new comes first)"},
    {"two_cleanups", "MX504: call_on_cleanup: the call has a cleanup function already"},
    {"too_many_cycles", "MX520: call_cycles_add128: not enough cycles"},
    {"bad_name", "MX504: call_new: the method's name is not UTF-8 or too long"},
    {"long_callee", "MX504: call_new: the callee's principal has more than 29 bytes"},
    {"refunded_in_update", "MX504: msg_cycles_refunded128: may not be called from here"},
    {"answer_twice", "MX504: msg_reject: the call has been answered already"},
    {"reject_bytes", "MX504: msg_reject: the text is not UTF-8"},
    {"source_outside", "MX504: msg_reply_data_append: 3 bytes at address 131070 are outside of the "
                       "heap of 131072 bytes"},
    {"source_wraps", "MX504: msg_reply_data_append: 16 bytes at address 18446744073709551608 are "
                     "outside of the heap of 131072 bytes"},
    {"target_outside",
     "MX504: msg_arg_data_copy: 2 bytes at address 131071 are outside of the heap "
     "of 131072 bytes"},
    {"offset_outside",
     "MX504: msg_arg_data_copy: 2 bytes from offset 3 are more than there are (4)"},
    {"offset_wraps", "MX504: msg_arg_data_copy: 2 bytes from offset 18446744073709551615 are more "
                     "than there are (4)"},
    {"reply_too_long", "MX504: msg_reply_data_append: the reply is longer than 2097152 bytes"},
    {"argument_too_long", "MX504: call_data_append: the argument is longer than 10485760 bytes"},
    {"stable_outside", "MX504: stable64_read: 3 bytes at offset 131070 are outside of the stable "
                       "memory of 0 bytes"},
  };
  for (const auto& [method, expected] : rows)
    EXPECT_EQ(failure(actor.update(method, "1234")), expected) << method;
  EXPECT_EQ(failure(actor.query("call_from_query")),
            "MX504: call_new: may not be called from here");
  EXPECT_EQ(failure(actor.query("no_counter")),
            "MX504: performance_counter: there is no counter 2");
  EXPECT_EQ(reply_of(actor.update("at_the_end")), "");
}

TEST(system_calls, an_answered_call_cannot_be_answered_again) {
  subject actor{module()};
  auto input = input_of(entry_kind::update, "add");
  input.can_answer = false;
  EXPECT_EQ(failure(actor.run(input)),
            "MX504: msg_reply_data_append: the call has been answered already");
  auto out = actor.update("reject");
  ASSERT_TRUE(out.answer);
  EXPECT_EQ(std::get<reject_value>(*out.answer).message, "callee");
}

TEST(system_calls, debug_print_never_traps_and_outlives_a_trap) {
  subject actor{module()};
  auto out = actor.update("print");
  ASSERT_EQ(failure(out), "none");
  ASSERT_EQ(out.debug_lines.size(), 2u) << "what lies outside of the heap is left out";
  EXPECT_EQ(out.debug_lines[0], "callee");
  EXPECT_EQ(out.debug_lines[1].size(), limits::debug_line_bytes_max);
  EXPECT_EQ(actor.update("print_and_trap").debug_lines, std::vector<std::string>{"callee"});
  auto input = input_of(entry_kind::update, "print_much");
  input.instructions_max = 10'000'000;
  size_t bytes = 0;
  for (const auto& line : actor.run(input).debug_lines) bytes += line.size();
  EXPECT_LE(bytes, 1u << 20);
}

TEST(system_calls, an_execution_sees_its_input) {
  subject actor{module()};
  auto input = input_of(entry_kind::update, "who");
  input.caller = *principal::from_bytes("somebody");
  EXPECT_EQ(reply_of(actor.run(input)), "somebody" + byte_string{self_id().bytes()});
  EXPECT_EQ(number_of(actor.query("now")), input.time_ns);
  input = input_of(entry_kind::query, "controller");
  EXPECT_EQ(number_of(actor.run(input)), 0u);
  auto facts = std::make_shared<actor_facts>();
  facts->controllers = {principal{}, input.caller};
  input.facts = facts;
  EXPECT_EQ(number_of(actor.run(input)), 1u);
  input = input_of(entry_kind::update, "timers");
  input.global_timer_ns = 3;
  auto out = actor.run(input);
  EXPECT_EQ(number_of(out), 5u);
  EXPECT_EQ(out.global_timer_ns, 9u);
}

TEST(system_calls, instructions_are_counted_for_the_execution_and_the_call) {
  subject actor{module()};
  auto input = input_of(entry_kind::query, "here");
  input.call_instructions = 1'000'000;
  auto out = actor.run(input);
  auto here = number_of(out);
  EXPECT_GT(here, 0u);
  EXPECT_LT(here, out.instructions);
  input.method = "whole";
  EXPECT_EQ(number_of(actor.run(input)), here + 1'000'000);
}

TEST(system_calls, stable_memory_takes_and_gives_back_bytes_across_its_pages) {
  subject actor{module()};
  EXPECT_EQ(reply_of(actor.update("stable", "abcdefgh")),
            (byte_string{"\0\0", 2} + "abcdefgh" + byte_string{"\0\0", 2}));
  EXPECT_EQ(number_of(actor.update("stable_huge")), ~uint64_t{0});
}

TEST(system_calls, narrow_memories_take_narrow_words) {
  auto compiled = compile_text(R"((module
    (import "ic0" "msg_arg_data_size" (func $size (result i32)))
    (import "ic0" "msg_arg_data_copy" (func $copy (param i32 i32 i32)))
    (import "ic0" "msg_reply_data_append" (func $append (param i32 i32)))
    (import "ic0" "msg_reply" (func $reply))
    (memory 1)
    (table 2 funcref)
    (elem (i32.const 1) $callback)
    (func $callback (param i32)
      (i32.store (i32.const 0) (local.get 0))
      (call $append (i32.const 0) (i32.const 4))
      (call $reply))
    (func (export "canister_update echo")
      (call $copy (i32.const 16) (i32.const 0) (call $size))
      (call $append (i32.const 16) (call $size))
      (call $reply))
    (func (export "canister_update outside") (call $append (i32.const -4) (i32.const 8)))
    (func (export "canister_update load_outside")
      (drop (i32.load offset=4294967292 (i32.const -4))))
    (func (export "canister_update load_behind") (drop (i32.load (i32.const 65533))))))");
  EXPECT_FALSE(compiled->info().memory64);
  subject actor{compiled};
  EXPECT_EQ(reply_of(actor.update("echo", "hello")), "hello");
  EXPECT_EQ(
    failure(actor.update("outside")),
    "MX504: msg_reply_data_append: 8 bytes at address 4294967292 are outside of the heap of "
    "65536 bytes");
  EXPECT_EQ(failure(actor.update("load_outside")), "MX502: out of bounds memory access");
  EXPECT_EQ(failure(actor.update("load_behind")), "MX502: out of bounds memory access");
  auto input = input_of(entry_kind::reply_callback);
  input.callback = {1, 0x04030201};
  EXPECT_EQ(reply_of(actor.run(input)), "\1\2\3\4");
}

TEST(system_calls, the_start_function_may_do_little) {
  auto with_start = [](const std::string& body) {
    auto text = fixture_head + "(func $start " + body + ") (start $start))";
    auto actor = make_wasm_body(test_pool().handle(), {self_id()});
    return failure(pending{*actor, install_of(compile_text(text))}.wait());
  };
  EXPECT_EQ(with_start("(drop (call $stable_grow (i64.const 1)))"), "none");
  EXPECT_EQ(with_start("(drop (call $time))"), "MX504: time: may not be called from here");
  EXPECT_EQ(with_start("(drop (call $timer (i64.const 1)))"),
            "MX504: global_timer_set: may not be called from here");
}
