#pragma once

#include <string>

namespace moxzi::actors {

/// Opens a module with 64-bit memory and table, as the Motoko compiler's are, and imports what the
/// fixtures use. `(call $answer (i64))` replies with a number; `$state` is a global, the word at
/// address 0 its twin in the heap, and address 64 a scratch place.
inline const std::string fixture_head = R"((module
  (type $entry (func))
  (type $callback (func (param i64)))
  (import "ic0" "msg_reply" (func $msg_reply))
  (import "ic0" "msg_reject" (func $msg_reject (param i64 i64)))
  (import "ic0" "msg_reply_data_append" (func $append (param i64 i64)))
  (import "ic0" "msg_arg_data_size" (func $arg_size (result i64)))
  (import "ic0" "msg_arg_data_copy" (func $arg_copy (param i64 i64 i64)))
  (import "ic0" "msg_caller_size" (func $caller_size (result i64)))
  (import "ic0" "msg_caller_copy" (func $caller_copy (param i64 i64 i64)))
  (import "ic0" "msg_reject_code" (func $reject_code (result i32)))
  (import "ic0" "msg_reject_msg_size" (func $reject_size (result i64)))
  (import "ic0" "msg_reject_msg_copy" (func $reject_copy (param i64 i64 i64)))
  (import "ic0" "call_new" (func $call_new (param i64 i64 i64 i64 i64 i64 i64 i64)))
  (import "ic0" "call_data_append" (func $call_append (param i64 i64)))
  (import "ic0" "call_on_cleanup" (func $call_cleanup (param i64 i64)))
  (import "ic0" "call_cycles_add128" (func $call_cycles (param i64 i64)))
  (import "ic0" "call_with_best_effort_response" (func $call_bounded (param i32)))
  (import "ic0" "call_perform" (func $call_perform (result i32)))
  (import "ic0" "canister_self_size" (func $self_size (result i64)))
  (import "ic0" "canister_self_copy" (func $self_copy (param i64 i64 i64)))
  (import "ic0" "debug_print" (func $print (param i64 i64)))
  (import "ic0" "trap" (func $trap (param i64 i64)))
  (import "ic0" "time" (func $time (result i64)))
  (import "ic0" "global_timer_set" (func $timer (param i64) (result i64)))
  (import "ic0" "performance_counter" (func $counter (param i32) (result i64)))
  (import "ic0" "is_controller" (func $is_controller (param i64 i64) (result i32)))
  (import "ic0" "stable64_size" (func $stable_size (result i64)))
  (import "ic0" "stable64_grow" (func $stable_grow (param i64) (result i64)))
  (import "ic0" "stable64_read" (func $stable_read (param i64 i64 i64)))
  (import "ic0" "stable64_write" (func $stable_write (param i64 i64 i64)))
  (import "ic0" "msg_cycles_refunded128" (func $refunded (param i64)))
  (memory i64 2)
  (table $table i64 8 funcref)
  (global $state (mut i64) (i64.const 0))
  (global $fraction (mut f64) (f64.const 0.5))
  (func $answer (param $n i64)
    (i64.store (i64.const 64) (local.get $n))
    (call $append (i64.const 64) (i64.const 8))
    (call $msg_reply))
  (func $add (param $n i64)
    (i64.store (i64.const 0) (i64.add (i64.load (i64.const 0)) (local.get $n)))
    (global.set $state (i64.add (global.get $state) (local.get $n)))
    (global.set $fraction (f64.add (global.get $fraction) (f64.const 1))))
  (func (export "canister_update add")
    (call $add (i64.const 1))
    (call $answer (i64.load (i64.const 0))))
  (func (export "canister_query heap") (call $answer (i64.load (i64.const 0))))
  (func (export "canister_query global") (call $answer (global.get $state)))
  (func (export "canister_query pages") (call $answer (memory.size)))
)";

/// The whole module with `functions` in it.
inline std::string fixture(const std::string& functions) {
  return fixture_head + functions + ")";
}

} // namespace moxzi::actors
