#include "actors/daemon/actor_loader.hpp"

#include <utility>

#include "actors/build/files.hpp"
#include "actors/host_error.hpp"
#include "actors/json_interface.hpp"
#include "base/limits.hpp"

namespace moxzi::actors {

namespace {

constexpr char did_section[] = "candid:service";

// How many methods the interface has: the manifest's, else the module's own; the exported ones
// where there is none.
result<size_t> count_methods(const manifest_actor& entry, const loaded_actor& actor) {
  const auto* section = actor.code.code->find_metadata(did_section);
  if (!actor.did && section == nullptr) return actor.code.code->methods().size();
  const auto origin = entry.did.value_or(entry.wasm + " (" + did_section + ")");
  auto json = json_interface::make(actor.did ? *actor.did : section->contents, origin);
  if (!json) return json.error();
  return (*json)->methods().size();
}

} // namespace

result<loaded_actor> load_actor(const manifest_actor& entry, wasm_factory& factory) {
  const auto refuse = [&entry](const error& why) {
    return fail(host_errc::bad_module, "actor '{}': {}", entry.name, why.message);
  };
  auto wasm = read_file(entry.wasm, limits::module_bytes_max);
  if (!wasm) return refuse(wasm.error());
  auto code = factory.prepare_now(*wasm);
  if (!code) {
    return fail(host_errc::bad_module, "actor '{}': {}: {}", entry.name, entry.wasm,
                code.error().message);
  }
  loaded_actor actor;
  actor.name = entry.name;
  actor.id = entry.id.value_or(principal::of_actor(entry.name));
  actor.code = *std::move(code);
  if (entry.did) {
    auto text = read_file(*entry.did, limits::did_bytes_max);
    if (!text) return refuse(text.error());
    actor.did = *std::move(text);
  }
  actor.install_argument = entry.args.value_or(byte_string{"DIDL\0\0", 6});
  auto methods = count_methods(entry, actor);
  if (!methods) return refuse(methods.error());
  actor.methods = *methods;
  return actor;
}

} // namespace moxzi::actors
