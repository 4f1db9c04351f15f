#include <map>
#include <set>
#include <string>
#include <utility>

#include "actors/management/management.hpp"
#include "actors/management/numbers.hpp"
#include "actors/management/settings.hpp"
#include "base/limits.hpp"

// What is said about canisters: status, history, sections, logs, snapshots, and which there are.

namespace moxzi::actors::management {

namespace {

byte_string to_bytes(const sha256_hash& hash) {
  return byte_string{as_bytes(hash)};
}

std::optional<byte_string> to_bytes(const std::optional<sha256_hash>& hash) {
  if (!hash) return std::nullopt;
  return to_bytes(*hash);
}

run_state to_reply(lifecycle::run_status run) noexcept {
  switch (run) {
    case lifecycle::run_status::stopping:
      return run_state::stopping;
    case lifecycle::run_status::stopped:
      return run_state::stopped;
    default:
      return run_state::running;
  }
}

canister_status_reply to_reply(const lifecycle::status& now, uint64_t chunk_bytes) {
  canister_status_reply out;
  out.status = to_reply(now.run);
  out.ready_for_migration = false; // nowhere to go to
  out.version = now.version;
  out.settings = management::to_reply(now.current);
  out.module_hash = to_bytes(now.module_hash);
  auto& memory = out.memory_metrics;
  memory.wasm_memory_size = to_integer(now.heap_bytes);
  memory.stable_memory_size = to_integer(now.stable_bytes);
  memory.global_memory_size = to_integer(now.code.global_bytes);
  memory.wasm_binary_size = to_integer(now.code.module_bytes);
  memory.custom_sections_size = to_integer(now.code.section_bytes);
  memory.canister_history_size = to_integer(now.history_bytes);
  memory.wasm_chunk_store_size = to_integer(chunk_bytes);
  memory.snapshots_size = to_integer(now.snapshot_bytes);
  memory.log_memory_store_size = to_integer(now.log_bytes);
  out.memory_size = to_integer(now.heap_bytes + now.stable_bytes + now.code.global_bytes
                               + now.code.module_bytes + now.code.section_bytes + now.history_bytes
                               + chunk_bytes + now.snapshot_bytes + now.log_bytes);
  out.cycles = to_integer(now.balance);
  auto& queries = out.query_stats;
  queries.num_calls_total = to_integer(now.counts.queries);
  queries.num_instructions_total = to_integer(now.counts.query_instructions);
  queries.request_payload_bytes_total = to_integer(now.counts.query_bytes_in);
  queries.response_payload_bytes_total = to_integer(now.counts.query_bytes_out);
  return out;
}

/// Principals of actors end with the byte of the opaque class.
bool is_canister(const principal& who) noexcept {
  return !who.bytes().empty() && who.bytes().back() == '\1';
}

/// The representation-independent hash of a map (Internet Computer interface specification, "Hash
/// of map").
std::optional<byte_string> hash_of(const std::map<std::string, std::string>& map) {
  if (map.empty()) return std::nullopt;
  std::set<byte_string> pairs;
  for (const auto& [name, value] : map)
    pairs.insert(to_bytes(sha256(name)) + to_bytes(sha256(value)));
  byte_string all;
  for (const auto& pair : pairs) all += pair;
  return to_bytes(sha256(all));
}

change_details details_of(const lifecycle::change& from) {
  using kind = lifecycle::change::kind;
  switch (from.what) {
    case kind::creation:
      return creation_change{from.controllers, hash_of(from.environment)};
    case kind::controllers:
      return controllers_change{from.controllers};
    case kind::install:
      return deployment_change{install_kind::install, to_bytes(from.module_hash)};
    case kind::reinstall:
      return deployment_change{install_kind::reinstall, to_bytes(from.module_hash)};
    case kind::upgrade:
      return deployment_change{install_kind::upgrade, to_bytes(from.module_hash)};
    case kind::load:
      return snapshot_change{
        std::nullopt, from.snapshot.id, from.snapshot.version, from.snapshot.time_ns, {}};
    default:
      return uninstall_change{};
  }
}

change_entry to_reply(const lifecycle::change& from) {
  return {from.time_ns,
          from.version,
          {is_canister(from.origin), from.origin, from.origin_version},
          details_of(from)};
}

snapshot_entry to_reply(const lifecycle::snapshot& from) {
  return {from.id, from.time_ns, from.bytes};
}

bool holds(const std::optional<log_filter>& filter, const lifecycle::log_line& line) noexcept {
  if (!filter) return true;
  const auto at = filter->by_time ? line.time_ns : line.number;
  return at >= filter->range.start && at < filter->range.end;
}

} // namespace

void management_state::show_status(const call_ptr& call, const canister_args& args) {
  ask(args.canister_id, call->caller(), lifecycle::read_status{},
      [this, call, id = args.canister_id](managed& got) {
        if (const auto* why = std::get_if<rejection>(&got.answer)) return refuse(call, *why);
        reply(call, method_types::get().canister_status.reply,
              to_reply(std::get<lifecycle::status>(got.answer), chunks_.bytes(id)));
      });
}

void management_state::show_info(const call_ptr& call, const canister_info_args& args) {
  ask(args.canister_id, call->caller(),
      lifecycle::read_info{args.num_requested_changes.value_or(0)}, [this, call](managed& got) {
        if (const auto* why = std::get_if<rejection>(&got.answer)) return refuse(call, *why);
        const auto& from = std::get<lifecycle::info>(got.answer);
        canister_info_reply out;
        out.total_num_changes = from.changes;
        for (const auto& one : from.latest) out.recent_changes.push_back(to_reply(one));
        out.module_hash = to_bytes(from.module_hash);
        out.controllers = from.controllers;
        reply(call, method_types::get().canister_info.reply, out);
      });
}

void management_state::show_metadata(const call_ptr& call, canister_metadata_args args) {
  ask(args.canister_id, call->caller(), lifecycle::read_metadata{std::move(args.name)},
      [this, call](managed& got) {
        if (const auto* why = std::get_if<rejection>(&got.answer)) return refuse(call, *why);
        reply(call, method_types::get().canister_metadata.reply,
              {std::get<lifecycle::metadata>(got.answer).contents});
      });
}

void management_state::show_logs(const call_ptr& call, const fetch_canister_logs_args& args) {
  const auto filter = args.filter;
  const auto from = filter && !filter->by_time ? filter->range.start : 0;
  ask(args.canister_id, call->caller(), lifecycle::read_log{from},
      [this, call, filter](managed& got) {
        if (const auto* why = std::get_if<rejection>(&got.answer)) return refuse(call, *why);
        fetch_canister_logs_reply out;
        for (auto& line : std::get<std::vector<lifecycle::log_line>>(got.answer)) {
          if (!holds(filter, line)) continue;
          out.canister_log_records.push_back({line.number, line.time_ns, std::move(line.text)});
        }
        reply(call, method_types::get().fetch_canister_logs.reply, out);
      });
}

// -- snapshots ----------------------------------------------------------------

void management_state::take_snapshot(const call_ptr& call, const take_snapshot_args& args) {
  const bool uninstalls = args.uninstall_code.value_or(false);
  ask(
    args.canister_id, call->caller(), lifecycle::take_snapshot{args.replace_snapshot, uninstalls},
    [this, call, uninstalls, id = args.canister_id](managed& got) {
      if (const auto* why = std::get_if<rejection>(&got.answer)) return refuse(call, *why);
      if (uninstalls) chunks_.clear(id);
      reply(call, method_types::get().take_snapshot.reply,
            to_reply(std::get<std::vector<lifecycle::snapshot>>(got.answer).front()));
    },
    call->sender_version);
}

void management_state::load_snapshot(const call_ptr& call, const load_snapshot_args& args) {
  ask_to(call, args.canister_id, lifecycle::load_snapshot{args.snapshot_id});
}

void management_state::delete_snapshot(const call_ptr& call, const delete_snapshot_args& args) {
  ask_to(call, args.canister_id, lifecycle::delete_snapshot{args.snapshot_id});
}

void management_state::list_snapshots(const call_ptr& call, const canister_args& args) {
  ask(args.canister_id, call->caller(), lifecycle::list_snapshots{}, [this, call](managed& got) {
    if (const auto* why = std::get_if<rejection>(&got.answer)) return refuse(call, *why);
    std::vector<snapshot_entry> out;
    for (const auto& one : std::get<std::vector<lifecycle::snapshot>>(got.answer)) {
      out.push_back(to_reply(one));
    }
    reply(call, method_types::get().list_snapshots.reply, out);
  });
}

// -- which there are ----------------------------------------------------------

void management_state::list_canisters(const call_ptr& call) {
  self_->request(supervisor_, std::chrono::milliseconds{limits::list_timeout_ms}, list_atom::value)
    .then(
      [this, call](const actor_list& all) {
        list_canisters_reply out;
        // No two principals follow each other closely enough to make a range of more than one.
        for (const auto& [_, id] : all.entries) out.canisters.push_back({id, id});
        reply(call, method_types::get().list_canisters.reply, out);
      },
      [this, call](const caf::error&) {
        refuse(call, rejected(reject_code::sys_transient, "MX201",
                              "list_canisters: the node did not answer; ask again later"));
      });
}

} // namespace moxzi::actors::management
