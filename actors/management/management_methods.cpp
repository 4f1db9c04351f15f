#include "actors/management/management_methods.hpp"

#include <algorithm>
#include <type_traits>

#include "actors/candid/decode.hpp"
#include "actors/management/management.hpp"

namespace moxzi::actors::management {

namespace {

using types = method_types;
using state = management_state;

/// Reads the argument at the type that the method's form has, and hands it to the handler.
template <auto Form, auto Handler>
result<void> run(state& self, const call_ptr& call) {
  const auto& all = types::get();
  const auto& form = all.*Form;
  const auto* method = all.service.find(call->method());
  auto values = candid::decode(call->what.request.argument, method->arguments);
  if (!values) return values.error();
  if constexpr (std::is_invocable_v<decltype(Handler), state&, const call_ptr&>) {
    (self.*Handler)(call);
  } else {
    auto args = form.args.read(std::move(values->front()));
    if constexpr (requires { args.sender_canister_version; }) {
      if (!self.is_version(call, args.sender_canister_version)) return {};
    }
    (self.*Handler)(call, std::move(args));
  }
  return {};
}

using enum caller_rule;

constexpr method_row rows[] = {
  {"create_canister", anyone, run<&types::create_canister, &state::create_canister>},
  {"update_settings", controllers, run<&types::update_settings, &state::update_settings>},
  {"upload_chunk", controllers_or_self, run<&types::upload_chunk, &state::upload_chunk>},
  {"clear_chunk_store", controllers_or_self,
   run<&types::clear_chunk_store, &state::clear_chunk_store>},
  {"stored_chunks", controllers_or_self, run<&types::stored_chunks, &state::list_chunks>},
  {"install_code", controllers, run<&types::install_code, &state::install_code>},
  {"install_chunked_code", controllers,
   run<&types::install_chunked_code, &state::install_chunked_code>},
  {"uninstall_code", controllers, run<&types::uninstall_code, &state::uninstall_code>},
  {"start_canister", controllers, run<&types::start_canister, &state::start_canister>},
  {"stop_canister", controllers, run<&types::stop_canister, &state::stop_canister>},
  {"canister_status", status_viewers, run<&types::canister_status, &state::show_status>},
  {"delete_canister", controllers, run<&types::delete_canister, &state::delete_canister>},
  {"deposit_cycles", anyone, run<&types::deposit_cycles, &state::deposit_cycles>},
  {"raw_rand", anyone, run<&types::raw_rand, &state::give_randomness>},
  {"http_request", anyone, run<&types::http_request, &state::make_outcall>},
  {"canister_info", anyone, run<&types::canister_info, &state::show_info>},
  {"canister_metadata", metadata_readers, run<&types::canister_metadata, &state::show_metadata>},
  {"ecdsa_public_key", anyone, run<&types::ecdsa_public_key, &state::show_ecdsa_key>},
  {"sign_with_ecdsa", anyone, run<&types::sign_with_ecdsa, &state::sign_ecdsa>},
  {"schnorr_public_key", anyone, run<&types::schnorr_public_key, &state::show_schnorr_key>},
  {"sign_with_schnorr", anyone, run<&types::sign_with_schnorr, &state::sign_schnorr>},
  {"node_metrics_history", anyone, run<&types::node_metrics_history, &state::show_node_metrics>},
  {"subnet_info", anyone, run<&types::subnet_info, &state::show_subnet>},
  {"provisional_create_canister_with_cycles", anyone,
   run<&types::provisional_create, &state::create_provisional>},
  {"provisional_top_up_canister", anyone,
   run<&types::provisional_top_up, &state::top_up_provisional>},
  {"take_canister_snapshot", controllers, run<&types::take_snapshot, &state::take_snapshot>},
  {"load_canister_snapshot", controllers, run<&types::load_snapshot, &state::load_snapshot>},
  {"list_canister_snapshots", snapshot_viewers,
   run<&types::list_snapshots, &state::list_snapshots>},
  {"delete_canister_snapshot", controllers, run<&types::delete_snapshot, &state::delete_snapshot>},
  {"fetch_canister_logs", log_viewers, run<&types::fetch_canister_logs, &state::show_logs>},
  {"list_canisters", anyone, run<&types::list_canisters, &state::list_canisters>},
};

} // namespace

std::string_view text_of(caller_rule rule) noexcept {
  switch (rule) {
    case controllers:
      return "controllers";
    case controllers_or_self:
      return "controllers, and the canister itself";
    case status_viewers:
      return "controllers, the canister itself, and whom `status_visibility` admits";
    case snapshot_viewers:
      return "controllers, and whom `snapshot_visibility` admits";
    case metadata_readers:
      return "anyone for public sections, controllers for private ones";
    case log_viewers:
      return "controllers, and whom `log_visibility` admits";
    default:
      return "anyone";
  }
}

std::span<const method_row> method_rows() noexcept {
  return rows;
}

const method_row* find_method(std::string_view name) noexcept {
  const auto* at = std::ranges::find(rows, name, &method_row::name);
  return at == std::end(rows) ? nullptr : at;
}

} // namespace moxzi::actors::management
