#include "actors/candid/text.hpp"

#include <bit>

#include <gtest/gtest.h>

#include "actors/candid/did_parser.hpp"
#include "actors/candid/did_printer.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/errc.hpp"
#include "actors/candid/types.hpp"

using namespace moxzi;
using namespace moxzi::candid;

namespace {

std::string at(std::string_view types, std::string_view text) {
  const auto expected = parse_types(types).value();
  auto values = text_to_values(expected, text);
  if (!values) return "! " + values.error().message;
  return values_to_text(expected, *values);
}

/// The types that a text shows, and the text printed again.
std::string shown(std::string_view text) {
  const auto message = text_to_message(text);
  if (!message) return "! " + message.error().message;
  return tuple_text({.types = message->types, .items = message->items, .header = {}}) + " "
         + message_to_text(*message, {.annotate = true});
}

} // namespace

TEST(text, numbers) {
  EXPECT_EQ(at("(nat, int, nat8)", "(1_000_000, -0x1F, +255)"), "(1000000, -31, 255)");
  EXPECT_EQ(at("(float64, float64, float64)", "(1e3, 0x1.8p1, -2.)"), "(1000.0, 3.0, -2.0)");
  EXPECT_EQ(at("(float32, float64, float64)", "(nan, inf, -inf)"), "(nan, inf, -inf)");
  EXPECT_EQ(at("(nat8)", "(256)"), "! 1:2: 256 is out of range for nat8");
  EXPECT_EQ(at("(nat)", "(1.5)"), "! 1:2: expected nat, got 1.5");
  EXPECT_EQ(at("(nat)", "(12ab)"), "! 1:2: '12ab' is no number");
  // The grammar has one `_` between two digits: digit (_? digit)*.
  EXPECT_EQ(at("(nat, float64)", "(0xf_F, 1_0.2_5e1_0)"), "(255, 102500000000.0)");
  for (const std::string bad :
       {"1_", "1__0", "0x_ff", "0xf_", "1_.5", "1._5", "1.5e1_", "1.5_e1"}) {
    EXPECT_EQ(at("(float64)", "(" + bad + ")"), "! 1:2: '" + bad + "' is no number");
  }
  EXPECT_FALSE(parse_types("(record { 1_ : nat })"));
  EXPECT_FALSE(parse_types("(record { 1__0 : nat })"));
  EXPECT_TRUE(parse_types("(record { 1_0 : nat })"));
  EXPECT_EQ(at("(int8, int8)", "(-128, 127)"), "(-128, 127)");
  EXPECT_EQ(at("(int8)", "(-129)"), "! 1:2: -129 is out of range for int8");
}

TEST(text, strings) {
  EXPECT_EQ(at("(text)", R"(("\n\t\"\\\'\u{1F_600}\e2\98\83"))"), "(\"\\n\\t\\\"\\\\'😀☃\")");
  EXPECT_EQ(at("(blob)", R"((blob "a\00\ff"))"), R"((blob "a\00\ff"))");
  EXPECT_EQ(at("(blob)", "(vec { 1; 255 })"), R"((blob "\01\ff"))");
  EXPECT_EQ(at("(text)", R"(("\ff"))"), "! 1:2: a text that is not UTF-8");
  EXPECT_EQ(at("(text)", "(\"a\n\")"), "! 1:4: a string that does not end on its line");
  EXPECT_EQ(at("(text)", R"(("\u{d800}"))"), "! 1:3: a surrogate is no character");
}

TEST(text, composites) {
  EXPECT_EQ(at("(record { nat; text })", "(record { 1; \"x\" })"), "(record { 1; \"x\" })");
  EXPECT_EQ(at("(record { a : nat; \"opt\" : nat })", "(record { \"opt\" = 2; a = 1; b = 9 })"),
            "(record { a = 1; \"opt\" = 2 })");
  EXPECT_EQ(at("(variant { a; b : nat })", "(variant { b = 5 })"), "(variant { b = 5 })");
  EXPECT_EQ(at("(variant { a; b : nat })", "(variant { a })"), "(variant { a })");
  EXPECT_EQ(at("(variant { a })", "(variant { c })"), "! 1:2: the variant has no tag 'c'");
  EXPECT_EQ(at("(opt opt nat, opt nat)", "(opt null, 3)"), "(opt null, opt 3)");
  EXPECT_EQ(at("(func () -> (), service {}, principal)",
               "(func \"aaaaa-aa\".\"raw rand\", service \"aaaaa-aa\", principal \"2vxsx-fae\")"),
            "(func \"aaaaa-aa\".\"raw rand\", service \"aaaaa-aa\", principal \"2vxsx-fae\")");
  EXPECT_EQ(at("(record { a : nat })", "(record { a = 1; a = 2 })"), "! 1:18: field 97 twice");
}

TEST(text, annotations_are_read_as_if_sent) {
  EXPECT_EQ(at("(int)", "(5 : nat)"), "(5)");
  EXPECT_EQ(at("(opt text)", "((5 : nat) : opt nat)"), "(null)");
  EXPECT_EQ(at("(nat)", "(5 : int)"), "! 1:2: args[0]: expected nat, got int");
}

TEST(text, types_are_shown_by_values) {
  EXPECT_EQ(shown("(1, 1.0, \"x\", true, null)"),
            "(int, float64, text, bool, null) (1, 1.0, \"x\", true, null)");
  EXPECT_EQ(shown("(1 : nat8, opt (2 : nat))"), "(nat8, opt nat) (1 : nat8, opt (2 : nat))");
  EXPECT_EQ(shown("(vec { variant { a }; variant { b = 1 } })"),
            "(vec variant { a; b : int }) (vec { variant { a }; variant { b = 1 } })");
  EXPECT_EQ(shown("(vec { opt 1; null })"), "(vec opt int) (vec { opt 1; null })");
  EXPECT_EQ(shown("(vec { 1; \"x\" })"),
            "! 1:11: the elements are of different types: say which is meant, as in (… : vec t)");
}

TEST(text, comments_and_places_of_errors) {
  EXPECT_EQ(at("(nat)", "( // one\n /* two /* three */ */ 4 )"), "(4)");
  EXPECT_EQ(at("(nat, nat)", "(1,\n  x)"), "! 2:3: expected a value, got 'x'");
  EXPECT_EQ(at("(nat)", "(1) (2)"), "! 1:5: expected the end, got '('");
  EXPECT_EQ(at("(nat)", "(1 /* "), "! 1:4: a comment that does not end");
}

TEST(text, no_type_is_shown_that_would_drop_something) {
  for (const auto* text :
       {"(vec { record { a = 1; b = 2 }; record { a = 3 } })", "(vec { (1 : reserved); 2 })",
        "(vec { record { a = 3 }; record { a = 1; b = 2 } })",
        "(vec { opt record { a = 1; b = 2 }; opt record { a = 3 } })"}) {
    const auto read = text_to_message(text);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find("different types"), std::string::npos);
  }
  EXPECT_TRUE(text_to_message("(vec { null; opt 1; opt (2 : nat) })"));
  EXPECT_TRUE(text_to_message("(vec { record { a = 1 }; record { a = (3 : nat) } })"));
}

TEST(text, what_nobody_could_read_is_not_encoded) {
  std::string nulls = "(vec { null";
  for (int i = 0; i < 60'000; ++i) nulls += "; null";
  const auto made = text_to_message(nulls + " })").value();
  const auto bytes = encode(make_tuple_type(made.types, made.items), made.values);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, candid_errc::over_limit);
  EXPECT_FALSE(text_to_values(parse_types("(float64)").value(), "(1e400)"));
  EXPECT_FALSE(text_to_values(parse_types("(float32)").value(), "(0x1p200)"));
  EXPECT_TRUE(text_to_values(parse_types("(float32)").value(), "(-inf)"));
}
