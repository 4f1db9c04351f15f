#include "actors/wasm/system_calls.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "actors/wasm/call_frame.hpp"
#include "base/bytes.hpp"
#include "base/limits.hpp"

// Calls to other actors.

namespace moxzi::actors {

namespace {

// Bounds of a single execution that no limit of the product names.
constexpr size_t calls_max = 10'000;
constexpr size_t calls_bytes_max = 64u << 20;

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
  f.state.call->timeout_seconds = std::min(f.i32(0), limits::bounded_wait_seconds_max);
}

void attach(call_frame& f, cycles amount) {
  if (!has_call(f)) return;
  if (amount > f.state.balance) {
    return f.fail("MX520", fmt::format("{}: not enough cycles", f.row.name));
  }
  f.state.balance.value -= amount.value;
  f.state.call->attached.value += amount.value;
}

void call_cycles_add128(call_frame& f) {
  attach(f, from_halves(f.i64(0), f.i64(1)));
}

void call_cycles_add(call_frame& f) {
  attach(f, from_halves(0, f.i64(0)));
}

void call_perform(call_frame& f) {
  if (!has_call(f)) return;
  auto& s = f.state;
  // The queue's own bounds come first: a place at the callee is not taken in vain.
  const auto bytes = s.call->argument.size() + s.call->method.size();
  s.call_bytes += bytes;
  const auto price = s.price_of_call(bytes);
  const cycles needed{price.now.value + price.held.value};
  if (s.output.calls.size() >= calls_max || s.call_bytes > calls_bytes_max || needed > s.balance
      || (s.may_call && !s.may_call(s.call->callee))) {
    drop_call(s);
    return f.give(2);
  }
  s.balance.value -= needed.value;
  s.output.calls.push_back(std::move(*s.call));
  s.call.reset();
  f.give(0);
}

using namespace context;
constexpr context_set paying = update | reply_callback | reject_callback | system_task;
constexpr context_set calling = paying | composite_query | composite_reply | composite_reject;

constexpr system_call rows[] = {
  {"call_cycles_add", "l", "", paying, call_cycles_add, false, true},
  {"call_cycles_add128", "ll", "", paying, call_cycles_add128},
  {"call_data_append", "II", "", calling, call_data_append, true},
  {"call_new", "IIIIIIII", "", calling, call_new, true},
  {"call_on_cleanup", "II", "", calling, call_on_cleanup},
  {"call_perform", "", "i", calling, call_perform},
  {"call_with_best_effort_response", "i", "", calling, call_with_best_effort_response},
};

} // namespace

std::span<const system_call> outgoing_calls() noexcept {
  return rows;
}

} // namespace moxzi::actors
