#include "actors/wasm/system_calls.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "actors/candid/decode.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/wasm/call_frame.hpp"
#include "base/bytes.hpp"
#include "base/limits.hpp"

// Cycles: what there is, what comes and goes, what things cost.

namespace moxzi::actors {

namespace {

cycles at_most(cycles amount, cycles bound) {
  return std::min(amount, bound);
}

void msg_cycles_refunded128(call_frame& f) {
  f.put128(f.state.input.refunded, 0);
}

void msg_cycles_available128(call_frame& f) {
  f.put128(f.state.can_answer() ? f.state.available : cycles{}, 0);
}

cycles accept(call_frame& f, cycles wanted) {
  auto& s = f.state;
  const auto taken = s.can_answer() ? at_most(wanted, s.available) : cycles{};
  s.available.value -= taken.value;
  s.balance.value += taken.value;
  s.output.cycles_accepted.value += taken.value;
  return taken;
}

void msg_cycles_accept128(call_frame& f) {
  // The place for the answer is checked first: after a trap nothing has been taken.
  if (f.range(f.word(2), sizeof(uint128)) == nullptr) return;
  f.put128(accept(f, from_halves(f.i64(0), f.i64(1))), 2);
}

void cycles_burn128(call_frame& f) {
  auto& s = f.state;
  auto burned = at_most(from_halves(f.i64(0), f.i64(1)), s.balance);
  f.put128(burned, 2);
  if (f.failed()) return;
  s.balance.value -= burned.value;
  s.output.cycles_burned.value += burned.value;
}

void canister_cycle_balance128(call_frame& f) {
  f.put128(f.state.balance, 0);
}

// What is not reserved for staying alive: all of it, as idling costs nothing.
void canister_liquid_cycle_balance128(call_frame& f) {
  canister_cycle_balance128(f);
}

// -- 64-bit amounts ------------------------------------------------------------

void give64(call_frame& f, cycles amount) {
  if (amount.value >> 64 != 0) return f.violation("the amount does not fit into 64 bits");
  f.give(static_cast<uint64_t>(amount.value));
}

void msg_cycles_available(call_frame& f) {
  give64(f, f.state.can_answer() ? f.state.available : cycles{});
}

void msg_cycles_refunded(call_frame& f) {
  give64(f, f.state.input.refunded);
}

void msg_cycles_accept(call_frame& f) {
  give64(f, accept(f, from_halves(0, f.i64(0))));
}

void canister_cycle_balance(call_frame& f) {
  give64(f, f.state.balance);
}

// -- what things cost ----------------------------------------------------------

const price_table& prices(call_frame& f) {
  static constexpr price_table free_of_charge;
  const auto& facts = f.state.input.facts;
  return facts && facts->charging ? facts->prices : free_of_charge;
}

void cost_call(call_frame& f) {
  const auto bytes = uint128{f.i64(0)} + f.i64(1);
  const auto bounded = bytes >> 64 != 0 ? ~uint64_t{0} : static_cast<uint64_t>(bytes);
  const auto price = f.state.price_of_call(bounded);
  f.put128({price.now.value + price.held.value}, 2);
}

void cost_create_canister(call_frame& f) {
  f.put128({prices(f).create_canister}, 0);
}

void cost_http_request(call_frame& f) {
  const auto& each = prices(f);
  f.put128({each.http_request + uint128{each.http_request_byte} * f.i64(0)
            + uint128{each.http_response_byte} * f.i64(1)},
           2);
}

// What the parameters are is the interface's to say; what is not here does not count: how long the
// round trip takes, and the transform function, which is the caller's own execution.
const candid::tuple_type& outcall_parameters() {
  static const auto types = candid::parse_types(
    "(record { request_bytes : nat64; http_roundtrip_time_ms : nat64; raw_response_bytes : nat64; "
    "transformed_response_bytes : nat64; transform_instructions : nat64 })");
  return *types;
}

// Which of a record's values is this field's.
size_t outcall_parameter(std::string_view name) {
  const auto& all = outcall_parameters();
  const auto record = all.items.front();
  const auto* found = all.types->find(record, candid::hash_name(name));
  return static_cast<size_t>(found - all.types->fields(record).data());
}

void cost_http_request_v2(call_frame& f) {
  const auto bytes = f.bytes(0);
  if (!bytes) return;
  const auto read = candid::decode(*bytes, outcall_parameters());
  if (!read) return f.violation(read.error().message);
  static const auto sent_at = outcall_parameter("request_bytes");
  static const auto received_at = outcall_parameter("raw_response_bytes");
  const auto& given = read->front().as_list();
  const auto& each = prices(f);
  f.put128({each.http_request + uint128{each.http_request_byte} * given[sent_at].as_fixed_nat()
            + uint128{each.http_response_byte} * given[received_at].as_fixed_nat()},
           2);
}

constexpr uint32_t unknown_curve = 1;
constexpr uint32_t unknown_key = 2;

// The keys that this host signs with have these names; it derives none for vetKD.
void give_cost(call_frame& f, uint32_t curves, uint64_t price) {
  const auto name = f.bytes(0);
  if (!name) return;
  if (f.i32(2) >= curves) return f.give(unknown_curve);
  if (*name != "dfx_test_key" && *name != "test_key_1" && *name != "key_1") {
    return f.give(unknown_key);
  }
  f.put128({price}, 3);
  f.give(0);
}

void cost_sign_with_ecdsa(call_frame& f) {
  give_cost(f, 1, prices(f).sign_with_ecdsa);
}

void cost_sign_with_schnorr(call_frame& f) {
  give_cost(f, 2, prices(f).sign_with_schnorr);
}

void cost_vetkd_derive_key(call_frame& f) {
  if (!f.bytes(0)) return;
  f.give(f.i32(2) >= 1 ? unknown_curve : unknown_key);
}

using namespace context;
constexpr context_set refunded = reply_callback | reject_callback;
constexpr context_set accepting = update | replicated_query | refunded;
constexpr context_set burning = init | pre_upgrade | accepting | cleanup | system_task;

constexpr system_call rows[] = {
  {"canister_cycle_balance", "", "l", not_start, canister_cycle_balance, false, true},
  {"canister_cycle_balance128", "I", "", not_start, canister_cycle_balance128},
  {"canister_liquid_cycle_balance128", "I", "", not_start, canister_liquid_cycle_balance128},
  {"cost_call", "llI", "", all, cost_call},
  {"cost_create_canister", "I", "", all, cost_create_canister},
  {"cost_http_request", "llI", "", all, cost_http_request},
  {"cost_http_request_v2", "III", "", all, cost_http_request_v2},
  {"cost_sign_with_ecdsa", "IIiI", "i", all, cost_sign_with_ecdsa},
  {"cost_sign_with_schnorr", "IIiI", "i", all, cost_sign_with_schnorr},
  {"cost_vetkd_derive_key", "IIiI", "i", all, cost_vetkd_derive_key},
  {"cycles_burn128", "llI", "", burning, cycles_burn128},
  {"msg_cycles_accept", "l", "l", accepting, msg_cycles_accept, false, true},
  {"msg_cycles_accept128", "llI", "", accepting, msg_cycles_accept128},
  {"msg_cycles_available", "", "l", accepting, msg_cycles_available, false, true},
  {"msg_cycles_available128", "I", "", accepting, msg_cycles_available128},
  {"msg_cycles_refunded", "", "l", refunded, msg_cycles_refunded, false, true},
  {"msg_cycles_refunded128", "I", "", refunded, msg_cycles_refunded128},
};

} // namespace

std::span<const system_call> cycle_calls() noexcept {
  return rows;
}

} // namespace moxzi::actors
