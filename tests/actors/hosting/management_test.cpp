#include "actors/management/management.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include "actors/record_payload.hpp"
#include "base/bytes.hpp"
#include "device/device_worker.hpp"
#include "device/open.hpp"
#include "persist/memory_journal.hpp"
#include "tests/actors/management/page.hpp"

// The management canister over a real device worker with the reference backend. The messages are
// the page's own, as the Motoko compiler sends them.

namespace moxzi::actors::management {
namespace {

using persist::record_kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Management : public ::testing::Test {
protected:
  explicit Management(bool with_device = true)
      : time(make_system_clock()), randomness(make_system_entropy()), system(config) {
    auto log =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
    if (with_device) {
      device::worker_setup setup;
      setup.on = device::make_reference_backend();
      setup.time = time;
      setup.thread = &thread;
      worker = device::spawn_device_worker(system, std::move(setup));
    }
    canister = spawn_management(system, {worker, &journal, time.get(), randomness.get(), log});
  }
  ~Management() override {
    caf::anon_send(canister, stop_atom::value);
    if (worker) caf::anon_send_exit(worker, caf::exit_reason::user_shutdown);
  }

  call_response call(const std::string& method, byte_string argument,
                     const std::string& caller = "letters") {
    caf::scoped_actor self{system};
    call_request request;
    request.identity = {principal::of_actor(caller), 1, ++sequence};
    request.method = method;
    request.argument = std::move(argument);
    request.attached = {77};
    self->send(canister, deliver_request{principal{}, std::move(request),
                                         caf::actor_cast<caller_actor>(self)});
    call_response response;
    self->receive([&](call_response& what) { response = std::move(what); },
                  caf::after(std::chrono::seconds{20}) >> [] { ADD_FAILURE() << "no response"; });
    EXPECT_EQ(response.refunded, cycles{77});
    return response;
  }
  rejection refusal(const call_response& response) {
    const auto* why = std::get_if<rejection>(&response.answer);
    EXPECT_NE(why, nullptr);
    return why ? *why : rejection{};
  }
  byte_string reply(const call_response& response) {
    const auto* value = std::get_if<reply_value>(&response.answer);
    EXPECT_NE(value, nullptr) << refusal(response).message;
    return value ? value->argument : byte_string{};
  }
  static byte_string page_bytes(std::string_view hex) {
    return *from_hex(hex);
  }

  std::shared_ptr<const clock> time;
  std::unique_ptr<entropy> randomness;
  persist::memory_journal journal{1u << 20};
  caf::actor_system_config config;
  caf::actor_system system;
  device::device_thread thread;
  device::device_worker_actor worker;
  management_actor canister;
  uint64_t sequence = 0;
};

class ManagementWithoutDevice : public Management {
protected:
  ManagementWithoutDevice() : Management(false) {
    // nop
  }
};

TEST_F(Management, ThePagesCallsRunAndAreRecordedWithTheirReplies) {
  const auto empty = byte_string{"DIDL\0\0", 6};
  EXPECT_EQ(reply(call("moxzi_device_params", page_bytes(page::params))), empty);
  EXPECT_EQ(reply(call("moxzi_device_optimizer", page_bytes(page::optimizer))), empty);
  const auto answer = reply(call("moxzi_device_run", page_bytes(page::run)));
  EXPECT_THAT(answer, StartsWith("DIDL"));

  const auto records = journal.records();
  std::vector<record_kind> kinds;
  for (const auto& record : records) {
    kinds.push_back(record.kind);
    EXPECT_EQ(record.actor, principal::of_actor("letters").bytes());
    EXPECT_EQ(record.number, kinds.size());
  }
  EXPECT_THAT(kinds, ElementsAre(record_kind::device_params, record_kind::device_optimizer,
                                 record_kind::device_run));
  EXPECT_EQ(*decode_device_payload(records[2]),
            (recorded_device_call{page_bytes(page::run), answer}));
}

TEST_F(Management, WhatChangesContentsIsRecordedAndWhatLooksAtThemIsNot) {
  call("moxzi_device_params", page_bytes(page::params));
  const device::write_entry entry{"embed", {byte_string(8, '\0'), device::elem::f32, {2}}, 3};
  const auto ask = [this](std::string_view method, const device_request& request) {
    return reply(call(std::string{method}, encode_argument(request)));
  };
  const auto empty = byte_string{"DIDL\0\0", 6};
  EXPECT_EQ(ask("moxzi_device_write", write_request{entry}), empty);
  EXPECT_EQ(ask("moxzi_device_rename", rename_request{{"head", "last"}}), empty);
  const device::run_reply zeros{.tensors = {entry.contents}};
  const device::read_request part{{"embed"}, 3, 2};
  EXPECT_EQ(ask("moxzi_device_read", part), encode_reply(part, zeros, 0));
  EXPECT_THAT(ask("moxzi_device_list", list_request{}), HasSubstr("last"));
  EXPECT_THAT(ask("moxzi_device_info", info_request{}), HasSubstr("reference"));
  EXPECT_EQ(ask("moxzi_device_delete", device::delete_request{.everything = true}), empty);
  EXPECT_EQ(refusal(call("moxzi_device_read", encode_argument(part))).message,
            "MXD020: names[0]: no parameter \"embed\"");
  std::vector<record_kind> kinds;
  for (const auto& record : journal.records()) kinds.push_back(record.kind);
  EXPECT_THAT(kinds, ElementsAre(record_kind::device_params, record_kind::device_write,
                                 record_kind::device_rename, record_kind::device_delete));
}

TEST_F(Management, TheSameCallsHaveTheSameDigestsHoweverLongTheyTook) {
  for (int round = 0; round < 2; ++round) {
    call("moxzi_device_params", page_bytes(page::params), "letters");
    call("moxzi_device_optimizer", page_bytes(page::optimizer), "letters");
    call("moxzi_device_run", page_bytes(page::run), "letters");
  }
  const auto records = journal.records();
  ASSERT_EQ(records.size(), 6u);
  EXPECT_EQ(records[0].digest, records[3].digest);
  EXPECT_EQ(records[1].digest, records[4].digest);
}

TEST_F(Management, OwnersDoNotSeeEachOther) {
  call("moxzi_device_params", page_bytes(page::params), "letters");
  const auto why = refusal(call("moxzi_device_optimizer", page_bytes(page::optimizer), "other"));
  EXPECT_EQ(why.error_code, "MXD020");
  EXPECT_EQ(why.code, reject_code::canister_reject);
}

TEST_F(Management, AWrongCallIsRejectedWithTheDevicesCodeAndNotRecorded) {
  const auto why = refusal(call("moxzi_device_run", page_bytes(page::run)));
  EXPECT_EQ(why.code, reject_code::canister_reject);
  EXPECT_THAT(why.error_code, StartsWith("MXD0"));
  EXPECT_THAT(why.message, StartsWith(why.error_code + ": "));
  EXPECT_TRUE(journal.records().empty());
}

TEST_F(Management, AnArgumentThatDoesNotDecodeIsMXD002) {
  const auto why = refusal(call("moxzi_device_params", "DIDL"));
  EXPECT_EQ(why.code, reject_code::canister_reject);
  EXPECT_EQ(why.error_code, "MXD002");
}

TEST_F(Management, AnUnknownMethodIsCodeFour) {
  const auto why = refusal(call("install_kode", ""));
  EXPECT_EQ(why.code, reject_code::canister_reject);
  EXPECT_EQ(why.error_code, "MX407");
  EXPECT_THAT(why.message, HasSubstr("'install_kode'"));
}

TEST_F(Management, RandomBytesAreABlobOf32AndDifferEachTime) {
  const auto first = reply(call("raw_rand", byte_string{"DIDL\0\0", 6}));
  const auto second = reply(call("raw_rand", byte_string{"DIDL\0\0", 6}));
  // Type table: one entry, vec nat8; one argument of it; its length.
  EXPECT_THAT(first, StartsWith("DIDL\x01\x6d\x7b\x01"));
  EXPECT_EQ(first.size(), 10u + 32u);
  EXPECT_NE(first, second);
  const auto why = refusal(call("raw_rand", "DIDL"));
  EXPECT_EQ(why.code, reject_code::canister_reject);
  EXPECT_EQ(why.error_code, "MX408");
}

TEST_F(Management, WhenTheDeviceEndsItsCallersLearnOfIt) {
  caf::anon_send_exit(worker, caf::exit_reason::kill);
  const auto why = refusal(call("moxzi_device_params", page_bytes(page::params)));
  EXPECT_EQ(why.code, reject_code::sys_transient);
  EXPECT_EQ(why.error_code, "MXD080");
}

TEST_F(ManagementWithoutDevice, DeviceCallsSayHowToGetOne) {
  const auto why = refusal(call("moxzi_device_params", page_bytes(page::params)));
  EXPECT_EQ(why.code, reject_code::canister_reject);
  EXPECT_EQ(why.error_code, "MXD001");
  EXPECT_THAT(why.message, HasSubstr("no device (start moxzid with --device)"));
}

} // namespace
} // namespace moxzi::actors::management
