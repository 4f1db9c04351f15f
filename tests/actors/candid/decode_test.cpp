#include "actors/candid/decode.hpp"

#include <gtest/gtest.h>

#include "actors/candid/did_parser.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/text.hpp"

using namespace moxzi;
using namespace moxzi::candid;

namespace {

/// A message, given in hexadecimal after `DIDL`, read at types given as text and printed; "!" and
/// the message where it is refused.
std::string read(std::string_view hex, std::string_view types) {
  const auto expected = parse_types(types).value();
  const auto bytes = "DIDL" + from_hex(hex).value();
  auto values = decode(bytes, expected);
  EXPECT_EQ(validate(bytes, expected).has_value(), values.has_value());
  if (!values) return "! " + values.error().message;
  return values_to_text(expected, *values);
}

} // namespace

// The numbers below are worked out by hand from the binary format in the Candid specification.

TEST(decode, primitive_values) {
  EXPECT_EQ(read("00017e01", "(bool)"), "(true)");
  EXPECT_EQ(read("00017e02", "(bool)"), "! byte 8: a bool that is not 0 or 1");
  EXPECT_EQ(read("00017de58e26", "(nat)"), "(624485)"); // the LEB128 example of DWARF
  EXPECT_EQ(read("00017cc0bb78", "(int)"), "(-123456)");
  EXPECT_EQ(read("00017d80808080808080808002", "(nat)"), "(18446744073709551616)"); // 2^64
  EXPECT_EQ(read("00017c8080808080808080807f", "(int)"), "(-9223372036854775808)"); // -2^63
  EXPECT_EQ(read("00017cffffffffffffffffff7e", "(int)"), "(-9223372036854775809)");
  EXPECT_EQ(read("0001780102030405060708", "(nat64)"), "(578437695752307201)");
  EXPECT_EQ(read("000174ffffffffffffffff", "(int64)"), "(-1)");
  EXPECT_EQ(read("0001730000c03f", "(float32)"), "(1.5)");
  EXPECT_EQ(read("00017103e29883", "(text)"), "(\"☃\")");
  EXPECT_EQ(read("00017103e228a1", "(text)"), "! byte 11: text that is not UTF-8");
  EXPECT_EQ(read("0001680104abcd0102", "(principal)").substr(0, 12), "(principal \"");
  EXPECT_EQ(read("000168000401020304", "(principal)"), "! byte 8: an opaque reference");
  EXPECT_EQ(read("0001681e", "(principal)").substr(0, 1), "!");
}

TEST(decode, over_long_numbers_are_allowed_and_bounded) {
  EXPECT_EQ(read("00017d8000", "(nat)"), "(0)");
  EXPECT_EQ(read("00017cff7f", "(int)"), "(-1)");
  EXPECT_EQ(read("0001718600"
                 "4d6f746f6b6f",
                 "(text)"),
            "(\"Motoko\")");
  std::string endless = "00017d";
  for (int i = 0; i < 20000; ++i) endless += "80";
  EXPECT_EQ(read(endless + "00", "(nat)"), "! byte 20008: a number longer than 65536 bits");
}

TEST(decode, functions_without_an_answer_have_no_results) {
  EXPECT_EQ(read("016a0000010200", "()"), "()"); // func () -> () oneway
  EXPECT_EQ(read("016a017d00010200", "()"), "()");
  EXPECT_EQ(read("016a00017d010200", "()"), "! byte 11: a function with results that is oneway");
  EXPECT_EQ(read("016a00017d02010200", "()").substr(0, 1), "!"); // query too
}

TEST(decode, records_are_matched_by_id) {
  // record {1 : int; 5 : text}
  const std::string wire = "016c02017c057101002a0268"
                           "69";
  EXPECT_EQ(read(wire, "(record { 1 : int; 5 : text })"), "(record { 1 = 42; 5 = \"hi\" })");
  EXPECT_EQ(read(wire, "(record { 5 : text })"), "(record { 5 = \"hi\" })");
  EXPECT_EQ(read(wire, "(record { 3 : opt nat; 5 : text; 9 : null })"),
            "(record { 3 = null; 5 = \"hi\"; 9 = null })");
  EXPECT_EQ(read(wire, "(record { 3 : nat })"), "! args[0].3: expected nat, got nothing");
  EXPECT_EQ(read(wire, "(record { 1 : bool })"), "! args[0].1: expected bool, got int");
  EXPECT_EQ(read(wire, "(record { 1 : reserved })"), "(record { 1 = null })");
}

TEST(decode, errors_name_the_path_in_the_words_of_the_interface) {
  // record {shape : vec nat64} at record {shape : vec nat32}
  const auto sent = parse_types("(record { shape : vec nat64 })").value();
  const auto bytes =
    encode(sent, text_to_values(sent, "(record { shape = vec { 1; 2 } })").value());
  const auto wanted = parse_types("(record { shape : vec nat32 })").value();
  EXPECT_EQ(decode(bytes.value(), wanted).error().message,
            "args[0].shape[0]: expected nat32, got nat64");
}

TEST(decode, an_opt_takes_what_fits_and_is_null_otherwise) {
  EXPECT_EQ(read("00017d05", "(opt nat)"), "(opt 5)");
  EXPECT_EQ(read("00017d05", "(opt text)"), "(null)");
  EXPECT_EQ(read("00017d05", "(opt opt nat)"), "(opt opt 5)");
  EXPECT_EQ(read("00017f", "(opt opt nat)"), "(null)");
  EXPECT_EQ(read("000170", "(opt nat)"), "(null)");
  EXPECT_EQ(read("016e7e01000101", "(opt nat)"), "(null)");
  EXPECT_EQ(read("016e7e01000102", "(opt nat)"), "! byte 11: a bool that is not 0 or 1");
}

TEST(decode, what_does_not_fit_is_skipped_to_the_byte) {
  // vec {"a"; "b"} at opt vec nat is null, and the nat after it is still read.
  EXPECT_EQ(read("016d710200"
                 "7d"
                 "0201610162"
                 "07",
                 "(opt vec nat, nat)"),
            "(null, 7)");
  // record {0 : vec text; 1 : nat} whose first field does not fit, inside an opt.
  EXPECT_EQ(read("026c020001017d6d710200"
                 "7d"
                 "0201610162"
                 "05"
                 "07",
                 "(opt record { 0 : vec bool; 1 : nat }, nat)"),
            "(null, 7)");
  // An unknown tag with a payload.
  EXPECT_EQ(read("016b02007f0171"
                 "0200"
                 "7d"
                 "01"
                 "026869"
                 "07",
                 "(opt variant { 0 }, nat)"),
            "(null, 7)");
}

TEST(decode, variants_are_matched_by_id) {
  EXPECT_EQ(read("016b02007f0571"
                 "0100"
                 "01"
                 "0178",
                 "(variant { 5 : text; 9 })"),
            "(variant { 5 = \"x\" })");
  EXPECT_EQ(read("016b02007f0571"
                 "0100"
                 "00",
                 "(variant { 5 : text })"),
            "! args[0]: variant has no tag 0");
  EXPECT_EQ(read("016b01007f"
                 "0100"
                 "01",
                 "(variant { 0 })"),
            "! byte 12: tag 1 of a variant of 1");
}

TEST(decode, arguments_are_a_tuple) {
  EXPECT_EQ(read("00027d7d0506", "(nat)"), "(5)");
  EXPECT_EQ(read("00017d05", "(nat, opt nat, null, reserved)"), "(5, null, null, null)");
  EXPECT_EQ(read("00017d05", "(nat, nat)"), "! args[1]: expected nat, got nothing");
  EXPECT_EQ(read("00017d0505", "(nat)"), "! 1 byte after the last argument");
}

TEST(decode, references_are_compared_by_type) {
  // func (text) -> (nat) of the management canister
  const std::string func = "016a0171017d000100"
                           "010100"
                           "0161";
  EXPECT_EQ(read(func, "(func (text) -> (nat))"), "(func \"aaaaa-aa\".a)");
  EXPECT_EQ(read(func, "(func (text, opt nat) -> ())"), "(func \"aaaaa-aa\".a)");
  EXPECT_EQ(read(func, "(opt func (nat) -> (nat))"), "(null)");
  EXPECT_EQ(read(func, "(func (text) -> (nat) query)").substr(0, 34),
            "! args[0]: expected func, got a fu");
  EXPECT_EQ(read("0169000100"
                 "010202",
                 "(principal)")
              .substr(0, 1),
            "!"); // two bytes promised
  EXPECT_EQ(read("0169000100"
                 "010202",
                 "(service {})")
              .substr(0, 1),
            "!");
  EXPECT_EQ(read("0169000100"
                 "01020102",
                 "(principal)")
              .substr(0, 10),
            "(principal");
}

TEST(decode, types_from_the_future_are_skipped) {
  // opcode -25 (0x67) with 2 bytes; its value: 3 bytes, no references; then nat 7.
  EXPECT_EQ(read("01670201020200"
                 "7d"
                 "0300aabbcc"
                 "07",
                 "(opt nat, nat)"),
            "(null, 7)");
  EXPECT_EQ(read("01670201020200"
                 "7d"
                 "0300aabbcc"
                 "07",
                 "(reserved, nat)"),
            "(null, 7)");
  EXPECT_EQ(read("01670201020200"
                 "7d"
                 "0301aabbcc"
                 "07",
                 "(reserved, nat)")
              .substr(0, 1),
            "!");
}

TEST(decode, type_tables_must_be_sound) {
  EXPECT_EQ(read("017f00", "()"), "! byte 6: -1 is no composite type");
  EXPECT_EQ(read("016e0500", "()"), "! byte 7: type 5 of a table of 1");
  EXPECT_EQ(read("016c02057f057f00", "()"), "! byte 11: field ids that do not ascend");
  EXPECT_EQ(read("016c01808080801"
                 "07f00",
                 "()"),
            "! byte 13: a field id above 32 bits");
  EXPECT_EQ(read("0090fde5e5e5e5fe9e46", "()").substr(0, 1), "!"); // a type of 64 bits
  EXPECT_EQ(read("0001fdffffff7f05", "(nat)"), "(5)");             // nat, over-long
  EXPECT_EQ(read("016900"
                 "00",
                 "()"),
            "()");
  EXPECT_EQ(read("0169010161"
                 "7d00",
                 "()"),
            "! byte 10: method 'a' is no function");
  EXPECT_EQ(read("016a000001"
                 "0400",
                 "()"),
            "! byte 10: annotation 4 is unknown");
  EXPECT_EQ(decode("DIDX", parse_types("()").value()).error().message,
            "byte 4: a message begins with DIDL");
}

TEST(decode, values_without_end_are_refused) {
  // type T = record { T }, and opt read at type O = opt O.
  EXPECT_EQ(read("016c0100000100", "(reserved)"), "! byte 11: nested deeper than 512");
  const auto fix = parse_did("type O = opt O; service : { f : (O) -> () }").value();
  EXPECT_FALSE(decode(from_hex("4449444c00017e01").value(), fix.find("f")->arguments));
}
