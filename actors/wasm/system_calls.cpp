#include "actors/wasm/system_calls.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "actors/wasm/call_frame.hpp"
#include "base/bytes.hpp"
#include "base/limits.hpp"

namespace moxzi::actors {

namespace {

// Bounds of a single execution that no limit of the product names.
constexpr size_t debug_bytes_max = 1u << 20;
constexpr uint32_t bounded_wait_seconds_max = 300;
constexpr size_t calls_max = 10'000;
constexpr size_t calls_bytes_max = 64u << 20;

// -- the message ---------------------------------------------------------------

void msg_arg_data_size(call_frame& f) {
  f.give(f.state.input.argument.size());
}

void msg_arg_data_copy(call_frame& f) {
  f.copy_out(f.state.input.argument);
}

void msg_caller_size(call_frame& f) {
  f.give(f.state.input.caller.bytes().size());
}

void msg_caller_copy(call_frame& f) {
  f.copy_out(f.state.input.caller.bytes());
}

void msg_reject_code(call_frame& f) {
  f.give(static_cast<uint64_t>(f.state.input.reject_code));
}

void msg_reject_msg_size(call_frame& f) {
  f.give(f.state.input.reject_message.size());
}

void msg_reject_msg_copy(call_frame& f) {
  f.copy_out(f.state.input.reject_message);
}

void msg_deadline(call_frame& f) {
  f.give(f.state.input.deadline_ns);
}

bool may_answer(call_frame& f) {
  if (!f.state.can_answer()) f.violation("the call has been answered already");
  return !f.failed();
}

void msg_reply_data_append(call_frame& f) {
  if (!may_answer(f)) return;
  auto piece = f.bytes(0);
  if (!piece) return;
  auto max = f.state.input.kind == entry_kind::query ? limits::query_reply_bytes_max
                                                     : limits::reply_bytes_max;
  if (piece->size() > max - f.state.reply.size())
    return f.violation(fmt::format("the reply is longer than {} bytes", max));
  f.state.reply += *piece;
}

void msg_reply(call_frame& f) {
  if (may_answer(f)) f.state.output.answer = reply_value{std::move(f.state.reply)};
}

// At most `max` bytes of `text`, cut between two code points.
byte_view cut_text(byte_view text, size_t max) {
  if (text.size() <= max) return text;
  while (max > 0 && (static_cast<uint8_t>(text[max]) & 0xc0) == 0x80) --max;
  return text.substr(0, max);
}

void msg_reject(call_frame& f) {
  if (!may_answer(f)) return;
  auto text = f.bytes(0);
  if (!text) return;
  if (text->size() > limits::reply_bytes_max)
    return f.violation(fmt::format("the text is longer than {} bytes", limits::reply_bytes_max));
  if (!is_utf8(*text)) return f.violation("the text is not UTF-8");
  f.state.output.answer = reject_value{std::string{cut_text(*text, limits::reject_text_bytes_max)}};
}

// -- cycles --------------------------------------------------------------------

cycles from_halves(uint64_t high, uint64_t low) {
  return {(static_cast<uint128>(high) << 64) | low};
}

cycles at_most(cycles amount, cycles bound) {
  return std::min(amount, bound);
}

void msg_cycles_refunded128(call_frame& f) {
  f.put128(f.state.input.refunded, 0);
}

void msg_cycles_available128(call_frame& f) {
  f.put128(f.state.can_answer() ? f.state.available : cycles{}, 0);
}

void msg_cycles_accept128(call_frame& f) {
  auto& s = f.state;
  auto taken = s.can_answer() ? at_most(from_halves(f.i64(0), f.i64(1)), s.available) : cycles{};
  f.put128(taken, 2);
  if (f.failed()) return;
  s.available.value -= taken.value;
  s.balance.value += taken.value;
  s.output.cycles_accepted.value += taken.value;
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

// -- the actor -----------------------------------------------------------------

void canister_self_size(call_frame& f) {
  f.give(f.state.self.bytes().size());
}

void canister_self_copy(call_frame& f) {
  f.copy_out(f.state.self.bytes());
}

void canister_status(call_frame& f) {
  f.give(f.state.input.status);
}

void canister_version(call_frame& f) {
  f.give(f.state.input.canister_version);
}

void is_controller(call_frame& f) {
  auto bytes = f.bytes(0);
  if (!bytes) return;
  auto who = principal::from_bytes(*bytes);
  if (!who) return f.violation("a principal has at most 29 bytes");
  const auto& all = f.state.input.controllers;
  f.give(std::find(all.begin(), all.end(), *who) != all.end() ? 1 : 0);
}

void msg_method_name_size(call_frame& f) {
  f.give(f.state.input.method.size());
}

void msg_method_name_copy(call_frame& f) {
  f.copy_out(f.state.input.method);
}

void accept_message(call_frame& f) {
  if (f.state.output.accepted) return f.violation("the message has been accepted already");
  f.state.output.accepted = true;
}

void certified_data_set(call_frame& f) {
  auto data = f.bytes(0);
  if (!data) return;
  if (data->size() > 32) return f.violation("certified data has at most 32 bytes");
  f.state.output.certified_data = byte_string{*data};
}

void time(call_frame& f) {
  f.give(f.state.input.time_ns);
}

void global_timer_set(call_frame& f) {
  auto before = f.state.global_timer_ns;
  f.state.global_timer_ns = f.i64(0);
  f.state.output.global_timer_ns = f.state.global_timer_ns;
  f.give(before);
}

void performance_counter(call_frame& f) {
  auto kind = f.i32(0);
  if (kind > 1) return f.violation(fmt::format("there is no counter {}", kind));
  auto here = f.state.instructions();
  f.give(kind == 0 ? here : here + f.state.input.call_instructions);
}

void debug_print(call_frame& f) {
  // Never traps: what cannot be read or would be too much is left out.
  auto address = f.word(0);
  auto size = std::min<uint64_t>(f.word(1), limits::debug_line_bytes_max);
  auto heap = byte_view{reinterpret_cast<const char*>(f.state.heap.data()), f.state.heap.size()};
  if (address > heap.size() || size > heap.size() - address || !f.charge(size)) return;
  if (f.state.debug_bytes + size > debug_bytes_max) return;
  f.state.debug_bytes += size + 1;
  f.state.output.debug_lines.emplace_back(heap.substr(address, size));
}

void trap_explicitly(call_frame& f) {
  auto text = f.bytes(0);
  if (!text) return;
  auto shown = cut_text(*text, limits::reject_text_bytes_max);
  f.fail("MX503", is_utf8(shown) ? std::string{shown} : "(text that is not UTF-8)");
}

// -- calls to other actors -----------------------------------------------------

// A call that will not be made gives its cycles back.
void drop_call(execution_state& s) {
  if (s.call) s.balance.value += s.call->attached.value;
  s.call.reset();
}

bool has_call(call_frame& f) {
  if (!f.state.call) f.violation("no call is under construction (call_new comes first)");
  return !f.failed();
}

void call_new(call_frame& f) {
  drop_call(f.state);
  auto callee_bytes = f.bytes(0);
  auto method = f.bytes(2);
  if (!callee_bytes || !method) return;
  auto callee = principal::from_bytes(*callee_bytes);
  if (!callee) return f.violation("the callee's principal has more than 29 bytes");
  if (method->size() > limits::method_name_bytes_max || !is_utf8(*method))
    return f.violation("the method's name is not UTF-8 or too long");
  outgoing_call call;
  call.callee = std::move(*callee);
  call.method = *method;
  call.on_reply = {f.word(4), f.word(5)};
  call.on_reject = {f.word(6), f.word(7)};
  f.state.call = std::move(call);
}

void call_on_cleanup(call_frame& f) {
  if (!has_call(f)) return;
  if (f.state.call->on_cleanup) return f.violation("the call has a cleanup function already");
  f.state.call->on_cleanup = closure{f.word(0), f.word(1)};
}

void call_data_append(call_frame& f) {
  if (!has_call(f)) return;
  auto piece = f.bytes(0);
  if (!piece) return;
  auto& argument = f.state.call->argument;
  if (piece->size() > limits::call_bytes_max - argument.size())
    return f.violation(fmt::format("the argument is longer than {} bytes", limits::call_bytes_max));
  argument += *piece;
}

void call_with_best_effort_response(call_frame& f) {
  if (!has_call(f)) return;
  if (f.state.call->timeout_seconds) return f.violation("the call has a time limit already");
  f.state.call->timeout_seconds = std::min(f.i32(0), bounded_wait_seconds_max);
}

void call_cycles_add128(call_frame& f) {
  if (!has_call(f)) return;
  auto amount = from_halves(f.i64(0), f.i64(1));
  if (amount > f.state.balance) return f.fail("MX520", "call_cycles_add128: not enough cycles");
  f.state.balance.value -= amount.value;
  f.state.call->attached.value += amount.value;
}

void call_perform(call_frame& f) {
  if (!has_call(f)) return;
  auto& s = f.state;
  // The queue's own bounds come first: a place at the callee is not taken in vain.
  s.call_bytes += s.call->argument.size() + s.call->method.size();
  if (s.output.calls.size() >= calls_max || s.call_bytes > calls_bytes_max
      || (s.may_call && !s.may_call(s.call->callee))) {
    drop_call(s);
    return f.give(2);
  }
  s.output.calls.push_back(std::move(*s.call));
  s.call.reset();
  f.give(0);
}

// -- stable memory -------------------------------------------------------------

void stable64_size(call_frame& f) {
  f.give(f.state.stable.size() / stable_memory::unit_bytes);
}

void stable64_grow(call_frame& f) {
  auto before = f.state.stable.size() / stable_memory::unit_bytes;
  f.give(f.state.stable.grow(f.i64(0)) ? before : ~uint64_t{0});
}

bool stable_access(call_frame& f, uint64_t offset, uint64_t size) {
  if (!f.state.stable.contains(offset, size)) {
    f.violation(fmt::format("{} bytes at offset {} are outside of the stable memory of {} bytes",
                            size, offset, f.state.stable.size()));
    return false;
  }
  return true;
}

void stable64_read(call_frame& f) {
  auto to = f.i64(0), offset = f.i64(1), size = f.i64(2);
  if (!stable_access(f, offset, size)) return;
  auto* at = f.range(to, size);
  if (at == nullptr || size == 0 || !f.charge(size)) return;
  if (!f.state.stable.read(offset, at, size)) f.fail("MX507", "stable64_read: out of memory");
}

void stable64_write(call_frame& f) {
  auto offset = f.i64(0), from = f.i64(1), size = f.i64(2);
  if (!stable_access(f, offset, size)) return;
  auto* at = f.range(from, size);
  if (at == nullptr || size == 0 || !f.charge(size)) return;
  if (!f.state.stable.write(offset, {at, size})) f.fail("MX507", "stable64_write: out of memory");
}

// -- the table -----------------------------------------------------------------

using namespace context;
constexpr context_set answering = update | query | reply_callback | reject_callback;
constexpr context_set calling = update | reply_callback | reject_callback | system_task;
constexpr context_set accepting = update | query | reply_callback | reject_callback;
constexpr context_set with_argument = init | update | query | reply_callback | inspect;
constexpr context_set callbacks = reply_callback | reject_callback;
constexpr context_set changing =
  init | pre_upgrade | update | reply_callback | reject_callback | system_task;

constexpr system_call table[] = {
  {"accept_message", "", "", inspect, accept_message},
  {"call_cycles_add128", "ll", "", calling, call_cycles_add128},
  {"call_data_append", "II", "", calling, call_data_append, true},
  {"call_new", "IIIIIIII", "", calling, call_new, true},
  {"call_on_cleanup", "II", "", calling, call_on_cleanup},
  {"call_perform", "", "i", calling, call_perform},
  {"call_with_best_effort_response", "i", "", calling, call_with_best_effort_response},
  {"canister_cycle_balance128", "I", "", not_start, canister_cycle_balance128},
  {"canister_liquid_cycle_balance128", "I", "", not_start, canister_cycle_balance128},
  {"canister_self_copy", "III", "", not_start, canister_self_copy},
  {"canister_self_size", "", "I", not_start, canister_self_size},
  {"canister_status", "", "i", not_start, canister_status},
  {"canister_version", "", "l", not_start, canister_version},
  {"certified_data_set", "II", "", changing, certified_data_set},
  {"cycles_burn128", "llI", "", changing | query | cleanup, cycles_burn128},
  {"debug_print", "II", "", all, debug_print, true},
  {"global_timer_set", "l", "l", changing | cleanup, global_timer_set},
  {"is_controller", "II", "i", all, is_controller},
  {"msg_arg_data_copy", "III", "", with_argument, msg_arg_data_copy, true},
  {"msg_arg_data_size", "", "I", with_argument, msg_arg_data_size},
  {"msg_caller_copy", "III", "", not_start, msg_caller_copy},
  {"msg_caller_size", "", "I", not_start, msg_caller_size},
  {"msg_cycles_accept128", "llI", "", accepting, msg_cycles_accept128},
  {"msg_cycles_available128", "I", "", accepting, msg_cycles_available128},
  {"msg_cycles_refunded128", "I", "", callbacks, msg_cycles_refunded128},
  {"msg_deadline", "", "l", answering, msg_deadline},
  {"msg_method_name_copy", "III", "", inspect, msg_method_name_copy, true},
  {"msg_method_name_size", "", "I", inspect, msg_method_name_size},
  {"msg_reject", "II", "", answering, msg_reject, true},
  {"msg_reject_code", "", "i", callbacks | cleanup, msg_reject_code},
  {"msg_reject_msg_copy", "III", "", reject_callback, msg_reject_msg_copy, true},
  {"msg_reject_msg_size", "", "I", reject_callback, msg_reject_msg_size},
  {"msg_reply", "", "", answering, msg_reply},
  {"msg_reply_data_append", "II", "", answering, msg_reply_data_append, true},
  {"performance_counter", "i", "l", all, performance_counter},
  {"stable64_grow", "l", "l", all, stable64_grow},
  {"stable64_read", "lll", "", all, stable64_read, true},
  {"stable64_size", "", "l", all, stable64_size},
  {"stable64_write", "lll", "", all, stable64_write, true},
  {"time", "", "l", not_start, time},
  {"trap", "II", "", all, trap_explicitly},
};

} // namespace

std::span<const system_call> system_calls() noexcept {
  return table;
}

const system_call* find_system_call(std::string_view name) noexcept {
  auto row = std::lower_bound(std::begin(table), std::end(table), name,
                              [](const system_call& x, std::string_view n) { return x.name < n; });
  return row != std::end(table) && row->name == name ? row : nullptr;
}

} // namespace moxzi::actors
