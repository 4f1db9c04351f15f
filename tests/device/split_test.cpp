#include "device/split.hpp"

#include <gtest/gtest.h>

#include "device/gradient.hpp"
#include "tests/device/row_walk.hpp"

namespace moxzi::device {
namespace {

using namespace testing;

register_type f32(shape dims) {
  return {dtype::f32, elem::f32, dims, {}};
}

/// `all-reduce 4, all-gather 12`
std::string sent(const split_program& what) {
  std::string out;
  for (auto& one : what.sent)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name_of(one.kind), one.elements);
  return out;
}

/// The chapter's model: two products, a gelu between them, and the mean loss of a batch.
typed_program letters_like(int64_t batch) {
  environment where;
  where.inputs = {{elem::f32, {batch, 784}}, {elem::i64, {batch}}};
  where.parameters = {{"w1", f32({784, 256})}, {"w2", f32({256, 10})}};
  program code{testing::input(0),   testing::param("w1"),        {op::matmul, {0, 1}, {{}, {}}},
               {op::gelu, {2}, {}}, testing::param("w2"),        {op::matmul, {3, 4}, {{}, {}}},
               testing::input(1),   testing::cross_entropy(5, 6)};
  auto made = check(code, where);
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

constexpr placement along(uint32_t dim) {
  return {placed::split, dim};
}

TEST(split, reduces_the_gradients_of_a_split_batch_once) {
  auto made = differentiate(letters_like(64), 7, {"w1", "w2"});
  ASSERT_TRUE(made);
  split_request how{3, {along(0), along(0)}, {}, {}, {}};
  for (auto g : made->gradients) how.needs.push_back({g, 0});
  how.needs.push_back({7, 0});
  auto out = split_over(made->code, how);
  // 784 · 256 + 256 · 10 = 203,264 values of four bytes, and the loss.
  int64_t elements = 0;
  for (auto& one : out.sent)
    if (one.what != 7) {
      EXPECT_EQ(one.kind, collective_kind::all_reduce);
      elements += one.elements;
    }
  EXPECT_EQ(elements, 203'264);
  EXPECT_EQ(out.sent.size(), 3u) << sent(out);
  EXPECT_EQ(out.bytes(), 813'056 + 4);
  EXPECT_EQ(out.places[2], along(0));
  // 64 over 3 is 22/21/21.
  EXPECT_DOUBLE_EQ(out.shares[2], 22.0 / 64);
}

TEST(split, sends_nothing_for_what_is_whole) {
  auto made = differentiate(letters_like(64), 7, {"w1", "w2"});
  auto out = split_over(made->code, {1, {}, {}, {}, {{made->gradients[0], 0}, {7, 0}}});
  EXPECT_EQ(sent(out), "");
  for (auto& one : out.places) EXPECT_EQ(one, placement{});
}

TEST(split, computes_element_by_element_in_shares) {
  environment where;
  where.parameters = {{"w", f32({6, 2})}};
  program code{testing::param("w"),
               {op::square, {0}, {}},
               {op::sum, {1}, {{}, {}}},
               {op::mul, {1, 2}, {}},
               {op::relu, {0}, {}}};
  auto made = check(code, where);
  ASSERT_TRUE(made) << made.error().message;
  split_request how{2, {}, {{"w", {placed::sharded}}}, {}, {{2, 0}, {3, 0}}};
  auto out = split_over(*made, how);
  // The sum of squares is one number; what all devices need is put together, the rest is not.
  EXPECT_EQ(sent(out), "all-reduce 1, all-gather 12");
  EXPECT_EQ(out.places[1], (placement{placed::sharded}));
  EXPECT_EQ(out.places[4], (placement{placed::sharded}));
  EXPECT_EQ(out.shares[1], 0.5);
}

TEST(split, puts_sharded_parameters_together_and_shares_their_gradients_out) {
  auto made = differentiate(letters_like(6), 7, {"w1", "w2"});
  split_request how{3, {along(0), along(0)}, {}, {}, {}};
  how.parameters = {{"w1", {placed::sharded}}, {"w2", {placed::sharded}}};
  for (auto g : made->gradients) how.needs.push_back({g, 0, true});
  auto out = split_over(made->code, how);
  EXPECT_EQ(sent(out),
            "all-gather 200704, all-gather 2560, reduce-scatter 2560, reduce-scatter 200704");
}

TEST(split, leaves_each_device_its_part_of_the_gradient_of_a_split_parameter) {
  auto made = differentiate(letters_like(6), 7, {"w1", "w2"});
  split_request how{2, {along(0), along(0)}, {}, {}, {}};
  how.needs = {{made->gradients[0], 0, true, 0}, {made->gradients[1], 0}};
  auto out = split_over(made->code, how);
  EXPECT_EQ(sent(out), "all-reduce 2560, reduce-scatter 200704");
  EXPECT_EQ(out.places[made->gradients[0]], along(0));
}

TEST(split, says_who_reads_what_is_put_together) {
  auto code = letters_like(6);
  split_request how{3, {along(0), along(0)}, {{"w1", {placed::sharded}}}, {}, {}};
  EXPECT_EQ(split_over(code, how).gathered, (std::set<std::pair<reg, reg>>{{2, 1}}));
}

TEST(split, keeps_a_split_through_reshapes_and_joins_means_by_their_parts) {
  environment where;
  where.inputs = {{elem::f32, {6, 4, 5}}};
  program code{testing::input(0),
               testing::reshape(0, {24, 5}),
               {op::permute, {1}, {std::vector<uint32_t>{1, 0}}},
               {op::mean, {2}, {{}, {}}},
               {op::max, {2}, {std::vector<uint32_t>{1}, {}}},
               {op::neg, {3}, {}},
               {op::exp, {3}, {}}};
  auto made = check(code, where);
  ASSERT_TRUE(made) << made.error().message;
  auto out = split_over(*made, {3, {along(0)}, {}, {}, {{4, 0}}});
  EXPECT_EQ(out.places[1], along(0));
  EXPECT_EQ(out.places[2], along(1));
  // The mean and its negative stay terms, until something that is no sum reads them.
  EXPECT_EQ(out.places[5].how, placed::partial);
  EXPECT_EQ(out.places[5].by, joined::mean);
  EXPECT_EQ(sent(out), "all-reduce 5, all-reduce 1");
  EXPECT_EQ(out.sent[0].by, joined::max);
}

TEST(split, gathers_what_cannot_stay_split) {
  environment where;
  where.inputs = {{elem::f32, {6, 4}}};
  program code{
    testing::input(0), {op::sort, {0}, {int64_t{0}, {}}}, {op::sort, {0}, {int64_t{1}, {}}}};
  auto made = check(code, where);
  ASSERT_TRUE(made) << made.error().message;
  auto out = split_over(*made, {2, {along(0)}, {}, {}, {}});
  EXPECT_EQ(sent(out), "all-gather 24");
  EXPECT_EQ(out.places[1], placement{});
  EXPECT_EQ(out.places[2], along(0));
}

TEST(split, joins_a_softmax_along_the_split_by_two_small_sums) {
  environment where;
  where.inputs = {{elem::f32, {8, 6}}};
  program code{testing::input(0), {op::softmax, {0}, {int64_t{1}}}};
  auto made = check(code, where);
  auto out = split_over(*made, {3, {along(1)}, {}, {}, {}});
  EXPECT_EQ(sent(out), "all-reduce 8, all-reduce 8");
  EXPECT_EQ(out.sent[0].by, joined::max);
  EXPECT_EQ(out.sent[1].by, joined::sum);
  EXPECT_EQ(out.places[1], along(1));
}

TEST(split, joins_small_sums_where_a_reduction_crosses_the_split) {
  environment where;
  where.inputs = {{elem::f32, {12, 5}}};
  const std::vector<uint32_t> examples{0};
  program code{testing::input(0),
               {op::variance, {0}, {examples, {}, {}}},
               {op::norm, {0}, {2.0, examples, {}}},
               {op::logsumexp, {0}, {examples, {}}},
               {op::any, {0}, {examples, {}}},
               {op::all, {0}, {examples, {}}}};
  auto made = check(code, where);
  ASSERT_TRUE(made) << made.error().message;
  auto out = split_over(*made, {3, {along(0)}, {}, {}, {{4, 0}, {5, 0}}});
  // Of each of five columns: mean and squares; squares; maximum, then sum; one truth each.
  EXPECT_EQ(sent(out),
            "all-reduce 10, all-reduce 5, all-reduce 5, all-reduce 5, all-reduce 5, all-reduce 5");
  EXPECT_EQ(out.sent[2].by, joined::max);
  EXPECT_EQ(out.sent[4].by, joined::max);
  EXPECT_EQ(out.sent[5].by, joined::min);
  for (reg i = 1; i < 4; ++i) EXPECT_EQ(out.places[i], placement{});
  EXPECT_DOUBLE_EQ(out.shares[1], 4.0 / 12);
}

TEST(split, sends_gradients_alone_through_normalisations_of_a_split_batch) {
  for (auto norm : {op::layer_norm, op::rms_norm}) {
    environment where;
    where.inputs = {{elem::f32, {12, 8}}};
    where.parameters = {{"w", f32({8, 8})}, {"gain", f32({8})}, {"bias", f32({8})}};
    program code{testing::input(0),
                 testing::param("w"),
                 {op::matmul, {0, 1}, {{}, {}}},
                 testing::param("gain")};
    if (norm == op::layer_norm) {
      code.push_back(testing::param("bias"));
      code.push_back({norm, {2, 3, 4}, {{}, {}}});
    } else {
      code.push_back({norm, {2, 3}, {{}}});
    }
    const auto made_of = static_cast<reg>(code.size() - 1);
    code.push_back({op::square, {made_of}, {}});
    code.push_back({op::mean, {made_of + 1}, {{}, {}}});
    auto checked = check(code, where);
    ASSERT_TRUE(checked) << checked.error().message;
    std::vector<std::string> names{"w", "gain"};
    if (norm == op::layer_norm) names.push_back("bias");
    auto made = differentiate(std::move(*checked), made_of + 2, names);
    ASSERT_TRUE(made);
    split_request how{3, {along(0)}, {}, {}, {}};
    for (auto g : made->gradients) how.needs.push_back({g, 0});
    auto out = split_over(made->code, how);
    // 8 · 8 of w, and 8 of each weight of the normalisation.
    EXPECT_EQ(out.bytes(), 4 * (64 + 8 * static_cast<int64_t>(names.size() - 1))) << sent(out);
    for (auto& one : out.sent) EXPECT_EQ(one.kind, collective_kind::all_reduce);
  }
}

TEST(split, keeps_heads_of_attention_apart_forward_and_back) {
  environment where;
  where.inputs = {{elem::f32, {2, 6, 5, 4}}};
  where.parameters = {{"q", f32({2, 6, 5, 4})}, {"k", f32({2, 6, 5, 4})}};
  program code{testing::param("q"),
               testing::param("k"),
               testing::input(0),
               {op::attention, {0, 1, 2, no_register}, {true, {}, {}, {}, {}}},
               {op::sum, {3}, {{}, {}}}};
  auto checked = check(code, where);
  ASSERT_TRUE(checked) << checked.error().message;
  auto made = differentiate(std::move(*checked), 4, {"q", "k"});
  ASSERT_TRUE(made);
  split_request how{3, {along(1)}, {{"q", along(1)}, {"k", along(1)}}, {}, {}};
  for (auto g : made->gradients) how.needs.push_back({g, 0});
  how.needs.push_back({4, 0});
  auto out = split_over(made->code, how);
  EXPECT_EQ(sent(out), "all-reduce 1");
  for (auto g : made->gradients) EXPECT_EQ(out.places[g], along(1));
}

TEST(split, keeps_axes_that_an_einsum_gives_back) {
  environment where;
  where.inputs = {{elem::f32, {8, 6}}};
  where.parameters = {{"w", f32({6, 4, 3})}, {"o", f32({4, 3, 6})}};
  program code{testing::param("w"),
               testing::param("o"),
               testing::input(0),
               {op::einsum, {2, 0}, {std::string("ta,ahd->thd")}},
               {op::einsum, {3, 1}, {std::string("thd,hda->ta")}},
               {op::square, {4}, {}},
               {op::sum, {5}, {{}, {}}}};
  auto checked = check(code, where);
  ASSERT_TRUE(checked) << checked.error().message;
  auto made = differentiate(std::move(*checked), 6, {"w", "o"});
  ASSERT_TRUE(made);
  split_request how{2, {}, {{"w", along(1)}, {"o", along(0)}}, {}, {}};
  for (auto g : made->gradients) how.needs.push_back({g, 0});
  auto out = split_over(made->code, how);
  // Heads stay where their weights are: only what all of them make together is summed.
  EXPECT_EQ(sent(out), "all-reduce 48");
  EXPECT_EQ(out.places[made->gradients[0]], along(1));
  EXPECT_EQ(out.places[made->gradients[1]], along(0));
}

TEST(split, keeps_heads_apart_although_the_loss_is_split_by_examples) {
  environment where;
  where.inputs = {{elem::f32, {8, 6}}, {elem::f32, {8, 6}}};
  where.parameters = {{"w", f32({6, 4, 3})}, {"o", f32({4, 3, 6})}};
  program code{testing::param("w"),
               testing::param("o"),
               testing::input(0),
               {op::einsum, {2, 0}, {std::string("ta,ahd->thd")}},
               {op::einsum, {3, 1}, {std::string("thd,hda->ta")}},
               testing::input(1),
               {op::mse, {4, 5}, {{}}}};
  auto checked = check(code, where);
  ASSERT_TRUE(checked) << checked.error().message;
  auto made = differentiate(std::move(*checked), 6, {"w", "o"});
  ASSERT_TRUE(made);
  split_request how{2, {along(0), along(0)}, {{"w", along(1)}, {"o", along(0)}}, {{3, 1}}, {}};
  for (auto g : made->gradients) how.needs.push_back({g, 0});
  how.needs.push_back({6, 0});
  auto out = split_over(made->code, how);
  // The examples to all heads, what the heads make together, the loss, and its gradient back.
  EXPECT_EQ(sent(out), "all-gather 48, all-reduce 48, all-reduce 1, all-gather 48");
}

TEST(split, joins_three_numbers_a_row_where_classes_are_split) {
  environment where;
  where.inputs = {{elem::i64, {8}}, {elem::i64, {8}}};
  where.parameters = {{"table", f32({10, 6})}, {"head", f32({6, 10})}};
  program code{testing::param("table"),     testing::param("head"),         testing::input(0),
               {op::embedding, {0, 2}, {}}, {op::matmul, {3, 1}, {{}, {}}}, testing::input(1),
               testing::cross_entropy(4, 5)};
  auto checked = check(code, where);
  ASSERT_TRUE(checked) << checked.error().message;
  auto made = differentiate(std::move(*checked), 6, {"head"});
  ASSERT_TRUE(made);
  split_request how{2, {}, {{"table", along(0)}, {"head", along(1)}}, {}, {}};
  how.needs = {{made->gradients[0], 0}, {6, 0}};
  auto out = split_over(made->code, how);
  // Rows of the table that a device has not are another's; then three numbers of each row.
  EXPECT_EQ(sent(out), "all-reduce 48, all-reduce 8, all-reduce 8, all-reduce 8");
  EXPECT_EQ(out.places[made->gradients[0]], along(1));
}

TEST(split, splits_what_is_wanted_although_its_operands_are_whole) {
  environment where;
  where.inputs = {{elem::f32, {8, 4}}};
  where.parameters = {{"w", f32({4, 6})}};
  program code{testing::input(0),
               testing::param("w"),
               {op::matmul, {0, 1}, {{}, {}}},
               testing::param("w"),
               {op::matmul, {2, 3}, {{}, true}}};
  auto made = check(code, where);
  ASSERT_TRUE(made) << made.error().message;
  auto out = split_over(*made, {3, {}, {}, {{2, 1}}, {{4, 0}}});
  EXPECT_EQ(out.places[2], along(1));
  // The second product sums over the split.
  EXPECT_EQ(sent(out), "all-reduce 32");
}

/// Every rule of every row: an operation whose operands lie as the rule says sends nothing, and its
/// result lies as the rule says.
TEST(split, follows_every_rule_of_every_row) {
  size_t seen = 0;
  for_each_call(3, [&](const row_call& call, std::mt19937&) {
    auto& what = call.code.code[call.result];
    auto rules = find_row(what.id)->split;
    if (!rules) return;
    std::vector<const register_type*> operands;
    for (auto x : what.operands)
      operands.push_back(x == no_register ? nullptr : &call.code.types[x]);
    for (auto& axis : rules({operands, &call.code.types[call.result], what.attributes})) {
      typed_program alone = call.code;
      split_request how;
      how.devices = 2;
      // Each operand is an input that lies as the rule says.
      bool fits = true, any = false;
      for (size_t k = 0; k < what.operands.size(); ++k) {
        auto x = what.operands[k];
        if (x == no_register) continue;
        if (axis.operand_dims[k] >= 0) any = true;
        // The same register twice, at two dims, is two placements.
        for (size_t j = 0; j < k; ++j)
          fits = fits && (what.operands[j] != x || axis.operand_dims[j] == axis.operand_dims[k]);
        alone.code[x] = {op::input, {}, {static_cast<int64_t>(how.inputs.size())}};
        how.inputs.push_back(axis.operand_dims[k] < 0
                               ? placement{}
                               : along(static_cast<uint32_t>(axis.operand_dims[k])));
      }
      if (!fits || !any) continue;
      ++seen;
      auto out = split_over(alone, how);
      EXPECT_TRUE(out.sent.empty()) << call.text();
      auto& place = out.places[call.result];
      if (axis.how == join::none && place.how == placed::split)
        EXPECT_EQ(place.dim, static_cast<uint32_t>(axis.result_dim)) << call.text();
      else if (axis.how != join::none)
        EXPECT_EQ(place.how, placed::partial) << call.text();
      else
        EXPECT_EQ(place.how, placed::split) << call.text();
      if (::testing::Test::HasFailure()) return;
    }
  });
  EXPECT_GT(seen, 300u);
}

} // namespace
} // namespace moxzi::device
