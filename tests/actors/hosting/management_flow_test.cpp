#include <random>

#include <gmock/gmock.h>

#include "actors/management/management_methods.hpp"
#include "actors/management/numbers.hpp"
#include "base/actor_limits.hpp"
#include "tests/actors/hosting/managed_node.hpp"
#include "tests/net/scripted_server.hpp"

// What holds over several calls of the management canister.

namespace moxzi::actors::management {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ManagementFlow : public actors::testing::managed_node {
protected:
  std::string with_id(const std::string& method, const std::string& id,
                      const std::string& more = {}, const std::string& caller = "tester") {
    return ask(method, "(record { canister_id = principal \"" + id + "\"; " + more + " })", caller);
  }
  std::string status(const std::string& id) {
    return with_id("canister_status", id);
  }
  uint128 balance_of(const std::string& id) {
    const auto answer = manage(*principal::from_text(id), lifecycle::read_status{});
    const auto* now = std::get_if<lifecycle::status>(&answer);
    return now != nullptr ? now->balance.value : 0;
  }
};

const std::string module_text = R"(blob "\00asm\01\00\00\00")";

TEST_F(ManagementFlow, ACanisterLivesItsWholeLife) {
  begin();
  const auto id = make();
  EXPECT_THAT(status(id),
              AllOf(HasSubstr("status = variant { running }"), HasSubstr("module_hash = null")));
  const auto install =
    "mode = variant { install }; wasm_module = " + module_text + "; arg = blob \"\"";
  EXPECT_EQ(with_id("install_code", id, install), "()");
  EXPECT_THAT(with_id("install_code", id, install), HasSubstr("MX538"));
  EXPECT_THAT(status(id), HasSubstr("module_hash = opt blob"));
  EXPECT_THAT(with_id("delete_canister", id), HasSubstr("MX5"));
  EXPECT_EQ(with_id("stop_canister", id), "()");
  EXPECT_THAT(status(id), HasSubstr("status = variant { stopped }"));
  EXPECT_EQ(with_id("start_canister", id), "()");
  EXPECT_THAT(status(id), HasSubstr("status = variant { running }"));
  EXPECT_EQ(with_id("uninstall_code", id), "()");
  EXPECT_THAT(status(id), HasSubstr("module_hash = null"));
  EXPECT_THAT(with_id("canister_info", id, "num_requested_changes = opt 10"),
              AllOf(HasSubstr("total_num_changes = 3"), HasSubstr("creation"),
                    HasSubstr("mode = variant { install }"), HasSubstr("code_uninstall"),
                    HasSubstr("from_canister")));
  EXPECT_EQ(with_id("stop_canister", id), "()");
  EXPECT_EQ(with_id("delete_canister", id), "()");
  EXPECT_THAT(status(id), StartsWith("3 MX301"));
}

TEST_F(ManagementFlow, SettingsAreTakenWholeOrNotAtAll) {
  begin();
  const auto id = make();
  const auto viewer = principal::of_actor("viewer").to_text();
  const auto own = principal::of_actor("tester").to_text();
  EXPECT_EQ(
    with_id("update_settings", id,
            "settings = record { compute_allocation = opt 7; freezing_threshold = opt 99; "
            "reserved_cycles_limit = opt 340282366920938463463374607431768211455; "
            "log_visibility = opt variant { allowed_viewers = vec { principal \""
              + viewer
              + "\" } }; environment_variables = opt vec { record { name = \"K\"; value = "
                "\"v\" } }; log_memory_limit = opt "
              + std::to_string(limits::actor_log_bytes_max)
              + "; minimum_incoming_canister_call_cycles = opt 3; snapshot_visibility = opt "
                "variant { public } }"),
    "()");
  EXPECT_THAT(status(id),
              AllOf(HasSubstr("compute_allocation = 7"), HasSubstr("freezing_threshold = 99"),
                    HasSubstr("340282366920938463463374607431768211455"),
                    HasSubstr("allowed_viewers = vec"), HasSubstr("name = \"K\""),
                    HasSubstr("log_memory_limit = 2097152"),
                    HasSubstr("minimum_incoming_canister_call_cycles = 3"),
                    HasSubstr("snapshot_visibility = variant { public }"),
                    HasSubstr("status_visibility = variant { controllers }")));
  EXPECT_THAT(with_id("list_canister_snapshots", id, "", "stranger"), StartsWith("("));
  EXPECT_THAT(with_id("fetch_canister_logs", id, "", "viewer"), StartsWith("("));
  EXPECT_THAT(with_id("fetch_canister_logs", id, "", "stranger"), HasSubstr("MX512"));
  for (const std::string bad :
       {"compute_allocation = opt 101", "freezing_threshold = opt 18446744073709551616",
        "reserved_cycles_limit = opt 340282366920938463463374607431768211456",
        "log_memory_limit = opt 1",
        "minimum_incoming_canister_call_cycles = opt 340282366920938463463374607431768211456",
        "environment_variables = opt vec { record { name = \"K\"; value = \"1\" }; record { name = "
        "\"K\"; value = \"2\" } }"}) {
    const auto reply = with_id("update_settings", id,
                               "settings = record { memory_allocation = opt 5; " + bad + " }");
    EXPECT_THAT(reply, Not(StartsWith("("))) << bad;
  }
  EXPECT_THAT(status(id),
              AllOf(HasSubstr("compute_allocation = 7"), HasSubstr("memory_allocation = 0")));
  // Controllers hand over; the old one has no say any more.
  EXPECT_EQ(with_id("update_settings", id,
                    "settings = record { controllers = opt vec { principal \"" + viewer + "\" } }"),
            "()");
  EXPECT_THAT(status(id), HasSubstr("MX512"));
  EXPECT_THAT(with_id("canister_status", id, "", "viewer"), Not(HasSubstr(own)));
}

TEST_F(ManagementFlow, QueriesCallQueriesOnly) {
  begin();
  const auto id = make();
  const auto argument =
    encode("canister_status", "(record { canister_id = principal \"" + id + "\" })");
  for (const auto& row : method_rows()) {
    const std::string name{row.name};
    const auto response = send_query(name, argument);
    const auto* why = std::get_if<rejection>(&response.answer);
    if (name == "canister_status") {
      EXPECT_EQ(why, nullptr);
    } else if (!type_of(name).is_query()) {
      ASSERT_NE(why, nullptr) << name;
      EXPECT_EQ(why->error_code, "MX536");
      EXPECT_EQ(why->code, reject_code::canister_error);
    }
  }
  EXPECT_THAT(text_of("canister_status", send_query("moxzi_device_read", "DIDL")),
              StartsWith("5 MX536: "));
  EXPECT_THAT(status(id), HasSubstr("status = variant { running }"));
}

TEST_F(ManagementFlow, AVersionThatIsSaidMustBeTheCallersAndIsKept) {
  begin();
  const auto id = make();
  version = 7;
  EXPECT_THAT(
    with_id("update_settings", id, "settings = record {}; sender_canister_version = opt 6"),
    AllOf(StartsWith("5 MX504: update_settings"), HasSubstr("is 6"), HasSubstr("at 7")));
  EXPECT_THAT(with_id("uninstall_code", id, "sender_canister_version = opt 8"),
              StartsWith("5 MX504: "));
  EXPECT_EQ(with_id("update_settings", id,
                    "settings = record { controllers = opt vec { principal \""
                      + principal::of_actor("tester").to_text()
                      + "\" } }; sender_canister_version = opt 7"),
            "()");
  EXPECT_THAT(with_id("canister_info", id, "num_requested_changes = opt 1"),
              HasSubstr("canister_version = opt 7"));
}

TEST_F(ManagementFlow, AnInstalledCanisterSaysWhatItTakesUp) {
  begin();
  const auto id = make();
  // custom section "icp:public kind" with the contents "x"
  const auto module = R"(blob "\00asm\01\00\00\00\00\11\0ficp:public kindx")";
  EXPECT_EQ(
    with_id("install_code", id,
            std::string{"mode = variant { install }; arg = blob \"\"; wasm_module = "} + module),
    "()");
  EXPECT_THAT(status(id), AllOf(HasSubstr("wasm_binary_size = 27"),
                                HasSubstr("custom_sections_size = 5"), // kind, x
                                HasSubstr("global_memory_size = 0")));
  EXPECT_THAT(status(id), Not(HasSubstr("canister_history_size = 0")));
}

// Interface specification, "Hash of map": SHA-256 over the sorted pairs of hashes, here of one
// pair.
TEST_F(ManagementFlow, TheHistoryBeginsWithAHashOfTheEnvironment) {
  begin();
  const auto reply = ask(
    "create_canister", "(record { settings = opt record { environment_variables = opt vec { record "
                       "{ name = \"K\"; value = \"v\" } } } })");
  const auto from = reply.find("principal \"") + 11;
  const auto id = reply.substr(from, reply.find('"', from) - from);
  byte_string pair;
  for (const auto* text : {"K", "v"}) {
    const auto sum = sha256(text);
    pair += as_bytes(sum);
  }
  with_id("canister_info", id, "num_requested_changes = opt 1");
  const auto sum = sha256(pair);
  const auto& bytes = std::get<reply_value>(last.answer).argument;
  EXPECT_NE(bytes.find(byte_string{as_bytes(sum)}), byte_string::npos);
}

TEST_F(ManagementFlow, ChunkedCodeNeedsTheRightHash) {
  begin();
  const auto id = make();
  EXPECT_THAT(with_id("upload_chunk", id, R"(chunk = blob "\00asm")"), HasSubstr("hash"));
  EXPECT_THAT(with_id("upload_chunk", id, R"(chunk = blob "\01\00\00\00")"), HasSubstr("hash"));
  const auto hash = [](byte_view bytes) {
    std::string text;
    const auto sum = sha256(bytes);
    for (const auto c : sum) text += fmt::format("\\{:02x}", c);
    return "blob \"" + text + '"';
  };
  const auto first = hash(byte_view{"\0asm", 4});
  const auto second = hash(byte_view{"\1\0\0\0", 4});
  const auto install = [&](const std::string& one, const std::string& two) {
    return ask("install_chunked_code",
               "(record { mode = variant { install }; target_canister = principal \"" + id
                 + "\"; chunk_hashes_list = vec { record { hash = " + one + " }; record { hash = "
                 + two + " } }; wasm_module_hash = " + hash(byte_view{"\0asm\1\0\0\0", 8})
                 + "; arg = blob \"\" })");
  };
  EXPECT_THAT(install(second, first), AllOf(StartsWith("4 MX408"), HasSubstr("have the hash")));
  EXPECT_THAT(install(first, hash("x")), HasSubstr("chunk_hashes_list[1]"));
  EXPECT_THAT(status(id), HasSubstr("wasm_chunk_store_size = 8"));
  EXPECT_EQ(install(first, second), "()");
  EXPECT_THAT(status(id), HasSubstr("module_hash = opt blob"));
  EXPECT_EQ(with_id("clear_chunk_store", id), "()");
  EXPECT_THAT(status(id), HasSubstr("wasm_chunk_store_size = 0"));
}

// -- cycles -------------------------------------------------------------------

TEST_F(ManagementFlow, AttachedCyclesMoveAndTheSumStays) {
  charging = true;
  begin();
  const auto id = make("tester", cycles{1'000});
  EXPECT_EQ(last.refunded, cycles{0});
  EXPECT_EQ(balance_of(id), 1'000u);
  EXPECT_EQ(ask("deposit_cycles", "(record { canister_id = principal \"" + id + "\" })", "other",
                cycles{234}),
            "()");
  EXPECT_EQ(last.refunded, cycles{0});
  EXPECT_EQ(balance_of(id), 1'234u);
  // What is refused, or takes nothing, gives all back.
  ask("raw_rand", "()", "tester", cycles{50});
  EXPECT_EQ(last.refunded, cycles{50});
  const auto nobody = principal::of_actor("nobody").to_text();
  ask("deposit_cycles", "(record { canister_id = principal \"" + nobody + "\" })", "other",
      cycles{99});
  EXPECT_EQ(last.refunded, cycles{99});
  ask("create_canister", "(record { settings = opt record { compute_allocation = opt 101 } })",
      "tester", cycles{77});
  EXPECT_EQ(last.refunded, cycles{77});
  EXPECT_EQ(balance_of(id), 1'234u);
}

// Some calls succeed, some do not; what did not come back must be in a canister.
TEST_F(ManagementFlow, WhatLeavesACallerIsInACanisterWhereNothingIsCharged) {
  charging = true;
  begin();
  std::mt19937 random{7};
  std::vector<std::string> made{make("tester", cycles{10})};
  uint128 left = 10;
  for (int i = 0; i < 120; ++i) {
    const cycles attached{random() % 1'000};
    const auto& id = made[random() % made.size()];
    switch (random() % 5) {
      case 0:
        made.push_back(make("tester", attached));
        break;
      case 1:
        ask("deposit_cycles", "(record { canister_id = principal \"" + id + "\" })", "other",
            attached);
        break;
      case 2:
        ask("create_canister",
            "(record { settings = opt record { compute_allocation = opt 101 } })", "tester",
            attached);
        break;
      case 3:
        ask("stop_canister", "(record { canister_id = principal \"" + id + "\" })",
            i % 2 == 0 ? "tester" : "stranger", attached);
        break;
      default:
        ask("raw_rand", "()", "tester", attached);
    }
    left += attached.value - last.refunded.value;
  }
  uint128 held = 0;
  for (const auto& id : made) held += balance_of(id);
  EXPECT_EQ(to_integer(cycles{held}).to_text(), to_integer(cycles{left}).to_text());
}

TEST_F(ManagementFlow, FeesAreTakenFromWhatIsAttached) {
  charging = true;
  prices.create_canister = 500;
  prices.sign_with_ecdsa = 30;
  prices.http_request = 10;
  prices.http_request_byte = 2;
  prices.http_response_byte = 3;
  net::testing::scripted_server server{
    [](const std::string&) { return net::testing::http_response("hello"); }};
  net::outcall_options options;
  options.policy = net::outcall_policy::any;
  net::outcall_client client{options};
  management_set_up.outcalls = &client;
  begin();
  EXPECT_THAT(ask("create_canister", "(record {})", "tester", cycles{499}),
              AllOf(StartsWith("4 MX409"), HasSubstr("500 cycles must be attached")));
  EXPECT_EQ(last.refunded, cycles{499});
  const auto id = make("tester", cycles{750});
  EXPECT_EQ(balance_of(id), 250u);

  const std::string sign = "(record { message_hash = blob \"" + std::string(32, 'h')
                           + "\"; derivation_path = vec {}; key_id = record { curve = variant { "
                             "secp256k1 }; name = \"key_1\" } })";
  EXPECT_THAT(ask("sign_with_ecdsa", sign, "tester", cycles{29}), StartsWith("4 MX409"));
  EXPECT_EQ(last.refunded, cycles{29});
  EXPECT_THAT(ask("sign_with_ecdsa", sign, "tester", cycles{31}), HasSubstr("signature"));
  EXPECT_EQ(last.refunded, cycles{1});

  // The URL's bytes, no body; 100 bytes may come back.
  const auto fee = 10 + 2 * server.url().size() + 3 * 100;
  EXPECT_THAT(ask("http_request",
                  "(record { url = \"" + server.url()
                    + "\"; max_response_bytes = opt 100; method = variant { get }; headers = vec "
                      "{} })",
                  "tester", cycles{fee + 5}),
              HasSubstr("body = blob \"hello\""));
  EXPECT_EQ(last.refunded, cycles{5});
}

TEST_F(ManagementFlow, NothingIsAskedForWhereNothingIsCharged) {
  prices.create_canister = 500;
  begin();
  EXPECT_THAT(ask("create_canister", "(record {})"), HasSubstr("canister_id"));
}

} // namespace
} // namespace moxzi::actors::management
