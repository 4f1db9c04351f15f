#include <gtest/gtest.h>

#include "tests/shapescript/cost_support.hpp"

using namespace shapescript;
using namespace shapescript::testing;

// What the lines of a function send, against arithmetic by hand.

TEST(cost_lines, split_a_plain_tensor_along_the_axis_that_the_devices_split) {
  const std::string program = "devices cpu[0 1]\n    split H\n\ndim H = 4\ndim E = 8\n\n"
                              "fn total(x: [b H E]) -> [b E]:\n    return sum(x, over=H)\n\n"
                              "fn middle(x: [b H E]) -> [b]:\n    return mean(x, over=(H, E))\n\n"
                              "fn top(x: [b H]) -> [b]:\n    return max(x, over=H)\n\n"
                              "fn soft(x: [b H]) -> [b H]:\n    return softmax(x, over=H)\n\n"
                              "fn apart(x: [b E]) -> [b]:\n    return sum(x, over=E)\n";
  const costed total{program, "total"};
  EXPECT_EQ(total.lines(), "8: all-reduce of the result: 512 f32 values, 2,048 bytes per step\n");
  EXPECT_EQ(total.cost.input_bytes, 64 * 4 * 8 * 4 / 2);
  EXPECT_EQ((costed{program, "middle"}.cost.sent_bytes), 64 * 4);
  EXPECT_EQ((costed{program, "top"}.cost.sent_bytes), 64 * 4);
  // The largest and the sum of 64 rows.
  EXPECT_EQ((costed{program, "soft"}.cost.sent_bytes), 2 * 64 * 4);
  EXPECT_EQ((costed{program, "apart"}.lines()), "");
}

TEST(cost_lines, leave_each_device_its_part_of_the_gradient_of_a_split_parameter) {
  // The devices split w1 [784 256] along its rows: each sums its part of the product, so h [64 256]
  // is joined, and its gradient put together; nothing of w1 travels. w2 [256 10] is whole.
  const costed c{chapter("devices cuda[0 1]\n    split D\n"), "step"};
  constexpr int64_t batch = 64 * 784, h = 64 * 256, w2 = 256 * 10, loss = 1;
  EXPECT_EQ(c.cost.sent_bytes, (batch + h + h + w2 + loss) * 4) << c.lines();
  EXPECT_EQ(c.lines().find("of w1"), std::string::npos) << c.lines();
  // Where each device computes its part of both by itself, nothing of them travels.
  const auto apart = costed{chapter("devices cuda[0 1]\n    split Hd\n"), "step"}.lines();
  EXPECT_EQ(apart.find("of w1"), std::string::npos) << apart;
  EXPECT_EQ(apart.find("of w2"), std::string::npos) << apart;
}

TEST(cost_lines, name_gradients_by_what_they_are_of) {
  // The logits are [64 10]; their gradient is put together for the halves of w1 and w2.
  const auto lines = costed{chapter("devices cuda[0 1]\n    split Hd\n"), "step"}.lines();
  EXPECT_NE(lines.find("the gradient of `matmul(m.w2)`: 640 f32 values, 2,560 bytes"),
            std::string::npos)
    << lines;
  EXPECT_NE(lines.find("all-gather of batch.img: 50,176 f32 values"), std::string::npos) << lines;
}

TEST(cost_lines, name_the_model_of_a_gradient_where_there_are_several) {
  const costed c{"devices cpu[0 1]\n\nmodel G:\n    param a: [4 6] = zeros()\n\n"
                 "model D:\n    param a: [6] = zeros()\n\ndata Row:\n    z: [4]\n\n"
                 "fn loss(d: D, g: G, r: [b] Row) -> []:\n    return mean(r.z @ g.a @ d.a)\n\n"
                 "fn both(mut g: G, mut d: D, mut o: AdamW[G], mut p: AdamW[D], r: [b] Row):\n"
                 "    update(mut d, mut p, grad(loss, d, g, r))\n",
                 "both"};
  EXPECT_EQ(c.lines(), "16: all-reduce of the gradient of d.a: 6 f32 values, 24 bytes per step\n");
}

TEST(cost_lines, keep_single_numbers_whole) {
  const costed c{"devices cpu[0 1 2]\n    shard params\n\nmodel M:\n    param s: [] = ones()\n\n"
                 "data Row:\n    x: [4]\n\n"
                 "fn loss(m: M, r: [b] Row) -> []:\n    return mean(r.x) * m.s\n\n"
                 "fn step(mut m: M, mut o: AdamW[M], r: [b] Row):\n"
                 "    update(mut m, mut o, grad(loss, m, r))\n",
                 "step"};
  EXPECT_EQ(c.lines().find("all-gather"), std::string::npos) << c.lines();
  EXPECT_EQ(c.cost.parameter_bytes, 4);
  EXPECT_EQ(c.cost.state_bytes, 8);
}

// -- sizes ---------------------------------------------------------------------

namespace {

int64_t size_of(const costed& c, std::string_view name) {
  for (const auto& [known, size] : c.cost.sizes)
    if (known == name) return size;
  return 0;
}

} // namespace

TEST(cost_sizes, are_those_that_the_programs_calls_give) {
  const std::string program = "dim D = 24\n\nmodel M:\n    param w: [D D] = zeros()\n\n"
                              "data Row:\n    x: [D]\n\n"
                              "fn add_bias(x: [n d], c: [d]) -> [n d]:\n    return x + c\n\n"
                              "fn loss(m: M, r: [b] Row) -> []:\n"
                              "    return mean(add_bias(r.x @ m.w, r.x[0]))\n\n"
                              "fn step(m: M, r: [b] Row) -> []:\n    return loss(m, r)\n\n"
                              "fn alone(x: [q D]) -> [D]:\n    return sum(x, over=q)\n\n"
                              "fn fit(rows: Dataset[Row], others: Dataset[Row]):\n    m = M()\n"
                              "    small = rows |> batches(7, last=\"drop\")\n"
                              "    for r in small:\n        print(step(m, r))\n"
                              "    for r in others |> batches(100):\n        print(loss(m, r))\n";
  EXPECT_EQ(size_of({program, "step"}, "b"), 7);
  // The largest of several.
  EXPECT_EQ(size_of({program, "loss"}, "b"), 100);
  EXPECT_EQ(size_of({program, "add_bias"}, "n"), 100);
  EXPECT_EQ(size_of({program, "add_bias"}, "d"), 24);
  // Two sizes of batches say nothing of a function that nobody calls.
  EXPECT_EQ(size_of({program, "alone"}, "q"), batch_default);
  // What is asked for goes before.
  EXPECT_EQ(size_of({program, "step", {{{"b", 5}}}}, "b"), 5);
  EXPECT_EQ(size_of({program, "add_bias", {{{"b", 5}}}}, "n"), 5);
}
