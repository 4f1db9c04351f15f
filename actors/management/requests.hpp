#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/candid/integer.hpp"
#include "actors/candid/value.hpp"
#include "actors/principal.hpp"
#include "base/bytes.hpp"

/// The arguments of the management canister's methods, as they were sent: nothing is checked yet.
/// Names are those of the Internet Computer's interface.
namespace moxzi::actors::management {

using candid::integer;

/// Who may see something beside the controllers.
struct visibility {
  enum class kind : uint8_t { controllers, everyone, allowed_viewers };
  kind who = kind::controllers;
  std::vector<principal> viewers; ///< with `allowed_viewers`
  bool operator==(const visibility&) const = default;
};

struct environment_variable {
  std::string name;
  std::string value;
};

struct canister_settings {
  std::optional<std::vector<principal>> controllers;
  std::optional<integer> compute_allocation;
  std::optional<integer> memory_allocation;
  std::optional<integer> freezing_threshold;
  std::optional<integer> reserved_cycles_limit;
  std::optional<integer> minimum_incoming_canister_call_cycles;
  std::optional<visibility> log_visibility;
  std::optional<integer> log_memory_limit;
  std::optional<visibility> snapshot_visibility;
  std::optional<visibility> status_visibility;
  std::optional<integer> wasm_memory_limit;
  std::optional<integer> wasm_memory_threshold;
  std::optional<std::vector<environment_variable>> environment_variables;
};

struct create_canister_args {
  std::optional<canister_settings> settings;
  std::optional<uint64_t> sender_canister_version;
};

/// `provisional_create_canister_with_cycles`.
struct provisional_create_args {
  std::optional<integer> amount;
  std::optional<canister_settings> settings;
  std::optional<principal> specified_id;
  std::optional<uint64_t> sender_canister_version;
};

/// `provisional_top_up_canister`.
struct provisional_top_up_args {
  principal canister_id;
  integer amount;
};

struct update_settings_args {
  principal canister_id;
  canister_settings settings;
  std::optional<uint64_t> sender_canister_version;
};

/// The argument of every method that takes a canister and nothing else.
struct canister_args {
  principal canister_id;
};

/// The same, from a sender who says at which version it is.
struct versioned_canister_args {
  principal canister_id;
  std::optional<uint64_t> sender_canister_version;
};

enum class install_kind : uint8_t { install, reinstall, upgrade };
enum class memory_persistence : uint8_t { keep, replace };

struct upgrade_flags {
  std::optional<bool> skip_pre_upgrade;
  std::optional<memory_persistence> wasm_memory_persistence;
};

struct canister_install_mode {
  install_kind kind = install_kind::install;
  std::optional<upgrade_flags> flags; ///< of an upgrade
};

struct install_code_args {
  canister_install_mode mode;
  principal canister_id;
  byte_string wasm_module;
  byte_string arg;
  std::optional<uint64_t> sender_canister_version;
};

struct chunk_hash {
  byte_string hash;
};

struct install_chunked_code_args {
  canister_install_mode mode;
  principal target_canister;
  std::optional<principal> store_canister;
  std::vector<chunk_hash> chunk_hashes_list;
  byte_string wasm_module_hash;
  byte_string arg;
  std::optional<uint64_t> sender_canister_version;
};

struct upload_chunk_args {
  principal canister_id;
  byte_string chunk;
};

struct canister_info_args {
  principal canister_id;
  std::optional<uint64_t> num_requested_changes;
};

struct canister_metadata_args {
  principal canister_id;
  std::string name;
};

/// Numbers from `start` on, below `end`.
struct number_range {
  uint64_t start = 0;
  uint64_t end = 0;
};

struct log_filter {
  bool by_time = false; ///< else by number
  number_range range;
};

struct fetch_canister_logs_args {
  principal canister_id;
  std::optional<log_filter> filter;
};

struct take_snapshot_args {
  principal canister_id;
  std::optional<byte_string> replace_snapshot;
  std::optional<bool> uninstall_code;
  std::optional<uint64_t> sender_canister_version;
};

struct load_snapshot_args {
  principal canister_id;
  byte_string snapshot_id;
  std::optional<uint64_t> sender_canister_version;
};

struct delete_snapshot_args {
  principal canister_id;
  byte_string snapshot_id;
};

struct http_header {
  std::string name;
  std::string value;
};

enum class http_method : uint8_t { get, head, post, put, remove, patch };

struct http_transform {
  candid::value::func_ref function;
  byte_string context;
};

struct http_request_args {
  std::string url;
  std::optional<uint64_t> max_response_bytes;
  http_method method = http_method::get;
  std::vector<http_header> headers;
  std::optional<byte_string> body;
  std::optional<http_transform> transform;
  std::optional<bool> is_replicated;
};

enum class ecdsa_curve : uint8_t { secp256k1 };
enum class schnorr_algorithm : uint8_t { bip340secp256k1, ed25519 };

struct ecdsa_key_id {
  ecdsa_curve curve = ecdsa_curve::secp256k1;
  std::string name;
};

struct schnorr_key_id {
  schnorr_algorithm algorithm = schnorr_algorithm::bip340secp256k1;
  std::string name;
};

struct ecdsa_public_key_args {
  std::optional<principal> canister_id;
  std::vector<byte_string> derivation_path;
  ecdsa_key_id key_id;
};

struct sign_with_ecdsa_args {
  byte_string message_hash;
  std::vector<byte_string> derivation_path;
  ecdsa_key_id key_id;
};

struct schnorr_public_key_args {
  std::optional<principal> canister_id;
  std::vector<byte_string> derivation_path;
  schnorr_key_id key_id;
};

/// `bip341`, the only one.
struct schnorr_aux {
  byte_string merkle_root_hash;
};

struct sign_with_schnorr_args {
  byte_string message;
  std::vector<byte_string> derivation_path;
  schnorr_key_id key_id;
  std::optional<schnorr_aux> aux;
};

struct node_metrics_history_args {
  principal subnet_id;
  uint64_t start_at_timestamp_nanos = 0;
};

struct subnet_info_args {
  principal subnet_id;
};

} // namespace moxzi::actors::management
