#include "actors/wasm/execution_state.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/limits.hpp"

namespace moxzi::actors {

namespace {

std::string_view kind_text(entry_kind kind) {
  switch (kind) {
    case entry_kind::init:
    case entry_kind::upgrade:
      return "an installation";
    case entry_kind::query:
    case entry_kind::composite_query:
    case entry_kind::composite_reply:
    case entry_kind::composite_reject:
    case entry_kind::composite_cleanup:
      return "a query";
    case entry_kind::inspect:
      return "an inspection";
    default:
      return "a message";
  }
}

} // namespace

void execution_state::begin(execution_input next, may_call_function may_call_next) {
  input = std::move(next);
  may_call = std::move(may_call_next);
  output = {};
  now = context_of(input);
  reply.clear();
  call.reset();
  balance = input.balance;
  available = input.available;
  global_timer_ns = input.global_timer_ns;
  debug_bytes = 0;
  charged = 0;
  fuel_left = nullptr;
  fuel_given = 0;
  fuel_spent = 0;
  since_yield = 0;
  call_bytes = 0;
  failure.reset();
}

execution_output execution_state::end() {
  auto finished = std::exchange(output, {});
  input = {};
  may_call = nullptr;
  byte_string{}.swap(reply);
  call.reset();
  failure.reset();
  return finished;
}

std::string execution_state::limit_text() const {
  return fmt::format("the limit of {} instructions for {} was exceeded", input.instructions_max,
                     kind_text(input.kind));
}

call_price execution_state::price_of_call(uint64_t bytes) const {
  const auto& facts = input.facts;
  if (!facts || !facts->charging) return {};
  return actors::price_of_call(facts->prices, bytes, limits::reply_bytes_max,
                               facts->callback_instructions_max);
}

context_set execution_state::context_of(const execution_input& input) noexcept {
  switch (input.kind) {
    case entry_kind::init:
    case entry_kind::upgrade:
      return context::init;
    case entry_kind::update:
      return context::update;
    case entry_kind::query:
      if (input.is_transform) return context::transform;
      return input.is_replicated ? context::replicated_query : context::query;
    case entry_kind::composite_query:
      return context::composite_query;
    case entry_kind::inspect:
      return context::inspect;
    case entry_kind::heartbeat:
    case entry_kind::timer:
    case entry_kind::low_memory:
      return context::system_task;
    case entry_kind::reply_callback:
      return context::reply_callback;
    case entry_kind::reject_callback:
      return context::reject_callback;
    case entry_kind::composite_reply:
      return context::composite_reply;
    case entry_kind::composite_reject:
      return context::composite_reject;
    case entry_kind::cleanup_callback:
      return context::cleanup;
    case entry_kind::composite_cleanup:
      return context::composite_cleanup;
    case entry_kind::take_snapshot:
    case entry_kind::load_snapshot:
      break;
  }
  return 0;
}

} // namespace moxzi::actors
