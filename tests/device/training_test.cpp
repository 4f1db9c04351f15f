#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device/errors.hpp"
#include "device/optimizer.hpp"
#include "tests/device/support.hpp"

// What an optimizer remembers, and what a training step does with gradients. That each kind steps
// as PyTorch's does is shown by parity/optimizers.py.

namespace moxzi::device {

/// Bytes asked of the heap by this thread so far (allocation_fixture.cpp).
uint64_t allocated_bytes() noexcept;

namespace {

using namespace testing;

/// A parameter "p" [2] and an optimizer "o" over it, with a loss whose gradient is what is sent.
struct trainer {
  device_core core = reference_core();

  explicit trainer(optimizer_spec how, std::vector<float> start = {0, 0}) {
    EXPECT_TRUE(core.define_params(
      "a", {{.name = "p", .dims = {2}, .init = init_data{tensor_of(elem::f32, {2}, start)}}}));
    define(std::move(how));
  }
  void define(optimizer_spec how) {
    how.name = "o";
    how.params = {"p"};
    auto made = core.define_optimizer("a", how);
    EXPECT_TRUE(made) << made.error().message;
  }
  run_reply step(std::vector<float> gradient, train_spec how = {}) {
    how.loss = 3;
    how.optimizer = "o";
    auto reply =
      core.run("a", {.inputs = {tensor_of(elem::f32, {1, 2}, gradient)},
                     .code = shared({param("p"), reshape(0, {1, 2}), input(0), linear(2, 1)}),
                     .train = how});
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? *reply : run_reply{};
  }
  run_reply gather(std::vector<float> gradient) {
    return step(std::move(gradient), {.accumulate = true});
  }
  std::vector<double> now() {
    auto reply = core.run("a", {.code = shared({param("p")}), .tensors = {0}});
    EXPECT_TRUE(reply);
    return numbers(reply->tensors.at(0));
  }
};

optimizer_spec sgd(double lr = 1) {
  return {.lr = lr, .kind = optimizer_kind::sgd};
}

using pair = std::vector<double>;

// -- schedules -----------------------------------------------------------------

TEST(schedules, go_up_and_down_as_they_say) {
  auto lr = [](lr_schedule how, uint64_t taken) {
    return scheduled_lr({.lr = 0.8, .schedule = how}, taken);
  };
  EXPECT_EQ(lr(schedule_constant{}, 1000), 0.8);
  EXPECT_DOUBLE_EQ(lr(schedule_warmup{4}, 0), 0.2);
  EXPECT_DOUBLE_EQ(lr(schedule_warmup{4}, 2), 0.6);
  EXPECT_EQ(lr(schedule_warmup{4}, 3), 0.8);
  EXPECT_EQ(lr(schedule_warmup{4}, 99), 0.8);
  EXPECT_EQ(lr(schedule_warmup{0}, 0), 0.8);
  schedule_cosine cosine{2, 6, 0.2};
  EXPECT_DOUBLE_EQ(lr(cosine, 0), 0.4);
  EXPECT_DOUBLE_EQ(lr(cosine, 2), 0.8);
  EXPECT_DOUBLE_EQ(lr(cosine, 3), 0.2 + 0.6 * (1 + std::sqrt(0.5)) / 2);
  EXPECT_DOUBLE_EQ(lr(cosine, 4), 0.5);
  EXPECT_DOUBLE_EQ(lr(cosine, 6), 0.2);
  EXPECT_DOUBLE_EQ(lr(cosine, 1000), 0.2);
  schedule_linear linear{0, 3, 0.2};
  EXPECT_DOUBLE_EQ(lr(linear, 0), 0.8);
  EXPECT_DOUBLE_EQ(lr(linear, 1), 0.6);
  EXPECT_DOUBLE_EQ(lr(linear, 3), 0.2);
  EXPECT_DOUBLE_EQ(lr(linear, 4), 0.2);
  EXPECT_DOUBLE_EQ(lr(schedule_linear{5, 5, 0.1}, 5), 0.1);
  EXPECT_DOUBLE_EQ(lr(schedule_step{3, 0.5}, 2), 0.8);
  EXPECT_DOUBLE_EQ(lr(schedule_step{3, 0.5}, 8), 0.2);
}

TEST(schedules, count_the_steps_that_were_taken) {
  auto how = sgd(1);
  how.schedule = schedule_linear{0, 4, 0};
  trainer w(how);
  w.step({1, 0}); // 1
  w.gather({0, 0});
  w.step({1, 0}, {.lr = 10.0}); // that of this step only; it counts
  w.step({1, 0});               // 1/2
  EXPECT_EQ(w.now(), (pair{-11.5, 0}));
}

// -- settings ------------------------------------------------------------------

TEST(optimizers, no_decay_leaves_the_named_ones_alone) {
  auto core = reference_core();
  for (auto name : {"w", "b"})
    ASSERT_TRUE(core.define_params("a", {{.name = name, .dims = {1}, .init = init_constant{2}}}));
  optimizer_spec how = sgd(0.5);
  how.name = "o";
  how.params = {"w", "b"};
  how.weight_decay = 0.1;
  how.no_decay = {"b"};
  ASSERT_TRUE(core.define_optimizer("a", how));
  // The loss is w · b.
  ASSERT_TRUE(core.run("a", {.code = shared({param("w"), param("b"), reshape(0, {1, 1}),
                                             reshape(1, {1, 1}), linear(2, 3)}),
                             .train = train_spec{.loss = 4, .optimizer = "o"}}));
  auto reply = core.run("a", {.code = shared({param("w"), param("b")}), .scalars = {0, 1}});
  EXPECT_NEAR(reply->scalars[0], 2 - 0.5 * (2 + 0.1 * 2), 1e-6);
  EXPECT_NEAR(reply->scalars[1], 2 - 0.5 * 2, 1e-6);
}

// With amsgrad the divisor never shrinks: a large gradient long ago still shows.
TEST(optimizers, amsgrad_remembers_the_largest_second_moment) {
  auto last_step = [](bool amsgrad) {
    trainer w({.lr = 1, .beta1 = 0, .beta2 = 0.5, .eps = 1e-8, .amsgrad = amsgrad});
    w.step({100, 0});
    for (int i = 0; i < 40; ++i) w.step({1, 0});
    auto before = w.now()[0];
    w.step({1, 0});
    return before - w.now()[0];
  };
  EXPECT_NEAR(last_step(false), 1, 1e-5);
  EXPECT_NEAR(last_step(true), 1 / std::sqrt(0.5 * 100 * 100), 1e-5);
}

TEST(optimizers, keep_state_where_the_same_is_remembered) {
  auto second_step = [](optimizer_kind then, double beta1) {
    auto how = sgd(1);
    how.beta1 = 0.5;
    trainer w(how);
    w.step({1, 0});
    how.kind = then;
    how.beta1 = beta1;
    how.keep_state = true;
    how.eps = 1;
    w.define(how);
    auto before = w.now()[0];
    EXPECT_EQ(w.step({1, 0}).step, 2u); // counted on whatever the kind
    return before - w.now()[0];
  };
  EXPECT_EQ(second_step(optimizer_kind::sgd, 0.5), 1.5);           // momentum of 1
  EXPECT_EQ(second_step(optimizer_kind::nesterov, 0.5), 1 + 0.75); // the same momentum
  EXPECT_EQ(second_step(optimizer_kind::sgd, 0), 1);               // none any more
  EXPECT_EQ(second_step(optimizer_kind::adagrad, 0.5), 0.5);       // starts over: 1 / (1 + eps)
}

TEST(optimizers, take_as_much_memory_as_their_kind_remembers) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", {{.name = "w", .dims = {3, 5}, .init = init_constant{0}}}));
  auto bytes = [&core](optimizer_kind kind, double beta1 = 0.9, bool amsgrad = false) {
    EXPECT_TRUE(core.define_optimizer(
      "a",
      {.name = "o", .params = {"w"}, .beta1 = beta1, .eps = 1, .kind = kind, .amsgrad = amsgrad}));
    return (core.memory_bytes("a") - 15 * 4) / 4;
  };
  EXPECT_EQ(bytes(optimizer_kind::adamw), 30u);
  EXPECT_EQ(bytes(optimizer_kind::adamw, 0.9, true), 45u);
  EXPECT_EQ(bytes(optimizer_kind::sgd, 0), 0u);
  EXPECT_EQ(bytes(optimizer_kind::nesterov), 15u);
  EXPECT_EQ(bytes(optimizer_kind::rmsprop), 30u);
  EXPECT_EQ(bytes(optimizer_kind::rmsprop, 0), 15u);
  EXPECT_EQ(bytes(optimizer_kind::adafactor), 3u + 5);
  EXPECT_EQ(bytes(optimizer_kind::muon), 15u);
}

TEST(optimizers, refuse_settings_that_make_no_sense) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params("a", {{.name = "p", .dims = {1}, .init = init_constant{0}}}));
  optimizer_spec good{.name = "o", .params = {"p"}, .lr = 1, .eps = 1};
  auto refusal = [&](auto change) {
    auto what = good;
    change(what);
    auto made = core.define_optimizer("a", what);
    return made ? std::string("accepted") : made.error().message;
  };
  using spec = optimizer_spec;
  EXPECT_EQ(refusal([](spec& s) { s.no_decay = {"P"}; }),
            "MXD020: optimizer \"o\": no_decay[0]: \"P\" is not among its parameters; did you mean "
            "'p'?");
  EXPECT_EQ(refusal([](spec& s) {
              s.kind = optimizer_kind::lion;
              s.amsgrad = true;
            }),
            "MXD032: optimizer \"o\": amsgrad with lion; adamw or adam wanted");
  EXPECT_EQ(refusal([](spec& s) {
              s.schedule = schedule_cosine{7, 5, 0};
            }),
            "MXD032: optimizer \"o\": schedule cosine: total = 5; no less than warmup = 7 wanted");
  EXPECT_EQ(refusal([](spec& s) {
              s.schedule = schedule_linear{0, 5, 2};
            }),
            "MXD032: optimizer \"o\": schedule linear: floor = 2; 0 to lr = 1 wanted");
  EXPECT_EQ(refusal([](spec& s) {
              s.schedule = schedule_step{0, 0.5};
            }),
            "MXD032: optimizer \"o\": schedule step: every = 0; at least 1 wanted");
  EXPECT_EQ(refusal([](spec& s) {
              s.schedule = schedule_step{1, std::nan("")};
            }),
            "MXD032: optimizer \"o\": schedule step: gamma = nan; 0 to 1 wanted");
  EXPECT_EQ(refusal([](spec& s) {
              s.kind = optimizer_kind::rmsprop;
              s.eps = 0;
            }),
            "MXD032: optimizer \"o\": eps = 0; finite, above 0 wanted");
  EXPECT_EQ(refusal([](spec& s) {
              s.kind = optimizer_kind::sgd;
              s.eps = 0; // never divided by
            }),
            "accepted");
}

// The gradient of a product is the other factor, which is stepped as well.
TEST(optimizers, step_by_gradients_that_are_parameters) {
  for (auto clip_value : {std::optional<double>{}, std::optional{1.0}}) {
    auto core = reference_core();
    for (auto [name, value] : {std::pair{"a", 2.0}, std::pair{"b", 3.0}})
      ASSERT_TRUE(core.define_params("a", {{.name = name, .init = init_constant{value}}}));
    auto how = sgd();
    how.name = "o";
    how.params = {"a", "b"};
    ASSERT_TRUE(core.define_optimizer("a", how));
    auto step =
      core.run("a", {.code = shared({param("a"), param("b"), {op::mul, {0, 1}, {}}}),
                     .train = train_spec{.loss = 2, .optimizer = "o", .clip_value = clip_value}});
    ASSERT_TRUE(step) << step.error().message;
    auto reply = core.run("a", {.code = shared({param("a"), param("b")}), .scalars = {0, 1}});
    EXPECT_EQ(reply->scalars, (clip_value ? pair{2 - 1, 3 - 1} : pair{2 - 3, 3 - 2}));
  }
}

// The parameter has 400 kB; what a step asks for is for names and numbers. The reference's own
// steps of whole matrices are the exception.
TEST(optimizers, steps_on_a_kept_plan_ask_for_no_room_for_elements) {
  auto core = reference_core();
  ASSERT_TRUE(
    core.define_params("a", {{.name = "p", .dims = {100, 1000}, .init = init_normal{1}}}));
  run_request step{.code = shared({param("p"), narrow(0, 0, 0, 1), narrow(1, 1, 0, 1)}),
                   .train = train_spec{.loss = 2, .optimizer = "o", .clip = 1.0}};
  step.train->clip_value = 1;
  step.train->skip_nonfinite = true;
  for (auto kind : {optimizer_kind::adamw, optimizer_kind::adam, optimizer_kind::sgd,
                    optimizer_kind::nesterov, optimizer_kind::rmsprop, optimizer_kind::adagrad,
                    optimizer_kind::lion, optimizer_kind::adamax}) {
    ASSERT_TRUE(core.define_optimizer(
      "a", {.name = "o", .params = {"p"}, .lr = 0.1, .beta1 = 0.9, .eps = 1, .kind = kind}));
    for (int i = 0; i < 6; ++i) {
      step.train->accumulate = i % 2 == 0;
      auto before = allocated_bytes();
      ASSERT_TRUE(core.run("a", step));
      if (i < 2) continue; // places are made
      EXPECT_LT(allocated_bytes() - before, 16'384u) << name_of(kind);
    }
  }
}

// -- gathering -----------------------------------------------------------------

TEST(gathering, the_next_step_uses_the_sum) {
  trainer w(sgd());
  EXPECT_EQ(w.gather({1, 10}).step, 0u);
  EXPECT_EQ(w.gather({2, 20}).step, 0u);
  EXPECT_EQ(w.now(), (pair{0, 0}));
  EXPECT_EQ(w.step({4, 40}).step, 1u);
  EXPECT_EQ(w.now(), (pair{-7, -70}));
  w.step({1, 1}); // nothing is left of it
  EXPECT_EQ(w.now(), (pair{-8, -71}));
}

TEST(gathering, clipping_is_that_of_the_sum) {
  trainer w(sgd());
  EXPECT_FALSE(w.step({3, 0}, {.clip = 0.1, .accumulate = true, .clip_value = 0.1}).grad_norm);
  auto reply = w.step({0, 4}, {.clip = 2.5});
  EXPECT_EQ(reply.grad_norm, 5.0);
  EXPECT_NEAR(w.now()[0], -1.5, 1e-6);
  EXPECT_NEAR(w.now()[1], -2, 1e-6);
}

TEST(gathering, reaches_parameters_that_the_last_loss_does_not) {
  auto core = reference_core();
  for (auto name : {"w", "b"})
    ASSERT_TRUE(core.define_params("a", {{.name = name, .dims = {1}, .init = init_constant{0}}}));
  auto how = sgd();
  how.name = "o";
  how.params = {"w", "b"};
  ASSERT_TRUE(core.define_optimizer("a", how));
  auto run = [&core](const char* name, bool accumulate) {
    auto reply =
      core.run("a", {.code = shared({param(name)}),
                     .train = train_spec{.loss = 0, .optimizer = "o", .accumulate = accumulate}});
    EXPECT_TRUE(reply) << reply.error().message;
  };
  run("w", true);
  run("b", false);
  auto reply = core.run("a", {.code = shared({param("w"), param("b")}), .scalars = {0, 1}});
  EXPECT_EQ(reply->scalars, (pair{-1, -1}));
}

TEST(gathering, is_dropped_with_what_it_belongs_to) {
  auto after = [](auto between) {
    trainer w(sgd());
    w.gather({1, 1});
    between(w);
    auto before = w.now()[0];
    w.step({1, 1});
    return before - w.now()[0];
  };
  EXPECT_EQ(after([](trainer&) {}), 2);
  EXPECT_EQ(after([](trainer& w) { w.define(sgd()); }), 1);
  EXPECT_EQ(after([](trainer& w) {
              auto how = sgd();
              how.keep_state = true;
              w.define(how);
            }),
            2);
  EXPECT_EQ(after([](trainer& w) {
              EXPECT_TRUE(
                w.core.define_params("a", {{.name = "p", .dims = {2}, .init = init_constant{5}}}));
            }),
            1);
  EXPECT_EQ(
    after([](trainer& w) {
      EXPECT_TRUE(w.core.define_params(
        "a", {{.name = "p", .dims = {2}, .init = init_constant{5}, .existing = if_exists::keep}}));
    }),
    2);
}

TEST(gathering, takes_memory_once) {
  trainer w(sgd());
  auto before = w.core.memory_bytes("a");
  w.gather({1, 1});
  EXPECT_EQ(w.core.memory_bytes("a"), before + 8);
  for (int i = 0; i < 3; ++i) {
    w.gather({1, 1});
    w.step({1, 1});
  }
  EXPECT_EQ(w.core.memory_bytes("a"), before + 8);
}

TEST(gathering, needs_room_in_the_owners_share) {
  auto core = reference_core({.owner_bytes = 8});
  ASSERT_TRUE(core.define_params("a", {{.name = "p", .dims = {2}, .init = init_constant{0}}}));
  auto how = sgd();
  how.name = "o";
  how.params = {"p"};
  ASSERT_TRUE(core.define_optimizer("a", how));
  auto reply =
    core.run("a", {.code = shared({param("p"), narrow(0, 0, 0, 1)}),
                   .train = train_spec{.loss = 1, .optimizer = "o", .accumulate = true}});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message,
            "MXD061: train.accumulate: 8 bytes asked for, 0 of the actor's 8 free");
}

// -- gradients that are not finite ---------------------------------------------

constexpr auto infinite = std::numeric_limits<float>::infinity();
constexpr auto none = std::numeric_limits<float>::quiet_NaN();

TEST(nonfinite, steps_are_left_out_when_asked_for) {
  auto how = sgd();
  how.beta1 = 0.5;
  trainer w(how);
  w.step({1, 1});
  for (auto bad : {infinite, -infinite, none}) {
    auto reply = w.step({bad, 1}, {.clip = 1.0, .skip_nonfinite = true, .clip_value = 1.0});
    EXPECT_EQ(reply.skipped, true);
    EXPECT_EQ(reply.step, 1u);
    EXPECT_FALSE(std::isfinite(reply.grad_norm.value()));
    EXPECT_EQ(w.now(), (pair{-1, -1}));
  }
  auto reply = w.step({1, 1}, {.skip_nonfinite = true});
  EXPECT_EQ(reply.skipped, false);
  EXPECT_EQ(reply.step, 2u);
  EXPECT_EQ(w.now(), (pair{-2.5, -2.5})); // the momentum too is as it was
  EXPECT_FALSE(w.step({1, 1}).skipped);
}

TEST(nonfinite, steps_are_taken_when_not) {
  trainer w(sgd());
  w.step({none, 1});
  EXPECT_TRUE(std::isnan(w.now()[0]));
  EXPECT_EQ(w.now()[1], -1);
}

TEST(nonfinite, gradients_are_not_gathered) {
  trainer w(sgd());
  w.gather({1, 1});
  EXPECT_EQ(w.step({none, 1}, {.accumulate = true, .skip_nonfinite = true}).skipped, true);
  w.step({1, 1}, {.skip_nonfinite = true});
  EXPECT_EQ(w.now(), (pair{-2, -2}));
}

TEST(nonfinite, a_step_left_out_drops_what_was_gathered) {
  trainer w(sgd());
  w.gather({1, 1});
  EXPECT_EQ(w.step({infinite, 1}, {.skip_nonfinite = true}).skipped, true);
  w.step({1, 1}, {.skip_nonfinite = true});
  EXPECT_EQ(w.now(), (pair{-1, -1}));
}

// -- clipping by value ---------------------------------------------------------

TEST(clip_value, bounds_each_element_before_the_norm) {
  trainer w(sgd());
  auto reply = w.step({3, -40}, {.clip = 5.0, .clip_value = 4.0});
  EXPECT_EQ(reply.grad_norm, 5.0);
  EXPECT_NEAR(w.now()[0], -3, 1e-5);
  EXPECT_NEAR(w.now()[1], 4, 1e-5);
  EXPECT_FALSE(w.step({0, 0}, {.clip_value = 4.0}).grad_norm);
}

TEST(clip_value, must_not_be_negative) {
  trainer w(sgd());
  auto reply =
    w.core.run("a", {.code = shared({param("p"), narrow(0, 0, 0, 1)}),
                     .train = train_spec{.loss = 1, .optimizer = "o", .clip_value = -1}});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "MXD032: train.clip_value: -1; a number not below 0 wanted");
}

} // namespace
} // namespace moxzi::device
