#include "actors/daemon/actor_loader.hpp"

#include <utility>

#include "actors/build/files.hpp"
#include "actors/candid/decode.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/json.hpp"
#include "actors/candid/text.hpp"
#include "actors/host_error.hpp"
#include "actors/json_interface.hpp"
#include "base/actor_limits.hpp"
#include "base/limits.hpp"

namespace moxzi::actors {

namespace {

constexpr char did_section[] = "candid:service";
constexpr char args_section[] = "candid:args";

error refused(const manifest_actor& entry, std::string_view why) {
  return fail(host_errc::bad_module, "actor '{}': {}", entry.name, why);
}

// How many methods the interface has: the manifest's, else the module's own; the exported ones
// where there is none. What an interface speaks of must be there.
result<size_t> count_methods(const loaded_actor& actor) {
  const auto* section = actor.code.code->find_metadata(did_section);
  if (!actor.did && section == nullptr) return actor.code.code->methods().size();
  const auto origin = actor.entry.did.value_or(actor.entry.wasm + " (" + did_section + ")");
  auto json = json_interface::make(actor.did ? *actor.did : section->contents, origin);
  if (!json) return json.error();
  for (const auto& method : (*json)->methods())
    if (!actor.code.code->find_method(method))
      return fail(host_errc::bad_interface, "{}: the module has no method '{}'", origin, method);
  return (*json)->methods().size();
}

// The types of the constructor's arguments: the manifest's interface says them, or the module.
result<candid::tuple_type> init_types(const loaded_actor& actor) {
  const auto* service = actor.code.code->find_metadata(did_section);
  const auto& did = actor.did ? *actor.did : service != nullptr ? service->contents : byte_string{};
  auto names = candid::parse_did(did);
  if (!names) return names.error();
  if (names->has_constructor) return names->init;
  const auto* args = actor.code.code->find_metadata(args_section);
  if (args == nullptr) return candid::parse_types("()");
  return candid::parse_types(args->contents, &*names);
}

result<byte_string> start_argument(const loaded_actor& actor) {
  const auto& entry = actor.entry;
  if (!entry.args_text && !entry.args_json && !entry.args) return byte_string{"DIDL\0\0", 6};
  auto types = init_types(actor);
  if (!types) return types.error();
  if (entry.args) {
    // What a module takes that says nothing of it is its own affair.
    const bool is_known = actor.did || actor.code.code->find_metadata(did_section) != nullptr;
    if (auto read = candid::decode(*entry.args, *types); is_known && !read) return read.error();
    return *entry.args;
  }
  auto values = entry.args_text ? candid::text_to_values(*types, *entry.args_text)
                                : candid::json_to_values(*types, *entry.args_json);
  if (!values) return values.error();
  return candid::encode(*types, *values);
}

} // namespace

std::map<std::string, std::string> public_ids(const manifest& actors) {
  std::map<std::string, std::string> out;
  for (const auto& actor : actors.actors) {
    const auto id = actor.id.value_or(principal::of_actor(actor.name));
    out.emplace("PUBLIC_CANISTER_ID:" + actor.name, id.to_text());
  }
  return out;
}

result<byte_string> read_module(const manifest_actor& entry) {
  auto wasm = read_file(entry.wasm, limits::module_bytes_max);
  if (!wasm) return refused(entry, wasm.error().message);
  return wasm;
}

error refused_module(const manifest_actor& entry, const error& why) {
  return refused(entry, entry.wasm + ": " + why.message);
}

result<loaded_actor> finish_actor(const manifest_actor& entry, prepared_code code,
                                  const sha256_hash& file) {
  loaded_actor actor;
  actor.entry = entry;
  actor.name = entry.name;
  actor.id = entry.id.value_or(principal::of_actor(entry.name));
  actor.code = std::move(code);
  actor.file = file;
  if (entry.did) {
    auto text = read_file(*entry.did, limits::did_bytes_max);
    if (!text) return refused(entry, text.error().message);
    actor.did = *std::move(text);
  }
  auto methods = count_methods(actor);
  if (!methods) return refused(entry, methods.error().message);
  actor.methods = *methods;
  auto argument = start_argument(actor);
  if (!argument)
    return refused(entry, fmt::format("{}: {}",
                                      entry.args_json ? "args_json"
                                      : entry.args    ? "args_hex"
                                                      : "args",
                                      argument.error().message));
  actor.install_argument = *std::move(argument);
  return actor;
}

result<loaded_actor> load_actor(const manifest_actor& entry, wasm_factory& factory) {
  auto wasm = read_module(entry);
  if (!wasm) return wasm.error();
  auto code = factory.prepare_now(*wasm);
  if (!code) return refused_module(entry, code.error());
  return finish_actor(entry, *std::move(code), sha256(*wasm));
}

lifecycle::settings_change settings_of(const manifest_actor& entry, const host_defaults& defaults) {
  lifecycle::settings_change out;
  out.controllers = entry.controllers.value_or(defaults.controllers);
  out.environment = entry.environment;
  for (const auto& [name, value] : defaults.environment) {
    if (out.environment->size() >= limits::environment_max) break;
    if (name.size() <= limits::environment_bytes_max) out.environment->emplace(name, value);
  }
  return out;
}

result<void> check_settings(const manifest_actor& entry, const host_defaults& defaults) {
  const auto fault = lifecycle::fault_of(settings_of(entry, defaults));
  if (fault.empty()) return {};
  return refused(entry, fault);
}

create_actor creation_of(const loaded_actor& actor, const host_defaults& defaults) {
  create_actor create;
  create.name = actor.name;
  create.id = actor.id;
  create.settings = settings_of(actor.entry, defaults);
  create.balance = actor.entry.balance.value_or(defaults.balance);
  create.habits = {actor.entry.heartbeat, actor.entry.timers, actor.entry.anonymous_queries};
  return create;
}

} // namespace moxzi::actors
