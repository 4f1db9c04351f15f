#include "actors/wasm/system_calls.hpp"

#include <algorithm>
#include <vector>

namespace moxzi::actors {

namespace {

std::vector<system_call> collect() {
  std::vector<system_call> rows;
  for (const auto part :
       {message_calls(), outgoing_calls(), cycle_calls(), actor_calls(), stable_calls()}) {
    rows.insert(rows.end(), part.begin(), part.end());
  }
  std::sort(rows.begin(), rows.end(),
            [](const system_call& x, const system_call& y) { return x.name < y.name; });
  return rows;
}

} // namespace

std::span<const system_call> system_calls() noexcept {
  static const auto rows = collect();
  return rows;
}

const system_call* find_system_call(std::string_view name) noexcept {
  const auto rows = system_calls();
  const auto row =
    std::lower_bound(rows.begin(), rows.end(), name,
                     [](const system_call& x, std::string_view n) { return x.name < n; });
  return row != rows.end() && row->name == name ? &*row : nullptr;
}

} // namespace moxzi::actors
