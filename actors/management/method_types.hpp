#pragma once

#include <string>
#include <variant>
#include <vector>

#include "actors/candid/binding.hpp"
#include "actors/candid/interface.hpp"
#include "actors/management/replies.hpp"
#include "actors/management/requests.hpp"

namespace moxzi::actors::management {

/// A method's types. `args` and `reply` may be `no_value`.
template <class Args, class Reply>
struct method_form {
  candid::form<Args> args;
  candid::form<Reply> reply;
};

/// Stands for no argument, or no result.
using no_value = std::monostate;

/// The types of the management canister's methods beside the device's: those of the Internet
/// Computer's public interface description (`ic.did` as of August 2026), declared once. The text of
/// `actors/management/management.did`, the reading of arguments and the writing of replies follow
/// from them.
class method_types {
public:
  /// The one that all share; made at the first use.
  static const method_types& get();

  method_types();

  /// The text of `management.did`.
  std::string text() const;

  method_form<no_value, byte_string> raw_rand;

  method_form<create_canister_args, canister_id_reply> create_canister;
  method_form<provisional_create_args, canister_id_reply> provisional_create;
  method_form<provisional_top_up_args, no_value> provisional_top_up;
  method_form<update_settings_args, no_value> update_settings;
  method_form<install_code_args, no_value> install_code;
  method_form<install_chunked_code_args, no_value> install_chunked_code;
  method_form<versioned_canister_args, no_value> uninstall_code;
  method_form<canister_args, no_value> start_canister;
  method_form<canister_args, no_value> stop_canister;
  method_form<canister_args, no_value> delete_canister;
  method_form<canister_args, no_value> deposit_cycles;
  method_form<canister_args, canister_status_reply> canister_status;
  method_form<canister_info_args, canister_info_reply> canister_info;
  method_form<canister_metadata_args, canister_metadata_reply> canister_metadata;
  method_form<fetch_canister_logs_args, fetch_canister_logs_reply> fetch_canister_logs;

  method_form<upload_chunk_args, chunk_hash> upload_chunk;
  method_form<canister_args, no_value> clear_chunk_store;
  method_form<canister_args, std::vector<chunk_hash>> stored_chunks;

  method_form<take_snapshot_args, snapshot_entry> take_snapshot;
  method_form<load_snapshot_args, no_value> load_snapshot;
  method_form<canister_args, std::vector<snapshot_entry>> list_snapshots;
  method_form<delete_snapshot_args, no_value> delete_snapshot;

  method_form<http_request_args, http_request_reply> http_request;
  /// Of a transform function.
  method_form<transform_args, http_request_reply> transform;

  method_form<ecdsa_public_key_args, public_key_reply> ecdsa_public_key;
  method_form<sign_with_ecdsa_args, signature_reply> sign_with_ecdsa;
  method_form<schnorr_public_key_args, public_key_reply> schnorr_public_key;
  method_form<sign_with_schnorr_args, signature_reply> sign_with_schnorr;

  method_form<node_metrics_history_args, std::vector<node_metrics_entry>> node_metrics_history;
  method_form<subnet_info_args, subnet_info_reply> subnet_info;
  method_form<no_value, list_canisters_reply> list_canisters;

  /// The types and messages of all methods.
  candid::interface service;
  /// Likewise of a transform function, as the method `transform`.
  candid::interface transform_service;

private:
  void declare_settings(candid::declarations& in);
  void declare_creation(candid::declarations& in);
  void declare_code(candid::declarations& in);
  void declare_status(candid::declarations& in);
  void declare_history(candid::declarations& in);
  void declare_snapshots(candid::declarations& in);
  void declare_outcalls(candid::declarations& in);
  void declare_keys(candid::declarations& in);
  void declare_node(candid::declarations& in);
  void declare_methods(candid::declarations& in) const;

  candid::form<canister_settings> settings_;
  candid::form<definite_canister_settings> definite_settings_;
  candid::form<canister_args> canister_;
  std::string text_;
};

} // namespace moxzi::actors::management
