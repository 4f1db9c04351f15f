#include <gtest/gtest.h>

#include "tests/shapescript/cost_support.hpp"

using namespace shapescript;
using namespace shapescript::testing;

// What a device needs, against arithmetic by hand. In the chapter's program x is [64 784], w1
// [784 256], w2 [256 10], all f32, and the batch has 64 examples.

namespace {

constexpr int64_t f32_bytes = 4;
constexpr int64_t w1_bytes = 784 * 256 * f32_bytes, w2_bytes = 256 * 10 * f32_bytes;
/// The loss stays to the end; a small tensor begins at a multiple of 8.
constexpr int64_t loss_bytes = 8;

const std::string one_step = "model M:\n    param w: [64 40] = zeros()\n\n"
                             "data Row:\n    x: [64]\n\n"
                             "fn loss(m: M, r: [b] Row) -> [] NonNeg:\n"
                             "    return mean(square(r.x @ m.w))\n\n";

} // namespace

// -- optimizers ----------------------------------------------------------------

TEST(cost_memory, of_an_optimizer_is_its_state_once_however_often_it_steps) {
  const std::string program = one_step
                              + "fn ten(mut m: M, mut o: AdamW[M], r: [b] Row):\n"
                                "    for _i in 0..10:\n"
                                "        update(mut m, mut o, grad(loss, m, r))\n\n"
                                "fn step(mut m: M, mut o: AdamW[M], r: [b] Row) -> [] NonNeg:\n"
                                "    l, g = value_and_grad(loss, m, r)\n"
                                "    update(mut m, mut o, g)\n"
                                "    return l\n\n"
                                "fn twice(mut m: M, mut o: AdamW[M], r: [b] Row) -> [] NonNeg:\n"
                                "    return step(mut m, mut o, r) + step(mut m, mut o, r)\n\n"
                                "fn both(mut m: M, mut o: AdamW[M], mut p: Lion[M], r: [b] Row):\n"
                                "    update(mut m, mut o, grad(loss, m, r))\n"
                                "    update(mut m, mut p, grad(loss, m, r))\n";
  constexpr int64_t moments = 2 * 64 * 40 * f32_bytes;
  EXPECT_EQ((costed{program, "ten"}.cost.state_bytes), moments);
  EXPECT_EQ((costed{program, "twice"}.cost.state_bytes), moments);
  // Lion keeps one moment, of its own.
  EXPECT_EQ((costed{program, "both"}.cost.state_bytes), moments + moments / 2);
}

TEST(cost_memory, of_gradients_is_free_once_they_are_stepped_by) {
  const auto steps = [](int times) {
    return costed{one_step
                    + fmt::format("fn some(mut m: M, mut o: Sgd[M], r: [b] Row):\n"
                                  "    for _i in 0..{}:\n"
                                  "        update(mut m, mut o, grad(loss, m, r))\n",
                                  times),
                  "some"}
      .cost.activation_bytes;
  };
  // The gradient [64 40], what it is made of, that of the product [64 40] of 64 examples, and the
  // number that both begin with.
  EXPECT_EQ(steps(1), 2 * 64 * 40 * f32_bytes + loss_bytes);
  EXPECT_LE(steps(10), steps(1) + 64 * 40 * f32_bytes);
}

TEST(cost_memory, of_sgd_is_its_momentum_where_the_program_gives_one) {
  const auto with = [](const std::string& made) {
    return costed{one_step
                    + "fn step(mut m: M, mut o: Sgd[M], r: [b] Row):\n"
                      "    update(mut m, mut o, grad(loss, m, r))\n"
                    + (made.empty() ? "" : "\nfn main(much: float = 0.5):\n    m = M()\n" + made),
                  "step"}
      .cost;
  };
  constexpr int64_t buffer = 64 * 40 * f32_bytes;
  EXPECT_EQ(with("    o = sgd(m, lr=0.1, momentum=0.9)\n").state_bytes, buffer);
  EXPECT_EQ(with("    o = sgd(m, 0.1, 0.9)\n").state_bytes, buffer);
  EXPECT_EQ(with("    o = sgd(m, lr=0.1)\n").state_bytes, 0);
  EXPECT_EQ(with("    o = sgd(m, lr=0.1, momentum=0.0)\n").state_bytes, 0);
  // Nobody says, or both: it is one or the other.
  for (const auto* made : {"", "    o = sgd(m, lr=0.1, momentum=much)\n",
                           "    c = 0.9\n    if much > 1.0:\n        c = 0.0\n"
                           "    o = sgd(m, lr=0.1, momentum=c)\n",
                           "    o = sgd(m, lr=0.1)\n    p = sgd(m, lr=0.1, momentum=0.9)\n"}) {
    const auto open = with(made);
    EXPECT_EQ(open.state_bytes, buffer) << made;
    EXPECT_EQ(open.momentum_bytes, buffer) << made;
  }
}

TEST(cost_memory, of_buffers_and_inputs_is_there_too) {
  const costed c{"devices cpu[0 1]\n\nmodel M:\n    param w: [8 8] = zeros()\n"
                 "    layer bn: BatchNorm[8]\n\ndata Row:\n    x: [8]\n    y: [] i64\n\n"
                 "fn f(mut m: M, r: [b] Row, z: [3]) -> [b 8]:\n"
                 "    return batch_norm(r.x @ m.w, mut m.bn, over=b)\n",
                 "f"};
  // Mean and variance of 8, and one count, an i64.
  EXPECT_EQ(c.cost.buffer_bytes, (8 + 8) * 4 + 8);
  // 32 of 64 examples with eight numbers and a label, and z whole.
  EXPECT_EQ(c.cost.input_bytes, 32 * (8 * 4 + 8) + 3 * 4);
  EXPECT_EQ(c.cost.memory_bytes(), c.cost.parameter_bytes + c.cost.buffer_bytes + c.cost.input_bytes
                                     + c.cost.activation_bytes);
}

// -- values between ------------------------------------------------------------

TEST(cost_memory, of_data_parallel_values_is_for_the_largest_part_of_the_batch) {
  // 22 of 64 examples: h [22 256] and the logits [22 10], whose 880 bytes fill 896.
  EXPECT_EQ((costed{chapter(), "loss"}.cost.activation_bytes), 22 * 256 * f32_bytes + 896);
  // All of both gradients, and h's.
  EXPECT_EQ((costed{chapter(), "step"}.cost.activation_bytes),
            w1_bytes + w2_bytes + 22 * 256 * f32_bytes + loss_bytes);
}

TEST(cost_memory, of_split_values_is_for_their_parts_and_the_batch_that_is_put_together) {
  const std::string devices = "devices cuda[0 1]\n    split Hd\n";
  // As in Megatron: each device has half of w1's columns and of w2's rows. The batch is put
  // together; each has half of h and of each gradient.
  constexpr int64_t batch = 64 * 784 * f32_bytes, half_h = 64 * 128 * f32_bytes;
  EXPECT_EQ((costed{chapter(devices), "loss"}.cost.activation_bytes), batch + half_h);
  EXPECT_EQ((costed{chapter(devices), "step"}.cost.activation_bytes),
            batch + half_h + (w1_bytes + w2_bytes) / 2 + loss_bytes);
}

TEST(cost_memory, of_sharded_parameters_has_room_for_what_is_put_together) {
  const std::string devices = "devices cuda[0 1]\n    shard params\n";
  const costed loss{chapter(devices), "loss"};
  EXPECT_EQ(loss.cost.parameter_bytes, (w1_bytes + w2_bytes) / 2);
  // As in FSDP: all of w1 while h is computed, of half of the examples.
  EXPECT_EQ(loss.cost.activation_bytes, w1_bytes + 32 * 256 * f32_bytes);
  // Back, the terms of w1's gradient are of all of it, until the device has its half beside them.
  EXPECT_EQ((costed{chapter(devices), "step"}.cost.activation_bytes),
            w1_bytes + w1_bytes / 2 + w2_bytes / 2 + loss_bytes);
}
