#include "device/cuda/compiler.hpp"

#include <gmock/gmock.h>

#include "device/cuda/draw_source.hpp"
#include "device/draws.hpp"
#include "device/ops/table.hpp"
#include "device/pointwise/chain.hpp"
#include "device/pointwise/gpu_source.hpp"

// What runs on a GPU is compiled here for one, which takes no GPU.

namespace moxzi::device {
namespace {

/// Every formula for such elements, in chains as long as they may be.
std::vector<pointwise_chain> chains_of_all_formulas(dtype computes) {
  std::vector<pointwise_chain> out;
  for (auto& how : table()) {
    if (how.runs != row_runs::pointwise) continue;
    if (computes == dtype::i64 && !pointwise::find_i64(how.id)) continue;
    if (out.empty() || out.back().steps.size() == chain_steps_max)
      out.push_back({computes, {}, {}});
    auto& chain = out.back();
    // Of three inputs, or of two and the step before.
    auto last = chain.steps.empty() ? 2u : 2u + static_cast<uint32_t>(chain.steps.size());
    pointwise_step step{how.id, computes, {}, {}};
    for (auto& f : how.fields) {
      if (is_register(f.kind)) step.operands.push_back(step.operands.size() == 1 ? last : 0);
      if (f.kind == field_kind::float64) step.constants.push_back(-0.1);
    }
    chain.steps.push_back(std::move(step));
  }
  for (auto& chain : out) chain.results = {0, static_cast<uint32_t>(chain.steps.size() - 1)};
  return out;
}

std::string ptx_of(const std::string& source) {
  std::string why;
  auto ptx = cuda::compile(source, "compute_80", why);
  EXPECT_EQ(why, "");
  return ptx;
}

TEST(gpu_source, every_formula_compiles_to_ptx) {
  for (auto computes : {dtype::f32, dtype::f64, dtype::i64})
    for (auto& chain : chains_of_all_formulas(computes)) {
      auto type = stored_as(computes);
      const elem inputs[] = {type, type, type}, outputs[] = {type, elem::boolean};
      auto ptx = ptx_of(pointwise::gpu_source(chain, inputs, outputs));
      EXPECT_THAT(ptx, testing::HasSubstr(".visible .entry chain("));
    }
}

TEST(gpu_source, every_kind_of_element_is_read_and_written) {
  for (size_t i = 0; i <= static_cast<size_t>(elem::boolean); ++i) {
    const elem types[] = {static_cast<elem>(i)};
    auto computes = types[0] == elem::f64 ? dtype::f64
                    : is_float(types[0])  ? dtype::f32
                                          : dtype::i64;
    pointwise_chain chain{computes, {{op::neg, computes, {0}, {}}}, {0}};
    EXPECT_THAT(ptx_of(pointwise::gpu_source(chain, types, types)),
                testing::HasSubstr(".target sm_80"));
  }
}

TEST(draw_source, compiles_to_ptx) {
  EXPECT_THAT(ptx_of(cuda::draw_source()), testing::HasSubstr(".visible .entry draw_words("));
}

TEST(draw_source, its_words_are_those_of_the_processor) {
  const draw_keys keys{0x0123456789abcdefu, 0xfedcba9876543210u, 7, (uint64_t{1} << 40) + 3};
  std::array<long long, 8> halves{};
  size_t n = 0;
  for (auto key : {keys.seed, keys.owner, keys.step, keys.seeded_step}) {
    halves[n++] = static_cast<long long>(key & 0xffffffff);
    halves[n++] = static_cast<long long>(key >> 32);
  }
  for (auto own : {attribute{}, attribute{int64_t{-5}}}) {
    const draw_counters counters(keys, 9, own);
    cuda::draw_arguments with{};
    with.keys = halves.data();
    with.site = 9;
    if (auto* seed = std::get_if<int64_t>(&own)) {
      with.seed = *seed;
      with.has_seed = 1;
    }
    for (uint64_t at : {uint64_t{0}, uint64_t{15}, uint64_t{16}, uint64_t{999}, uint64_t{1} << 34,
                        (uint64_t{1} << 40) + 77}) {
      with.which = -1;
      EXPECT_EQ(cuda::drawn_word(with, static_cast<long long>(at)),
                counters.block(block_of_element(at))[word_of_element(at)]);
      for (with.which = 0; with.which < 4; ++with.which)
        EXPECT_EQ(cuda::drawn_word(with, static_cast<long long>(at)),
                  counters.block(at)[static_cast<size_t>(with.which)]);
    }
  }
}

TEST(compiler, says_what_is_wrong) {
  std::string why;
  EXPECT_EQ(cuda::compile("nonsense", "compute_80", why), "");
  EXPECT_THAT(why, testing::HasSubstr("nonsense"));
}

} // namespace
} // namespace moxzi::device
