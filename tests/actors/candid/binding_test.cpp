#include "actors/candid/binding.hpp"

#include <gtest/gtest.h>

#include "actors/candid/decode.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/json.hpp"

using namespace moxzi;
using namespace moxzi::candid;

namespace {

enum class colour : uint8_t { red, green };

struct square {
  double side = 0;
  bool operator==(const square&) const = default;
};

struct box {
  double width = 0;
  double height = 0;
  bool operator==(const box&) const = default;
};

using outline = std::variant<square, box, std::vector<uint32_t>>;

struct drawing {
  std::string name;
  byte_string pixels;
  std::vector<outline> outlines;
  std::optional<uint64_t> seed;
  colour ink = colour::green;
  bool hidden = true;
  bool operator==(const drawing&) const = default;
};

/// What is declared below, as a person would write it.
constexpr std::string_view wanted = R"(
  type Outline = variant { unit; square : float64;
                           box : record { width : float64; height : float64 };
                           path : vec nat32 };
  type Drawing = record { name : text; pixels : blob; outlines : vec Outline; seed : opt nat64;
                          ink : opt variant { red; green }; hidden : opt bool };
  service : { draw : (Drawing, nat32) -> (vec Drawing); look : (text) -> (bool) query;
              forget : () -> () oneway }
)";

class bindings : public testing::Test {
protected:
  bindings() {
    auto sides = record_of<box>(
      in, {},
      {bound("width", &box::width, float64_form()), bound("height", &box::height, float64_form())});
    auto lines = variant_of<outline>(
      in, "Outline",
      {shorthand<outline>("unit", square{1}),
       alternative<outline>("square", only(&square::side, float64_form())),
       alternative<outline>("box", std::move(sides)),
       alternative<outline>("path", vec_of(in, nat32_form()), "Points of a grid.")});
    auto ink = enum_of<colour>(in, {}, {{"red", colour::red}, {"green", colour::green}});
    how = record_of<drawing>(
      in, "Drawing",
      {bound("name", &drawing::name, text_form()), bound("pixels", &drawing::pixels, blob_form(in)),
       bound("outlines", &drawing::outlines, vec_of(in, std::move(lines))),
       bound("seed", &drawing::seed, opt_of(in, nat64_form())),
       bound_or_default(in, "ink", &drawing::ink, std::move(ink)),
       bound_or_default(in, "hidden", &drawing::hidden, boolean_form(), "null = true")},
      "What is drawn.");
    in.add_method("draw", "Draws.", {how, nat32_form()}, {vec_of(in, how)});
    in.add_method("look", {}, {text_form()}, {boolean_form()}, annotation::query);
    in.add_method("forget", {}, {}, {}, annotation::oneway);
  }

  declarations in;
  form<drawing> how;
};

} // namespace

TEST_F(bindings, the_text_and_the_types_are_what_was_declared) {
  const auto text = in.text();
  const auto parsed = parse_did(text);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message << "\n" << text;
  const auto person = parse_did(wanted).value();
  for (const auto& made : {*parsed, in.service()}) {
    EXPECT_TRUE(check_compatible(made, person).has_value());
    EXPECT_TRUE(check_compatible(person, made).has_value());
    EXPECT_EQ(lossy_place(made, person).value(), std::nullopt);
    EXPECT_EQ(lossy_place(person, made).value(), std::nullopt);
    EXPECT_TRUE(made.find("look")->is_query());
    EXPECT_TRUE(made.find("forget")->is_oneway());
  }
  EXPECT_NE(text.find("// What is drawn.\ntype Drawing = record {\n  name : text;\n"),
            std::string::npos)
    << text;
  EXPECT_NE(text.find("  // null = true\n  hidden : opt bool;\n"), std::string::npos);
  EXPECT_NE(text.find("  // Draws.\n  draw : (Drawing, nat32) -> (vec Drawing);\n"),
            std::string::npos);
}

TEST_F(bindings, values_are_read_into_structs) {
  const auto types = make_tuple_type(in.service().types, {how.type});
  auto values = json_to_values(types, R"([{"name":"n","pixels":"0x00ff","outlines":["unit",
    {"square":2},{"box":{"width":3,"height":4}},{"path":[5,6]}],"seed":7,"ink":"red",
    "hidden":false}])");
  ASSERT_TRUE(values.has_value()) << values.error().message;
  const drawing full{.name = "n",
                     .pixels = byte_string{"\0\xff", 2},
                     .outlines = {square{1}, square{2}, box{3, 4}, std::vector<uint32_t>{5, 6}},
                     .seed = 7,
                     .ink = colour::red,
                     .hidden = false};
  EXPECT_EQ(how.read(std::move((*values)[0])), full);
}

TEST_F(bindings, what_is_missing_has_its_default) {
  const auto types = make_tuple_type(in.service().types, {how.type});
  auto values = json_to_values(types, R"([{"name":"","pixels":"0x","outlines":[]}])").value();
  EXPECT_EQ(how.read(std::move(values[0])), drawing{});
}

TEST_F(bindings, structs_are_written_as_messages_have_them) {
  const auto types = make_tuple_type(in.service().types, {how.type});
  const drawing full{.name = "n",
                     .pixels = byte_string{"\0\xff", 2},
                     .outlines = {square{1}, box{3, 4}, std::vector<uint32_t>{5, 6}},
                     .ink = colour::red};
  writer out;
  out.raw(types.header);
  how.append(out, full);
  const auto values = decode(out.data(), types);
  ASSERT_TRUE(values.has_value()) << values.error().message;
  EXPECT_EQ(values_to_json(types, *values).value(),
            R"([{"name":"n","pixels":"0x00ff","outlines":[{"square":1.0},)"
            R"({"box":{"width":3.0,"height":4.0}},{"path":[5,6]}],"seed":null,"ink":"red",)"
            R"("hidden":true}])");
}

TEST_F(bindings, vectors_have_elements_that_take_bytes) {
  EXPECT_TRUE(in.takes_bytes(how.type));
  const auto empty = in.types().record({});
  EXPECT_FALSE(in.takes_bytes(empty));
  EXPECT_FALSE(in.takes_bytes(in.types().record({{"a", empty}, {"b", kind::null}})));
  EXPECT_TRUE(in.takes_bytes(in.types().record({{"a", empty}, {"b", kind::boolean}})));
}
