#include "shapescript/lower/cost.hpp"

#include <gtest/gtest.h>

#include "shapescript/lower/hover.hpp"
#include "tests/shapescript/cost_support.hpp"

using namespace shapescript;
using namespace shapescript::testing;

TEST(cost, of_the_chapters_step_is_what_the_chapter_says) {
  const costed c{chapter(), "step"};
  EXPECT_EQ(c.lines(), "19: all-reduce of the gradients of w1 and w2: 203,264 f32 values, 813,056 "
                       "bytes per step\n"
                       "21: all-reduce of the result: 1 f32 value, 4 bytes per step\n");
  EXPECT_EQ(c.cost.sent_bytes, 813'060);
  // Two tables of 784 x 256 and 256 x 10 f32, and AdamW's two moments of each.
  EXPECT_EQ(c.cost.parameter_bytes, 813'056);
  EXPECT_EQ(c.cost.state_bytes, 2 * 813'056);
  EXPECT_GT(c.cost.activation_bytes, 22 * (256 + 10) * 4);
  // Two products forward; back, the weights of both and the input of the second.
  const double first = 2.0 * 64 * 784 * 256, second = 2.0 * 64 * 256 * 10;
  const double products = 2 * first + 3 * second;
  EXPECT_GT(c.cost.flops, products);
  EXPECT_LT(c.cost.flops, products * 1.05);
  // The first device has 22 of the 64 examples.
  EXPECT_NEAR(c.cost.device_flops / c.cost.flops, 22.0 / 64, 0.01);
}

TEST(cost, on_one_device_sends_nothing) {
  const costed c{chapter("devices cuda[0]\n"), "step"};
  EXPECT_EQ(c.lines(), "");
  EXPECT_EQ(c.cost.sent_bytes, 0);
  EXPECT_EQ(c.cost.device_flops, c.cost.flops);
}

TEST(cost, of_sharded_parameters_is_a_third_of_the_memory) {
  const costed c{chapter("devices cuda[0 1 2]\n    shard params\n"), "step"};
  EXPECT_EQ(c.lines(),
            "20: all-gather of m.w1 and m.w2: 203,264 f32 values, 813,056 bytes per step\n"
            "20: reduce-scatter of the gradients of w1 and w2: 203,264 f32 values, 813,056 bytes "
            "per step\n"
            "22: all-reduce of the result: 1 f32 value, 4 bytes per step\n");
  // A third of 784 * 256 and of 256 * 10 values, rounded up.
  EXPECT_EQ(c.cost.parameter_bytes, (66'902 + 854) * 4);
}

TEST(cost, of_a_split_dim_splits_every_parameter_that_has_it) {
  const costed c{"devices cpu[0 1]\n    split H\n\ndim H = 4\n\nmodel M:\n"
                 "    param w: [8 H] = zeros()\n    param v: [H 8] = zeros()\n\n"
                 "fn f(m: M, x: [6 8]) -> [6 8]:\n"
                 "    y = x @ m.w |> relu\n"
                 "    return y @ m.v\n",
                 "f"};
  // The second product sums over H: its terms are joined.
  EXPECT_EQ(c.lines(), "12: all-reduce of the result: 48 f32 values, 192 bytes per step\n");
  EXPECT_EQ(c.cost.parameter_bytes, 2 * 8 * 4 * 4 / 2);
  EXPECT_DOUBLE_EQ(c.cost.device_flops, c.cost.flops / 2);
}

TEST(cost, is_of_the_sizes_that_are_given) {
  const source text{"train.ss", chapter()};
  const auto result = analyze(text);
  const auto step = function_named(*result.program, "step");
  const auto named = cost_of(*result.program, step, {{{"b", 6}}});
  ASSERT_EQ(named.sizes.size(), 1u);
  EXPECT_EQ(named.sizes[0].second, 6);
  // Without one it is what `batches` says.
  EXPECT_EQ(cost_of(*result.program, step, {}).sizes[0].second, 64);
}

TEST(cost, takes_sizes_that_its_quotients_leave_whole) {
  const source text{"a.ss", "fn f(x: [b n]) -> [b n/3]:\n"
                            "    return x |> reduce(b (k three) -> b k, by=\"sum\", three=3)\n"
                            "fn g(x: [b 6*m]) -> [b 2*m]:\n"
                            "    return f(x)\n"};
  const auto result = analyze(text);
  ASSERT_FALSE(result.has_errors());
  using sizes = std::vector<std::pair<std::string, int64_t>>;
  EXPECT_EQ(cost_of(*result.program, 0, {}).sizes, (sizes{{"b", 64}, {"n", 66}}));
  EXPECT_EQ(cost_of(*result.program, 0, {{{"n", 9}}}).sizes, (sizes{{"b", 64}, {"n", 9}}));
  EXPECT_EQ(cost_of(*result.program, 1, {}).sizes, (sizes{{"b", 64}, {"m", 64}}));
  EXPECT_FALSE(cost_of(*result.program, 1, {}).fault);
}

TEST(cost, of_an_extern_function_is_that_of_what_is_around_it) {
  const std::string program = "devices cpu[0 1 2]\n\ndim I = 2\n\ndata Row:\n    x: [I]\n\n"
                              "extern fn jitter(x: [b I]) -> [b I] = \"helper.jitter\"\n\n"
                              "fn total(r: [b] Row) -> [I]:\n"
                              "    return sum(jitter(r.x), over=b)\n\n"
                              "fn whole(x: [b I]) -> [I]:\n"
                              "    return sum(jitter(x), over=b)\n";
  // Each device calls it on its own examples: nothing travels but the sum.
  const costed split{program, "total"};
  EXPECT_EQ(split.lines(), "11: all-reduce of the result: 2 f32 values, 8 bytes per step\n");
  // Of a tensor that every device has it is called on all of it.
  EXPECT_EQ((costed{program, "whole"}.lines()), "");
}

TEST(cost, of_a_function_that_is_called_is_for_its_callers_parts) {
  const std::string program = "devices cpu[0 1 2]\n\ndata Row:\n    x: [2]\n\n"
                              "fn scores(w: [2 k], x: [n 2]) -> [n k]:\n"
                              "    return x @ w\n\n"
                              "fn total(x: [n k]) -> [k]:\n"
                              "    return sum(x, over=n)\n\n";
  const auto caller = "fn f(w: [2 4], r: [b] Row) -> [4]:\n"
                      "    return total(scores(w, r.x))\n";
  const auto lines = [&](const std::string& text, std::string_view name) {
    return costed{text, name}.lines();
  };
  EXPECT_EQ(lines(program + caller, "scores"), "");
  EXPECT_EQ(lines(program + caller, "total"),
            "10: all-reduce of the result: 4 f32 values, 16 bytes per step\n");
  // Of nobody's call it is on whole tensors.
  EXPECT_EQ(lines(program, "total"), "");
}

TEST(cost, of_a_gradient_that_is_given_lies_as_its_parameter) {
  const std::string program = "model M:\n    param w: [6 2] = zeros()\n\n"
                              "fn norm(m: M, g: Grad[M]) -> [] NonNeg:\n"
                              "    h, n = clip_norm(g, max=1.0)\n"
                              "    return n\n";
  EXPECT_EQ((costed{"devices cpu[0 1]\n" + program, "norm"}.lines()), "");
  // In shares its squares are summed where they are.
  EXPECT_EQ((costed{"devices cpu[0 1]\n    shard params\n" + program, "norm"}.lines()),
            "7: all-reduce of `clip_norm(g, max=1.0)`: 1 f32 value, 4 bytes per step\n");
}

TEST(cost, says_why_there_are_no_figures) {
  const source text{"a.ss", "fn f(x: [n], times: int) -> [n]:\n"
                            "    for i in 0..times:\n"
                            "        x = relu(x)\n"
                            "    return x\n"};
  const auto result = analyze(text);
  EXPECT_EQ(render_text(*result.program, cost_of(*result.program, 0, {})),
            "a.ss:1: fn f\n  no figures: a.ss:2:14: how often is known only when it runs\n");
  cost_options options;
  options.values["times"] = int64_t{3};
  EXPECT_FALSE(cost_of(*result.program, 0, options).fault);
  options.values["times"] = 0.5;
  EXPECT_EQ(cost_of(*result.program, 0, options).fault->message,
            "`times` is `int`, and the value given for it is not");
  const auto shown = hover_at(*result.program, static_cast<uint32_t>(text.text().find("relu")));
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->unknown,
            "what it sends is not known: a.ss:2:14: how often is known only when it runs");
}
