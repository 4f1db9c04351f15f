#include "actors/wasm/execution_state.hpp"

#include <utility>

#include <fmt/format.h>

namespace moxzi::actors {

namespace {

std::string_view kind_text(entry_kind kind) {
  switch (kind) {
    case entry_kind::init:
    case entry_kind::pre_upgrade:
    case entry_kind::post_upgrade:
      return "an installation";
    case entry_kind::query:
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
  now = context_of(input.kind);
  reply.clear();
  call.reset();
  balance = input.balance;
  available = input.available;
  global_timer_ns = input.global_timer_ns;
  debug_bytes = 0;
  charged = 0;
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

context_set execution_state::context_of(entry_kind kind) noexcept {
  switch (kind) {
    case entry_kind::init:
    case entry_kind::post_upgrade:
      return context::init;
    case entry_kind::pre_upgrade:
      return context::pre_upgrade;
    case entry_kind::update:
      return context::update;
    case entry_kind::query:
      return context::query;
    case entry_kind::inspect:
      return context::inspect;
    case entry_kind::heartbeat:
    case entry_kind::timer:
      return context::system_task;
    case entry_kind::reply_callback:
      return context::reply_callback;
    case entry_kind::reject_callback:
      return context::reject_callback;
    case entry_kind::cleanup_callback:
      return context::cleanup;
  }
  return context::query;
}

} // namespace moxzi::actors
