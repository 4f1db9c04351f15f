#include "actors/management/settings.hpp"

#include "actors/management/numbers.hpp"
#include "base/actor_limits.hpp"

namespace moxzi::actors::management {

namespace {

using lifecycle::log_visibility;
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

log_visibility to_log_visibility(visibility::kind who) noexcept {
  switch (who) {
    case visibility::kind::everyone:
      return log_visibility::everyone;
    case visibility::kind::allowed_viewers:
      return log_visibility::allowed_viewers;
    default:
      return log_visibility::controllers;
  }
}

visibility from_log_visibility(const lifecycle::settings& current) {
  switch (current.logs) {
    case log_visibility::everyone:
      return {visibility::kind::everyone, {}};
    case log_visibility::allowed_viewers:
      return {visibility::kind::allowed_viewers, current.log_viewers};
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

/// Settings that there is only one value for.
result<void> check_fixed(const canister_settings& asked) {
  if (asked.log_memory_limit
      && asked.log_memory_limit->to_uint64() != uint64_t{limits::actor_log_bytes_max}) {
    return fail(base_errc::malformed, "settings.log_memory_limit: logs keep {} bytes here",
                limits::actor_log_bytes_max);
  }
  if (asked.snapshot_visibility && *asked.snapshot_visibility != visibility{}) {
    return fail(base_errc::malformed,
                "settings.snapshot_visibility: snapshots are for controllers only here");
  }
  return {};
}

} // namespace

result<settings_change> to_change(const canister_settings& asked) {
  settings_change out;
  out.controllers = asked.controllers;
  if (auto done = set(out.compute_allocation, asked.compute_allocation, "compute_allocation");
      !done) {
    return done.error();
  }
  if (auto done = set(out.memory_allocation, asked.memory_allocation, "memory_allocation"); !done) {
    return done.error();
  }
  if (auto done = set(out.freezing_threshold, asked.freezing_threshold, "freezing_threshold");
      !done) {
    return done.error();
  }
  if (auto done = set(out.wasm_memory_limit, asked.wasm_memory_limit, "wasm_memory_limit"); !done) {
    return done.error();
  }
  if (auto done =
        set(out.wasm_memory_threshold, asked.wasm_memory_threshold, "wasm_memory_threshold");
      !done) {
    return done.error();
  }
  if (asked.reserved_cycles_limit) {
    out.reserved_cycles_limit = to_cycles(*asked.reserved_cycles_limit);
    if (!out.reserved_cycles_limit) {
      return fail(base_errc::over_limit, "settings.reserved_cycles_limit: more than 128 bits");
    }
  }
  if (asked.log_visibility) {
    out.logs = to_log_visibility(asked.log_visibility->who);
    out.log_viewers = asked.log_visibility->viewers;
  }
  if (auto done = set_variables(out, asked); !done) return done.error();
  if (auto done = check_fixed(asked); !done) return done.error();
  return out;
}

definite_canister_settings to_reply(const lifecycle::settings& current) {
  definite_canister_settings out;
  out.controllers = current.controllers;
  out.compute_allocation = to_integer(current.compute_allocation);
  out.memory_allocation = to_integer(current.memory_allocation);
  out.freezing_threshold = to_integer(current.freezing_threshold);
  out.reserved_cycles_limit = to_integer(current.reserved_cycles_limit);
  out.log_visibility = from_log_visibility(current);
  out.log_memory_limit = to_integer(uint64_t{limits::actor_log_bytes_max});
  out.wasm_memory_limit = to_integer(current.wasm_memory_limit);
  out.wasm_memory_threshold = to_integer(current.wasm_memory_threshold);
  for (const auto& [name, value] : current.environment) {
    out.environment_variables.push_back({name, value});
  }
  return out;
}

} // namespace moxzi::actors::management
