#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/management/requests.hpp"

/// What the management canister's methods reply. Names are those of the Internet Computer's
/// interface.
namespace moxzi::actors::management {

/// The reply of the methods that make a canister.
struct canister_id_reply {
  principal canister_id;
};

struct definite_canister_settings {
  std::vector<principal> controllers;
  integer compute_allocation;
  integer memory_allocation;
  integer freezing_threshold;
  integer reserved_cycles_limit;
  integer minimum_incoming_canister_call_cycles;
  visibility log_visibility;
  integer log_memory_limit;
  visibility snapshot_visibility;
  visibility status_visibility;
  integer wasm_memory_limit;
  integer wasm_memory_threshold;
  std::vector<environment_variable> environment_variables;
};

enum class run_state : uint8_t { running, stopping, stopped };

struct memory_metrics {
  integer wasm_memory_size;
  integer stable_memory_size;
  integer global_memory_size;
  integer wasm_binary_size;
  integer custom_sections_size;
  integer canister_history_size;
  integer wasm_chunk_store_size;
  integer snapshots_size;
  integer log_memory_store_size;
};

struct query_stats {
  integer num_calls_total;
  integer num_instructions_total;
  integer request_payload_bytes_total;
  integer response_payload_bytes_total;
};

struct canister_status_reply {
  run_state status = run_state::running;
  bool ready_for_migration = false;
  uint64_t version = 0;
  definite_canister_settings settings;
  std::optional<byte_string> module_hash;
  integer memory_size;
  management::memory_metrics memory_metrics;
  integer cycles;
  integer reserved_cycles;
  integer idle_cycles_burned_per_day;
  management::query_stats query_stats;
};

struct change_origin {
  bool is_canister = false; ///< else a user
  principal id;
  std::optional<uint64_t> canister_version; ///< of a canister
};

/// Alternatives of `change_details`.
struct creation_change {
  std::vector<principal> controllers;
  std::optional<byte_string> environment_variables_hash;
};
struct uninstall_change {};
struct deployment_change {
  install_kind mode = install_kind::install;
  byte_string module_hash;
};
struct snapshot_change {
  std::optional<principal> from_canister_id;
  byte_string snapshot_id;
  uint64_t canister_version = 0;
  uint64_t taken_at_timestamp = 0;
  std::monostate source; ///< always taken from a canister
};
struct controllers_change {
  std::vector<principal> controllers;
};
/// Never made here: ids stay what they are.
struct rename_target {
  principal canister_id;
  uint64_t version = 0;
  uint64_t total_num_changes = 0;
};
struct rename_change {
  principal canister_id;
  uint64_t total_num_changes = 0;
  rename_target rename_to;
  principal requested_by;
};
using change_details = std::variant<creation_change, uninstall_change, deployment_change,
                                    snapshot_change, controllers_change, rename_change>;

struct change_entry {
  uint64_t timestamp_nanos = 0;
  uint64_t canister_version = 0;
  change_origin origin;
  change_details details;
};

struct canister_info_reply {
  uint64_t total_num_changes = 0;
  std::vector<change_entry> recent_changes;
  std::optional<byte_string> module_hash;
  std::vector<principal> controllers;
};

struct canister_metadata_reply {
  byte_string value;
};

struct canister_log_record {
  uint64_t idx = 0;
  uint64_t timestamp_nanos = 0;
  byte_string content;
};

struct fetch_canister_logs_reply {
  std::vector<canister_log_record> canister_log_records;
};

struct snapshot_entry {
  byte_string id;
  uint64_t taken_at_timestamp = 0;
  uint64_t total_size = 0;
};

struct http_request_reply {
  integer status;
  std::vector<http_header> headers;
  byte_string body;
};

/// What a transform function is given.
struct transform_args {
  http_request_reply response;
  byte_string context;
};

struct public_key_reply {
  byte_string public_key;
  byte_string chain_code;
};

struct signature_reply {
  byte_string signature;
};

struct node_metrics {
  principal node_id;
  uint64_t num_blocks_proposed_total = 0;
  uint64_t num_block_failures_total = 0;
};

struct node_metrics_entry {
  uint64_t timestamp_nanos = 0;
  std::vector<management::node_metrics> node_metrics;
};

struct subnet_info_reply {
  std::string replica_version;
  uint64_t registry_version = 0;
};

struct canister_id_range {
  principal start;
  principal end; ///< within the range
};

struct list_canisters_reply {
  std::vector<canister_id_range> canisters;
};

} // namespace moxzi::actors::management
