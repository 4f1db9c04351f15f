#include "actors/daemon/actor_loader.hpp"

#include <algorithm>
#include <utility>

#include "actors/build/files.hpp"
#include "actors/host_error.hpp"
#include "base/limits.hpp"

namespace moxzi::actors {

namespace {

constexpr char did_section[] = "candid:service";

using interface_ptr = std::shared_ptr<const json_interface>;

// From the manifest's file, else from the module's own section.
result<interface_ptr> load_interface(const manifest_actor& entry, const module_info& module) {
  if (entry.did) {
    auto text = read_file(*entry.did, limits::did_bytes_max);
    if (!text) return text.error();
    return json_interface::make(*text, *entry.did);
  }
  const auto section = module.metadata.find(did_section);
  if (section == module.metadata.end()) return interface_ptr{};
  return json_interface::make(section->second.contents, entry.wasm + " (" + did_section + ")");
}

size_t visible_methods(const module_info& module) {
  return static_cast<size_t>(
    std::count_if(module.methods.begin(), module.methods.end(),
                  [](const auto& method) { return !is_internal_method(method.first); }));
}

} // namespace

result<loaded_actor> load_actor(const manifest_actor& entry, wasm_engine& engine,
                                const module_cache& cache) {
  const auto refuse = [&entry](const error& why) {
    return fail(host_errc::bad_module, "actor '{}': {}", entry.name, why.message);
  };
  auto wasm = read_file(entry.wasm, limits::module_bytes_max);
  if (!wasm) return refuse(wasm.error());
  auto module = cache.get(*wasm, engine);
  if (!module) {
    return fail(host_errc::bad_module, "actor '{}': {}: {}", entry.name, entry.wasm,
                module.error().message);
  }
  loaded_actor actor;
  actor.name = entry.name;
  actor.id = entry.id.value_or(principal::of_actor(entry.name));
  actor.module = *std::move(module);
  auto json = load_interface(entry, actor.module->info());
  if (!json) return refuse(json.error());
  actor.json = *std::move(json);
  actor.install_argument = entry.args.value_or(byte_string{"DIDL\0\0", 6});
  actor.methods = actor.json ? actor.json->methods().size() : visible_methods(actor.module->info());
  return actor;
}

} // namespace moxzi::actors
