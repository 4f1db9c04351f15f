#include "actors/management/device_interface.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "actors/candid/decode.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/json.hpp"
#include "actors/management/device_types.hpp"
#include "device/errors.hpp"
#include "tests/actors/management/page.hpp"

using namespace moxzi;
using namespace moxzi::actors::management;
using device::device_errc;
using device::op;

namespace {

constexpr std::string_view params_method = "moxzi_device_params";
constexpr std::string_view optimizer_method = "moxzi_device_optimizer";
constexpr std::string_view run_method = "moxzi_device_run";

byte_string hex(std::string_view digits) {
  return from_hex(digits).value();
}

/// A message of the given types and values.
byte_string message(std::string_view types, std::string_view json) {
  const auto parsed = candid::parse_types(types).value();
  return candid::encode(parsed, candid::json_to_values(parsed, json).value()).value();
}

/// A run with this program type and program, and nothing else in it.
byte_string program_message(std::string_view op_type, std::string_view program) {
  return message(
    fmt::format("(record {{ inputs : vec record {{ data : blob; elem : variant {{ u8 }};"
                " shape : vec nat32 }}; program : vec {}; scalars : vec nat32;"
                " tensors : vec nat32 }})",
                op_type),
    fmt::format(R"([{{"inputs":[],"program":{},"scalars":[],"tensors":[]}}])", program));
}

template <class T>
T decoded(std::string_view method, byte_view argument) {
  device_interface reader;
  auto got = reader.decode(method, argument);
  EXPECT_TRUE(got.has_value()) << got.error().message;
  return got ? std::get<T>(std::move(*got)) : T{};
}

/// The message of the refusal, which has the code that is wanted.
std::string refusal(std::string_view method, byte_view argument,
                    device_errc wanted = device_errc::undecodable) {
  device_interface reader;
  const auto got = reader.decode(method, argument);
  if (got) return "accepted";
  EXPECT_EQ(got.error().code, wanted) << got.error().message;
  return got.error().message;
}

} // namespace

// -- the page -----------------------------------------------------------------

TEST(device_interface, knows_its_methods) {
  EXPECT_TRUE(is_device_method(params_method));
  EXPECT_TRUE(is_device_method(optimizer_method));
  EXPECT_TRUE(is_device_method(run_method));
  EXPECT_FALSE(is_device_method("moxzi_device_teleport"));
  EXPECT_FALSE(is_device_method("raw_rand"));
  EXPECT_FALSE(is_device_method(""));
}

TEST(device_interface, reads_the_pages_parameters) {
  const auto params = decoded<params_request>(params_method, hex(page::params));
  ASSERT_EQ(params.size(), 2u);
  for (const auto& param : params) {
    EXPECT_EQ(param.dims, (std::vector<uint32_t>{256, 16}));
    EXPECT_EQ(std::get<device::init_normal>(param.init).deviation, 0.1);
    EXPECT_EQ(param.type, device::dtype::f32);
    EXPECT_EQ(param.existing, device::if_exists::replace);
    EXPECT_FALSE(param.frozen);
  }
  EXPECT_EQ(params[0].name, "embed");
  EXPECT_EQ(params[1].name, "head");
}

TEST(device_interface, reads_the_pages_optimizer) {
  const auto adam = decoded<optimizer_request>(optimizer_method, hex(page::optimizer));
  EXPECT_EQ(adam.name, "adam");
  EXPECT_EQ(adam.params, (std::vector<std::string>{"embed", "head"}));
  EXPECT_EQ(adam.lr, 0.05);
  EXPECT_EQ(adam.beta1, 0.9);
  EXPECT_EQ(adam.beta2, 0.99);
  EXPECT_EQ(adam.eps, 1e-8);
  EXPECT_EQ(adam.weight_decay, 0.0);
  EXPECT_EQ(adam.kind, device::optimizer_kind::adamw);
  EXPECT_FALSE(adam.keep_state);
}

TEST(device_interface, reads_the_pages_run) {
  const auto run = decoded<device::run_request>(run_method, hex(page::run));
  ASSERT_EQ(run.inputs.size(), 1u);
  EXPECT_EQ(run.inputs[0].data,
            "hello moxzi, hello actors, hello tensors on a device. hello again");
  EXPECT_EQ(run.inputs[0].type, device::elem::u8);
  EXPECT_EQ(run.inputs[0].dims, (std::vector<uint32_t>{1, 65}));
  const auto i = [](int64_t n) { return device::attribute{n}; };
  const device::program wanted = {
    {op::input, {}, {i(0)}},
    {op::narrow, {0}, {i(1), i(0), i(64)}},
    {op::narrow, {0}, {i(1), i(1), i(64)}},
    {op::reshape, {2}, {std::vector<uint32_t>{64}}},
    {op::param, {}, {std::string{"embed"}}},
    {op::embedding, {4, 1}, {}},
    {op::param, {}, {std::string{"head"}}},
    {op::linear, {5, 6, device::no_register}, {}},
    {op::reshape, {7}, {std::vector<uint32_t>{64, 256}}},
    {op::cross_entropy, {8, 3, device::no_register}, {{}, {}, {}}},
  };
  ASSERT_NE(run.code, nullptr);
  EXPECT_EQ(*run.code, wanted);
  ASSERT_TRUE(run.train.has_value());
  EXPECT_EQ(run.train->loss, 9u);
  EXPECT_EQ(run.train->optimizer, "adam");
  EXPECT_FALSE(run.train->clip.has_value());
  EXPECT_FALSE(run.train->lr.has_value());
  EXPECT_TRUE(run.train->also.empty());
  EXPECT_EQ(run.scalars, (std::vector<device::reg>{9}));
  EXPECT_TRUE(run.tensors.empty());
}

TEST(device_interface, the_page_reads_the_result_as_it_declares_it) {
  const auto run = decoded<device::run_request>(run_method, hex(page::run));
  const auto reply = encode_reply(run, {.scalars = {5.547374725341797}, .step = 1}, 1000);
  const auto declared = candid::parse_did(page::interface).value();
  EXPECT_EQ(candid::reply_to_json(*declared.find(run_method), reply).value(),
            R"([{"scalars":[5.547374725341797]}])");
}

// -- fields that the page does not use ----------------------------------------

TEST(device_interface, reads_every_initialiser_and_option_of_a_parameter) {
  const auto params = decoded<params_request>(
    params_method,
    message("(vec record { name : text; shape : vec nat32; init : variant { normal : float64;"
            " uniform : record { lo : float64; hi : float64 }; zeros; ones; constant : float64;"
            " data : record { data : blob; elem : variant { f32; f64 }; shape : vec nat32 } };"
            " dtype : opt variant { f64; f32 }; if_exists : opt variant { keep; fail; replace };"
            " frozen : opt bool })",
            R"([[{"name":"a","shape":[],"init":{"uniform":{"lo":-1,"hi":2}},"dtype":"f64"},
                 {"name":"b","shape":[2],"init":"zeros","dtype":"f32","if_exists":"keep"},
                 {"name":"c","shape":[2],"init":"ones","if_exists":"fail","frozen":true},
                 {"name":"d","shape":[2],"init":{"constant":0.5},"if_exists":"replace"},
                 {"name":"e","shape":[1],"init":{"data":{"data":"0x0000803f","elem":"f32",
                  "shape":[1]}},"frozen":false}]])"));
  ASSERT_EQ(params.size(), 5u);
  EXPECT_EQ(std::get<device::init_uniform>(params[0].init).low, -1);
  EXPECT_EQ(std::get<device::init_uniform>(params[0].init).high, 2);
  EXPECT_EQ(params[0].type, device::dtype::f64);
  EXPECT_TRUE(params[0].dims.empty());
  EXPECT_EQ(std::get<device::init_constant>(params[1].init).value, 0);
  EXPECT_EQ(params[1].type, device::dtype::f32);
  EXPECT_EQ(params[1].existing, device::if_exists::keep);
  EXPECT_EQ(std::get<device::init_constant>(params[2].init).value, 1);
  EXPECT_EQ(params[2].existing, device::if_exists::fail);
  EXPECT_TRUE(params[2].frozen);
  EXPECT_EQ(std::get<device::init_constant>(params[3].init).value, 0.5);
  EXPECT_EQ(params[3].existing, device::if_exists::replace);
  EXPECT_EQ(std::get<device::init_data>(params[4].init).contents,
            (device::tensor{hex("0000803f"), device::elem::f32, {1}}));
  EXPECT_FALSE(params[4].frozen);
}

TEST(device_interface, reads_kind_and_keep_state_of_an_optimizer) {
  constexpr std::string_view types =
    "(record { name : text; params : vec text; lr : float64; beta1 : float64; beta2 : float64;"
    " eps : float64; weight_decay : float64; kind : opt variant { adam; adamw };"
    " keep_state : opt bool })";
  const auto with = [&](std::string_view rest) {
    return decoded<optimizer_request>(
      optimizer_method,
      message(types, fmt::format(R"([{{"name":"o","params":[],"lr":1,"beta1":0,"beta2":0,"eps":1,)"
                                 R"("weight_decay":0{}}}])",
                                 rest)));
  };
  EXPECT_EQ(with(R"(,"kind":"adam")").kind, device::optimizer_kind::adam);
  EXPECT_EQ(with(R"(,"kind":"adamw")").kind, device::optimizer_kind::adamw);
  EXPECT_EQ(with("").kind, device::optimizer_kind::adamw);
  EXPECT_TRUE(with(R"(,"keep_state":true)").keep_state);
  EXPECT_FALSE(with(R"(,"keep_state":false)").keep_state);
}

TEST(device_interface, reads_every_field_of_a_run) {
  const auto run = decoded<device::run_request>(
    run_method,
    message("(record { inputs : vec record { data : blob; elem : variant { bool; f32; bf16 };"
            " shape : vec nat32 }; program : vec variant { linear : record { x : nat32; w : nat32;"
            " b : opt nat32 } }; train : opt record { loss : nat32; optimizer : text;"
            " clip : opt float64; lr : opt float64; also : opt vec text }; scalars : vec nat32;"
            " tensors : vec nat32 })",
            R"([{"inputs":[{"data":"0x01","elem":"bool","shape":[]},
                           {"data":"0x","elem":"bf16","shape":[0,7]}],
                 "program":[{"linear":{"x":1,"w":2,"b":3}}],
                 "train":{"loss":4,"optimizer":"o","clip":1.5,"lr":0.1,"also":["p","q"]},
                 "scalars":[1,2],"tensors":[3,4294967295]}])"));
  ASSERT_EQ(run.inputs.size(), 2u);
  EXPECT_EQ(run.inputs[0], (device::tensor{hex("01"), device::elem::boolean, {}}));
  EXPECT_EQ(run.inputs[1], (device::tensor{"", device::elem::bf16, {0, 7}}));
  EXPECT_EQ(*run.code, (device::program{{op::linear, {1, 2, 3}, {}}}));
  EXPECT_EQ(run.train->clip, 1.5);
  EXPECT_EQ(run.train->lr, 0.1);
  EXPECT_EQ(run.train->also, (std::vector<std::string>{"p", "q"}));
  EXPECT_EQ(run.scalars, (std::vector<device::reg>{1, 2}));
  EXPECT_EQ(run.tensors, (std::vector<device::reg>{3, UINT32_MAX}));
}

TEST(device_interface, a_run_without_train_changes_nothing) {
  const auto plain = decoded<device::run_request>(
    run_method, program_message("variant { input : nat32 }", R"([{"input":0}])"));
  EXPECT_FALSE(plain.train.has_value());
  EXPECT_FALSE(is_mutating(plain));
  EXPECT_TRUE(is_mutating(decoded<device::run_request>(run_method, hex(page::run))));
  EXPECT_TRUE(is_mutating(params_request{}));
  EXPECT_TRUE(is_mutating(optimizer_request{}));
}

// -- what does not fit --------------------------------------------------------

TEST(device_interface, a_wrong_type_is_named_with_its_path) {
  EXPECT_EQ(
    refusal(params_method, message("(vec record { name : text; shape : vec nat32; init : variant {"
                                   " normal : text } })",
                                   R"([[{"name":"a","shape":[],"init":{"normal":"x"}}]])")),
    "MXD002: argument: params[0].init.normal: expected float64, got text");
  EXPECT_EQ(refusal(params_method, message("(vec record { name : text; shape : vec nat; init :"
                                           " variant { normal : float64 } })",
                                           R"([[{"name":"a","shape":[1],"init":{"normal":1}}]])")),
            "MXD002: argument: params[0].shape[0]: expected nat32, got nat");
  EXPECT_EQ(refusal(optimizer_method,
                    message("(record { name : text; params : vec text; lr : float32;"
                            " beta1 : float64; beta2 : float64; eps : float64;"
                            " weight_decay : float64 })",
                            R"([{"name":"o","params":[],"lr":1,"beta1":0,"beta2":0,"eps":1,
                                 "weight_decay":0}])")),
            "MXD002: argument: lr: expected float64, got float32");
  EXPECT_EQ(
    refusal(run_method, program_message("variant { narrow : record { x : nat32; dim : nat32;"
                                        " start : int32; len : nat32 } }",
                                        R"([{"narrow":{"x":0,"dim":0,"start":-1,"len":1}}])")),
    "MXD002: argument: program[0].narrow.start: expected nat32, got int32");
}

TEST(device_interface, what_is_missing_is_named) {
  EXPECT_EQ(refusal(run_method, hex("4449444c0000")),
            "MXD002: argument: expected Run, got nothing");
  EXPECT_EQ(refusal(run_method, program_message("variant { linear : record { x : nat32 } }",
                                                R"([{"linear":{"x":0}}])")),
            "MXD002: argument: program[0].linear.w: expected nat32, got nothing");
}

TEST(device_interface, an_unknown_operation_is_refused_with_its_place_and_tag) {
  const auto text =
    refusal(run_method, program_message("variant { input : nat32; hardswish : nat32 }",
                                        R"([{"input":0},{"hardswish":0}])"));
  EXPECT_TRUE(text.starts_with("MXD002: argument: program[1]: ")) << text;
  EXPECT_TRUE(text.ends_with(fmt::format("has no tag {}", candid::hash_name("hardswish")))) << text;
  // Declared and not used is fine: that is how callers of later versions look.
  EXPECT_EQ(refusal(run_method, program_message("variant { input : nat32; hardswish : nat32 }",
                                                R"([{"input":0}])")),
            "accepted");
}

// By the letter of Candid these would read as null, and the caller would get AdamW where LAMB was
// asked for.
TEST(device_interface, an_option_that_does_not_fit_is_refused_and_not_forgotten) {
  const auto text = refusal(
    optimizer_method,
    message(
      "(record { name : text; params : vec text; lr : float64; beta1 : float64;"
      " beta2 : float64; eps : float64; weight_decay : float64; kind : opt variant { lamb } })",
      R"([{"name":"o","params":[],"lr":1,"beta1":0,"beta2":0,"eps":1,"weight_decay":0,
                 "kind":"lamb"}])"));
  EXPECT_TRUE(text.starts_with("MXD002: argument: kind: ")) << text;
  EXPECT_TRUE(text.ends_with(fmt::format("has no tag {}", candid::hash_name("lamb")))) << text;
}

TEST(device_interface, an_unknown_field_may_be_null_and_nothing_else) {
  constexpr std::string_view types =
    "(vec record { name : text; shape : vec nat32; init : variant { zeros }; tint : opt nat64;"
    " note : null; more : reserved })";
  const auto with = [types](std::string_view tint) {
    return message(types, fmt::format(R"([[{{"name":"a","shape":[],"init":"zeros","tint":{},)"
                                      R"("note":null,"more":null}}]])",
                                      tint));
  };
  EXPECT_EQ(refusal(params_method, with("null")), "accepted");
  const auto text = refusal(params_method, with("7"));
  EXPECT_TRUE(text.starts_with("MXD002: argument: params[0]: ")) << text;
  EXPECT_TRUE(text.ends_with(fmt::format("has no field {}", candid::hash_name("tint")))) << text;
}

TEST(device_interface, no_part_of_a_message_is_a_message) {
  const auto whole = hex(page::run);
  device_interface reader;
  ASSERT_TRUE(reader.decode(run_method, whole).has_value());
  for (size_t n = 0; n < whole.size(); ++n) {
    const auto got = reader.decode(run_method, byte_view{whole}.substr(0, n));
    ASSERT_FALSE(got.has_value()) << n;
    EXPECT_EQ(got.error().code, device_errc::undecodable);
    EXPECT_TRUE(got.error().message.starts_with("MXD002: argument: ")) << got.error().message;
  }
  EXPECT_EQ(refusal(run_method, whole + '\0'), "MXD002: argument: 1 bytes after the last argument");
  EXPECT_NE(refusal(run_method, "no Candid at all"), "accepted");
}

// -- replies ------------------------------------------------------------------

TEST(device_interface, replies_have_these_bytes) {
  EXPECT_EQ(to_hex(encode_reply(params_request{}, {}, 5)), "4449444c0000");
  EXPECT_EQ(to_hex(encode_reply(optimizer_request{}, {}, 5)), "4449444c0000");
  // From an encoder of another language that shares nothing with ours.
  const device::run_reply reply{.scalars = {5.547374725341797},
                                .tensors = {{hex("0000803f000000c0"), device::elem::f32, {2}}},
                                .grad_norm = 0.5,
                                .step = 7};
  EXPECT_EQ(
    to_hex(encode_reply(device::run_request{}, reply, 123456)),
    "4449444c0a6c068daf95880101b0af90ae0302ccceefe20403c7bf91a80604bfb595b40978baefc4e10d056e726e"
    "7e6e786d726d066c03aaac8d9304078fb1d3980408a1c6f3e007096d7b6b0cafb7017fa3cc017fcba1b6027f85a5"
    "b6027fa4aab6027f8eafbf027fc8b2bf027fe7b7bf027f9ae5e3027fd4e8e3027fa9f3d188047faa88ee88047f6d"
    "79010001000000000000e03f0001070000000000000001000000008330164040e201000000000001080000803f00"
    "0000c0030102000000");
}

TEST(device_interface, an_empty_reply_has_no_norm_and_no_step) {
  const auto bytes = encode_reply(device::run_request{}, {}, 0);
  const auto result =
    candid::parse_types("(record { scalars : vec float64; grad_norm : opt float64;"
                        " step : opt nat64; nanos : nat64 })")
      .value();
  EXPECT_EQ(candid::values_to_json(result, candid::decode(bytes, result).value()).value(),
            R"([{"scalars":[],"grad_norm":null,"step":null,"nanos":0}])");
}

// -- contents -----------------------------------------------------------------

TEST(device_interface, reads_what_is_to_be_written_read_and_forgotten) {
  const auto write = decoded<write_request>(
    "moxzi_device_write",
    message(
      "(vec record { name : text; tensor : record { data : blob; elem : variant { f32 };"
      " shape : vec nat32 }; start : opt nat64 })",
      R"([[{"name":"w","tensor":{"data":"0x0000803f","elem":"f32","shape":[1]},"start":7}]])"));
  ASSERT_EQ(write.size(), 1u);
  EXPECT_EQ(write[0], (device::write_entry{"w", {hex("0000803f"), device::elem::f32, {1}}, 7}));
  const auto read = decoded<device::read_request>(
    "moxzi_device_read", message("(record { names : vec text })", R"([{"names":["w","v"]}])"));
  EXPECT_EQ(read, (device::read_request{{"w", "v"}, {}, {}}));
  const auto remove = decoded<device::delete_request>(
    "moxzi_device_delete",
    message("(record { everything : opt bool })", R"([{"everything":true}])"));
  EXPECT_EQ(remove, (device::delete_request{{}, {}, {}, true}));
  const auto rename = decoded<rename_request>(
    "moxzi_device_rename",
    message("(vec record { from : text; to : text })", R"([[{"from":"a","to":"b"}]])"));
  EXPECT_EQ(rename, (rename_request{{"a", "b"}}));
}

TEST(device_interface, reads_methods_without_an_argument) {
  const auto nothing = hex("4449444c0000");
  decoded<list_request>("moxzi_device_list", nothing);
  decoded<info_request>("moxzi_device_info", nothing);
  decoded<info_request>("moxzi_device_info", message("(nat32)", "[7]")); // it is skipped
  EXPECT_NE(refusal("moxzi_device_info", "DIDL"), "accepted");
}

TEST(device_interface, names_the_lists_of_each_method) {
  EXPECT_EQ(refusal("moxzi_device_write", message("(vec record { name : nat32; tensor : text })",
                                                  R"([[{"name":1,"tensor":""}]])"))
              .substr(0, 34),
            "MXD002: argument: tensors[0].name:");
  EXPECT_EQ(refusal("moxzi_device_rename", message("(vec record { from : text; to : nat32 })",
                                                   R"([[{"from":"","to":1}]])"))
              .substr(0, 32),
            "MXD002: argument: renames[0].to:");
}

/// A reply as JSON, at the types of the interface.
std::string reply_json(std::string_view method, const byte_string& bytes) {
  const auto& results = device_types::get().service.find(method)->results;
  return candid::values_to_json(results, candid::decode(bytes, results).value()).value();
}

TEST(device_interface, replies_tell_what_was_read_and_found) {
  const device::run_reply read{.tensors = {{hex("0000803f"), device::elem::f32, {1}}}};
  EXPECT_EQ(
    reply_json("moxzi_device_read", encode_reply(device::read_request{{"w"}, {}, {}}, read, 1)),
    R"([[{"name":"w","tensor":{"data":"0x0000803f","elem":"f32","shape":[1]}}]])");
  const device::space_listing listing{
    .params = {{"w", {2, 3}, device::dtype::f64, 48}},
    .optimizers = {{"o", device::optimizer_kind::lion, {"w"}, 7, 0.5, 48}}};
  EXPECT_EQ(
    reply_json("moxzi_device_list", encode_reply(list_request{}, {}, 1, listing)),
    R"([{"params":[{"name":"w","shape":[2,3],"dtype":"f64","bytes":48}],"values":[],)"
    R"("optimizers":[{"name":"o","kind":"lion","params":["w"],"step":7,"lr":0.5,"bytes":48}]}])");
  device::device_description about{.kind = "cpu",
                                   .name = "a chip",
                                   .version = "2",
                                   .memory_used = 5,
                                   .actor_bytes = 4,
                                   .actor_quota = 9,
                                   .dtypes = {device::dtype::f32},
                                   .max_ops = 3,
                                   .max_rank = 2,
                                   .max_tensor_bytes = 1};
  EXPECT_EQ(reply_json("moxzi_device_info", encode_reply(info_request{}, {}, 1, about, 7)),
            R"([{"kind":"cpu","name":"a chip","version":"2","memory_total":null,"memory_used":5,)"
            R"("actor_bytes":4,"actor_quota":9,"dtypes":["f32"],"cycles_per_ms":7,"max_ops":3,)"
            R"("max_rank":2,"max_tensor_bytes":1}])");
  EXPECT_EQ(to_hex(encode_reply(rename_request{}, {}, 5)), "4449444c0000");
}

TEST(device_interface, what_changes_the_device_is_kept) {
  EXPECT_TRUE(is_mutating(write_request{}));
  EXPECT_TRUE(is_mutating(device::delete_request{}));
  EXPECT_TRUE(is_mutating(rename_request{}));
  const auto run = [](device::operation last) {
    device::run_request made;
    made.code = std::make_shared<const device::program>(
      device::program{{device::op::input, {}, {int64_t{0}}}, std::move(last)});
    return made;
  };
  EXPECT_TRUE(is_mutating(run({device::op::store, {0}, {std::string("v")}})));
  EXPECT_TRUE(is_mutating(run({device::op::assign, {0}, {std::string("p")}})));
  // What the next draw is depends on this one.
  EXPECT_TRUE(is_mutating(run({device::op::categorical, {0}, {}})));
  EXPECT_FALSE(is_mutating(run({device::op::relu, {0}, {}})));
  EXPECT_FALSE(is_mutating(run({device::op::value, {}, {std::string("v")}})));
  EXPECT_FALSE(is_mutating(device::read_request{}));
  EXPECT_FALSE(is_mutating(list_request{}));
  EXPECT_FALSE(is_mutating(info_request{}));
}
