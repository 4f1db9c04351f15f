#include "actors/candid/binding.hpp"

#include <gtest/gtest.h>

#include "actors/candid/did_parser.hpp"
#include "actors/candid/did_printer.hpp"
#include "actors/candid/json.hpp"

using namespace moxzi;
using namespace moxzi::candid;

namespace {

// A part of the device interface, as its declaration would look.

struct operation {};

enum class element : uint8_t { u8, f32 };

struct input {
  blob data;
  element elem = element::u8;
  std::vector<uint32_t> shape;
  bool operator==(const input&) const = default;
};

struct train {
  uint32_t loss = 0;
  std::string optimizer;
  std::optional<double> clip;
  std::optional<std::vector<std::string>> also;
  bool operator==(const train&) const = default;
};

struct limits_of {
  double lo = 0;
  double hi = 0;
  bool operator==(const limits_of&) const = default;
};

struct init {
  std::variant<double, limits_of, std::monostate, double> choice;
  bool operator==(const init&) const = default;
};

struct run {
  std::vector<input> inputs;
  std::vector<dynamic<operation>> program;
  std::optional<train> training;
  std::vector<uint32_t> scalars;
  std::optional<init> start;
  bool operator==(const run&) const = default;
};

struct run_result {
  std::vector<double> scalars;
  std::optional<double> grad_norm;
  bool operator==(const run_result&) const = default;
};

} // namespace

namespace moxzi::candid {

template <>
struct enum_of<element> {
  static constexpr std::string_view name = "Elem";
  static constexpr std::array tags{enumerator("u8", element::u8), enumerator("f32", element::f32)};
};

template <>
struct record_of<input> {
  static constexpr std::string_view name = "";
  static constexpr auto fields = std::tuple{
    member("data", &input::data), member("elem", &input::elem), member("shape", &input::shape)};
};

template <>
struct record_of<train> {
  static constexpr std::string_view name = "Train";
  static constexpr auto fields =
    std::tuple{member("loss", &train::loss), member("optimizer", &train::optimizer),
               member("clip", &train::clip), member("also", &train::also)};
};

template <>
struct record_of<limits_of> {
  static constexpr std::string_view name = "";
  static constexpr auto fields =
    std::tuple{member("lo", &limits_of::lo), member("hi", &limits_of::hi)};
};

template <>
struct variant_of<init> {
  static constexpr std::string_view name = "Init";
  static constexpr auto choice = &init::choice;
  static constexpr std::array<std::string_view, 4> tags{"normal", "uniform", "zeros", "constant"};
};

template <>
struct record_of<run> {
  static constexpr std::string_view name = "Run";
  static constexpr auto fields =
    std::tuple{member("inputs", &run::inputs), member("program", &run::program),
               member("train", &run::training), member("scalars", &run::scalars),
               member("start", &run::start)};
};

template <>
struct record_of<run_result> {
  static constexpr std::string_view name = "RunResult";
  static constexpr auto fields = std::tuple{member("scalars", &run_result::scalars),
                                            member("grad_norm", &run_result::grad_norm)};
};

} // namespace moxzi::candid

namespace {

using arguments = std::tuple<run>;
using results = std::tuple<run_result>;

interface device() {
  binder b;
  const auto shape = b.types().vec(kind::nat32);
  const auto op = b.types().variant(
    {{"input", kind::nat32},
     {"reshape", b.types().record({{"x", kind::nat32}, {"shape", shape}})},
     {"relu", kind::nat32},
     {"softmax", b.types().record({{"x", kind::nat32}, {"dim", b.types().opt(kind::nat32)}})}});
  b.define("Op", op);
  b.set_dynamic<operation>(op);
  b.add_method<arguments, results>("moxzi_device_run");
  return b.finish();
}

} // namespace

TEST(binding, the_interface_is_printed_from_the_structs) {
  EXPECT_EQ(did_text(device()),
            R"(type Op = variant {
  input : nat32;
  reshape : record { x : nat32; shape : vec nat32 };
  relu : nat32;
  softmax : record { x : nat32; dim : opt nat32 };
};
type Elem = variant { u8; f32 };
type Train = record { loss : nat32; optimizer : text; clip : opt float64; also : opt vec text };
type Init = variant {
  normal : float64;
  uniform : record { lo : float64; hi : float64 };
  zeros;
  constant : float64;
};
type Run = record {
  inputs : vec record { data : blob; elem : Elem; shape : vec nat32 };
  program : vec Op;
  train : opt Train;
  scalars : vec nat32;
  start : opt Init;
};
type RunResult = record { scalars : vec float64; grad_norm : opt float64 };
service : {
  moxzi_device_run : (Run) -> (RunResult);
}
)");
}

TEST(binding, structs_come_back_as_they_went) {
  const auto made = device();
  const typed_method<arguments, results> method{made, "moxzi_device_run"};
  run r;
  r.inputs.push_back({{std::string("\x01\x00\xff", 3)}, element::f32, {1, 3}});
  r.training = train{9, "adam", 0.5, std::vector<std::string>{"second"}};
  r.scalars = {9};
  r.start =
    init{std::variant<double, limits_of, std::monostate, double>{std::in_place_index<3>, 7.0}};
  const auto bytes = method.encode_arguments({r}).value();
  EXPECT_EQ(std::get<0>(method.decode_arguments(bytes).value()), r);
  r.start->choice.emplace<1>(limits_of{-1, 1});
  EXPECT_EQ(std::get<0>(method.decode_arguments(method.encode_arguments({r}).value()).value()), r);
  r.start->choice.emplace<2>();
  EXPECT_EQ(std::get<0>(method.decode_arguments(method.encode_arguments({r}).value()).value()), r);
}

TEST(binding, a_caller_that_declares_less_is_understood) {
  // As on the page: fewer tags, fewer optional fields, fewer result fields.
  const auto caller = parse_did(R"(
    type Op = variant { input : nat32; reshape : record { x : nat32; shape : vec nat32 } };
    service : {
      moxzi_device_run : (record {
        inputs : vec record { data : blob; elem : variant { u8 }; shape : vec nat32 };
        program : vec Op;
        train : opt record { loss : nat32; optimizer : text; clip : opt float64; lr : opt float64 };
        scalars : vec nat32; tensors : vec nat32;
      }) -> (record { scalars : vec float64 });
    })")
                        .value();
  const auto made = device();
  EXPECT_TRUE(check_compatible(made, caller));
  const auto& theirs = *caller.find("moxzi_device_run");
  const auto bytes = json_to_arguments(theirs, R"([{
    "inputs": [{"data": "0x68656c6c6f", "elem": "u8", "shape": [1, 5]}],
    "program": [{"input": 0}, {"reshape": {"x": 0, "shape": [5]}}],
    "train": {"loss": 1, "optimizer": "adam"}, "scalars": [1], "tensors": []}])")
                       .value();
  const typed_method<arguments, results> method{made, "moxzi_device_run"};
  const auto got = std::get<0>(method.decode_arguments(bytes).value());
  EXPECT_EQ(got.inputs, (std::vector<input>{{{"hello"}, element::u8, {1, 5}}}));
  ASSERT_TRUE(got.training);
  EXPECT_EQ(got.training->optimizer, "adam");
  EXPECT_FALSE(got.training->clip);
  // The operations are values of our type: `input` and `reshape` at their places in it.
  ASSERT_EQ(got.program.size(), 2u);
  const auto op = *made.types->lookup("Op");
  const auto tags = made.types->fields(op);
  const auto& reshape = got.program[1].held;
  EXPECT_EQ(made.types->name_of(tags[reshape.as_position()]), "reshape");
  const auto fields = made.types->fields(tags[reshape.as_position()].type);
  const auto x = made.types->name_of(fields[0]) == "x" ? 0 : 1;
  EXPECT_EQ(reshape.as_payload().as_list()[x].as_fixed_nat(), 0u);
  // Their side reads our answer without the field it does not know.
  const auto reply = method.encode_results({run_result{{0.25}, 3.0}}).value();
  EXPECT_EQ(reply_to_json(theirs, reply).value(), R"([{"scalars":[0.25]}])");
}
