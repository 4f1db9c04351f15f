#include "actors/wasm/wasm_code.hpp"

namespace moxzi::actors {

std::optional<method_mode> wasm_code::find_method(const std::string& method) const {
  const auto found = info().methods.find(method);
  if (found == info().methods.end()) return std::nullopt;
  return found->second;
}

bool wasm_code::has_entry(entry_kind kind) const {
  return info().entry_points.contains(std::string{export_of(kind)});
}

std::map<std::string, method_mode> wasm_code::methods() const {
  std::map<std::string, method_mode> visible;
  for (const auto& [name, mode] : info().methods) {
    if (!is_internal_method(name)) visible.emplace(name, mode);
  }
  return visible;
}

const module_metadata* wasm_code::find_metadata(const std::string& name) const {
  const auto found = info().metadata.find(name);
  return found == info().metadata.end() ? nullptr : &found->second;
}

bool wasm_code::keeps_heap() const {
  return info().metadata.contains("enhanced-orthogonal-persistence");
}

code_sizes wasm_code::sizes() const {
  code_sizes sizes{bytes_, 0, info().mutable_globals * sizeof(uint64_t)};
  for (const auto& [name, section] : info().metadata) {
    sizes.section_bytes += name.size() + section.contents.size();
  }
  return sizes;
}

std::string_view export_of(entry_kind kind) noexcept {
  switch (kind) {
    case entry_kind::init:
      return "canister_init";
    case entry_kind::upgrade:
      return "canister_post_upgrade";
    case entry_kind::update:
      return "canister_update ";
    case entry_kind::query:
      return "canister_query ";
    case entry_kind::composite_query:
      return "canister_composite_query ";
    case entry_kind::inspect:
      return "canister_inspect_message";
    case entry_kind::heartbeat:
      return "canister_heartbeat";
    case entry_kind::timer:
      return "canister_global_timer";
    case entry_kind::low_memory:
      return "canister_on_low_wasm_memory";
    default:
      return {};
  }
}

} // namespace moxzi::actors
