#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.hpp"

/// The work that `wasm_bench` and its peer give a module, so that both do the same.
namespace moxzi::perf {

/// Candid for one natural number below 128.
inline byte_string nat(uint8_t value) {
  return byte_string{"DIDL\0\1\x7d", 7} + static_cast<char>(value);
}

/// Candid for no values.
inline byte_string unit() {
  return {"DIDL\0\0", 6};
}

/// What the device answers to `learn`: record { scalars : vec float64 } with one element, 1.5.
inline byte_string device_reply() {
  byte_string bytes{"DIDL\2\x6c\1", 7};
  uint32_t field = 0;
  for (char c : std::string_view{"scalars"}) field = field * 223 + static_cast<uint8_t>(c);
  for (; field >= 128; field >>= 7) bytes.push_back(static_cast<char>((field & 127) | 128));
  bytes.push_back(static_cast<char>(field));
  bytes += byte_string{"\1\x6d\x72\1\0\1\0\0\0\0\0\0\xf8\x3f", 14};
  return bytes;
}

/// An actor with a full heap: `init` writes to every page, `read` reads every page, `touch` writes
/// to one, somewhere.
inline std::string full_heap(uint64_t mib) {
  return fmt::format(R"((module
  (import "ic0" "msg_reply" (func $reply))
  (memory i64 {0})
  (global $at (mut i64) (i64.const 8))
  (global $sum (mut i64) (i64.const 0))
  (func (export "canister_init") (local $i i64)
    (loop $next
      (i64.store (local.get $i) (i64.const 1))
      (local.set $i (i64.add (local.get $i) (i64.const 4096)))
      (br_if $next (i64.lt_u (local.get $i) (i64.const {1})))))
  (func (export "canister_update read") (local $i i64)
    (loop $next
      (global.set $sum (i64.add (global.get $sum) (i64.load (local.get $i))))
      (local.set $i (i64.add (local.get $i) (i64.const 4096)))
      (br_if $next (i64.lt_u (local.get $i) (i64.const {1}))))
    (call $reply))
  (func (export "canister_update touch")
    (global.set $at (i64.and (i64.const -8) (i64.rem_u (i64.add (global.get $at)
      (i64.const 104395303)) (i64.const {1}))))
    (i64.store (global.get $at) (i64.add (i64.const 1) (i64.load (global.get $at))))
    (call $reply))))",
                     mib * 16, mib << 20);
}

inline double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

} // namespace moxzi::perf
