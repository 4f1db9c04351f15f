#include "actors/management/method_types.hpp"

#include <utility>

#include "actors/management/forms.hpp"

namespace moxzi::actors::management {

namespace {

form<visibility> visibility_form(declarations& in, std::string_view name) {
  using kind = visibility::kind;
  choice<visibility> viewers{"allowed_viewers",
                             vec_of(in, principal_form()),
                             {},
                             [](const visibility& x) { return x.who == kind::allowed_viewers; },
                             {},
                             {}};
  const auto list = vec_of(in, principal_form());
  viewers.read = [from = list.read](candid::value v) {
    return visibility{kind::allowed_viewers, from(std::move(v))};
  };
  viewers.append = [to = list.append](writer& out, const visibility& x) { to(out, x.viewers); };
  return variant_of<visibility>(in, name,
                                {tag("controllers", visibility{kind::controllers, {}}),
                                 tag("public", visibility{kind::everyone, {}}), viewers});
}

form<environment_variable> variable_form(declarations& in) {
  return record_of<environment_variable>(
    in, "environment_variable",
    {bound("name", &environment_variable::name, text_form()),
     bound("value", &environment_variable::value, text_form())});
}

/// A form that is never used: of no argument, or no result.
form<no_value> nothing() {
  return {};
}

form<canister_id_reply> created_form(declarations& in, std::string_view name) {
  return record_of<canister_id_reply>(
    in, name, {bound("canister_id", &canister_id_reply::canister_id, principal_form())});
}

form<canister_install_mode> mode_form(declarations& in) {
  const auto persistence = enum_of<memory_persistence>(
    in, {}, {{"keep", memory_persistence::keep}, {"replace", memory_persistence::replace}});
  const auto flags = record_of<upgrade_flags>(
    in, {},
    {bound("skip_pre_upgrade", &upgrade_flags::skip_pre_upgrade, opt_of(in, boolean_form())),
     bound("wasm_memory_persistence", &upgrade_flags::wasm_memory_persistence,
           opt_of(in, persistence))});
  const auto held = opt_of(in, flags);
  const auto plain = [](std::string_view name, install_kind kind) {
    return choice<canister_install_mode>{
      std::string{name},
      std::nullopt,
      [kind](candid::value) {
        return canister_install_mode{kind, {}};
      },
      [kind](const canister_install_mode& x) { return x.kind == kind; },
      [](writer&, const canister_install_mode&) {},
      {}};
  };
  choice<canister_install_mode> upgrade{
    "upgrade",
    held,
    [from = held.read](candid::value v) {
      return canister_install_mode{install_kind::upgrade, from(std::move(v))};
    },
    [](const canister_install_mode& x) { return x.kind == install_kind::upgrade; },
    [to = held.append](writer& out, const canister_install_mode& x) { to(out, x.flags); },
    {}};
  return variant_of<canister_install_mode>(in, "canister_install_mode",
                                           {plain("install", install_kind::install),
                                            plain("reinstall", install_kind::reinstall),
                                            std::move(upgrade)});
}

} // namespace

void method_types::declare_settings(declarations& in) {
  using given = canister_settings;
  using all = definite_canister_settings;
  const auto logs = visibility_form(in, "log_visibility");
  const auto snapshots = visibility_form(in, "snapshot_visibility");
  const auto status = visibility_form(in, "status_visibility");
  const auto controllers = vec_of(in, principal_form());
  const auto variables = vec_of(in, variable_form(in));
  const auto amount = opt_of(in, nat_form());
  settings_ = record_of<given>(
    in, "canister_settings",
    {bound("controllers", &given::controllers, opt_of(in, controllers)),
     bound("compute_allocation", &given::compute_allocation, amount),
     bound("memory_allocation", &given::memory_allocation, amount),
     bound("freezing_threshold", &given::freezing_threshold, amount),
     bound("reserved_cycles_limit", &given::reserved_cycles_limit, amount),
     bound("minimum_incoming_canister_call_cycles", &given::minimum_incoming_canister_call_cycles,
           amount),
     bound("log_visibility", &given::log_visibility, opt_of(in, logs)),
     bound("log_memory_limit", &given::log_memory_limit, amount),
     bound("snapshot_visibility", &given::snapshot_visibility, opt_of(in, snapshots)),
     bound("status_visibility", &given::status_visibility, opt_of(in, status)),
     bound("wasm_memory_limit", &given::wasm_memory_limit, amount),
     bound("wasm_memory_threshold", &given::wasm_memory_threshold, amount),
     bound("environment_variables", &given::environment_variables, opt_of(in, variables))});
  definite_settings_ =
    record_of<all>(in, "definite_canister_settings",
                   {bound("controllers", &all::controllers, controllers),
                    bound("compute_allocation", &all::compute_allocation, nat_form()),
                    bound("memory_allocation", &all::memory_allocation, nat_form()),
                    bound("freezing_threshold", &all::freezing_threshold, nat_form()),
                    bound("reserved_cycles_limit", &all::reserved_cycles_limit, nat_form()),
                    bound("minimum_incoming_canister_call_cycles",
                          &all::minimum_incoming_canister_call_cycles, nat_form()),
                    bound("log_visibility", &all::log_visibility, logs),
                    bound("log_memory_limit", &all::log_memory_limit, nat_form()),
                    bound("snapshot_visibility", &all::snapshot_visibility, snapshots),
                    bound("status_visibility", &all::status_visibility, status),
                    bound("wasm_memory_limit", &all::wasm_memory_limit, nat_form()),
                    bound("wasm_memory_threshold", &all::wasm_memory_threshold, nat_form()),
                    bound("environment_variables", &all::environment_variables, variables)});
  declare_creation(in);
}

void method_types::declare_creation(declarations& in) {
  const auto version = opt_of(in, nat64_form());
  const auto amount = opt_of(in, nat_form());
  create_canister = {
    record_of<create_canister_args>(
      in, "create_canister_args",
      {bound("settings", &create_canister_args::settings, opt_of(in, settings_)),
       bound("sender_canister_version", &create_canister_args::sender_canister_version, version)}),
    created_form(in, "create_canister_result")};
  using provisional = provisional_create_args;
  provisional_create = {
    record_of<provisional>(
      in, "provisional_create_canister_with_cycles_args",
      {bound("amount", &provisional::amount, amount),
       bound("settings", &provisional::settings, opt_of(in, settings_)),
       bound("specified_id", &provisional::specified_id, opt_of(in, principal_form())),
       bound("sender_canister_version", &provisional::sender_canister_version, version)}),
    created_form(in, "provisional_create_canister_with_cycles_result")};
  provisional_top_up = {
    record_of<provisional_top_up_args>(
      in, "provisional_top_up_canister_args",
      {bound("canister_id", &provisional_top_up_args::canister_id, principal_form()),
       bound("amount", &provisional_top_up_args::amount, nat_form())}),
    nothing()};
  update_settings = {
    record_of<update_settings_args>(
      in, "update_settings_args",
      {bound("canister_id", &update_settings_args::canister_id, principal_form()),
       bound("settings", &update_settings_args::settings, settings_),
       bound("sender_canister_version", &update_settings_args::sender_canister_version, version)}),
    nothing()};
}

void method_types::declare_code(declarations& in) {
  const auto mode = mode_form(in);
  const auto version = opt_of(in, nat64_form());
  using whole = install_code_args;
  install_code = {
    record_of<whole>(in, "install_code_args",
                     {bound("mode", &whole::mode, mode),
                      bound("canister_id", &whole::canister_id, principal_form()),
                      bound("wasm_module", &whole::wasm_module, blob_form(in)),
                      bound("arg", &whole::arg, blob_form(in)),
                      bound("sender_canister_version", &whole::sender_canister_version, version)}),
    nothing()};
  const auto hash =
    record_of<chunk_hash>(in, "chunk_hash", {bound("hash", &chunk_hash::hash, blob_form(in))});
  using chunked = install_chunked_code_args;
  install_chunked_code = {
    record_of<chunked>(
      in, "install_chunked_code_args",
      {bound("mode", &chunked::mode, mode),
       bound("target_canister", &chunked::target_canister, principal_form()),
       bound("store_canister", &chunked::store_canister, opt_of(in, principal_form())),
       bound("chunk_hashes_list", &chunked::chunk_hashes_list, vec_of(in, hash)),
       bound("wasm_module_hash", &chunked::wasm_module_hash, blob_form(in)),
       bound("arg", &chunked::arg, blob_form(in)),
       bound("sender_canister_version", &chunked::sender_canister_version, version)}),
    nothing()};
  upload_chunk = {record_of<upload_chunk_args>(
                    in, "upload_chunk_args",
                    {bound("canister_id", &upload_chunk_args::canister_id, principal_form()),
                     bound("chunk", &upload_chunk_args::chunk, blob_form(in))}),
                  hash};
  using versioned = versioned_canister_args;
  uninstall_code = {
    record_of<versioned>(
      in, "uninstall_code_args",
      {bound("canister_id", &versioned::canister_id, principal_form()),
       bound("sender_canister_version", &versioned::sender_canister_version, version)}),
    nothing()};
  canister_ = record_of<canister_args>(
    in, "canister_args", {bound("canister_id", &canister_args::canister_id, principal_form())});
  clear_chunk_store = start_canister = stop_canister = delete_canister =
    deposit_cycles = {canister_, nothing()};
  stored_chunks = {canister_, vec_of(in, hash)};
}

method_types::method_types() {
  declarations in;
  raw_rand = {nothing(), blob_form(in)};
  declare_settings(in);
  declare_code(in);
  declare_status(in);
  declare_history(in);
  declare_snapshots(in);
  declare_outcalls(in);
  declare_keys(in);
  declare_node(in);
  // What a transform takes and gives is no method of ours, but is read and written as one.
  declarations called;
  called.types() = in.types();
  called.add_method("transform", {}, {transform.args}, {transform.reply}, candid::query);
  transform_service = called.service();
  declare_methods(in);
  service = in.service();
  text_ = in.text();
}

std::string method_types::text() const {
  return "// The management canister `aaaaa-aa`, beside the device's methods "
         "(device/interface.did).\n"
         "// Types are those of the Internet Computer's interface.\n\n"
         + text_;
}

const method_types& method_types::get() {
  static const method_types made;
  return made;
}

void method_types::declare_methods(declarations& in) const {
  const auto add = [&in](std::string_view name, const auto& form, uint8_t annotations = 0) {
    const auto items = [](const auto& one) -> std::vector<typed_text> {
      if (one.text.empty()) return {};
      return {one};
    };
    in.add_method(name, {}, items(form.args), items(form.reply), annotations);
  };
  add("create_canister", create_canister);
  add("update_settings", update_settings);
  add("upload_chunk", upload_chunk);
  add("clear_chunk_store", clear_chunk_store);
  add("stored_chunks", stored_chunks);
  add("install_code", install_code);
  add("install_chunked_code", install_chunked_code);
  add("uninstall_code", uninstall_code);
  add("start_canister", start_canister);
  add("stop_canister", stop_canister);
  add("canister_status", canister_status, candid::query);
  add("delete_canister", delete_canister);
  add("deposit_cycles", deposit_cycles);
  add("raw_rand", raw_rand);
  add("http_request", http_request);
  add("canister_info", canister_info);
  add("canister_metadata", canister_metadata);
  add("ecdsa_public_key", ecdsa_public_key);
  add("sign_with_ecdsa", sign_with_ecdsa);
  add("schnorr_public_key", schnorr_public_key);
  add("sign_with_schnorr", sign_with_schnorr);
  add("node_metrics_history", node_metrics_history);
  add("subnet_info", subnet_info);
  add("provisional_create_canister_with_cycles", provisional_create);
  add("provisional_top_up_canister", provisional_top_up);
  add("take_canister_snapshot", take_snapshot);
  add("load_canister_snapshot", load_snapshot);
  add("list_canister_snapshots", list_snapshots);
  add("delete_canister_snapshot", delete_snapshot);
  add("fetch_canister_logs", fetch_canister_logs, candid::query);
  add("list_canisters", list_canisters, candid::query);
}

} // namespace moxzi::actors::management
