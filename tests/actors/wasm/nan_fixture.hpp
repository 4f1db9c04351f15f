#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "tests/actors/wasm/fixture_text.hpp"

namespace moxzi::actors::testing {

/// Pairs of bits of which each operation below makes a NaN: NaNs with payloads and signs of all
/// kinds.
inline constexpr std::array<std::array<uint64_t, 2>, 17> nan_pairs{{
  {0x7ff8000000000000, 0x3ff0000000000000},
  {0xfff8000000000000, 0x3ff0000000000000},
  {0x7ff8deadbeef0001, 0x3ff0000000000000},
  {0xfff8deadbeef0001, 0xbff0000000000000},
  {0x7fffffffffffffff, 0x0000000000000000},
  {0xffffffffffffffff, 0x8000000000000000},
  {0x7ff0000000000001, 0x7ff0000000000000},
  {0xfff0000000000001, 0xfff0000000000000},
  {0x3ff0000000000000, 0x7ff8000000000000},
  {0x3ff0000000000000, 0xfff8000000000007},
  {0xbff0000000000000, 0x7ff8deadbeef0001},
  {0x7ff8000000000001, 0xfff8000000000002},
  {0xfff8000000000002, 0x7ff8000000000001},
  {0x7ff4000000000000, 0x7ff8000000000000},
  {0x7fefffffffffffff, 0xfff123456789abcd},
  {0x0000000000000001, 0x7ff8ffffffffffff},
  {0xfff7ffffffffffff, 0x000fffffffffffff},
}};
inline constexpr std::array nan_operations{"add", "sub", "mul", "div", "min", "max"};
inline constexpr size_t all_nans_bytes = 16 * nan_pairs.size() * nan_operations.size();

inline uint32_t narrowed(uint64_t bits) {
  const auto sign = static_cast<uint32_t>(bits >> 32) & 0x80000000u;
  const bool is_special = (bits >> 52 & 0x7ff) == 0x7ff;
  if (!is_special) return sign | ((bits << 1) == 0 ? 0u : 0x3f800000u);
  const auto fraction = bits & 0xfffffffffffff;
  if (fraction == 0) return sign | 0x7f800000u;
  return sign | 0x7f800000u | std::max(1u, static_cast<uint32_t>(fraction >> 29));
}

/// A module whose update `nans` replies with the bits of more than 200 results, a word each: f64
/// and f32 in turn.
inline std::string all_nans() {
  std::string body;
  int at = 1'024;
  for (const auto* operation : nan_operations) {
    for (const auto& [x, y] : nan_pairs) {
      body +=
        fmt::format("(i64.store (i64.const {}) (i64.reinterpret_f64 (f64.{} "
                    "(f64.reinterpret_i64 (i64.const {})) (f64.reinterpret_i64 (i64.const {})))))",
                    at, operation, static_cast<int64_t>(x), static_cast<int64_t>(y));
      at += 8;
      body += fmt::format(
        "(i64.store32 (i64.const {}) (i64.extend_i32_u (i32.reinterpret_f32 (f32.{} "
        "(f32.reinterpret_i32 (i32.const {})) (f32.reinterpret_i32 (i32.const {}))))))",
        at, operation, static_cast<int32_t>(narrowed(x)), static_cast<int32_t>(narrowed(y)));
      at += 8;
    }
  }
  return fixture(
    fmt::format("(func (export \"canister_update nans\") {} (call $append (i64.const 1024) "
                "(i64.const {})) (call $msg_reply))",
                body, at - 1'024));
}

} // namespace moxzi::actors::testing
