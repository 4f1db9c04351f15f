#include "device/ops/attention_shape.hpp"

#include <gtest/gtest.h>

#include "tests/device/backend_checks.hpp"

// Attention over more queries than fit into one block, by our own loops and by plain ones.

namespace moxzi::device {
namespace {

using namespace testing;

struct attention_case {
  std::vector<attribute> attributes;
  bool masked = false;
  bool kept_whole = true; ///< the weights, not the logarithms of their sums
};

constexpr int64_t batch = 1, heads = 4, kv_heads = 2, queries = 150, keys = 170, width = 12,
                  v_width = 20;

std::vector<attention_case> cases() {
  const auto none = attribute{};
  return {{{none, none, none, kv_heads, none}},
          {{true, none, none, kv_heads, none}},
          {{true, 0.2, int64_t{40}, kv_heads, none}, true},
          {{true, none, none, kv_heads, 0.3}, true},
          {{none, none, none, kv_heads, 0.6}, false, false},
          {{none, none, int64_t{9}, kv_heads, none}, true, false},
          {{true, none, int64_t{100}, kv_heads, none}, false, false}};
}

/// [batch, places, heads, width] looked at as [batch, heads, places, width].
uint32_t by_heads(case_builder& build, tensor from) {
  const int64_t places = from.dims[1], count = from.dims[2], last = from.dims[3];
  const auto at = build.input(std::move(from));
  return build.view(at, 0, {batch, count, places, last},
                    {places * count * last, last, count * last, 1});
}

/// Both passes: the backward one reads what the forward one kept.
kernel_case attention_plan(const attention_case& what, elem type, case_maker& make) {
  case_builder build("attention");
  const auto q = by_heads(build, make.floats(type, {batch, queries, heads, width}));
  const auto k = by_heads(build, make.floats(type, {batch, keys, kv_heads, width}));
  const auto v = by_heads(build, make.floats(type, {batch, keys, kv_heads, v_width}));
  const auto g = by_heads(build, make.floats(type, {batch, queries, heads, v_width}));
  const auto mask =
    what.masked ? build.input(make.floats(type, {batch, 1, queries, 1})) : no_tensor;
  shape kept_dims{batch, heads, queries};
  if (what.kept_whole) kept_dims.push(keys);
  const auto kept = build.output(type, kept_dims);
  const auto out = build.output(type, {batch, heads, queries, v_width});
  const attention_shape sizes({batch, heads, queries, width}, {batch, kv_heads, keys, width},
                              {batch, kv_heads, keys, v_width}, what.attributes);
  const auto packed = build.output(type, {batch, kv_heads, sizes.packed()});
  auto both = build.run(op::attention_train, {q, k, v, mask}, {out, kept}, what.attributes,
                        type == elem::f64 ? 1e-11 : 2e-4);
  both.what.instructions.push_back(
    {op::attention_backward, 0, {g, q, k, v, kept, mask}, {packed}, what.attributes});
  return both;
}

TEST(attention, blocks_of_queries_agree_with_plain_loops) {
  if (!std::filesystem::exists(built_programs() / "libmoxzi_torch.so"))
    GTEST_SKIP() << "this build has no libtorch";
  auto reference = make_reference_backend();
  case_maker make(17);
  for (const uint32_t threads : {1u, 2u}) {
    auto cpu = opened("cpu", threads);
    for (auto& what : cases()) {
      auto one = attention_plan(what, threads == 1 ? elem::f64 : elem::f32, make);
      one.what.parallel = threads > 1;
      run_results wanted, got;
      ASSERT_FALSE(run_plan(*reference, one.what, one.inputs, wanted));
      ASSERT_FALSE(run_plan(*cpu, one.what, one.inputs, got));
      for (size_t n = 0; n < one.what.results.size(); n++)
        expect_near(result_numbers(one.what, got, n), result_numbers(one.what, wanted, n),
                    one.tolerance, fmt::format("result {}", n));
    }
  }
}

TEST(attention, a_query_sees_what_causality_and_its_window_leave) {
  const auto seen = [](bool causal, attribute window, int64_t i) {
    const std::vector<attribute> attributes{causal, attribute{}, window, attribute{}, attribute{}};
    return attention_shape({5, 2}, {4, 2}, {4, 2}, attributes).seen_by(i);
  };
  using range = std::array<int64_t, 2>;
  EXPECT_EQ(seen(false, {}, 0), (range{0, 4}));
  EXPECT_EQ(seen(true, {}, 1), (range{0, 2}));
  EXPECT_EQ(seen(true, int64_t{2}, 2), (range{1, 3}));
  EXPECT_EQ(seen(false, int64_t{2}, 2), (range{1, 4}));
  EXPECT_EQ(seen(true, int64_t{1}, 4), (range{4, 4}));
}

} // namespace
} // namespace moxzi::device
