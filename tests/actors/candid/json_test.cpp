#include "actors/candid/json.hpp"

#include <bit>

#include <gtest/gtest.h>

#include "actors/candid/did_parser.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/errc.hpp"
#include "actors/candid/text.hpp"

using namespace moxzi;
using namespace moxzi::candid;

namespace {

interface letters() {
  return parse_did("service : { learn : (nat) -> (record { first : float64; last : float64 }) }")
    .value();
}

/// JSON in at a type and out again; "!" and the message where it is refused.
std::string through(std::string_view type, std::string_view json, json_options options = {}) {
  const auto types = parse_types(type).value();
  auto values = json_to_values(types, json, options);
  if (!values) return "! " + values.error().message;
  const auto written = values_to_json(types, *values, options);
  return written ? *written : "! " + written.error().message;
}

} // namespace

TEST(json, the_letters_page_in_and_out) {
  const auto page = letters();
  const auto& learn = *page.find("learn");
  // DIDL, no types, one argument: nat, 200 = c8 01.
  EXPECT_EQ(to_hex(json_to_arguments(learn, "[200]").value()), "4449444c00017dc801");
  EXPECT_EQ(json_to_arguments(learn, "200").value(), json_to_arguments(learn, "[200]").value());
  // The two doubles as the page prints them, their bits from Python's struct.pack('<d', x).hex().
  const auto bytes = from_hex("4449444c016c02b0f0f50472d694b4bd04720100"
                              "000000008330164000000080df08ec3f")
                       .value();
  EXPECT_EQ(encode(learn.results, decode(bytes, learn.results).value()).value(), bytes);
  EXPECT_EQ(reply_to_json(learn, bytes).value(),
            R"([{"first":5.547374725341797,"last":0.8760831356048584}])");
}

TEST(json, whole_numbers_are_exact_at_any_length) {
  EXPECT_EQ(through("(nat)", "[9007199254740991]"), "[9007199254740991]");
  EXPECT_EQ(through("(nat)", "[9007199254740992]"), R"(["9007199254740992"])");
  EXPECT_EQ(through("(int)", "[-9007199254740993]"), R"(["-9007199254740993"])");
  EXPECT_EQ(through("(nat64)", R"(["18_446_744_073_709_551_615"])"), R"(["18446744073709551615"])");
  EXPECT_EQ(through("(nat)", "[123456789012345678901234567890]"),
            R"(["123456789012345678901234567890"])");
  EXPECT_EQ(through("(nat8)", "[256]"), "! args[0]: 256 is out of range for nat8");
  EXPECT_EQ(through("(nat)", "[-1]"), "! args[0]: -1 is out of range for nat");
  EXPECT_EQ(through("(nat)", "[1.5]"), "! args[0]: expected nat, got 1.5");
  EXPECT_EQ(through("(nat)", "[1e3]"), "! args[0]: expected nat, got 1e3");
  EXPECT_EQ(through("(int8, int64)", "[-128, \"-9223372036854775808\"]"),
            R"([-128,"-9223372036854775808"])");
}

TEST(json, floats_are_the_shortest_that_read_back) {
  EXPECT_EQ(through("(float64)", "[1]"), "[1.0]");
  EXPECT_EQ(through("(float64)", "[-0.0]"), "[-0.0]");
  EXPECT_EQ(through("(float64)", "[0.1]"), "[0.1]");
  EXPECT_EQ(through("(float64)", "[8.76E-1]"), "[0.876]");
  EXPECT_EQ(through("(float64)", "[1e300]"), "[1e+300]");
  EXPECT_EQ(through("(float64)", "[5e-324]"), "[5e-324]");
  EXPECT_EQ(through("(float32)", "[0.1]"), "[0.1]");
  EXPECT_EQ(through("(float32)", "[16777217]"), "[16777216.0]");
  EXPECT_EQ(through("(float64, float64, float32)", R"(["NaN","Infinity","-Infinity"])"),
            R"(["NaN","Infinity","-Infinity"])");
}

TEST(json, errors_name_the_path) {
  EXPECT_EQ(through("(record { shape : vec nat32 })", R"([{"shape":[1,2,"x"]}])"),
            R"(! args[0].shape[2]: expected nat32, got "x")");
  EXPECT_EQ(through("(record { first : nat })", R"([{"frist":1}])"),
            "! args[0]: unknown field 'frist'; did you mean 'first'?");
  EXPECT_EQ(through("(record { a : nat })", R"([{"a":1,"a":2}])"), R"(! args[0]: key "a" twice)");
  EXPECT_EQ(through("(record { a : nat })", "[{}]"), "! args[0].a: expected nat, got nothing");
  EXPECT_EQ(through("(nat, nat)", "[1]"),
            "! args[1]: expected nat, got nothing (1 of 2 arguments)");
  EXPECT_EQ(through("(nat)", "[1,2]"), "! at most 1 argument, got more");
  EXPECT_EQ(through("(text)", "[\"\\ud800\"]"), "! args[0]: JSON 1:9: half of a surrogate pair");
}

TEST(json, every_form_of_the_table) {
  EXPECT_EQ(through("(bool, null)", "[true,null]"), "[true,null]");
  EXPECT_EQ(through("(reserved)", R"([{"any":["thing"]}])"), "[null]");
  EXPECT_EQ(through("(text)", R"(["\u00e9\n\ud83d\ude00\u0001"])"), "[\"é\\n😀\\u0001\"]");
  EXPECT_EQ(through("(principal)", R"([{"__principal__":"2vxsx-fae"}])"), R"(["2vxsx-fae"])");
  EXPECT_EQ(through("(func () -> ())", R"([["aaaaa-aa","raw_rand"]])"),
            R"([{"principal":"aaaaa-aa","method":"raw_rand"}])");
  EXPECT_EQ(through("(blob, blob, blob)", R"(["0x00FF",{"text":"hi"},[1,2]])"),
            R"(["0x00ff","0x6869","0x0102"])");
  EXPECT_EQ(through("(blob)", R"([{"base64":"AAEC/w=="}])", {.blob_base64 = true}),
            R"([{"base64":"AAEC/w=="}])");
  EXPECT_EQ(through("(vec record { text; nat })", R"([{"a":1,"b":2}])"), R"([[["a",1],["b",2]]])");
  EXPECT_EQ(through("(opt nat, opt nat, opt nat, opt nat)", "[null,1,[],[2]]"), "[null,1,null,2]");
  EXPECT_EQ(through("(opt vec nat)", "[[1]]"), "[[1]]");
  EXPECT_EQ(through("(opt opt nat, opt opt nat, opt opt nat)", "[[],[null],[3]]"),
            "[[],[null],[3]]");
  EXPECT_EQ(through("(record { 5 : nat; a : text })", R"([{"_5_":1,"a":""}])"),
            R"([{"_5_":1,"a":""}])");
  EXPECT_EQ(through("(variant { a; b : nat })", R"(["a"])"), R"(["a"])");
  EXPECT_EQ(through("(variant { a; b : nat })", R"([{"a":null}])"), R"(["a"])");
  EXPECT_EQ(through("(variant { a; b : nat })", R"([{"b":7}])"), R"([{"b":7}])");
  EXPECT_EQ(through("(opt nat, opt text)", "[]"), "[null,null]");
  EXPECT_EQ(through("()", ""), "[]");
}

TEST(json, fields_come_in_the_order_of_the_interface) {
  EXPECT_EQ(through("(record { zebra : nat; apple : nat; mango : nat })",
                    R"([{"apple":1,"mango":2,"zebra":3}])"),
            R"([{"zebra":3,"apple":1,"mango":2}])");
}

TEST(json, unknown_keys_pass_only_when_lenient) {
  EXPECT_EQ(through("(record { a : nat })", R"([{"a":1,"b":{"c":[]}}])", {.lenient = true}),
            R"([{"a":1}])");
}

TEST(json, depth_is_bounded) {
  const std::string deep(200, '[');
  EXPECT_TRUE(
    through("(reserved)", "[" + deep).starts_with("! args[0]: JSON 1:130: nested deeper"));
}

TEST(json, a_name_that_looks_like_a_number_keeps_apart_from_the_number) {
  const auto* both = "(record { 5 : nat; \"_5_\" : text })";
  const auto key = "_" + std::to_string(hash_name("_5_")) + "_";
  const auto body = "[{\"_5_\":1,\"" + key + "\":\"x\"}]";
  EXPECT_EQ(through(both, body), body);
  EXPECT_EQ(through("(record { \"_5_\" : text })", R"([{"_5_":"x"}])"), R"([{"_5_":"x"}])");
  EXPECT_EQ(through("(record { \"\" : nat; 1 : nat })", R"([{"":1,"_1_":2}])"),
            R"([{"":1,"_1_":2}])");
  EXPECT_EQ(through("(record { 5 : nat; 7 : nat })", R"([{"5":1,"_7_":2}])"),
            "! args[0]: unknown field '5'; did you mean '_5_'?");
}

TEST(json, odd_forms_of_numbers_and_base64_are_refused) {
  EXPECT_EQ(through("(float64)", "[1e400]"), "! args[0]: 1e400 is out of range for float64");
  EXPECT_EQ(through("(float32)", "[1e39]"), "! args[0]: 1e39 is out of range for float32");
  EXPECT_EQ(through("(float64)", "[1e-400]"), "[0.0]");
  for (const auto* text : {"+5", "007", "_1", "1__0", "1_", "-_1", "", "-"}) {
    EXPECT_EQ(through("(nat)", fmt::format("[\"{}\"]", text)),
              fmt::format("! args[0]: expected nat, got \"{}\"", text));
  }
  EXPECT_EQ(through("(int)", R"(["-1_000"])"), "[-1000]");
  EXPECT_EQ(through("(blob)", R"([{"base64":"Zg=="}])"), "[\"0x66\"]");
  EXPECT_EQ(through("(blob)", R"([{"base64":"Zh=="}])"),
            "! args[0]: base64 with bits after the last byte");
  EXPECT_TRUE(through("(nat)", "[1,]").starts_with("! expected a value after ','"));
}

TEST(json, unknown_keys_come_once_even_when_lenient) {
  EXPECT_EQ(through("(record { a : nat })", R"([{"a":1,"x":2,"x":3}])", {.lenient = true}),
            "! args[0]: key \"x\" twice");
}

TEST(json, what_is_written_can_be_read) {
  const auto lists = parse_did("type L = vec L; type O = opt O; type V = variant { end; more : V };"
                               "service : { l : (L) -> (L); o : (O) -> (O); v : (V) -> (V) }")
                       .value();
  const auto repeated = [](std::string_view part, size_t n) {
    std::string all;
    for (size_t i = 0; i < n; ++i) all += part;
    return all;
  };
  const auto check = [&](std::string_view name, const auto& text_of) {
    const auto& method = *lists.find(name);
    const auto reply = [&](size_t levels) {
      return encode(method.results, text_to_values(method.results, text_of(levels)).value())
        .value();
    };
    const auto deepest = reply_to_json(method, reply(128));
    ASSERT_TRUE(deepest) << deepest.error().message;
    EXPECT_TRUE(json_to_arguments(method, *deepest)) << name;
    const auto deeper = reply_to_json(method, reply(129));
    ASSERT_FALSE(deeper) << name;
    EXPECT_EQ(deeper.error().code, candid_errc::over_limit);
    EXPECT_EQ(deeper.error().message, "args[0]: JSON nested deeper than 128");
  };
  check("l", [&](size_t n) { return "(" + repeated("vec {", n) + repeated("}", n) + ")"; });
  check("o", [&](size_t n) { return "(" + repeated("opt ", n - 1) + "null)"; }); // null is []
  check("v", [&](size_t n) {
    return "(" + repeated("variant { more = ", n) + "variant { end }" + repeated("}", n) + ")";
  });
}

TEST(json, long_paths_lose_their_middle) {
  const auto lists = parse_did("type L = vec L; service : { l : (L) -> () }").value();
  std::string path = "args[0]";
  for (int i = 0; i < 24; ++i) path += "[0]";
  path += "…";
  for (int i = 0; i < 24; ++i) path += "[0]";
  const auto read = json_to_arguments(*lists.find("l"), "[" + std::string(140, '['));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, path + ": JSON 1:130: nested deeper than 128");
}

TEST(json, nan_is_one_for_all) {
  const auto types = parse_types("(float64, float32)").value();
  const std::vector<value> values{value::float64(std::bit_cast<double>(0xFFF0'0000'0000'0001)),
                                  value::float32(std::bit_cast<float>(0xFFC0'0000))};
  EXPECT_EQ(values_to_json(types, values).value(), R"(["NaN","NaN"])");
}

TEST(json, a_byte_order_mark_is_passed_over) {
  EXPECT_EQ(through("(nat)", "\xEF\xBB\xBF[1]"), "[1]");
}

TEST(json, what_is_cut_in_a_message_says_so) {
  const std::string digits(40, '7');
  EXPECT_EQ(through("(nat8)", "[" + digits + "]"),
            "! args[0]: 77777777777777777777777777777777… is out of range for nat8");
  EXPECT_EQ(through("(nat8)", "[" + digits.substr(0, 32) + "]"),
            "! args[0]: 77777777777777777777777777777777 is out of range for nat8");
  EXPECT_EQ(through("(nat)", "[1.0]"), "! args[0]: expected nat, got 1.0");
  EXPECT_EQ(through("(nat)", "[1e3]"), "! args[0]: expected nat, got 1e3");
  EXPECT_EQ(through("(nat)", "[-0]"), "[0]");
  EXPECT_EQ(through("(nat)", "[-0.0]"), "! args[0]: expected nat, got -0.0");
}

TEST(json, a_reply_of_too_many_says_how_many_it_may_have) {
  const auto bools = parse_did("service : { f : () -> (vec bool) }").value();
  const auto reply = *from_hex("4449444c016d7e0100818040") + std::string((1u << 20) + 1, '\1');
  const auto read = reply_to_json(*bools.find("f"), reply);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            "byte 12: a vector of 1048577: at most 1048573 may be left to read");
}
