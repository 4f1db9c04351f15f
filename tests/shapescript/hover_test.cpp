#include "shapescript/lower/hover.hpp"

#include <gtest/gtest.h>

#include "tests/shapescript/cost_support.hpp"

using namespace shapescript;
using namespace shapescript::testing;

// What stands at a place or on a line, how the devices hold it, and what the line sends.

namespace {

std::string line_at(const costed& c, std::string_view word) {
  const auto what = hover_line(*c.result.program, static_cast<uint32_t>(c.text.text().find(word)));
  return what ? render_text(*what) : "nothing";
}

std::string at(const costed& c, std::string_view word, uint32_t further = 0) {
  const auto place = static_cast<uint32_t>(c.text.text().find(word)) + further;
  const auto what = hover_at(*c.result.program, place);
  return what ? render_text(*what) : "nothing";
}

} // namespace

TEST(hover, shows_what_the_chapters_line_sends) {
  const costed c{chapter(), "step"};
  EXPECT_EQ(at(c, "value_and_grad"),
            "value_and_grad(loss, m, batch): ([] NonNeg, Grad[Mlp])\n"
            "  where b = 64\n"
            "  all-reduce of the gradients of w1 and w2: 203,264 f32 values, 813,056 bytes per "
            "step\n");
}

TEST(hover, shows_types_sizes_and_how_the_devices_hold_a_value) {
  const costed c{chapter(), "loss"};
  EXPECT_EQ(at(c, "@ m.w1"), "batch.img @ m.w1: [b Hd]\n  where Hd = 256, b = 64\n"
                             "  split along `b` over the 3 devices\n"
                             "  all-reduce of the result: 1 f32 value, 4 bytes per step\n");
  EXPECT_EQ(at(c, "w1 |>"),
            "param w1: [D Hd]\n  where D = 784, Hd = 256, b = 64\n  a param of `model Mlp`\n"
            "  200,704 values, 802,816 bytes\n  whole on every device\n"
            "  all-reduce of the result: 1 f32 value, 4 bytes per step\n");
  EXPECT_EQ(at(c, "img @"),
            "field img: [b D]\n  where D = 784, b = 64\n  a field of `data Digit`\n  "
            "split along `b` over the 3 devices\n"
            "  all-reduce of the result: 1 f32 value, 4 bytes per step\n");
  EXPECT_EQ(at(c, "Hd = 256"), "dim Hd = 256\n");
  EXPECT_EQ(at(c, "loss(m: Mlp"), "fn loss(m: Mlp, batch: [b] Digit) -> [] NonNeg\n");
  EXPECT_EQ(at(c, "epoch in"), "epoch: int\n");
}

TEST(hover, of_a_line_shows_each_value_in_it) {
  const costed c{chapter(), "loss"};
  EXPECT_EQ(line_at(c, "cross_entropy"),
            "return cross_entropy(batch.img @ m.w1 |> gelu |> matmul(m.w2...: [] NonNeg\n"
            "  where D = 784, Hd = 256, C = 10, b = 64\n"
            "  batch.img: [b D]: split along `b` over the 3 devices\n"
            "  m.w1: [D Hd]: whole on every device\n"
            "  m.w2: [Hd C]: whole on every device\n"
            "  batch.label: [b] Index[C]: split along `b` over the 3 devices\n"
            "  cross_entropy(batch.img @ m.w1 |> gelu |> matmul(m.w2), batc...: [] NonNeg: whole "
            "on every device\n"
            "  all-reduce of the result: 1 f32 value, 4 bytes per step\n");
  EXPECT_EQ(line_at(c, "value_and_grad"),
            "l, g = value_and_grad(loss, m, batch): ([] NonNeg, Grad[Mlp])\n"
            "  where b = 64\n"
            "  l: [] NonNeg: whole on every device\n"
            "  g: Grad[Mlp]: whole on every device\n"
            "  m: Mlp: whole on every device\n"
            "  batch: [b] Digit: split along `b` over the 3 devices\n"
            "  all-reduce of the gradients of w1 and w2: 203,264 f32 values, 813,056 bytes per "
            "step\n");
  EXPECT_EQ(line_at(c, "Hd = 256"), "dim Hd = 256\n");
  EXPECT_EQ(line_at(c, "\n\ndim"), "nothing");
}

TEST(hover, says_nothing_where_nothing_stands_and_never_fails) {
  const source text{"a.ss", chapter()};
  const auto result = analyze(text);
  EXPECT_FALSE(hover_at(*result.program, static_cast<uint32_t>(text.text().find("\n\ndim"))));
  for (uint32_t at = 0; at < text.text().size() + 2; at += 3) hover_at(*result.program, at);
  for (const auto& path : corpus()) {
    const source other{"a.ss", read_file(path)};
    const auto checked = analyze(other);
    for (uint32_t at = 0; at < other.text().size(); at += 41) hover_at(*checked.program, at);
  }
}

TEST(hover_layouts, are_shown_of_each_value_of_a_training_line) {
  const costed c{chapter(), "step"};
  EXPECT_EQ(line_at(c, "l, g = value_and_grad"),
            "l, g = value_and_grad(loss, m, batch): ([] NonNeg, Grad[Mlp])\n"
            "  where b = 64\n"
            "  l: [] NonNeg: whole on every device\n"
            "  g: Grad[Mlp]: whole on every device\n"
            "  m: Mlp: whole on every device\n"
            "  batch: [b] Digit: split along `b` over the 3 devices\n"
            "  all-reduce of the gradients of w1 and w2: 203,264 f32 values, 813,056 bytes per "
            "step\n");
  EXPECT_EQ(at(c, "batch)\n    update"),
            "parameter batch: [b] Digit\n  where b = 64\n"
            "  split along `b` over the 3 devices\n"
            "  all-reduce of the gradients of w1 and w2: 203,264 f32 values, 813,056 bytes per "
            "step\n");
}

TEST(hover_layouts, follow_the_options_of_the_devices) {
  const costed shared{chapter("devices cuda[0 1 2]\n    shard params\n"), "step"};
  EXPECT_NE(line_at(shared, "l, g = value").find("m: Mlp: a share on each of the 3 devices\n"),
            std::string::npos);
  EXPECT_NE(line_at(shared, "l, g = value").find("g: Grad[Mlp]: a share on each of the 3 devices"),
            std::string::npos);
  const costed split{chapter("devices cuda[0 1]\n    split D\n"), "step"};
  const auto line = line_at(split, "l, g = value");
  for (const auto* of : {"m: Mlp", "g: Grad[Mlp]"})
    EXPECT_NE(line.find(std::string{of}
                        + ": w1 split along `D` over the 2 devices, w2 whole on every device\n"),
              std::string::npos)
      << line;
}

TEST(hover_layouts, of_a_controllers_line_say_what_its_calls_send) {
  const costed c{chapter(), "step"};
  // The gradients, and the loss: 203,264 values and one.
  const auto line = line_at(c, "print(\"loss\"");
  EXPECT_NE(line.find("  where b = 64\n"), std::string::npos) << line;
  EXPECT_NE(line.find("  m: Mlp: whole on every device\n"), std::string::npos) << line;
  EXPECT_NE(line.find("  batch: [b] Digit: split along `b` over the 3 devices\n"),
            std::string::npos)
    << line;
  EXPECT_NE(line.find("  all-reduce of the gradients of w1 and w2: 203,264 f32 values, 813,056 "
                      "bytes per step\n  all-reduce of the result: 1 f32 value, 4 bytes per step"),
            std::string::npos)
    << line;
  const auto place = static_cast<uint32_t>(c.text.text().find("step(mut m, mut opt, batch)"));
  const auto call = hover_at(*c.result.program, place);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->sent_bytes, 813'060);
  EXPECT_EQ(at(c, "for batch in", 4), "batch: [b] Digit\n  split along `b` over the 3 devices\n");
}

TEST(hover_layouts, of_parameters_are_shown_where_they_are_declared) {
  const costed c{chapter(), "step"};
  EXPECT_EQ(at(c, "batch: [b] Digit"),
            "parameter batch: [b] Digit\n  split along `b` over the 3 devices\n");
  EXPECT_EQ(at(c, "m: Mlp"), "parameter m: Mlp\n  whole on every device\n");
}
