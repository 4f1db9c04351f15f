#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "actors/prices.hpp"

namespace moxzi::actors {

/// What is charged with `--cycles N`: the Internet Computer's public prices on a subnet of 13 nodes
/// ("Cycle costs" in its developer documentation, May 2026). Signatures cost what they cost under
/// `test_key_1`, whose subnet has 13 nodes too.
inline constexpr price_table ic_prices = {
  .execution = 5'000'000,
  .billion_instructions = 1'000'000'000,
  .call = 260'000,
  .call_byte = 1'000,
  .ingress = 1'200'000,
  .ingress_byte = 2'000,
  .create_canister = 500'000'000'000,
  .http_request = 49'140'000,
  .http_request_byte = 5'200,
  .http_response_byte = 10'400,
  .sign_with_ecdsa = 10'000'000'000,
  .sign_with_schnorr = 10'000'000'000,
};

/// A price as a reader finds it in `docs/cycles.md`.
struct price_row {
  std::string_view what;
  std::string_view who_pays;
  uint64_t price_table::*price = nullptr;
};

/// All prices, in the order of the page.
inline constexpr std::array<price_row, 12> price_rows = {{
  {"an execution that leaves a record", "the actor that runs", &price_table::execution},
  {"a thousand million instructions of it", "the actor that runs",
   &price_table::billion_instructions},
  {"a call to another actor, its answer included", "the caller, from its balance",
   &price_table::call},
  {"a byte of the call or of its answer", "the caller, from its balance", &price_table::call_byte},
  {"a call from outside", "the actor that is called", &price_table::ingress},
  {"a byte of it", "the actor that is called", &price_table::ingress_byte},
  {"`create_canister`", "the caller, attached", &price_table::create_canister},
  {"`http_request`", "the caller, attached", &price_table::http_request},
  {"a byte of its request", "the caller, attached", &price_table::http_request_byte},
  {"a byte that its response may have (`max_response_bytes`)", "the caller, attached",
   &price_table::http_response_byte},
  {"`sign_with_ecdsa`", "the caller, attached", &price_table::sign_with_ecdsa},
  {"`sign_with_schnorr`", "the caller, attached", &price_table::sign_with_schnorr},
}};

} // namespace moxzi::actors
