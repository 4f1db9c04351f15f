#include "actors/lifecycle.hpp"

#include <fmt/format.h>

#include "base/actor_limits.hpp"

namespace moxzi::actors::lifecycle {

namespace {

template <class T>
void set(T& setting, const std::optional<T>& value) {
  if (value) setting = *value;
}

} // namespace

std::string fault_of(const settings_change& change) {
  if (change.controllers && change.controllers->size() > limits::controllers_max) {
    return fmt::format("at most {} controllers are possible", limits::controllers_max);
  }
  for (const auto* who : {&change.logs, &change.snapshots, &change.status}) {
    if (*who && (*who)->viewers.size() > limits::viewers_max)
      return fmt::format("at most {} viewers are possible", limits::viewers_max);
  }
  if (const auto bytes = change.log_bytes_max.value_or(0); bytes != 0) {
    if (bytes < limits::actor_log_bytes_min || bytes > limits::actor_log_bytes_max)
      return fmt::format("a log keeps 0 or {} to {} bytes", limits::actor_log_bytes_min,
                         limits::actor_log_bytes_max);
  }
  if (change.compute_allocation.value_or(0) > 100)
    return "a compute allocation is 0 to 100 percent";
  for (const auto* bytes :
       {&change.memory_allocation, &change.wasm_memory_limit, &change.wasm_memory_threshold}) {
    if (bytes->value_or(0) > limits::memory_setting_max) {
      return fmt::format("an amount of memory is at most {} bytes", limits::memory_setting_max);
    }
  }
  if (!change.environment) return {};
  if (change.environment->size() > limits::environment_max) {
    return fmt::format("at most {} environment variables are possible", limits::environment_max);
  }
  for (const auto& [name, value] : *change.environment) {
    if (name.size() > limits::environment_bytes_max || value.size() > limits::environment_bytes_max
        || !is_utf8(name) || !is_utf8(value)) {
      return fmt::format("names and values of environment variables are UTF-8 of at most {} bytes",
                         limits::environment_bytes_max);
    }
  }
  return {};
}

void apply(const settings_change& change, settings& current) {
  set(current.controllers, change.controllers);
  set(current.compute_allocation, change.compute_allocation);
  set(current.memory_allocation, change.memory_allocation);
  set(current.freezing_threshold, change.freezing_threshold);
  set(current.reserved_cycles_limit, change.reserved_cycles_limit);
  set(current.wasm_memory_limit, change.wasm_memory_limit);
  set(current.wasm_memory_threshold, change.wasm_memory_threshold);
  set(current.logs, change.logs);
  set(current.snapshots, change.snapshots);
  set(current.status, change.status);
  set(current.log_bytes_max, change.log_bytes_max);
  set(current.call_cycles_min, change.call_cycles_min);
  set(current.environment, change.environment);
}

} // namespace moxzi::actors::lifecycle
