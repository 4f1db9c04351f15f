#include "actors/wasm/system_calls.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "actors/wasm/call_frame.hpp"
#include "base/actor_limits.hpp"
#include "base/bytes.hpp"
#include "base/limits.hpp"

// The actor and its surroundings.

namespace moxzi::actors {

namespace {

constexpr size_t debug_bytes_max = 1u << 20;

const actor_facts& facts(call_frame& f) {
  static const actor_facts none;
  return f.state.input.facts ? *f.state.input.facts : none;
}

void canister_self_size(call_frame& f) {
  f.give(f.state.self.bytes().size());
}

void canister_self_copy(call_frame& f) {
  f.copy_out(f.state.self.bytes());
}

void canister_status(call_frame& f) {
  f.give(f.state.input.status);
}

// New code sees the version that it makes.
void canister_version(call_frame& f) {
  const auto kind = f.state.input.kind;
  const bool is_new = (kind == entry_kind::init || kind == entry_kind::upgrade)
                      && f.state.now != context::pre_upgrade;
  f.give(f.state.input.canister_version + (is_new ? 1 : 0));
}

void is_controller(call_frame& f) {
  auto bytes = f.bytes(0);
  if (!bytes) return;
  auto who = principal::from_bytes(*bytes);
  if (!who) return f.violation("a principal has at most 29 bytes");
  const auto& all = facts(f).controllers;
  f.give(std::find(all.begin(), all.end(), *who) != all.end() ? 1 : 0);
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
  auto heap = byte_view{reinterpret_cast<const char*>(f.state.heap->data()), f.state.heap->size()};
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

void subnet_self_size(call_frame& f) {
  f.give(facts(f).subnet.bytes().size());
}

void subnet_self_copy(call_frame& f) {
  f.copy_out(facts(f).subnet.bytes());
}

void root_key_size(call_frame& f) {
  f.give(facts(f).root_key.size());
}

void root_key_copy(call_frame& f) {
  f.copy_out(facts(f).root_key);
}

void in_replicated_execution(call_frame& f) {
  f.give(f.state.input.is_replicated ? 1 : 0);
}

// -- environment variables -----------------------------------------------------

void env_var_count(call_frame& f) {
  f.give(facts(f).environment.size());
}

const std::string* name_at(call_frame& f) {
  const auto& all = facts(f).environment;
  const auto index = f.word(0);
  if (index < all.size()) return &all[index].first;
  f.violation(fmt::format("there is no environment variable {}", index));
  return nullptr;
}

void env_var_name_size(call_frame& f) {
  if (const auto* name = name_at(f)) f.give(name->size());
}

void env_var_name_copy(call_frame& f) {
  if (const auto* name = name_at(f)) f.copy_out(*name, 1);
}

// The value of the variable whose name the first two arguments are; null if there is none.
const std::string* find_value(call_frame& f) {
  const auto name = f.bytes(0);
  if (!name) return nullptr;
  if (name->size() > limits::environment_bytes_max || !is_utf8(*name)) {
    f.violation("the name of an environment variable is UTF-8 of at most 128 bytes");
    return nullptr;
  }
  for (const auto& [known, value] : facts(f).environment) {
    if (known == *name) return &value;
  }
  return nullptr;
}

const std::string* value_of(call_frame& f) {
  const auto* value = find_value(f);
  if (value == nullptr && !f.failed()) f.violation("there is no such environment variable");
  return value;
}

void env_var_name_exists(call_frame& f) {
  f.give(find_value(f) != nullptr ? 1 : 0);
}

void env_var_value_size(call_frame& f) {
  if (const auto* value = value_of(f)) f.give(value->size());
}

void env_var_value_copy(call_frame& f) {
  if (const auto* value = value_of(f)) f.copy_out(*value, 2);
}

using namespace context;
constexpr context_set setting_timer =
  init | pre_upgrade | update | reply_callback | reject_callback | cleanup | system_task;
constexpr context_set with_root_key = setting_timer | replicated_query;

constexpr system_call rows[] = {
  {"canister_self_copy", "III", "", not_start, canister_self_copy},
  {"canister_self_size", "", "I", not_start, canister_self_size},
  {"canister_status", "", "i", not_start, canister_status},
  {"canister_version", "", "l", not_start, canister_version},
  {"debug_print", "II", "", all, debug_print, true},
  {"env_var_count", "", "I", not_start, env_var_count},
  {"env_var_name_copy", "IIII", "", not_start, env_var_name_copy},
  {"env_var_name_exists", "II", "i", not_start, env_var_name_exists},
  {"env_var_name_size", "I", "I", not_start, env_var_name_size},
  {"env_var_value_copy", "IIIII", "", not_start, env_var_value_copy},
  {"env_var_value_size", "II", "I", not_start, env_var_value_size},
  {"global_timer_set", "l", "l", setting_timer, global_timer_set},
  {"in_replicated_execution", "", "i", all, in_replicated_execution},
  {"is_controller", "II", "i", all, is_controller},
  {"performance_counter", "i", "l", all, performance_counter},
  {"root_key_copy", "III", "", with_root_key, root_key_copy},
  {"root_key_size", "", "I", with_root_key, root_key_size},
  {"subnet_self_copy", "III", "", not_start, subnet_self_copy},
  {"subnet_self_size", "", "I", not_start, subnet_self_size},
  {"time", "", "l", not_start, time},
  {"trap", "II", "", all, trap_explicitly},
};

} // namespace

std::span<const system_call> actor_calls() noexcept {
  return rows;
}

} // namespace moxzi::actors
