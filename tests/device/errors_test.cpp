#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "device/backend.hpp"
#include "device/check.hpp"
#include "device/errors.hpp"
#include "tests/device/support.hpp"

namespace moxzi::device {
namespace {

using namespace testing;

/// A core with the page's parameters and optimizer in the space "a".
device_core ready_core(core_options options = {}) {
  auto core = reference_core(options);
  EXPECT_TRUE(core.define_params("a", letters_params()));
  EXPECT_TRUE(core.define_optimizer("a", letters_optimizer()));
  return core;
}

/// All that a space holds, as far as can be seen: contents now, and the next loss and step.
struct picture {
  std::vector<tensor> contents;
  uint64_t bytes;
  bool operator==(const picture&) const = default;
};

picture picture_of(device_core& core) {
  run_request read{.code = shared({param("embed"), param("head")}), .tensors = {0, 1}};
  auto reply = core.run("a", read);
  EXPECT_TRUE(reply) << reply.error().message;
  return {reply->tensors, core.memory_bytes("a")};
}

/// A step of the page's program, changed by `change`, is refused with this message; nothing has
/// changed, and the next step works as if nothing had happened.
void expect_refused(const std::string& message,
                    const std::function<void(run_request&, program&)>& change,
                    core_options options = {}) {
  SCOPED_TRACE(message);
  auto core = ready_core(options), twin = ready_core(options);
  auto before = picture_of(core);
  auto request = letters_step();
  auto code = *request.code;
  change(request, code);
  request.code = shared(code);
  auto reply = core.run("a", request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, message);
  EXPECT_EQ(code_text(static_cast<device_errc>(reply.error().code.value())), message.substr(0, 6));
  EXPECT_EQ(picture_of(core), before);
  for (int i = 0; i < 2; ++i) {
    auto next = core.run("a", letters_step()), same = twin.run("a", letters_step());
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(next->scalars, same->scalars);
    EXPECT_EQ(next->step, same->step);
  }
}

TEST(program_errors, name_the_operation_and_both_shapes) {
  expect_refused("MXD010: program[1] narrow: x = 1 is not made before this operation, which makes "
                 "register 1",
                 [](run_request&, program& code) { code[1].operands[0] = 1; });
  expect_refused("MXD010: program[7] linear: w = 4000000000 is not made before this operation, "
                 "which makes register 7",
                 [](run_request&, program& code) { code[7].operands[1] = 4'000'000'000; });
  expect_refused("MXD011: program[3] linear: x [256, 16] does not fit w [4096]: x [.., in] and w "
                 "[out, in] wanted",
                 [](run_request&, program& code) {
                   code = {param("embed"), param("head"), reshape(1, {4096}), linear(0, 2)};
                 });
  expect_refused("MXD011: program[9] cross_entropy: logits [64, 256] does not fit targets [1, 64]: "
                 "logits [rows, classes] and targets [rows] wanted",
                 [](run_request&, program& code) { code[9].operands[1] = 2; });
  expect_refused("MXD011: program[3] embedding: table is [4096] and ids [1, 65]; a table of rank "
                 "2, [rows, columns], wanted",
                 [](run_request&, program& code) {
                   code = {input(0), param("embed"), reshape(1, {4096}), embedding(2, 0)};
                 });
  expect_refused("MXD012: program[1] embedding: table is i64 [1, 65]; floats wanted",
                 [](run_request&, program& code) {
                   code = {input(0), embedding(0, 0)};
                 });
  expect_refused("MXD011: program[3] linear: b [1, 65] does not fit w [256, 16]: b [out] wanted",
                 [](run_request& r, program& code) {
                   r.inputs.push_back(tensor_of<float>(elem::f32, {1, 65}, std::vector<float>(65)));
                   code = {param("embed"), param("head"), input(1), linear(0, 1, 2)};
                 });
  expect_refused("MXD012: program[5] embedding: ids is f32 [256, 16]; integers wanted",
                 [](run_request&, program& code) { code[5].operands[1] = 4; });
  expect_refused("MXD012: program[7] linear: x is i64 [1, 64]; floats wanted",
                 [](run_request&, program& code) { code[7].operands[0] = 1; });
  expect_refused("MXD013: program[1] narrow: dim 2 of x [1, 65], which has 2 dimensions",
                 [](run_request&, program& code) { code[1] = narrow(0, 2, 0, 64); });
  expect_refused("MXD013: program[2] narrow: start 2 + len 64 = 66 is past the end of dim 1 of x "
                 "[1, 65], which has 65 places",
                 [](run_request&, program& code) { code[2] = narrow(0, 1, 2, 64); });
  expect_refused("MXD014: program[8] reshape: x [1, 64, 256] to [64, 255]: 16384 elements can't "
                 "become 16320",
                 [](run_request&, program& code) {
                   code[8] = reshape(7, {64, 255});
                 });
  expect_refused("MXD014: program[8] reshape: x [1, 64, 256] to [5, 4294967295]: 16384 elements "
                 "can't be dealt out in groups of 5",
                 [](run_request&, program& code) {
                   code[8] = reshape(7, {5, UINT32_MAX});
                 });
  expect_refused("MXD011: program[8] reshape: shape [1, 1, 1, 1, 1, 1, 1, 64, 256] has 9 "
                 "dimensions; at most 8",
                 [](run_request&, program& code) {
                   code[8] = reshape(7, {1, 1, 1, 1, 1, 1, 1, 64, 256});
                 });
  expect_refused("MXD016: program[9] ?: there is no operation number 1001",
                 [](run_request&, program& code) { code[9].id = op::ones_like; });
  expect_refused("MXD002: program[1] narrow: start is missing or of another type",
                 [](run_request&, program& code) { code[1].attributes[1] = 1.5; });
  expect_refused("MXD002: program[9] cross_entropy: operand targets is missing",
                 [](run_request&, program& code) { code[9].operands.resize(1); });
  expect_refused("MXD020: program[6] param: no parameter \"haed\"; did you mean 'head'?",
                 [](run_request&, program& code) { code[6] = param("haed"); });
  expect_refused("MXD031: program[0] input: input 1, but 1 inputs were sent",
                 [](run_request&, program& code) { code[0] = input(1); });
  expect_refused("MXD063: program: 10001 entries; at most 10000",
                 [](run_request&, program& code) { code.resize(10'001, input(0)); });
}

TEST(program_errors, show_the_linear_sizes_that_differ) {
  auto core = ready_core();
  ASSERT_TRUE(
    core.define_params("a", {{.name = "head", .dims = {256, 17}, .init = init_normal{0.1}}}));
  auto reply = core.run("a", letters_step());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message,
            "MXD011: program[7] linear: x [1, 64, 16] does not fit w [256, 17]: x [.., in] and w "
            "[out, in] wanted");
}

TEST(run_errors, name_the_part_of_the_request) {
  expect_refused("MXD021: train.optimizer: no optimizer \"adm\"; did you mean 'adam'?",
                 [](run_request& r, program&) { r.train->optimizer = "adm"; });
  expect_refused("MXD030: inputs[0]: 64 bytes for u8 [1, 65]; 65 wanted",
                 [](run_request& r, program&) { r.inputs[0].data = r.inputs[0].data.part(0, 64); });
  expect_refused("MXD011: inputs[0]: shape [1, 1, 1, 1, 1, 1, 1, 1, 65] has 9 dimensions; at most "
                 "8",
                 [](run_request& r, program&) { r.inputs[0].dims = {1, 1, 1, 1, 1, 1, 1, 1, 65}; });
  expect_refused("MXD011: inputs[0]: [65536, 65536] has too many elements; at most 2147483647",
                 [](run_request& r, program&) {
                   r.inputs[0].dims = {65536, 65536};
                 });
  expect_refused("MXD011: scalars[0]: register 8 (program[8] reshape) is f32 [64, 256]; one number "
                 "wanted",
                 [](run_request& r, program&) { r.scalars = {8}; });
  expect_refused("MXD010: scalars[1]: register 10 of a program with 10 operations",
                 [](run_request& r, program&) {
                   r.scalars = {9, 10};
                 });
  expect_refused("MXD010: tensors[0]: register 77 of a program with 10 operations",
                 [](run_request& r, program&) { r.tensors = {77}; });
  expect_refused("MXD010: train.loss: register 10 of a program with 10 operations",
                 [](run_request& r, program&) { r.train->loss = 10; });
  expect_refused("MXD040: train.loss: register 8 (program[8] reshape) is f32 [64, 256]; one "
                 "floating-point number wanted",
                 [](run_request& r, program&) { r.train->loss = 8; });
  expect_refused("MXD040: train.loss: register 2 (program[2] narrow) is i64 [1, 64]; one "
                 "floating-point number wanted",
                 [](run_request& r, program&) { r.train->loss = 2; });
  expect_refused("MXD041: train.also[0]: parameter \"embed\" of optimizer \"adam\" is stepped by "
                 "another one too",
                 [](run_request& r, program&) { r.train->also = {"adam"}; });
  expect_refused("MXD032: train.lr: nan; a finite number not below 0 wanted",
                 [](run_request& r, program&) { r.train->lr = std::nan(""); });
  expect_refused("MXD032: train.clip: -1; a number not below 0 wanted",
                 [](run_request& r, program&) { r.train->clip = -1; });
  expect_refused("MXD062: tensors[31]: the answer would have 2097160 bytes with register 8, f32 "
                 "[64, 256]; at most 2097152",
                 [](run_request& r, program&) { r.tensors.assign(40, 8); });
}

TEST(data_errors, name_the_value_and_change_nothing) {
  expect_refused("MXD015: program[3] embedding: ids holds 255; 0 to 199 wanted",
                 [](run_request& r, program& code) {
                   r.inputs[0].data = changed(r.inputs[0].data, 3, '\xff');
                   code = {input(0), param("embed"), narrow(1, 0, 0, 200), embedding(2, 0)};
                   r.train.reset();
                   r.scalars = {};
                   r.tensors = {3};
                 });
  // 'h' is 104.
  expect_refused(
    "MXD015: program[4] cross_entropy: targets holds 104; 0 to 15 wanted",
    [](run_request& r, program& code) {
      code = {input(0), reshape(0, {65}), param("embed"), embedding(2, 1), cross_entropy(3, 1)};
      r.train->loss = 4;
      r.scalars = {4};
    });
  expect_refused("MXD015: program[4] cross_entropy: targets holds -1; 0 to 15 wanted",
                 [](run_request& r, program& code) {
                   r.inputs.push_back(tensor_of<int32_t>(elem::i32, {1}, {-1}));
                   code = {input(1), param("embed"), narrow(1, 0, 0, 1), reshape(2, {1, 16}),
                           cross_entropy(3, 0)};
                   r.train->loss = 4;
                   r.scalars = {4};
                 });
  // The loss itself is not asked for, so only the gradient's operation follows the indices.
  expect_refused(
    "MXD015: program[4] embedding: ids holds 7; 0 to 3 wanted", [](run_request& r, program& code) {
      r.inputs.push_back(tensor_of<uint16_t>(elem::u16, {1}, {7}));
      code = {param("embed"), reshape(0, {4096, 1}), input(1), narrow(1, 0, 0, 4), embedding(3, 2)};
      r.train->loss = 4;
      r.scalars = {};
    });
  expect_refused("MXD015: inputs[1]: byte 1 is 2; a bool is 0 or 1", [](run_request& r, program&) {
    r.inputs.push_back(tensor_of<uint8_t>(elem::boolean, {2}, {1, 2}));
  });
}

TEST(memory_errors, say_what_was_asked_for_and_what_is_free) {
  // 96 KiB of parameters and moments, and what a small step needs; not a large one.
  auto core = ready_core({.memory_bytes = 400'000});
  ASSERT_TRUE(core.run("a", letters_step()));
  auto large = letters_step();
  large.inputs = {text_tensor(std::string(10'001, 'x'))};
  large.code = shared(letters_program(10'000));
  auto reply = core.run("a", large);
  ASSERT_FALSE(reply);
  EXPECT_THAT(
    reply.error().message,
    ::testing::MatchesRegex("MXD060: program: [0-9]+ bytes asked for, 301696 of 400000 free"));
  EXPECT_TRUE(is_transient(device_errc::out_of_memory));
  EXPECT_TRUE(core.run("a", letters_step()));

  auto more = core.define_params("a", {{.name = "x", .dims = {1000, 1000}}});
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message,
              ::testing::MatchesRegex(
                "MXD060: params.0. \"x\": 4000000 bytes asked for, 301696 of 400000 free"));
  EXPECT_TRUE(core.run("a", letters_step()));
}

TEST(memory_errors, an_owner_has_a_share) {
  auto core = reference_core({.owner_bytes = 1000});
  ASSERT_TRUE(core.define_params("a", {{.name = "x", .dims = {200}}}));
  auto more = core.define_params("a", {{.name = "y", .dims = {200}}});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().message,
            "MXD061: params[0] \"y\": 800 bytes asked for, 200 of the actor's 1000 free");
  // A new draw gives the old contents back; another owner has its own share.
  EXPECT_TRUE(core.define_params("a", {{.name = "x", .dims = {250}}}));
  EXPECT_TRUE(core.define_params("b", {{.name = "y", .dims = {200}}}));
  EXPECT_EQ(core.memory_bytes("a"), 1000u);
}

/// A device with no kernel for linear.
class half_a_device final : public backend {
public:
  const backend_info& info() const noexcept override {
    return full_->info();
  }
  bool supports(op id) const noexcept override {
    return id != op::linear;
  }
  buffer_ptr allocate(uint64_t bytes, fault& why) override {
    return full_->allocate(bytes, why);
  }
  std::optional<fault> write(buffer& to, uint64_t offset, byte_view from) override {
    return full_->write(to, offset, from);
  }
  std::optional<fault> read(const buffer& from, uint64_t offset, uint64_t bytes,
                            byte_string& to) override {
    return full_->read(from, offset, bytes, to);
  }
  std::unique_ptr<executable> prepare(const plan& what, fault& why) override {
    return full_->prepare(what, why);
  }

private:
  std::unique_ptr<backend> full_ = make_reference_backend();
};

TEST(device_errors, a_device_without_the_operation_says_so) {
  device_core core(std::make_unique<half_a_device>(), {});
  ASSERT_TRUE(core.define_params("a", letters_params()));
  ASSERT_TRUE(core.define_optimizer("a", letters_optimizer()));
  auto reply = core.run("a", letters_step());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "MXD016: program[7] linear: device reference lacks linear");
}

} // namespace
} // namespace moxzi::device
