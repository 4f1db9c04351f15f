#include "actors/candid/text.hpp"

#include <bit>

#include <gtest/gtest.h>

#include "actors/candid/decode.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/did_printer.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/errc.hpp"
#include "actors/candid/types.hpp"
#include "base/limits.hpp"

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

TEST(text, elements_get_a_type_that_keeps_all_of_them) {
  EXPECT_EQ(shown("(vec { record { a = variant { x } }; record { a = variant { y = 1 } } })"),
            "(vec record { a : variant { x; y : int } }) "
            "(vec { record { a = variant { x } }; record { a = variant { y = 1 } } })");
  EXPECT_EQ(shown("(vec { record { b = 1; a = null }; record { b = 2; a = opt variant { y } } })"),
            "(vec record { b : int; a : opt variant { y } }) "
            "(vec { record { b = 1; a = null }; record { b = 2; a = opt variant { y } } })");
  // A record may lack what is null where it is missing, whichever comes first.
  EXPECT_EQ(shown("(vec { record { b = null }; record {}; record { b = opt variant { y } } })"),
            "(vec record { b : opt variant { y } }) (vec { record { b = null }; record { b = null "
            "}; record { b = opt variant { y } } })");
  EXPECT_EQ(shown("(vec { vec {}; vec { opt variant { x } }; vec { null; opt variant { y } } })"),
            "(vec vec opt variant { x; y }) "
            "(vec { vec {}; vec { opt variant { x } }; vec { null; opt variant { y } } })");
  EXPECT_EQ(shown("(vec { 1; 2 : nat; 3 })"), "(vec int) (vec { 1; 2; 3 })");
  EXPECT_EQ(
    shown("(vec { record { a = 1; c = 2 };\n record { a = 1; c = 2 };\n record { c = 3 } })"),
    "! 3:2: the elements are of different types: say which is meant, as in (… : vec t)");
  EXPECT_EQ(shown("(vec { variant { a };\n variant { b };\n variant { a = 1 } })"),
            "! 3:2: the elements are of different types: say which is meant, as in (… : vec t)");
}

TEST(text, annotated_elements_may_be_recursive) {
  const auto names =
    parse_did("type A = opt record { variant { x }; A };"
              "type B = opt record { variant { y }; B };"
              "type C = opt record { variant { x }; opt record { variant { x }; A } };")
      .value();
  const auto type_of = [&names](std::string_view text) {
    const auto read = text_to_message(text, &names);
    if (!read) return "! " + read.error().message;
    const auto types = make_tuple_type(read->types, read->items);
    const auto bytes = encode(types, read->values);
    return bytes ? message_to_text(decode_any(*bytes).value()) : "! " + bytes.error().message;
  };
  const auto* const x = "(opt record { variant { x }; null } : A)";
  const auto* const y = "(opt record { variant { y }; opt record { variant { y }; null } } : B)";
  EXPECT_EQ(
    type_of(fmt::format("(vec {{ {}; {}; null }})", x, y)),
    "(vec { opt record { variant { 120 }; null }; opt record { variant { 121 }; opt record { "
    "variant { 121 }; null } }; null })");
  EXPECT_EQ(
    type_of(fmt::format("(vec {{ {}; (null : C); record {{ variant {{ z }}; null }} }})", x)),
    "(vec { opt record { variant { 120 }; null }; null; opt record { variant { 122 }; null } })");
}

TEST(text, elements_of_many_types_cost_no_more_than_their_text) {
  std::string tags = "(vec {";
  for (int i = 0; i < 20'000; ++i) tags += fmt::format(" variant {{ {} }};", i);
  EXPECT_TRUE(text_to_message(tags + " })"));
  // What does cost more says so.
  std::string nested = "vec { variant { 0 } }";
  for (int i = 1; i < 400; ++i) nested = fmt::format("vec {{ {}; vec {{}} }}", nested);
  EXPECT_TRUE(text_to_message("(" + nested + ")"));
  std::string wide = "vec {";
  for (int i = 0; i < 2'000; ++i) wide += fmt::format(" variant {{ {} }};", i);
  wide += " variant { 2000 } }";
  for (int i = 1; i < 100; ++i) wide = fmt::format("vec {{ {}; vec {{ variant {{ x }} }} }}", wide);
  for (int i = 1; i < 100; ++i) wide = fmt::format("opt {}", wide);
  const auto read = text_to_message("(" + wide + ")");
  ASSERT_FALSE(read);
}

TEST(text, nan_keeps_its_bits) {
  const auto bits = [](std::string_view text) {
    return std::bit_cast<uint64_t>(text_to_message(text).value().values[0].as_float64());
  };
  EXPECT_EQ(bits("(nan)"), 0x7FF8'0000'0000'0000u);
  EXPECT_EQ(bits("(-nan)"), 0xFFF8'0000'0000'0000u);
  EXPECT_EQ(bits("(nan:0x1)"), 0x7FF0'0000'0000'0001u);
  EXPECT_EQ(bits("(-nan:0xfffffffffffff)"), 0xFFFF'FFFF'FFFF'FFFFu);
  EXPECT_EQ(at("(float32, float64)", "(-nan:0x1, nan:0x8000000000000)"), "(-nan:0x1, nan)");
  EXPECT_EQ(shown("(nan:0x200000 : float32, -nan : float64)"),
            "(float32, float64) (nan:0x200000 : float32, -nan)");
  EXPECT_EQ(at("(float32)", "(nan:0x800000)"), "! 1:2: nan:0x800000 is no NaN of float32");
  EXPECT_EQ(at("(float64)", "(nan:0x0)"), "! 1:2: nan:0x0 is no NaN of float64");
  EXPECT_EQ(at("(float64)", "(nan:7)"), "! 1:2: nan:7 is no NaN of float64");
  EXPECT_EQ(at("(nat)", "(nan:0x1)"), "! 1:2: expected nat, got nan:0x1");
}

TEST(text, values_are_bounded) {
  std::string nulls = "(";
  for (size_t i = 0; i <= limits::text_values_max; ++i) nulls += "1,";
  const auto read = text_to_message(nulls + ")");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "1:2097154: more than 1048576 values");
}
