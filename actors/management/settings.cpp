#include "actors/management/settings.hpp"

#include <array>

#include "actors/management/numbers.hpp"

namespace moxzi::actors::management {

namespace {

using lifecycle::settings_change;

/// Sets a number; fails if it has more than 64 bits.
result<void> set(std::optional<uint64_t>& to, const std::optional<integer>& from,
                 std::string_view name) {
  if (!from) return {};
  to = from->to_uint64();
  if (to) return {};
  return fail(base_errc::over_limit, "settings.{}: {} is more than {}", name, from->to_text(),
              UINT64_MAX);
}

using audience = lifecycle::audience;

/// Sets an amount of cycles; fails if it has more than 128 bits.
result<void> set(std::optional<cycles>& to, const std::optional<integer>& from,
                 std::string_view name) {
  if (!from) return {};
  to = to_cycles(*from);
  if (to) return {};
  return fail(base_errc::over_limit, "settings.{}: more than 128 bits", name);
}

void set(std::optional<audience>& to, const std::optional<visibility>& from) {
  if (!from) return;
  auto& given = to.emplace();
  switch (from->who) {
    case visibility::kind::everyone:
      given.who = lifecycle::visibility::everyone;
      break;
    case visibility::kind::allowed_viewers:
      given = {lifecycle::visibility::allowed_viewers, from->viewers};
      break;
    default:
      break;
  }
}

visibility to_reply(const audience& from) {
  switch (from.who) {
    case lifecycle::visibility::everyone:
      return {visibility::kind::everyone, {}};
    case lifecycle::visibility::allowed_viewers:
      return {visibility::kind::allowed_viewers, from.viewers};
    default:
      return {};
  }
}

result<void> set_variables(settings_change& to, const canister_settings& asked) {
  if (!asked.environment_variables) return {};
  auto& variables = to.environment.emplace();
  for (const auto& one : *asked.environment_variables) {
    if (!variables.emplace(one.name, one.value).second) {
      return fail(base_errc::malformed, "settings.environment_variables: '{}' is there twice",
                  one.name);
    }
  }
  return {};
}

} // namespace

result<settings_change> to_change(const canister_settings& asked) {
  settings_change out;
  out.controllers = asked.controllers;
  const std::array numbers{
    set(out.compute_allocation, asked.compute_allocation, "compute_allocation"),
    set(out.memory_allocation, asked.memory_allocation, "memory_allocation"),
    set(out.freezing_threshold, asked.freezing_threshold, "freezing_threshold"),
    set(out.wasm_memory_limit, asked.wasm_memory_limit, "wasm_memory_limit"),
    set(out.wasm_memory_threshold, asked.wasm_memory_threshold, "wasm_memory_threshold"),
    set(out.log_bytes_max, asked.log_memory_limit, "log_memory_limit"),
    set(out.reserved_cycles_limit, asked.reserved_cycles_limit, "reserved_cycles_limit"),
    set(out.call_cycles_min, asked.minimum_incoming_canister_call_cycles,
        "minimum_incoming_canister_call_cycles"),
    set_variables(out, asked),
  };
  for (const auto& done : numbers) {
    if (!done) return done.error();
  }
  set(out.logs, asked.log_visibility);
  set(out.snapshots, asked.snapshot_visibility);
  set(out.status, asked.status_visibility);
  return out;
}

definite_canister_settings to_reply(const lifecycle::settings& current) {
  definite_canister_settings out;
  out.controllers = current.controllers;
  out.compute_allocation = to_integer(current.compute_allocation);
  out.memory_allocation = to_integer(current.memory_allocation);
  out.freezing_threshold = to_integer(current.freezing_threshold);
  out.reserved_cycles_limit = to_integer(current.reserved_cycles_limit);
  out.minimum_incoming_canister_call_cycles = to_integer(current.call_cycles_min);
  out.log_visibility = to_reply(current.logs);
  out.log_memory_limit = to_integer(current.log_bytes_max);
  out.snapshot_visibility = to_reply(current.snapshots);
  out.status_visibility = to_reply(current.status);
  out.wasm_memory_limit = to_integer(current.wasm_memory_limit);
  out.wasm_memory_threshold = to_integer(current.wasm_memory_threshold);
  for (const auto& [name, value] : current.environment) {
    out.environment_variables.push_back({name, value});
  }
  return out;
}

} // namespace moxzi::actors::management
