#include "device/program_builder.hpp"

#include <gtest/gtest.h>

#include "device/errors.hpp"
#include "device/tensors.hpp"
#include "tests/device/support.hpp"

// What a user writes: no `using namespace` of ours.
namespace {

namespace md = moxzi::device;

md::var letters_loss(md::program_builder& p) {
  auto text = p.input(md::elem::u8, {1, 65});
  auto x = narrow(text, 1, 0, 64);
  auto y = reshape(narrow(text, 1, 1, 64), {64});
  auto h = embedding(p.param("embed"), x);
  auto logits = reshape(linear(h, p.param("head")), {64, md::open_size});
  return cross_entropy(logits, y);
}

TEST(program_builder, writes_what_the_calls_say) {
  md::program_builder p;
  auto loss = letters_loss(p);
  EXPECT_EQ(loss.number(), 9u);
  auto step = p.training(loss, {.optimizer = "adam", .clip = 1.0}, {.scalars = {loss}});
  ASSERT_TRUE(step) << step.error().message;
  auto expected = md::testing::letters_program(64, md::open_size);
  EXPECT_EQ(*step->request.code, expected);
  EXPECT_EQ(step->request.scalars, std::vector<md::reg>{9});
  EXPECT_EQ(step->request.train->loss, 9u);
  EXPECT_EQ(step->request.train->clip, 1.0);
  ASSERT_EQ(step->inputs.size(), 1u);
  EXPECT_EQ(step->inputs[0], (md::input_type{md::elem::u8, {1, 65}}));
}

TEST(program_builder, makes_several_runs_of_one_program) {
  md::program_builder p;
  auto loss = letters_loss(p);
  auto moved = std::move(p);
  auto evaluate = moved.answering({.scalars = {loss}, .tensors = {loss}});
  ASSERT_TRUE(evaluate);
  EXPECT_FALSE(evaluate->request.train);
  EXPECT_EQ(evaluate->request.tensors, std::vector<md::reg>{9});
  EXPECT_TRUE(moved.training(loss, {.optimizer = "adam"}, {}));
}

TEST(program_builder, computes_what_the_page_computes) {
  md::program_builder p;
  auto loss = letters_loss(p);
  auto core = md::testing::reference_core();
  ASSERT_TRUE(core.define_params("a", md::testing::letters_params()));
  auto request = p.answering({.scalars = {loss}})->request;
  request.inputs = {md::testing::text_tensor(md::testing::letters_text)};
  auto built = core.run("a", request);
  ASSERT_TRUE(built) << built.error().message;
  request.code = md::testing::shared(md::testing::letters_program(64));
  EXPECT_EQ(built->scalars, core.run("a", request)->scalars);
}

// d sum(x²) / dx = 2x, and the sum of its squares once more: 8x.
TEST(program_builder, gradients_are_values) {
  md::program_builder p;
  auto x = p.input(md::elem::f32, {2});
  auto slope = grad(sum(square(x)), x);
  auto again = grad(sum(square(slope)), x);
  auto run = p.answering({.tensors = {slope, again}});
  ASSERT_TRUE(run) << run.error().message;
  run->request.inputs = {md::make_tensor<float>({1, -3}, {2})};
  auto core = md::testing::reference_core();
  auto reply = core.run("a", run->request);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(md::testing::numbers(reply->tensors[0]), (std::vector<double>{2, -6}));
  EXPECT_EQ(md::testing::numbers(reply->tensors[1]), (std::vector<double>{8, -24}));
}

TEST(program_builder, signs_compute_what_they_say) {
  md::program_builder p;
  auto x = p.input(md::elem::f32, {2}), y = p.input(md::elem::f32, {2});
  std::vector<md::var> all{x + y,   x - y,   x * y, x / y, -x,    x + 0.5, 0.5 + x,
                           x - 0.5, 0.5 - x, x * 3, 3 * x, x / 4, 1.0 / x};
  auto core = md::testing::reference_core();
  auto request = p.answering({.tensors = all})->request;
  request.inputs = {md::testing::tensor_of<float>(md::elem::f32, {2}, {2, -8}),
                    md::testing::tensor_of<float>(md::elem::f32, {2}, {4, 0.5})};
  auto reply = core.run("a", request);
  ASSERT_TRUE(reply) << reply.error().message;
  std::vector<std::vector<double>> expected{
    {6, -7.5},   {-2, -8.5},  {8, -4},  {0.5, -16}, {-2, 8},   {2.5, -7.5},  {2.5, -7.5},
    {1.5, -8.5}, {-1.5, 8.5}, {6, -24}, {6, -24},   {0.5, -2}, {0.5, -0.125}};
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(md::testing::numbers(reply->tensors[i]), expected[i]) << i;
}

TEST(program_builder, options_are_named) {
  md::program_builder p;
  auto x = p.input(0);
  clamp(x, {.max = 2.0});
  EXPECT_EQ((*p.answering({})->request.code)[1].attributes, (std::vector<md::attribute>{{}, 2.0}));
}

TEST(program_builder, an_absent_operand_is_no_register) {
  md::program_builder p;
  auto x = p.input(0), w = p.param("w"), b = p.param("b");
  linear(x, w);
  linear(x, w, b);
  auto code = *p.answering({})->request.code;
  EXPECT_EQ(code[3].operands, (std::vector<md::reg>{0, 1, md::no_register}));
  EXPECT_EQ(code[4].operands, (std::vector<md::reg>{0, 1, 2}));
}

TEST(program_builder, refuses_values_of_another_program) {
  md::program_builder p, q;
  linear(p.input(0), q.param("w"));
  EXPECT_EQ(p.answering({}).error().message,
            "MXD010: program[1] linear: an operand is no value of this program_builder");
  EXPECT_TRUE(q.answering({}));
  EXPECT_EQ(q.answering({.scalars = {p.input(0)}}).error().message,
            "MXD010: scalars[0]: no value of this program_builder");
  EXPECT_EQ(q.training({}, {}, {}).error().message,
            "MXD010: train.loss: no value of this program_builder");
}

TEST(program_builder, refuses_no_value_as_an_operand) {
  md::program_builder p;
  linear(p.input(0), md::var{});
  EXPECT_EQ(p.answering({}).error().code, md::device_errc::register_order);
  md::program_builder q;
  auto nothing = linear(md::var{}, md::var{});
  EXPECT_EQ(q.answering({.tensors = {nothing}}).error().message,
            "MXD010: tensors[0]: no value of this program_builder");
}

TEST(program_builder, refuses_an_input_of_too_many_dimensions) {
  md::program_builder p;
  p.input(md::elem::f32, std::vector<uint32_t>(9, 1));
  EXPECT_EQ(p.answering({}).error().message,
            "MXD011: inputs[0]: shape [1, 1, 1, 1, 1, 1, 1, 1, 1] has 9 dimensions; at most 8");
}

} // namespace
