// The system calls that only modules with 32-bit memory have, as compilers of Rust and C emit them.

#include "tests/actors/wasm/runner.hpp"

using namespace moxzi;
using namespace moxzi::actors;

namespace {

std::shared_ptr<const compiled_module> module() {
  static const auto compiled = compile_text(R"((module
    (import "ic0" "msg_reply" (func $msg_reply))
    (import "ic0" "msg_reply_data_append" (func $append (param i32 i32)))
    (import "ic0" "msg_cycles_available" (func $available (result i64)))
    (import "ic0" "msg_cycles_refunded" (func $refunded (result i64)))
    (import "ic0" "msg_cycles_accept" (func $accept (param i64) (result i64)))
    (import "ic0" "canister_cycle_balance" (func $balance (result i64)))
    (import "ic0" "call_new" (func $call_new (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "ic0" "call_cycles_add" (func $add (param i64)))
    (import "ic0" "call_perform" (func $perform (result i32)))
    (import "ic0" "stable_size" (func $size (result i32)))
    (import "ic0" "stable_grow" (func $grow (param i32) (result i32)))
    (import "ic0" "stable_read" (func $read (param i32 i32 i32)))
    (import "ic0" "stable_write" (func $write (param i32 i32 i32)))
    (import "ic0" "stable64_grow" (func $grow64 (param i64) (result i64)))
    (memory 1)
    (table 2 funcref)
    (elem (i32.const 1) $refund)
    (data (i32.const 128) "kept")
    (func $answer (param $n i64)
      (i64.store (i32.const 64) (local.get $n))
      (call $append (i32.const 64) (i32.const 8))
      (call $msg_reply))
    (func $refund (param i32) (call $answer (call $refunded)))
    (func (export "canister_update available") (call $answer (call $available)))
    (func (export "canister_update accept") (call $answer (call $accept (i64.const 30))))
    (func (export "canister_update balance") (call $answer (call $balance)))
    (func (export "canister_update pay")
      (call $call_new (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
                      (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0))
      (call $add (i64.const 250))
      (drop (call $perform))
      (call $answer (call $balance)))
    (func (export "canister_update store")
      (call $answer (i64.extend_i32_s (call $grow (i32.const 2))))
      (call $write (i32.const 65536) (i32.const 128) (i32.const 4)))
    (func (export "canister_query load")
      (call $read (i32.const 64) (i32.const 65536) (i32.const 4))
      (call $append (i32.const 64) (i32.const 4))
      (call $msg_reply))
    (func (export "canister_query size") (call $answer (i64.extend_i32_u (call $size))))
    (func (export "canister_update huge")
      (call $answer (i64.extend_i32_s (call $grow (i32.const 65536)))))
    (func (export "canister_update outside")
      (call $write (i32.const 131070) (i32.const 128) (i32.const 4)))
    (func (export "canister_update grow_past")
      (drop (call $grow64 (i64.const 65537)))
      (call $answer (i64.extend_i32_u (call $size))))))");
  return compiled;
}

} // namespace

TEST(narrow_calls, cycles_are_counted_in_64_bits) {
  subject actor{module()};
  auto input = input_of(entry_kind::update, "available");
  input.available.value = 77;
  EXPECT_EQ(number_of(actor.run(input)), 77u);
  input.method = "accept";
  auto out = actor.run(input);
  EXPECT_EQ(number_of(out), 30u);
  EXPECT_TRUE(out.cycles_accepted == cycles{30});
  EXPECT_EQ(number_of(actor.update("balance")), 1'000'000u);
  out = actor.update("pay");
  EXPECT_EQ(number_of(out), 999'750u);
  EXPECT_TRUE(out.calls.at(0).attached == cycles{250});
  auto reply = input_of(entry_kind::reply_callback);
  reply.callback = {1, 0};
  reply.refunded.value = 9;
  EXPECT_EQ(number_of(actor.run(reply)), 9u);
}

TEST(narrow_calls, an_amount_above_64_bits_is_a_violation) {
  subject actor{module()};
  auto input = input_of(entry_kind::update, "balance");
  input.balance.value = uint128{1} << 64;
  EXPECT_EQ(trap_code(actor.run(input)), "MX504");
  input.balance.value -= 1;
  EXPECT_EQ(number_of(actor.run(input)), ~uint64_t{0});
}

TEST(narrow_calls, stable_memory_is_kept_and_bounded) {
  subject actor{module()};
  EXPECT_EQ(number_of(actor.query("size")), 0u);
  EXPECT_EQ(number_of(actor.update("store")), 0u);
  EXPECT_EQ(number_of(actor.query("size")), 2u);
  EXPECT_EQ(reply_of(actor.query("load")), "kept");
  EXPECT_EQ(number_of(actor.update("huge")), ~uint64_t{0}) << "4 GiB are all that it can reach";
  EXPECT_EQ(trap_code(actor.update("outside")), "MX504");
}
