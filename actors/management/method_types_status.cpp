#include <utility>

#include "actors/management/forms.hpp"
#include "actors/management/method_types.hpp"

// What is said about canisters: their status, history, sections, logs and snapshots.

namespace moxzi::actors::management {

namespace {

form<memory_metrics> memory_form(declarations& in) {
  using sizes = memory_metrics;
  return record_of<sizes>(
    in, "memory_metrics",
    {bound("wasm_memory_size", &sizes::wasm_memory_size, nat_form()),
     bound("stable_memory_size", &sizes::stable_memory_size, nat_form()),
     bound("global_memory_size", &sizes::global_memory_size, nat_form()),
     bound("wasm_binary_size", &sizes::wasm_binary_size, nat_form()),
     bound("custom_sections_size", &sizes::custom_sections_size, nat_form()),
     bound("canister_history_size", &sizes::canister_history_size, nat_form()),
     bound("wasm_chunk_store_size", &sizes::wasm_chunk_store_size, nat_form()),
     bound("snapshots_size", &sizes::snapshots_size, nat_form()),
     bound("log_memory_store_size", &sizes::log_memory_store_size, nat_form())});
}

form<query_stats> queries_form(declarations& in) {
  using stats = query_stats;
  return record_of<stats>(
    in, "query_stats",
    {bound("num_calls_total", &stats::num_calls_total, nat_form()),
     bound("num_instructions_total", &stats::num_instructions_total, nat_form()),
     bound("request_payload_bytes_total", &stats::request_payload_bytes_total, nat_form()),
     bound("response_payload_bytes_total", &stats::response_payload_bytes_total, nat_form())});
}

form<change_origin> origin_form(declarations& in) {
  const auto user =
    record_of<change_origin>(in, {}, {bound("user_id", &change_origin::id, principal_form())});
  const auto canister = record_of<change_origin>(
    in, {},
    {bound("canister_id", &change_origin::id, principal_form()),
     bound("canister_version", &change_origin::canister_version, opt_of(in, nat64_form()))});
  const auto one = [](std::string_view name, const form<change_origin>& how, bool is_canister) {
    return choice<change_origin>{
      std::string{name},
      how,
      [from = how.read, is_canister](candid::value v) {
        auto origin = from(std::move(v));
        origin.is_canister = is_canister;
        return origin;
      },
      [is_canister](const change_origin& x) { return x.is_canister == is_canister; },
      how.append,
      {}};
  };
  return variant_of<change_origin>(
    in, "change_origin", {one("from_user", user, false), one("from_canister", canister, true)});
}

/// Snapshots are only ever taken from a canister; the other tag is there for readers.
form<std::monostate> source_form(declarations& in) {
  const auto one = [](std::string_view name, bool is_ours) {
    return choice<std::monostate>{std::string{name},
                                  candid::reserved_form(),
                                  [](candid::value) { return std::monostate{}; },
                                  [is_ours](const std::monostate&) { return is_ours; },
                                  [](writer&, const std::monostate&) {},
                                  {}};
  };
  return variant_of<std::monostate>(
    in, {}, {one("taken_from_canister", true), one("metadata_upload", false)});
}

form<rename_change> rename_form(declarations& in) {
  const auto target = record_of<rename_target>(
    in, {},
    {bound("canister_id", &rename_target::canister_id, principal_form()),
     bound("version", &rename_target::version, nat64_form()),
     bound("total_num_changes", &rename_target::total_num_changes, nat64_form())});
  return record_of<rename_change>(
    in, {},
    {bound("canister_id", &rename_change::canister_id, principal_form()),
     bound("total_num_changes", &rename_change::total_num_changes, nat64_form()),
     bound("rename_to", &rename_change::rename_to, target),
     bound("requested_by", &rename_change::requested_by, principal_form())});
}

form<change_details> details_form(declarations& in) {
  const auto controllers = vec_of(in, principal_form());
  const auto creation = record_of<creation_change>(
    in, {},
    {bound("controllers", &creation_change::controllers, controllers),
     bound("environment_variables_hash", &creation_change::environment_variables_hash,
           opt_of(in, blob_form(in)))});
  const auto mode = enum_of<install_kind>(in, {},
                                          {{"install", install_kind::install},
                                           {"reinstall", install_kind::reinstall},
                                           {"upgrade", install_kind::upgrade}});
  const auto deployment = record_of<deployment_change>(
    in, {},
    {bound("mode", &deployment_change::mode, mode),
     bound("module_hash", &deployment_change::module_hash, blob_form(in))});
  const auto load = record_of<snapshot_change>(
    in, {},
    {bound("from_canister_id", &snapshot_change::from_canister_id, opt_of(in, principal_form())),
     bound("snapshot_id", &snapshot_change::snapshot_id, blob_form(in)),
     bound("canister_version", &snapshot_change::canister_version, nat64_form()),
     bound("taken_at_timestamp", &snapshot_change::taken_at_timestamp, nat64_form()),
     bound("source", &snapshot_change::source, source_form(in))});
  const auto changed = record_of<controllers_change>(
    in, {}, {bound("controllers", &controllers_change::controllers, controllers)});
  const choice<change_details> uninstall{
    "code_uninstall",
    std::nullopt,
    [](candid::value) { return change_details{uninstall_change{}}; },
    [](const change_details& x) { return std::holds_alternative<uninstall_change>(x); },
    [](writer&, const change_details&) {},
    {}};
  return variant_of<change_details>(
    in, "change_details",
    {alternative<change_details>("creation", creation), uninstall,
     alternative<change_details>("code_deployment", deployment),
     alternative<change_details>("load_snapshot", load),
     alternative<change_details>("controllers_change", changed),
     alternative<change_details>("rename_canister", rename_form(in))});
}

form<log_filter> filter_form(declarations& in) {
  const auto range = record_of<number_range>(in, {},
                                             {bound("start", &number_range::start, nat64_form()),
                                              bound("end", &number_range::end, nat64_form())});
  const auto one = [&range](std::string_view name, bool by_time) {
    return choice<log_filter>{
      std::string{name},
      range,
      [from = range.read, by_time](candid::value v) {
        return log_filter{by_time, from(std::move(v))};
      },
      [by_time](const log_filter& x) { return x.by_time == by_time; },
      [to = range.append](writer& out, const log_filter& x) { to(out, x.range); },
      {}};
  };
  return variant_of<log_filter>(in, {}, {one("by_idx", false), one("by_timestamp_nanos", true)});
}

} // namespace

void method_types::declare_status(declarations& in) {
  using reply = canister_status_reply;
  const auto state = enum_of<run_state>(in, {},
                                        {{"running", run_state::running},
                                         {"stopping", run_state::stopping},
                                         {"stopped", run_state::stopped}});
  canister_status = {
    canister_,
    record_of<reply>(
      in, "canister_status_result",
      {bound("status", &reply::status, state),
       bound("ready_for_migration", &reply::ready_for_migration, boolean_form()),
       bound("version", &reply::version, nat64_form()),
       bound("settings", &reply::settings, definite_settings_),
       bound("module_hash", &reply::module_hash, opt_of(in, blob_form(in))),
       bound("memory_size", &reply::memory_size, nat_form()),
       bound("memory_metrics", &reply::memory_metrics, memory_form(in)),
       bound("cycles", &reply::cycles, nat_form()),
       bound("reserved_cycles", &reply::reserved_cycles, nat_form()),
       bound("idle_cycles_burned_per_day", &reply::idle_cycles_burned_per_day, nat_form()),
       bound("query_stats", &reply::query_stats, queries_form(in))})};
}

void method_types::declare_history(declarations& in) {
  const auto entry = record_of<change_entry>(
    in, "change",
    {bound("timestamp_nanos", &change_entry::timestamp_nanos, nat64_form()),
     bound("canister_version", &change_entry::canister_version, nat64_form()),
     bound("origin", &change_entry::origin, origin_form(in)),
     bound("details", &change_entry::details, details_form(in))});
  using info = canister_info_reply;
  canister_info = {
    record_of<canister_info_args>(
      in, "canister_info_args",
      {bound("canister_id", &canister_info_args::canister_id, principal_form()),
       bound("num_requested_changes", &canister_info_args::num_requested_changes,
             opt_of(in, nat64_form()))}),
    record_of<info>(in, "canister_info_result",
                    {bound("total_num_changes", &info::total_num_changes, nat64_form()),
                     bound("recent_changes", &info::recent_changes, vec_of(in, entry)),
                     bound("module_hash", &info::module_hash, opt_of(in, blob_form(in))),
                     bound("controllers", &info::controllers, vec_of(in, principal_form()))})};
  canister_metadata = {
    record_of<canister_metadata_args>(
      in, "canister_metadata_args",
      {bound("canister_id", &canister_metadata_args::canister_id, principal_form()),
       bound("name", &canister_metadata_args::name, text_form())}),
    record_of<canister_metadata_reply>(
      in, "canister_metadata_result",
      {bound("value", &canister_metadata_reply::value, blob_form(in))})};
  const auto line = record_of<canister_log_record>(
    in, "canister_log_record",
    {bound("idx", &canister_log_record::idx, nat64_form()),
     bound("timestamp_nanos", &canister_log_record::timestamp_nanos, nat64_form()),
     bound("content", &canister_log_record::content, blob_form(in))});
  fetch_canister_logs = {
    record_of<fetch_canister_logs_args>(
      in, "fetch_canister_logs_args",
      {bound("canister_id", &fetch_canister_logs_args::canister_id, principal_form()),
       bound("filter", &fetch_canister_logs_args::filter, opt_of(in, filter_form(in)))}),
    record_of<fetch_canister_logs_reply>(
      in, "fetch_canister_logs_result",
      {bound("canister_log_records", &fetch_canister_logs_reply::canister_log_records,
             vec_of(in, line))})};
}

void method_types::declare_snapshots(declarations& in) {
  const auto id = blob_form(in);
  const auto version = opt_of(in, nat64_form());
  const auto entry = record_of<snapshot_entry>(
    in, "snapshot",
    {bound("id", &snapshot_entry::id, id),
     bound("taken_at_timestamp", &snapshot_entry::taken_at_timestamp, nat64_form()),
     bound("total_size", &snapshot_entry::total_size, nat64_form())});
  using take = take_snapshot_args;
  take_snapshot = {
    record_of<take>(in, "take_canister_snapshot_args",
                    {bound("canister_id", &take::canister_id, principal_form()),
                     bound("replace_snapshot", &take::replace_snapshot, opt_of(in, id)),
                     bound("uninstall_code", &take::uninstall_code, opt_of(in, boolean_form())),
                     bound("sender_canister_version", &take::sender_canister_version, version)}),
    entry};
  using load = load_snapshot_args;
  load_snapshot = {
    record_of<load>(in, "load_canister_snapshot_args",
                    {bound("canister_id", &load::canister_id, principal_form()),
                     bound("snapshot_id", &load::snapshot_id, id),
                     bound("sender_canister_version", &load::sender_canister_version, version)}),
    {}};
  list_snapshots = {canister_, vec_of(in, entry)};
  delete_snapshot = {record_of<delete_snapshot_args>(
                       in, "delete_canister_snapshot_args",
                       {bound("canister_id", &delete_snapshot_args::canister_id, principal_form()),
                        bound("snapshot_id", &delete_snapshot_args::snapshot_id, id)}),
                     {}};
}

} // namespace moxzi::actors::management
