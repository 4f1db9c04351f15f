#include "device/device_core.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "device/errors.hpp"
#include "tests/device/support.hpp"

namespace moxzi::device {
namespace {

using namespace testing;

std::vector<double> contents(device_core& core, byte_view owner, const std::string& name) {
  auto reply = core.run(owner, {.code = shared({param(name)}), .tensors = {0}});
  EXPECT_TRUE(reply) << reply.error().message;
  return reply ? numbers(reply->tensors.at(0)) : std::vector<double>{};
}

param_spec vector_of(std::string name, std::vector<float> values) {
  auto size = static_cast<uint32_t>(values.size());
  return {.name = std::move(name),
          .dims = {size},
          .init = init_data{tensor_of(elem::f32, {size}, values)}};
}

/// One parameter "p" of one number, and a step whose loss is that number: its gradient is 1.
struct one_number {
  device_core core = reference_core();

  explicit one_number(float start, optimizer_spec how) {
    EXPECT_TRUE(core.define_params("a", {vector_of("p", {start})}));
    how.name = "o";
    how.params = {"p"};
    EXPECT_TRUE(core.define_optimizer("a", how));
  }
  run_reply step(std::optional<double> clip = {}, std::optional<double> lr = {}) {
    auto reply = core.run(
      "a",
      {.code = shared({param("p")}), .train = train_spec{0, "o", clip, lr, {}}, .scalars = {0}});
    EXPECT_TRUE(reply) << reply.error().message;
    return *reply;
  }
  double now() {
    return contents(core, "a", "p").at(0);
  }
};

// -- spaces --------------------------------------------------------------------

TEST(spaces, two_owners_never_see_each_others_names) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", {vector_of("head", {1})}));
  ASSERT_TRUE(core.define_params("b", {vector_of("head", {2})}));
  EXPECT_EQ(contents(core, "a", "head"), std::vector<double>{1});
  EXPECT_EQ(contents(core, "b", "head"), std::vector<double>{2});
  core.drop_space("a");
  EXPECT_EQ(contents(core, "b", "head"), std::vector<double>{2});
  EXPECT_FALSE(core.run("a", {.code = shared({param("head")}), .tensors = {0}}));
  EXPECT_FALSE(core.run("c", {.code = shared({param("head")}), .tensors = {0}}));
}

TEST(spaces, the_same_program_of_two_owners_shares_a_plan_but_no_numbers) {
  auto core = reference_core();
  for (auto owner : {"a", "b"}) {
    ASSERT_TRUE(core.define_params(owner, letters_params()));
    ASSERT_TRUE(core.define_optimizer(owner, letters_optimizer()));
  }
  auto a = core.run("a", letters_step()), b = core.run("b", letters_step());
  EXPECT_EQ(core.cache().misses, 1u);
  EXPECT_EQ(core.cache().hits, 1u);
  EXPECT_NE(a->scalars, b->scalars); // drawn for another owner
  auto alone = reference_core();
  ASSERT_TRUE(alone.define_params("b", letters_params()));
  ASSERT_TRUE(alone.define_optimizer("b", letters_optimizer()));
  EXPECT_EQ(alone.run("b", letters_step())->scalars, b->scalars);
}

TEST(spaces, dropping_one_gives_its_memory_back) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", letters_params()));
  ASSERT_TRUE(core.define_optimizer("a", letters_optimizer()));
  EXPECT_EQ(core.memory_bytes("a"), 6u * 256 * 16 * 4);
  EXPECT_EQ(core.memory_bytes(), core.memory_bytes("a"));
  core.drop_space("a");
  EXPECT_EQ(core.memory_bytes(), 0u);
}

// -- parameters ----------------------------------------------------------------

TEST(params, one_wrong_entry_changes_nothing) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", {vector_of("p", {1, 2})}));
  auto refuse = [&core](std::vector<param_spec> specs) {
    auto made = core.define_params("a", specs);
    EXPECT_FALSE(made);
    EXPECT_EQ(contents(core, "a", "p"), (std::vector<double>{1, 2}));
    EXPECT_FALSE(core.run("a", {.code = shared({param("q")}), .tensors = {0}}));
    EXPECT_EQ(core.memory_bytes("a"), 8u);
    return made.error().message;
  };
  auto p = vector_of("p", {3}), q = vector_of("q", {4});
  EXPECT_EQ(refuse({p, q, p}), "MXD023: params[2] \"p\": the name is listed twice");
  EXPECT_EQ(refuse({p,
                    {.name = "q",
                     .dims = {2, 2},
                     .init = init_data{tensor_of<float>(elem::f32, {4}, {1, 2, 3, 4})}}}),
            "MXD011: params[1] \"q\": data [4] does not fit the parameter's [2, 2]");
  EXPECT_EQ(refuse({p, {.name = "q", .dims = {2}, .init = init_data{{"1234567", elem::f32, {2}}}}}),
            "MXD030: params[1] \"q\": 7 bytes for f32 [2]; 8 wanted");
  EXPECT_EQ(refuse({p, {.name = "q", .dims = {2}, .init = init_data{{"12", elem::u8, {2}}}}}),
            "MXD012: params[1] \"q\": data is u8; floats wanted");
  EXPECT_EQ(refuse({p, {.name = "q", .dims = {2}, .init = init_normal{-1}}}),
            "MXD032: params[1] \"q\": normal -1: draws finite in f32 and not negative wanted");
  EXPECT_EQ(refuse({p, {.name = "q", .dims = {65536, 65536}}}),
            "MXD011: params[1] \"q\": [65536, 65536] has too many elements; at most 2147483647");
  EXPECT_EQ(refuse({p, {.name = "q", .dims = std::vector<uint32_t>(9, 1)}}),
            "MXD011: params[1] \"q\": shape [1, 1, 1, 1, 1, 1, 1, 1, 1] has 9 dimensions; at most "
            "8");
  EXPECT_EQ(refuse({p, {.name = "q", .dims = {1}, .type = dtype::bf16}}),
            "MXD016: params[1] \"q\": device reference keeps no bf16 parameters");
  EXPECT_EQ(refuse({p, {.name = "", .dims = {1}}}),
            "MXD032: params[1] \"\": a name of 0 bytes; 1 to 128 bytes of UTF-8 wanted");
  EXPECT_EQ(refuse({p, {.name = "\xff", .dims = {1}}}),
            "MXD032: params[1] \"?\": a name of 1 bytes; 1 to 128 bytes of UTF-8 wanted");
  auto taken = vector_of("p", {5});
  taken.existing = if_exists::fail;
  EXPECT_EQ(refuse({q, taken}), "MXD023: params[1] \"p\": there is one already, f32 [2]");
  taken.existing = if_exists::keep;
  EXPECT_EQ(refuse({q, taken}), "MXD011: params[1] \"p\": it is to be kept but is [2], not [1]");
}

TEST(params, a_second_call_draws_anew_unless_asked_to_keep) {
  auto core = reference_core();
  param_spec spec{.name = "p", .dims = {4}, .init = init_normal{1}};
  ASSERT_TRUE(core.define_params("a", {spec}));
  auto first = contents(core, "a", "p");
  spec.existing = if_exists::keep;
  ASSERT_TRUE(core.define_params("a", {spec}));
  EXPECT_EQ(contents(core, "a", "p"), first);
  spec.existing = if_exists::replace;
  ASSERT_TRUE(core.define_params("a", {spec}));
  EXPECT_NE(contents(core, "a", "p"), first);
}

TEST(params, simple_initializers_do_what_they_say) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", {{.name = "c", .dims = {2}, .init = init_constant{0.5}},
                                       {.name = "u", .dims = {1000}, .init = init_uniform{-2, 3}},
                                       {.name = "n", .dims = {1000}, .init = init_normal{0}},
                                       {.name = "s", .dims = {}, .init = init_constant{1}},
                                       {.name = "e", .dims = {3, 0}, .init = init_normal{1}}}));
  EXPECT_EQ(contents(core, "a", "c"), (std::vector<double>{0.5, 0.5}));
  for (auto x : contents(core, "a", "u")) EXPECT_TRUE(x >= -2 && x <= 3);
  for (auto x : contents(core, "a", "n")) EXPECT_EQ(x, 0);
  EXPECT_EQ(contents(core, "a", "s"), std::vector<double>{1});
  EXPECT_TRUE(contents(core, "a", "e").empty());
}

// Half-precision data: 1.0, -2.0, the largest (65504) and the smallest subnormal (2^-24).
TEST(params, data_of_other_floats_is_converted) {
  auto core = reference_core();
  auto data = tensor_of<uint16_t>(elem::f16, {4}, {0x3c00, 0xc000, 0x7bff, 0x0001});
  ASSERT_TRUE(core.define_params("a", {{.name = "p", .dims = {4}, .init = init_data{data}}}));
  EXPECT_EQ(contents(core, "a", "p"), (std::vector<double>{1, -2, 65504, 0x1p-24}));
}

// -- inputs --------------------------------------------------------------------

TEST(inputs, integers_stay_narrow_and_floats_become_f32) {
  auto core = reference_core();
  auto reply = core.run("a", {.inputs = {tensor_of<int16_t>(elem::i16, {2}, {-3, 300}),
                                         tensor_of<double>(elem::f64, {2}, {0.1, 1e300}),
                                         tensor_of<uint16_t>(elem::bf16, {1}, {0x3fc0})},
                              .code = shared({input(0), input(1), input(2), narrow(0, 0, 1, 1)}),
                              .scalars = {3, 2},
                              .tensors = {0, 1}});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->scalars, (std::vector<double>{300, 1.5}));
  EXPECT_EQ(reply->tensors[0].type, elem::i16);
  EXPECT_EQ(reply->tensors[1].type, elem::f32);
  EXPECT_EQ(numbers(reply->tensors[1])[0], static_cast<double>(0.1f));
  EXPECT_TRUE(std::isinf(numbers(reply->tensors[1])[1]));
}

TEST(inputs, a_view_with_gaps_is_answered_without_them) {
  auto core = reference_core();
  auto x = tensor_of<uint8_t>(elem::u8, {2, 3}, {1, 2, 3, 4, 5, 6});
  auto reply = core.run("a", {.inputs = {x},
                              .code = shared({input(0), narrow(0, 1, 1, 2), reshape(1, {4})}),
                              .tensors = {1, 2}});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->tensors[0], (tensor{"\x02\x03\x05\x06", elem::u8, {2, 2}}));
  EXPECT_EQ(reply->tensors[1], (tensor{"\x02\x03\x05\x06", elem::u8, {4}}));
}

// -- optimizers ----------------------------------------------------------------

// With a gradient of 1 both corrected moments are 1 at every step: p falls by lr / (1 + eps).
TEST(optimizers, adam_steps_by_the_learning_rate_on_a_constant_gradient) {
  one_number w(3, {.lr = 0.25, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8});
  auto first = w.step();
  EXPECT_EQ(first.scalars, std::vector<double>{3}); // before the step
  EXPECT_EQ(first.step, 1u);
  EXPECT_FALSE(first.grad_norm);
  EXPECT_NEAR(w.now(), 2.75, 1e-6);
  EXPECT_EQ(w.step().step, 2u);
  EXPECT_NEAR(w.now(), 2.5, 1e-6);
  w.step({}, 1.0);
  EXPECT_NEAR(w.now(), 1.5, 1e-6); // that learning rate was for one step
  w.step();
  EXPECT_NEAR(w.now(), 1.25, 1e-6);
}

// adamw: p - lr (1 + wd p); adam: the decay goes into the gradient, whose size cancels out.
TEST(optimizers, adamw_decays_the_parameter_and_adam_the_gradient) {
  one_number w(2, {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.5});
  w.step();
  EXPECT_NEAR(w.now(), 2 - 0.1 * (1 + 0.5 * 2), 1e-6);
  one_number a(2, {.lr = 0.1,
                   .beta1 = 0.9,
                   .beta2 = 0.99,
                   .eps = 1e-8,
                   .weight_decay = 0.5,
                   .kind = optimizer_kind::adam});
  a.step();
  EXPECT_NEAR(a.now(), 2 - 0.1, 1e-6);
}

// With eps = 1 the size of the gradient shows: step 1 is lr g / (g + 1).
TEST(optimizers, clip_bounds_the_norm_of_all_gradients) {
  one_number w(1, {.lr = 1, .beta1 = 0.9, .beta2 = 0.99, .eps = 1});
  auto reply = w.step(0.25);
  EXPECT_EQ(reply.grad_norm, 1.0);
  EXPECT_NEAR(w.now(), 1 - 0.25 / 1.25, 1e-6);
  one_number loose(1, {.lr = 1, .beta1 = 0.9, .beta2 = 0.99, .eps = 1});
  loose.step(7.0);
  EXPECT_NEAR(loose.now(), 0.5, 1e-6);
}

TEST(optimizers, also_steps_more_of_them_from_the_same_gradients) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", letters_params()));
  auto one = letters_optimizer(), two = letters_optimizer();
  one.params = {"embed"};
  two.params = {"head"};
  two.name = "two";
  ASSERT_TRUE(core.define_optimizer("a", one));
  ASSERT_TRUE(core.define_optimizer("a", two));
  auto both = letters_step();
  both.train->also = {"two"};
  both.train->clip = 0.01; // over all gradients, whoever steps them

  auto twin = reference_core();
  ASSERT_TRUE(twin.define_params("a", letters_params()));
  ASSERT_TRUE(twin.define_optimizer("a", letters_optimizer()));
  auto joined = letters_step();
  joined.train->clip = 0.01;
  for (int i = 0; i < 3; ++i) {
    auto x = core.run("a", both), y = twin.run("a", joined);
    EXPECT_EQ(x->scalars, y->scalars);
    EXPECT_EQ(x->grad_norm, y->grad_norm);
  }
}

TEST(optimizers, skip_parameters_that_the_loss_does_not_reach) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", {vector_of("p", {1}), vector_of("q", {1})}));
  ASSERT_TRUE(core.define_optimizer("a", {.name = "o",
                                          .params = {"p", "q"},
                                          .lr = 0.5,
                                          .beta1 = 0.9,
                                          .beta2 = 0.9,
                                          .eps = 1e-8,
                                          .weight_decay = 0.1}));
  run_request step{.code = shared({param("p")}), .train = train_spec{.loss = 0, .optimizer = "o"}};
  ASSERT_TRUE(core.run("a", step));
  EXPECT_NE(contents(core, "a", "p"), std::vector<double>{1});
  EXPECT_EQ(contents(core, "a", "q"), std::vector<double>{1}); // no step, no decay
}

TEST(optimizers, a_second_definition_starts_over_unless_asked_to_keep) {
  auto run = [](bool keep) {
    one_number w(0, {.lr = 1, .beta1 = 0.5, .beta2 = 0.5, .eps = 1});
    w.step();
    optimizer_spec again{.name = "o",
                         .params = {"p"},
                         .lr = 1,
                         .beta1 = 0.5,
                         .beta2 = 0.5,
                         .eps = 1,
                         .keep_state = keep};
    EXPECT_TRUE(w.core.define_optimizer("a", again));
    return w.step().step.value();
  };
  EXPECT_EQ(run(false), 1u);
  EXPECT_EQ(run(true), 2u);
}

TEST(optimizers, refuse_what_makes_no_sense) {
  auto core = reference_core();
  auto frozen = vector_of("f", {1});
  frozen.frozen = true;
  ASSERT_TRUE(core.define_params("a", {vector_of("p", {1}), vector_of("q", {1}), frozen}));
  optimizer_spec good{
    .name = "o", .params = {"p"}, .lr = 1, .beta1 = 0.9, .beta2 = 0.9, .eps = 1e-8};
  auto refuse = [&](auto change) {
    auto what = good;
    change(what);
    auto made = core.define_optimizer("a", what);
    EXPECT_FALSE(made);
    return made.error().message;
  };
  using spec = optimizer_spec;
  EXPECT_EQ(refuse([](spec& s) {
              s.params = {"p", "unlike"};
            }),
            "MXD020: optimizer \"o\": params[1]: no parameter \"unlike\"");
  EXPECT_EQ(refuse([](spec& s) {
              s.params = {"p", "p"};
            }),
            "MXD023: optimizer \"o\": params[1]: parameter \"p\" is listed twice");
  EXPECT_EQ(refuse([](spec& s) { s.params = {"f"}; }),
            "MXD024: optimizer \"o\": params[0]: parameter \"f\" is frozen");
  EXPECT_EQ(refuse([](spec& s) { s.params = {}; }),
            "MXD032: optimizer \"o\": it has no parameters");
  EXPECT_EQ(refuse([](spec& s) { s.lr = -1; }),
            "MXD032: optimizer \"o\": lr = -1; finite and not negative wanted");
  EXPECT_EQ(refuse([](spec& s) { s.beta1 = 1; }),
            "MXD032: optimizer \"o\": beta1 = 1; 0 <= beta1 < 1 wanted");
  EXPECT_EQ(refuse([](spec& s) { s.beta2 = std::nan(""); }),
            "MXD032: optimizer \"o\": beta2 = nan; 0 <= beta2 < 1 wanted");
  EXPECT_EQ(refuse([](spec& s) { s.eps = 0; }),
            "MXD032: optimizer \"o\": eps = 0; finite, above 0 wanted");
  EXPECT_EQ(core.memory_bytes("a"), 12u); // none of them left anything

  ASSERT_TRUE(core.define_optimizer("a", good));
  auto p = vector_of("p", {1});
  p.frozen = true;
  ASSERT_TRUE(core.define_params("a", {p}));
  auto reply =
    core.run("a", {.code = shared({param("p")}), .train = train_spec{.loss = 0, .optimizer = "o"}});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message,
            "MXD024: train.optimizer: parameter \"p\" of optimizer \"o\" is frozen");
}

TEST(optimizers, forget_a_parameter_that_changes_its_shape) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", {vector_of("p", {1})}));
  ASSERT_TRUE(core.define_optimizer(
    "a", {.name = "o", .params = {"p"}, .lr = 1, .beta1 = 0.5, .beta2 = 0.5, .eps = 1}));
  run_request step{.code = shared({param("p"), narrow(0, 0, 0, 1)}),
                   .train = train_spec{.loss = 1, .optimizer = "o"}};
  ASSERT_TRUE(core.run("a", step));
  ASSERT_TRUE(core.define_params("a", {vector_of("p", {1, 1, 1})}));
  EXPECT_EQ(core.memory_bytes("a"), 3u * 12);
  ASSERT_TRUE(core.run("a", step)) << "the plan is that of the new shape";
  EXPECT_EQ(core.cache().misses, 2u);
  // A first step again: lr g / (|g| + 1) = 1/2 where there is a gradient.
  auto now = contents(core, "a", "p");
  EXPECT_NEAR(now[0], 0.5, 1e-6);
  EXPECT_EQ(now[1], 1);
}

// -- plans ---------------------------------------------------------------------

TEST(plans, are_kept_up_to_a_bound) {
  auto core = reference_core({.plans_max = 3});
  for (uint8_t n = 1; n <= 5; ++n) {
    run_request what{.inputs = {tensor_of<uint8_t>(elem::u8, {n}, std::vector<uint8_t>(n))},
                     .code = shared({input(0)})};
    ASSERT_TRUE(core.run("a", what));
    ASSERT_TRUE(core.run("a", what));
  }
  EXPECT_EQ(core.cache().misses, 5u);
  EXPECT_EQ(core.cache().hits, 5u);
  EXPECT_EQ(core.cache().plans, 3u);
  EXPECT_EQ(core.cache().evictions, 2u);
}

TEST(plans, a_cached_one_checks_the_data_again) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", {{.name = "t", .dims = {3, 1}, .init = init_constant{2}}}));
  run_request what{.inputs = {tensor_of<uint8_t>(elem::u8, {1}, {2})},
                   .code = shared({param("t"), input(0), embedding(0, 1)}),
                   .scalars = {2}};
  EXPECT_EQ(core.run("a", what)->scalars, std::vector<double>{2});
  what.inputs[0].data = "\x03";
  EXPECT_EQ(core.run("a", what).error().code, device_errc::index_range);
  what.inputs[0].data = "\x01\x01";
  EXPECT_EQ(core.run("a", what).error().code, device_errc::input_bytes);
  EXPECT_EQ(core.cache().misses, 1u);
}

} // namespace
} // namespace moxzi::device
