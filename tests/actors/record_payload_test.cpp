#include "actors/record_payload.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace moxzi::actors {
namespace {

principal of_bytes(byte_view bytes) {
  return *principal::from_bytes(bytes);
}

persist::record record_of(const actor_input& input, uint64_t limit, const principal& self) {
  persist::record record;
  record.kind = kind_of(input);
  record.actor = self.bytes();
  record.payload = encode_payload(input, limit);
  return record;
}

const principal self = of_bytes("\x01\x02");

// Every byte follows from the format: the limit as u64, then the fields in order.
TEST(RecordPayload, BytesOfEachKindAreFixed) {
  EXPECT_EQ(to_hex(encode_payload(fire_timer{}, 0x1122)), "2211000000000000");
  EXPECT_EQ(to_hex(encode_payload(beat{}, 1)), "0100000000000000");

  call_request request;
  request.identity = {of_bytes("\x04"), 7, 0x0102030405060708};
  request.origin = request_origin::outside;
  request.method = "learn";
  request.argument = "DIDL";
  request.attached = {uint128{1} << 64 | 5};
  request.deadline_ns = 9;
  EXPECT_EQ(to_hex(encode_payload(request, 1)),
            "0100000000000000"                 // limit
            "0104"                             // caller
            "07000000"                         // epoch
            "0807060504030201"                 // sequence
            "00"                               // origin
            "056c6561726e"                     // method
            "044449444c"                       // argument
            "05000000000000000100000000000000" // attached
            "0900000000000000");               // deadline

  EXPECT_EQ(to_hex(encode_payload(call_response{{self, 1, 2}, reply_value{"ok"}, {3}}, 1)),
            "0100000000000000"                 // limit
            "01000000"                         // epoch
            "0200000000000000"                 // sequence
            "03000000000000000000000000000000" // refunded
            "00000000000000000000000000000000" // charged
            "026f6b");                         // reply

  const auto why = rejected(reject_code::canister_error, "MX503", "no");
  EXPECT_EQ(to_hex(encode_payload(call_response{{self, 1, 2}, why, {0}}, 1)),
            "0100000000000000"                 // limit
            "01000000"                         // epoch
            "0200000000000000"                 // sequence
            "00000000000000000000000000000000" // refunded
            "00000000000000000000000000000000" // charged
            "05"                               // code
            "026e6f"                           // message
            "054d58353033");                   // error code

  EXPECT_EQ(to_hex(encode_payload(recorded_device_call{"ab", "c"})), "026162"
                                                                     "0163");
}

TEST(RecordPayload, BytesOfChangesAreFixed) {
  change_input install;
  install.sender = of_bytes("\x04");
  lifecycle::install_code code;
  code.mode = lifecycle::install_mode::upgrade;
  code.heap = lifecycle::heap_policy::keep;
  code.argument = "DIDL";
  install.what = code;
  install.module.fill(0xab);
  std::string hash;
  for (int i = 0; i < 32; ++i) hash += "ab";
  install.sender_version = 9;
  EXPECT_EQ(to_hex(encode_payload(install, 3)), "0300000000000000" // limit
                                                "010104"           // sender
                                                "01"               // and its version
                                                "0900000000000000"
                                                "02" // mode
                                                "00" // pre_upgrade is not skipped
                                                "01" // the heap is kept
                                                  + hash + "044449444c");

  EXPECT_EQ(to_hex(encode_payload(change_input{{}, lifecycle::stop{}}, 1)),
            "0100000000000000" // limit
            "0000"             // the host
            "03");             // stop
  EXPECT_EQ(to_hex(encode_payload(change_input{{}, lifecycle::deposit{{7}}}, 1)),
            "0100000000000000"
            "0000"
            "06"
            "07000000000000000000000000000000");
  EXPECT_EQ(to_hex(encode_payload(memory_low{}, 2)), "0200000000000000");
}

TEST(RecordPayload, ADeviceKindIsNotAnActorsInput) {
  persist::record record;
  record.kind = persist::record_kind::device_run;
  record.payload = encode_payload(recorded_device_call{"a", "b"});
  EXPECT_FALSE(decode_payload(record));
  EXPECT_EQ(*decode_device_payload(record), (recorded_device_call{"a", "b"}));
}

byte_string some_bytes() {
  return *rc::gen::arbitrary<std::string>();
}

std::string some_text() {
  return *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
}

cycles some_cycles() {
  return {static_cast<uint128>(*rc::gen::arbitrary<uint64_t>()) << 64
          | *rc::gen::arbitrary<uint64_t>()};
}

actor_input arbitrary_change() {
  switch (*rc::gen::element(0, 5, 6, 7)) {
    case 0: {
      change_input change;
      if (*rc::gen::arbitrary<bool>()) change.sender = of_bytes(some_bytes().substr(0, 29));
      lifecycle::install_code what;
      what.mode =
        *rc::gen::element(lifecycle::install_mode::install, lifecycle::install_mode::reinstall,
                          lifecycle::install_mode::upgrade);
      what.skip_pre_upgrade = *rc::gen::arbitrary<bool>();
      what.argument = some_bytes();
      change.what = std::move(what);
      change.module.fill(*rc::gen::arbitrary<uint8_t>());
      return change;
    }
    case 5: {
      create_input created;
      created.settings.controllers = {self, of_bytes(some_bytes().substr(0, 29))};
      created.settings.environment = {{some_text(), some_text()}};
      created.settings.wasm_memory_limit = *rc::gen::arbitrary<uint64_t>();
      created.settings.logs = {lifecycle::visibility::allowed_viewers, {self}};
      created.settings.status.who = lifecycle::visibility::everyone;
      created.settings.log_bytes_max = *rc::gen::arbitrary<uint64_t>();
      created.settings.call_cycles_min = some_cycles();
      created.balance = some_cycles();
      created.charging = *rc::gen::arbitrary<bool>();
      created.prices.call_byte = *rc::gen::arbitrary<uint64_t>();
      created.origin = self;
      if (*rc::gen::arbitrary<bool>()) created.origin_version = *rc::gen::arbitrary<uint64_t>();
      return created;
    }
    case 6: {
      lifecycle::change_settings settings;
      if (*rc::gen::arbitrary<bool>()) settings.what.controllers = {self};
      if (*rc::gen::arbitrary<bool>()) settings.what.environment = {{{some_text(), some_text()}}};
      if (*rc::gen::arbitrary<bool>()) settings.what.reserved_cycles_limit = some_cycles();
      if (*rc::gen::arbitrary<bool>()) {
        settings.what.snapshots = {lifecycle::visibility::allowed_viewers, {self, self}};
      }
      return change_input{self, std::move(settings)};
    }
    default:
      return change_input{{},
                          *rc::gen::element<lifecycle::request>(
                            lifecycle::uninstall_code{}, lifecycle::start{}, lifecycle::remove{},
                            lifecycle::take_snapshot{"id", true}, lifecycle::load_snapshot{"id"},
                            lifecycle::delete_snapshot{"x"}, lifecycle::change_prices{true, {1}})};
  }
}

actor_input arbitrary_input() {
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      return arbitrary_change();
    case 1: {
      call_request request;
      request.identity.caller = of_bytes(some_bytes().substr(0, 29));
      request.identity.epoch = *rc::gen::arbitrary<uint32_t>();
      request.identity.sequence = *rc::gen::arbitrary<uint64_t>();
      request.origin = *rc::gen::element(request_origin::outside, request_origin::actor);
      request.method = some_text();
      request.argument = some_bytes();
      request.attached = some_cycles();
      request.deadline_ns = *rc::gen::arbitrary<uint64_t>();
      return request;
    }
    case 2: {
      call_response response;
      response.identity = {self, *rc::gen::arbitrary<uint32_t>(), *rc::gen::arbitrary<uint64_t>()};
      response.refunded = some_cycles();
      response.charged = some_cycles();
      if (*rc::gen::arbitrary<bool>()) {
        response.answer = reply_value{some_bytes()};
      } else {
        response.answer =
          rejected(static_cast<reject_code>(*rc::gen::inRange(1, 7)), some_text(), some_text());
      }
      return response;
    }
    case 3:
      return fire_timer{};
    default:
      return beat{};
  }
}

RC_GTEST_PROP(RecordPayload, DecodingAnEncodedInputGivesItBack, ()) {
  const recorded_input value{arbitrary_input(), *rc::gen::arbitrary<uint64_t>()};
  const auto record = record_of(value.input, value.instructions_max, self);
  const auto decoded = decode_payload(record);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(decoded->input.index() == value.input.index());
  RC_ASSERT(encode_payload(decoded->input, decoded->instructions_max) == record.payload);
}

RC_GTEST_PROP(RecordPayload, ACutOrLengthenedPayloadIsRefused, ()) {
  auto record = record_of(arbitrary_input(), 1, self);
  if (*rc::gen::arbitrary<bool>()) {
    record.payload.resize(*rc::gen::inRange<size_t>(0, record.payload.size()));
  } else {
    record.payload += 'x';
  }
  RC_ASSERT(!decode_payload(record));
}

} // namespace
} // namespace moxzi::actors
