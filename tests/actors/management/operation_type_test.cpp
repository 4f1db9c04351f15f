#include "actors/management/operation_type.hpp"

#include <gtest/gtest.h>

#include "actors/candid/decode.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/json.hpp"
#include "actors/candid/subtype.hpp"

using namespace moxzi;
using namespace moxzi::actors::management;
using device::field_form;
using device::field_kind;
using device::no_register;

namespace {

/// Rows that have every kind of field, in both forms, optional and not.
const std::vector<device::row>& rows() {
  static const std::vector<device::row> all = {
    {.id = device::op::input,
     .name = "registers",
     .sentence = "All kinds of registers.",
     .fields = {{"maybe", field_kind::opt_reg}, {"x", field_kind::reg}, {"xs", field_kind::regs}}},
    {.id = device::op::param,
     .name = "numbers",
     .sentence = "All kinds of numbers.",
     .fields = {{"a", field_kind::boolean},
                {"b", field_kind::nat32},
                {"c", field_kind::int32},
                {"d", field_kind::int64},
                {"e", field_kind::nat64},
                {"f", field_kind::float64}}},
    {.id = device::op::value,
     .name = "mixed",
     .sentence = "Operands and attributes in turn.",
     .fields = {{"to", field_kind::dtype},
                {"x", field_kind::reg},
                {"mode", field_kind::choice, false, {"nearest", "linear", "cubic"}},
                {"y", field_kind::reg},
                {"dims", field_kind::nat32s, true},
                {"reduce", field_kind::choice, true, {"mean", "sum"}},
                {"keep", field_kind::boolean, true},
                {"name", field_kind::text}}},
    {.id = device::op::scalar,
     .name = "bare",
     .sentence = "One field by itself.",
     .fields = {{"value", field_kind::float64}},
     .form = field_form::bare},
    {.id = device::op::second_of,
     .name = "second_of",
     .sentence = "Not in the interface.",
     .fields = {{"x", field_kind::reg}}},
  };
  return all;
}

/// What the rows above are in Candid.
constexpr std::string_view wanted = R"(
  type Dtype = variant { f32; f16; bf16; f64; i64; i32; u8; bool };
  type Op = variant {
    registers : record { maybe : opt nat32; x : nat32; xs : vec nat32 };
    numbers : record { a : bool; b : nat32; c : int32; d : int64; e : nat64; f : float64 };
    mixed : record {
      to : Dtype; x : nat32; mode : variant { nearest; linear; cubic }; y : nat32;
      dims : opt vec nat32; reduce : opt variant { mean; sum }; keep : opt bool; name : text;
    };
    bare : float64;
  };
  service : { take : (Op) -> () }
)";

class operation_types : public testing::Test {
protected:
  /// The operation that JSON says, by way of the bytes of a message of the wanted types.
  device::operation read(std::string_view json) {
    const auto& take = *interface_.find("take");
    const auto bytes = candid::json_to_arguments(take, json).value();
    const auto types = candid::make_tuple_type(
      std::make_shared<candid::type_table>(declared_.types()), {op_.type()});
    auto values = candid::decode(bytes, types).value();
    return op_.read(std::move(values[0]));
  }
  /// The other way round.
  std::string written(const device::operation& from) {
    const auto types = candid::make_tuple_type(
      std::make_shared<candid::type_table>(declared_.types()), {op_.type()});
    writer out;
    out.raw(types.header);
    op_.append(out, from);
    const auto& take = *interface_.find("take");
    return candid::values_to_json(take.arguments,
                                  candid::decode(out.data(), take.arguments).value())
      .value();
  }

  candid::interface interface_ = candid::parse_did(wanted).value();
  candid::declarations declared_;
  operation_type op_{declared_, rows()};
};

} // namespace

TEST_F(operation_types, the_text_and_the_type_are_what_the_rows_say) {
  declared_.alias("Reg", "nat32", {});
  declared_.add_method("take", {}, {{op_.type(), "Op"}}, {});
  const auto text = declared_.text();
  const auto parsed = candid::parse_did(text);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_TRUE(candid::check_compatible(*parsed, interface_).has_value());
  EXPECT_TRUE(candid::check_compatible(interface_, *parsed).has_value());
  EXPECT_NE(text.find("// One field by itself."), std::string::npos);
  EXPECT_EQ(text.find("second_of"), std::string::npos);
  candid::subtype_checker checker{declared_.types(), *interface_.types};
  EXPECT_TRUE(checker.check(op_.type(), *interface_.types->lookup("Op")));
}

TEST_F(operation_types, operands_come_in_the_order_of_the_rows_fields) {
  const auto all = read(R"([{"registers":{"x":4,"maybe":7,"xs":[1,2,3]}}])");
  EXPECT_EQ(all, (device::operation{device::op::input, {7, 4, 1, 2, 3}, {}}));
  const auto few = read(R"([{"registers":{"x":4,"xs":[]}}])");
  EXPECT_EQ(few, (device::operation{device::op::input, {no_register, 4}, {}}));
}

TEST_F(operation_types, numbers_keep_their_bits) {
  const auto all =
    read(R"([{"numbers":{"a":true,"b":4294967295,"c":-2147483648,"d":"-9223372036854775808",
                         "e":"18446744073709551615","f":-0.1}}])");
  EXPECT_EQ(all, (device::operation{device::op::param,
                                    {},
                                    {true, int64_t{4294967295}, int64_t{-2147483648}, INT64_MIN,
                                     int64_t{-1}, -0.1}}));
}

TEST_F(operation_types, choices_are_positions_as_declared) {
  const auto full = read(R"([{"mixed":{"to":"i64","x":1,"mode":"cubic","y":2,"dims":[0,1],
                                       "reduce":"mean","keep":false,"name":"w"}}])");
  EXPECT_EQ(full, (device::operation{device::op::value,
                                     {1, 2},
                                     {int64_t{4}, int64_t{2}, std::vector<uint32_t>{0, 1},
                                      int64_t{0}, false, std::string{"w"}}}));
  const auto bare = read(R"([{"mixed":{"to":"f32","x":1,"mode":"nearest","y":2,"name":""}}])");
  EXPECT_EQ(bare, (device::operation{device::op::value,
                                     {1, 2},
                                     {int64_t{0}, int64_t{0}, std::monostate{}, std::monostate{},
                                      std::monostate{}, std::string{}}}));
}

TEST_F(operation_types, what_is_written_is_what_was_read) {
  for (const std::string_view json :
       {R"([{"registers":{"maybe":7,"x":4,"xs":[1,2,3]}}])",
        R"([{"registers":{"maybe":null,"x":4,"xs":[]}}])",
        R"([{"numbers":{"a":true,"b":4294967295,"c":-5,"d":-6,"e":7,"f":1.5}}])",
        R"([{"mixed":{"to":"bool","x":1,"mode":"linear","y":2,"dims":[],"reduce":"sum",)"
        R"("keep":true,"name":"w"}}])",
        R"([{"mixed":{"to":"u8","x":1,"mode":"nearest","y":2,"dims":null,"reduce":null,)"
        R"("keep":null,"name":"w"}}])",
        R"([{"bare":0.25}])"}) {
    EXPECT_EQ(written(read(json)), json);
  }
}
