#include "actors/candid/decoder.hpp"

#include <gtest/gtest.h>

#include "actors/candid/did_parser.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/json.hpp"

using namespace moxzi;
using namespace moxzi::candid;

namespace {

/// Reads a value of one type at another: as JSON, or "!" and what is wrong.
std::string read_at(std::string_view sent, std::string_view json, std::string_view wanted,
                    const reading& how) {
  const auto from = parse_types(sent).value();
  const auto to = parse_types(wanted).value();
  const auto bytes = encode(from, json_to_values(from, json).value()).value();
  cursor in{bytes, 1000};
  type_table wire;
  std::vector<type_ref> items;
  EXPECT_TRUE(header_reader{in}.read(wire, items));
  decoder values{in, wire, *to.types, 0, how};
  std::vector<value> out(1);
  switch (values.read(items[0], to.items[0], &out[0])) {
    case decoder::fit::ok:
      EXPECT_EQ(in.left(), 0u);
      return values_to_json(to, out).value();
    case decoder::fit::mismatch:
      return "!" + values.explain();
    case decoder::fit::error:
      break;
  }
  return "! " + in.failure().message;
}

/// Knows one value, which takes two bytes.
class memo_of_pairs : public value_memo {
public:
  memo_of_pairs(type_ref type, byte_string known) : type_(type), known_(std::move(known)) {
    // nop
  }
  type_ref type() const noexcept override {
    return type_;
  }
  bool find(type_ref, cursor& in) override {
    if (!in.rest().starts_with(known_)) return false;
    byte_view over;
    return in.bytes(known_.size(), over);
  }
  void keep(cursor&) override {
    ++kept;
  }

  int kept = 0;

private:
  type_ref type_;
  byte_string known_;
};

} // namespace

TEST(decoder, drops_by_the_letter_what_an_opt_cannot_hold) {
  EXPECT_EQ(read_at("(opt variant { b })", R"(["b"])", "(opt variant { a })", {}), "[null]");
  EXPECT_EQ(
    read_at("(record { a : nat; b : nat })", R"([{"a":1,"b":2}])", "(record { a : nat })", {}),
    R"([{"a":1}])");
}

TEST(decoder, a_strict_one_refuses_what_an_opt_cannot_hold) {
  const reading strict{.strict = true};
  EXPECT_EQ(read_at("(opt variant { b })", R"(["b"])", "(opt variant { a })", strict),
            fmt::format("!: variant has no tag {}", hash_name("b")));
  EXPECT_EQ(read_at("(vec record { x : opt text })", R"([[{"x":null},{"x":"no"}]])",
                    "(vec record { x : opt nat })", strict),
            "![1].x: expected nat, got text");
  EXPECT_EQ(read_at("(opt text)", "[null]", "(opt nat)", strict), "[null]");
}

TEST(decoder, a_strict_one_lets_unknown_fields_be_null_only) {
  const reading strict{.strict = true};
  EXPECT_EQ(read_at("(record { a : nat; b : opt nat; c : null; d : reserved })",
                    R"([{"a":1,"b":null,"c":null,"d":null}])", "(record { a : nat })", strict),
            R"([{"a":1}])");
  EXPECT_EQ(read_at("(record { a : nat; b : opt nat })", R"([{"a":1,"b":2}])",
                    "(record { a : nat })", strict),
            fmt::format("!: record has no field {}", hash_name("b")));
  EXPECT_EQ(read_at("(record { a : nat; b : text })", R"([{"a":1,"b":""}])", "(record { a : nat })",
                    strict),
            fmt::format("!: record has no field {}", hash_name("b")));
}

TEST(decoder, a_memo_answers_for_values_that_it_knows) {
  const auto types = parse_types("(vec vec nat8)").value();
  const auto element = types.types->element(types.items[0]);
  memo_of_pairs memo{element, byte_string{"\x01\x07", 2}};
  const auto bytes = encode(types, json_to_values(types, R"([["0x07","0x08","0x07"]])").value());
  cursor in{*bytes, 1000};
  type_table wire;
  std::vector<type_ref> items;
  ASSERT_TRUE(header_reader{in}.read(wire, items));
  decoder values{in, wire, *types.types, 0, {.memo = &memo}};
  value out;
  ASSERT_EQ(values.read(items[0], types.items[0], &out), decoder::fit::ok);
  ASSERT_EQ(out.as_list().size(), 3u);
  EXPECT_TRUE(out.as_list()[0].is_null());
  EXPECT_EQ(out.as_list()[1].as_string(), "\x08");
  EXPECT_TRUE(out.as_list()[2].is_null());
  EXPECT_EQ(memo.kept, 1);
}

TEST(decoder, a_vector_longer_than_the_budget_is_refused_before_it_is_made) {
  const auto types = parse_types("(vec bool)").value();
  const byte_string bytes = types.header + "\xd0\x0f" + byte_string(2000, '\1');
  cursor in{bytes, 1000};
  type_table wire;
  std::vector<type_ref> items;
  ASSERT_TRUE(header_reader{in}.read(wire, items));
  decoder values{in, wire, *types.types, 0};
  value out;
  EXPECT_EQ(values.read(items[0], types.items[0], &out), decoder::fit::error);
  EXPECT_EQ(in.failure().code, candid_errc::over_limit);
  EXPECT_GT(in.steps(), 990u);
}
