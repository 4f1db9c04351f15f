#pragma once

#include <cstdint>

#include "actors/cycles.hpp"

namespace moxzi::actors {

/// What the core of an actor charges, in cycles, where charging is on. Plain numbers, so that two
/// nodes, or a node and its replay, can compare them. Zeros charge nothing.
struct price_table {
  /// For each execution that leaves a record, before it starts.
  uint64_t execution = 0;
  /// For a thousand million instructions; a part of them costs its share, rounded up.
  uint64_t billion_instructions = 0;
  /// For a call to another actor, and for each byte of its method's name, argument and answer.
  uint64_t call = 0;
  uint64_t call_byte = 0;
  /// For a call from outside, taken from the actor that is called, and for each of its bytes.
  uint64_t ingress = 0;
  uint64_t ingress_byte = 0;
  /// Of management's methods: for `cost_create_canister` and the like. Taken from what is attached.
  uint64_t create_canister = 0;
  uint64_t http_request = 0;
  uint64_t http_request_byte = 0;
  uint64_t http_response_byte = 0;
  uint64_t sign_with_ecdsa = 0;
  uint64_t sign_with_schnorr = 0;

  bool operator==(const price_table&) const = default;
};

/// Of `count` instructions.
constexpr cycles price_of_instructions(const price_table& prices, uint64_t count) noexcept {
  constexpr uint128 billion = 1'000'000'000;
  return {(uint128{prices.billion_instructions} * count + billion - 1) / billion};
}

/// What a call costs its caller when it is made.
struct call_price {
  cycles now;  ///< for the call and its bytes
  cycles held; ///< for the longest answer and its callback; what is not used of it comes back
};

/// Of a call whose method's name and argument have `bytes` bytes.
constexpr call_price price_of_call(const price_table& prices, uint64_t bytes, uint64_t answer_bytes,
                                   uint64_t callback_instructions) noexcept {
  call_price price;
  price.now = {prices.call + uint128{prices.call_byte} * bytes};
  price.held = {uint128{prices.call_byte} * answer_bytes + prices.execution
                + price_of_instructions(prices, callback_instructions).value};
  return price;
}

} // namespace moxzi::actors
