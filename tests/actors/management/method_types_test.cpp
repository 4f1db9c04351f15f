// The text of actors/management/management.did. Written anew by
//   MOXZI_WRITE_INTERFACE=1 ctest --preset release -R MethodTypes

#include "actors/management/method_types.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "actors/candid/decode.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/text.hpp"
#include "actors/management/numbers.hpp"

namespace moxzi::actors::management {
namespace {

TEST(MethodTypes, TheFileSaysWhatTheDeclarationsSay) {
  const std::string path = MOXZI_SOURCE_DIR "/actors/management/management.did";
  const auto text = method_types::get().text();
  if (std::getenv("MOXZI_WRITE_INTERFACE") != nullptr) {
    std::ofstream{path, std::ios::binary} << text;
  }
  std::ifstream file{path, std::ios::binary};
  const std::string stored{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(stored, text) << path << " is out of date; write it anew with\n"
                          << "  MOXZI_WRITE_INTERFACE=1 ctest --preset release -R MethodTypes";
}

TEST(MethodTypes, TheTextMeansTheTypesThatCallsAreReadAt) {
  const auto& types = method_types::get();
  const auto parsed = candid::parse_did(types.text());
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_TRUE(candid::check_compatible(*parsed, types.service).has_value());
  EXPECT_TRUE(candid::check_compatible(types.service, *parsed).has_value());
  EXPECT_EQ(candid::lossy_place(*parsed, types.service).value(), std::nullopt);
  EXPECT_EQ(candid::lossy_place(types.service, *parsed).value(), std::nullopt);
  EXPECT_EQ(parsed->methods.size(), types.service.methods.size());
}

// What programs in Motoko and Rust declare of the Internet Computer's interface, older ones too.
constexpr std::string_view callers_text = R"(
    type settings = record {
      controllers : opt vec principal; compute_allocation : opt nat; memory_allocation : opt nat;
      freezing_threshold : opt nat; reserved_cycles_limit : opt nat;
      log_visibility : opt variant { controllers; public; allowed_viewers : vec principal };
      wasm_memory_limit : opt nat; wasm_memory_threshold : opt nat;
      environment_variables : opt vec record { name : text; value : text };
    };
    type mode = variant {
      install; reinstall;
      upgrade : opt record {
        skip_pre_upgrade : opt bool; wasm_memory_persistence : opt variant { keep; replace } } };
    type response = record {
      status : nat; headers : vec record { name : text; value : text }; body : blob };
    service : {
      create_canister : (record { settings : opt settings; sender_canister_version : opt nat64 })
        -> (record { canister_id : principal });
      install_code : (record { mode : mode; canister_id : principal; wasm_module : blob;
        arg : blob; sender_canister_version : opt nat64 }) -> ();
      canister_status : (record { canister_id : principal }) -> (record {
        status : variant { running; stopping; stopped };
        settings : record { controllers : vec principal; compute_allocation : nat;
          memory_allocation : nat; freezing_threshold : nat; reserved_cycles_limit : nat;
          log_visibility : variant { controllers; public; allowed_viewers : vec principal };
          wasm_memory_limit : nat; wasm_memory_threshold : nat };
        module_hash : opt blob; memory_size : nat; cycles : nat; reserved_cycles : nat;
        idle_cycles_burned_per_day : nat;
        memory_metrics : record { wasm_memory_size : nat; stable_memory_size : nat;
          global_memory_size : nat; wasm_binary_size : nat; custom_sections_size : nat;
          canister_history_size : nat; wasm_chunk_store_size : nat; snapshots_size : nat };
        query_stats : record { num_calls_total : nat; num_instructions_total : nat;
          request_payload_bytes_total : nat; response_payload_bytes_total : nat } }) query;
      canister_info : (record { canister_id : principal; num_requested_changes : opt nat64 })
        -> (record { total_num_changes : nat64; module_hash : opt blob;
          controllers : vec principal;
          recent_changes : vec record { timestamp_nanos : nat64; canister_version : nat64;
            origin : variant { from_user : record { user_id : principal };
              from_canister : record { canister_id : principal; canister_version : opt nat64 } };
            details : variant {
              creation : record { controllers : vec principal };
              code_uninstall;
              code_deployment : record {
                mode : variant { install; reinstall; upgrade }; module_hash : blob };
              load_snapshot : record { canister_version : nat64; snapshot_id : blob;
                taken_at_timestamp : nat64 };
              controllers_change : record { controllers : vec principal };
              rename_canister : record { canister_id : principal; total_num_changes : nat64;
                rename_to : record { canister_id : principal; version : nat64;
                  total_num_changes : nat64 };
                requested_by : principal } } } });
      http_request : (record { url : text; max_response_bytes : opt nat64;
        method : variant { get; head; post }; headers : vec record { name : text; value : text };
        body : opt blob;
        transform : opt record {
          function : func (record { response : response; context : blob }) -> (response) query;
          context : blob } }) -> (response);
      ecdsa_public_key : (record { canister_id : opt principal; derivation_path : vec blob;
        key_id : record { curve : variant { secp256k1 }; name : text } })
        -> (record { public_key : blob; chain_code : blob });
      sign_with_schnorr : (record { message : blob; derivation_path : vec blob;
        key_id : record { algorithm : variant { bip340secp256k1; ed25519 }; name : text };
        aux : opt variant { bip341 : record { merkle_root_hash : blob } } })
        -> (record { signature : blob });
      take_canister_snapshot : (record { canister_id : principal; replace_snapshot : opt blob })
        -> (record { id : blob; taken_at_timestamp : nat64; total_size : nat64 });
      fetch_canister_logs : (record { canister_id : principal }) -> (record {
        canister_log_records : vec record {
          idx : nat64; timestamp_nanos : nat64; content : blob } }) query;
      raw_rand : () -> (blob);
    })";

TEST(MethodTypes, CallersOfTheInternetComputersInterfaceFit) {
  const auto callers = candid::parse_did(callers_text);
  ASSERT_TRUE(callers.has_value()) << callers.error().message;
  const auto& ours = method_types::get().service;
  const auto fits = candid::check_compatible(ours, *callers);
  EXPECT_TRUE(fits.has_value()) << fits.error().message;
}

TEST(MethodTypes, RepliesAreReadBackByTheirTypes) {
  const auto& types = method_types::get();
  canister_info_reply info;
  info.total_num_changes = 3;
  info.controllers = {principal::of_actor("a")};
  info.recent_changes.push_back(
    {1, 2, {true, principal::of_actor("b"), 5}, creation_change{info.controllers, {}}});
  info.recent_changes.push_back({2, 3, {false, principal::anonymous(), {}}, uninstall_change{}});
  info.recent_changes.push_back(
    {3, 4, {false, principal::anonymous(), {}}, snapshot_change{{}, "id", 7, 8, {}}});
  const auto& method = *types.service.find("canister_info");
  writer out;
  out.raw(method.results.header);
  types.canister_info.reply.append(out, info);
  const auto values = candid::decode(out.data(), method.results);
  ASSERT_TRUE(values.has_value()) << values.error().message;
  const auto text = candid::values_to_text(method.results, *values);
  for (const std::string part :
       {"total_num_changes = 3", "code_uninstall", "from_canister = record", "5 : nat64",
        "taken_from_canister", "snapshot_id = blob \"id\""}) {
    EXPECT_NE(text.find(part.substr(0, part.find(" : nat64"))), std::string::npos) << text;
  }
}

TEST(Numbers, CyclesAreReadUpTo128BitsAndNoFurther) {
  const auto read = [](const char* text) { return to_cycles(*candid::integer::from_text(text)); };
  EXPECT_EQ(read("0"), cycles{0});
  EXPECT_EQ(read("18446744073709551616"), cycles{uint128{1} << 64});
  EXPECT_EQ(read("340282366920938463463374607431768211455"), cycles{~uint128{0}});
  EXPECT_EQ(read("340282366920938463463374607431768211456"), std::nullopt);
  EXPECT_EQ(read("-1"), std::nullopt);
  for (const auto* text :
       {"0", "1", "255", "18446744073709551616", "340282366920938463463374607431768211455"}) {
    EXPECT_EQ(to_integer(*read(text)).to_text(), text);
  }
}

} // namespace
} // namespace moxzi::actors::management
