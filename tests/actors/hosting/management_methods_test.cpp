#include "actors/management/management_methods.hpp"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "tests/actors/hosting/managed_node.hpp"
#include "tests/net/scripted_server.hpp"

// Walks the table of methods: each has a right call, one that does not fit its type, and, where not
// everybody may call it, one by a stranger.

namespace moxzi::actors::management {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A module without anything in it.
constexpr const char* empty_module = R"(blob "\00asm\01\00\00\00")";

std::string replaced(std::string text, const std::string& word, const std::string& by) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word)) {
    text.replace(at, word.size(), by);
  }
  return text;
}

struct step {
  std::string method;
  std::string arguments;
};

struct example {
  std::string arguments;    ///< `ID`: a new canister of the caller's
  std::vector<step> before; ///< done first
  std::string reply;        ///< a part of it
};

const step install{"install_code", std::string{"(record { mode = variant { install }; "
                                               "canister_id = principal \"ID\"; wasm_module = "}
                                     + empty_module + "; arg = blob \"\" })"};
const step stop{"stop_canister", "(record { canister_id = principal \"ID\" })"};
const step take{"take_canister_snapshot", "(record { canister_id = principal \"ID\" })"};
const step chunk{"upload_chunk", std::string{"(record { canister_id = principal \"ID\"; chunk = "}
                                   + empty_module + " })"};
const std::string only_id = "(record { canister_id = principal \"ID\" })";
const std::string ecdsa_key = "key_id = record { curve = variant { secp256k1 }; name = \"key_1\" }";
const std::string schnorr_key =
  "key_id = record { algorithm = variant { ed25519 }; name = \"dfx_test_key\" }";

std::string blob_text(byte_view bytes) {
  std::string text = "blob \"";
  for (const unsigned char c : bytes) text += fmt::format("\\{:02x}", c);
  return text + "\"";
}

std::map<std::string, example> first_examples() {
  const auto module_hash = blob_text(as_bytes(sha256(byte_view{"\0asm\1\0\0\0", 8})));
  return {
    {"create_canister",
     {"(record { settings = opt record { compute_allocation = opt 5 } })", {}, "canister_id"}},
    {"update_settings",
     {"(record { canister_id = principal \"ID\"; settings = record { freezing_threshold = opt 7 "
      "} })",
      {},
      "()"}},
    {"upload_chunk", {chunk.arguments, {}, "hash"}},
    {"clear_chunk_store", {only_id, {chunk}, "()"}},
    {"stored_chunks", {only_id, {chunk}, "hash"}},
    {"install_code", {install.arguments, {}, "()"}},
    {"install_chunked_code",
     {"(record { mode = variant { install }; target_canister = principal \"ID\"; "
      "chunk_hashes_list = vec { record { hash = "
        + module_hash + " } }; wasm_module_hash = " + module_hash + "; arg = blob \"\" })",
      {chunk},
      "()"}},
    {"uninstall_code", {only_id, {install}, "()"}},
    {"start_canister", {only_id, {stop}, "()"}},
    {"stop_canister", {only_id, {}, "()"}},
    {"canister_status", {only_id, {install}, "module_hash = opt"}},
    {"delete_canister", {only_id, {stop}, "()"}},
    {"deposit_cycles", {only_id, {}, "()"}},
  };
}

std::map<std::string, example> more_examples() {
  return {
    {"raw_rand", {"()", {}, "blob"}},
    {"http_request",
     {"(record { url = \"URL\"; method = variant { get }; headers = vec {} })",
      {},
      "status = 200"}},
    {"canister_info",
     {"(record { canister_id = principal \"ID\"; num_requested_changes = opt 5 })",
      {install},
      "creation"}},
    {"canister_metadata",
     {"(record { canister_id = principal \"ID\"; name = \"kind\" })",
      {{"install_code", replaced(install.arguments, empty_module,
                                 // custom section "icp:public kind" with the contents "x"
                                 R"(blob "\00asm\01\00\00\00\00\11\0ficp:public kindx")")}},
      "value = blob \"x\""}},
    {"ecdsa_public_key",
     {"(record { derivation_path = vec {}; " + ecdsa_key + " })", {}, "chain_code"}},
    {"sign_with_ecdsa",
     {"(record { message_hash = " + blob_text(byte_string(32, 'h')) + "; derivation_path = vec {}; "
        + ecdsa_key + " })",
      {},
      "signature"}},
    {"schnorr_public_key",
     {"(record { derivation_path = vec { blob \"a\" }; " + schnorr_key + " })", {}, "public_key"}},
    {"sign_with_schnorr",
     {"(record { message = blob \"m\"; derivation_path = vec {}; " + schnorr_key + " })",
      {},
      "signature"}},
    {"node_metrics_history",
     {"(record { subnet_id = principal \"SUBNET\"; start_at_timestamp_nanos = 0 })",
      {},
      "node_id"}},
    {"subnet_info",
     {"(record { subnet_id = principal \"SUBNET\" })", {}, "replica_version = \"0.1\""}},
    {"provisional_create_canister_with_cycles", {"(record { amount = opt 9 })", {}, "canister_id"}},
    {"provisional_top_up_canister",
     {"(record { canister_id = principal \"ID\"; amount = 7 })", {}, "()"}},
    {"take_canister_snapshot", {only_id, {install}, "total_size"}},
    {"load_canister_snapshot",
     {"(record { canister_id = principal \"ID\"; snapshot_id = SNAPSHOT })",
      {install, take},
      "()"}},
    {"list_canister_snapshots", {only_id, {install, take}, "taken_at_timestamp"}},
    {"delete_canister_snapshot",
     {"(record { canister_id = principal \"ID\"; snapshot_id = SNAPSHOT })",
      {install, take},
      "()"}},
    {"fetch_canister_logs", {only_id, {install}, "canister_log_records"}},
    {"list_canisters", {"()", {}, "canisters"}},
  };
}

std::map<std::string, example> examples() {
  auto all = first_examples();
  all.merge(more_examples());
  return all;
}

class ManagementMethods : public actors::testing::managed_node {
protected:
  ManagementMethods()
      : server([](const std::string&) { return net::testing::http_response("hello"); }),
        outcalls([] {
          net::outcall_options options;
          options.policy = net::outcall_policy::any;
          return options;
        }()) {
    management_set_up.outcalls = &outcalls;
    begin();
  }

  /// With what stands for the words in it.
  std::string filled(const std::string& text, const std::string& id) {
    auto out = replaced(text, "\"ID\"", '"' + id + '"');
    out = replaced(out, "\"URL\"", '"' + server.url() + '"');
    out = replaced(out, "\"SUBNET\"", '"' + principal::of_actor("subnet").to_text() + '"');
    return replaced(out, "SNAPSHOT", snapshot);
  }
  void prepare(const example& one, const std::string& id) {
    for (const auto& [method, arguments] : one.before) {
      const auto reply = ask(method, filled(arguments, id));
      ASSERT_THAT(reply, StartsWith("(")) << method;
      if (method == "take_canister_snapshot") {
        const auto& type = method_types::get().take_snapshot.reply;
        auto values =
          candid::decode(std::get<reply_value>(last.answer).argument, type_of(method).results);
        snapshot = blob_text(type.read(std::move(values->front())).id);
      }
    }
  }

  net::testing::scripted_server server;
  net::outcall_client outcalls;
  std::string snapshot;
};

TEST_F(ManagementMethods, EachHasARightCallAndWrongOnes) {
  const auto all = examples();
  for (const auto& row : method_rows()) {
    const std::string name{row.name};
    SCOPED_TRACE(name);
    const auto at = all.find(name);
    ASSERT_NE(at, all.end()) << "no example";
    const auto id = make();
    prepare(at->second, id);
    const auto arguments = filled(at->second.arguments, id);
    EXPECT_THAT(text_of(name, send_bytes(name, "DIDL\0\1")), StartsWith("4 MX408: " + name));
    if (!type_of(name).arguments.items.empty()) {
      EXPECT_THAT(text_of(name, send_bytes(name, byte_string{"DIDL\0\1\x71\0", 8})),
                  StartsWith("4 MX408: " + name));
    }
    if (row.who != caller_rule::anyone && row.who != caller_rule::metadata_readers) {
      EXPECT_THAT(ask(name, arguments, "stranger"), HasSubstr("MX512"));
    }
    EXPECT_THAT(ask(name, arguments), HasSubstr(at->second.reply));
  }
  EXPECT_EQ(all.size(), method_rows().size());
}

TEST_F(ManagementMethods, EachRowHasTypesAndEachTypeARow) {
  const auto& methods = method_types::get().service.methods;
  for (const auto& method : methods) EXPECT_NE(find_method(method.name), nullptr) << method.name;
  EXPECT_EQ(methods.size(), method_rows().size());
}

TEST_F(ManagementMethods, EachRowHasItsLineOnThePage) {
  std::ifstream file{MOXZI_SOURCE_DIR "/docs/management.md", std::ios::binary};
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  for (const auto& row : method_rows()) {
    EXPECT_THAT(page,
                HasSubstr(fmt::format("| `{}` | {} |", row.name, management::text_of(row.who))));
  }
}

TEST_F(ManagementMethods, WhatIsNotThereIsRefusedByName) {
  for (const std::string name :
       {"bitcoin_get_balance", "bitcoin_get_utxos", "bitcoin_send_transaction",
        "bitcoin_get_current_fee_percentiles", "bitcoin_get_block_headers", "vetkd_public_key",
        "vetkd_derive_key", "upload_canister_snapshot_data", "nonsense", ""}) {
    const auto response = send_bytes(name, byte_string{"DIDL\0\0", 6}, "tester", cycles{5});
    const auto* why = std::get_if<rejection>(&response.answer);
    ASSERT_NE(why, nullptr) << name;
    EXPECT_EQ(why->code, reject_code::canister_reject);
    EXPECT_EQ(why->error_code, "MX407");
    EXPECT_THAT(why->message, HasSubstr("'" + name + "'"));
    EXPECT_EQ(response.refunded, cycles{5});
  }
}

TEST_F(ManagementMethods, UnknownCanistersAreNamed) {
  const auto nobody = principal::of_actor("nobody").to_text();
  const auto all = examples();
  for (const auto& row : method_rows()) {
    const std::string name{row.name};
    const auto& one = all.at(name);
    if (one.arguments.find("\"ID\"") == std::string::npos) continue;
    snapshot = "blob \"x\"";
    const auto reply = ask(name, filled(one.arguments, nobody));
    EXPECT_THAT(reply, StartsWith("3 MX301: ")) << name;
    EXPECT_THAT(reply, HasSubstr(nobody)) << name;
  }
}

} // namespace
} // namespace moxzi::actors::management
