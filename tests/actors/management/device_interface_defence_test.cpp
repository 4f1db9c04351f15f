// What the device's interface does with messages that are made to hurt, and with what it remembers.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "actors/candid/did_parser.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/json.hpp"
#include "actors/management/device_interface.hpp"
#include "actors/management/program_memo.hpp"
#include "device/errors.hpp"
#include "tests/actors/management/page.hpp"

using namespace moxzi;
using namespace moxzi::actors::management;
using device::device_errc;

namespace {

constexpr std::string_view run_method = "moxzi_device_run";

byte_string hex(std::string_view digits) {
  return from_hex(digits).value();
}

std::string leb(uint64_t n) {
  writer out;
  out.count(n);
  return out.take();
}

/// The header of a message of these types.
byte_string header(std::string_view types) {
  return candid::parse_types(types).value().header;
}

constexpr std::string_view run_of_inputs =
  "(record { inputs : vec record { data : blob; elem : variant { u8 }; shape : vec nat32 };"
  " program : vec variant { input : nat32 }; scalars : vec nat32; tensors : vec nat32 })";

/// A run of `n` operations `#input`.
byte_string long_program(uint32_t n) {
  device::run_request run;
  run.code =
    std::make_shared<device::program>(n, device::operation{device::op::input, {}, {int64_t{0}}});
  return encode_argument(run);
}

error refusal(byte_view argument) {
  device_interface reader;
  auto got = reader.decode(run_method, argument);
  EXPECT_FALSE(got.has_value());
  return got ? error{} : got.error();
}

std::shared_ptr<const device::program> code_of(device_interface& reader, byte_view argument) {
  auto got = reader.decode(run_method, argument);
  EXPECT_TRUE(got.has_value());
  return got ? std::get<device::run_request>(*got).code : nullptr;
}

/// A request's bytes, or the refusal's text.
std::string outcome(device_interface& reader, byte_view argument) {
  auto got = reader.decode(run_method, argument);
  return got ? encode_argument(*got) : got.error().message;
}

} // namespace

// -- bombs --------------------------------------------------------------------

TEST(device_interface_defence, a_program_has_at_most_ten_thousand_operations) {
  device_interface reader;
  EXPECT_TRUE(reader.decode(run_method, long_program(10'000)).has_value());
  const auto refused = refusal(long_program(10'001));
  EXPECT_EQ(refused.code, device_errc::program_too_long);
  EXPECT_EQ(refused.message, "MXD063: program: 10001 operations; at most 10000");
}

TEST(device_interface_defence, small_messages_that_promise_much_are_refused) {
  // Lists of two billion elements that take no bytes, in a field that is not ours.
  for (const std::string_view element : {"null", "reserved", "record {}", "vec empty"}) {
    const auto refused = refusal(header(fmt::format("(record {{ more : vec {} }})", element))
                                 + leb(uint64_t{1} << 31));
    EXPECT_EQ(refused.code, device_errc::undecodable) << element;
  }
  // More elements than there are bytes.
  for (const std::string_view list : {"inputs : vec record { data : blob }", "scalars : vec nat32",
                                      "program : vec variant { input : nat32 }"}) {
    const auto refused =
      refusal(header(fmt::format("(record {{ {} }})", list)) + leb(5'000) + "abcdefgh");
    EXPECT_EQ(refused.code, device_errc::undecodable) << list;
  }
  // A type that contains itself, and so has no values.
  EXPECT_EQ(refusal(hex("4449444c016c0100000100")).code, device_errc::undecodable);
}

TEST(device_interface_defence, endless_type_tables_and_nesting_are_refused) {
  byte_string table = "DIDL" + leb(1'000'000);
  for (int i = 0; i < 1'000'000; ++i) table += "\x6e\x7f"; // opt null
  EXPECT_EQ(refusal(table + std::string{"\x01\x00", 2}).code, device_errc::undecodable);
  // opt opt opt …, 5,000 deep, full to the end.
  byte_string deep = "DIDL" + leb(5'000);
  for (uint64_t i = 1; i <= 5'000; ++i) deep += i < 5'000 ? "\x6e" + leb(i) : "\x6e\x7f";
  deep += std::string{"\x01\x00", 2} + byte_string(5'000, '\1');
  EXPECT_EQ(refusal(deep).code, device_errc::undecodable);
}

TEST(device_interface_defence, more_values_than_any_request_has_are_refused) {
  const auto refused = [] {
    device::run_request run;
    run.code = std::make_shared<device::program>();
    run.scalars.resize(600'000);
    return refusal(encode_argument(run));
  }();
  EXPECT_EQ(refused.code, device_errc::undecodable);
  // Bytes are not values: a tensor of 4 MiB is one.
  device::run_request large;
  large.code = std::make_shared<device::program>();
  large.inputs.push_back({byte_string(4u << 20, '\0'), device::elem::u8, {4u << 20}});
  device_interface reader;
  EXPECT_TRUE(reader.decode(run_method, encode_argument(large)).has_value());
}

// -- memory -------------------------------------------------------------------

TEST(device_interface_memory, one_program_sent_again_is_one_program) {
  device_interface reader;
  auto other_text = hex(page::run);
  const auto at = other_text.find("hello moxzi");
  ASSERT_NE(at, std::string::npos);
  other_text[at] = 'j';
  auto other_program = hex(page::run);
  const auto name = other_program.find("\x04"
                                       "head");
  ASSERT_NE(name, std::string::npos);
  other_program[name + 4] = 'r';
  const auto first = code_of(reader, hex(page::run));
  EXPECT_EQ(code_of(reader, hex(page::run)), first);
  EXPECT_EQ(code_of(reader, other_text), first);
  const auto second = code_of(reader, other_program);
  EXPECT_NE(second, first);
  EXPECT_EQ(std::get<std::string>((*second)[6].attributes[0]), "hear");
  EXPECT_EQ(code_of(reader, hex(page::run)), first);
  EXPECT_EQ(code_of(reader, other_program), second);
}

TEST(device_interface_memory, is_bounded) {
  header_memo memo;
  const auto bytes = header(run_of_inputs);
  candid::cursor in{bytes, 1'000};
  auto* head = memo.read(in);
  ASSERT_NE(head, nullptr);
  for (int i = 0; i < 1'000; ++i) {
    memo.add(*head, {fmt::format("{:04}", i), std::make_shared<device::program>(), 1});
  }
  EXPECT_LE(head->programs.size(), limits::device_interface_entries_max);
  EXPECT_EQ(head->programs.front().bytes, "0999");
  memo.add(*head, {byte_string(limits::device_interface_bytes_max, 'x'),
                   std::make_shared<device::program>(), 1});
  EXPECT_EQ(head->programs.size(), 0u) << "one that is too large by itself is not kept";
  candid::cursor again{bytes, 1'000};
  EXPECT_EQ(memo.read(again), head);
  EXPECT_EQ(again.left(), 0u);
  EXPECT_EQ(again.steps(), in.steps());
}

TEST(device_interface_memory, many_programs_in_turn_are_all_read_right) {
  device_interface reader;
  for (int round = 0; round < 2; ++round) {
    for (int64_t i = 0; i < 700; ++i) {
      device::run_request run;
      run.code =
        std::make_shared<device::program>(1, device::operation{device::op::input, {}, {i}});
      EXPECT_EQ(*code_of(reader, encode_argument(run)), *run.code);
    }
  }
}

// An answer must not depend on what was asked before: it is the same when a record is done again.
TEST(device_interface_memory, changes_no_answer) {
  device_interface experienced;
  const auto whole = hex(page::run);
  ASSERT_TRUE(experienced.decode(run_method, whole).has_value());
  const auto agree = [&](byte_string argument) {
    device_interface fresh;
    RC_ASSERT(outcome(experienced, argument) == outcome(fresh, argument));
  };
  EXPECT_TRUE(rc::check("mutated messages", [&] {
    for (int message = 0; message < 20; ++message) {
      auto argument = whole;
      const auto changes = *rc::gen::inRange(1, 4);
      for (int i = 0; i < changes; ++i) {
        argument[*rc::gen::inRange<size_t>(0, whole.size())] = *rc::gen::arbitrary<char>();
      }
      agree(argument);
      agree(argument.substr(0, *rc::gen::inRange<size_t>(0, whole.size())));
      agree(argument + *rc::gen::arbitrary<std::string>());
    }
  }));
}
