#include "device/torch/draws.hpp"

#include <algorithm>

#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

static_assert(draw_lanes == lanes);

/// a · by of each lane, as two halves.
MOXZI_INLINE void multiply(const uint32_t* a, uint32_t by, uint32_t* high, uint32_t* low) {
  for (int i = 0; i < lanes; i++) {
    const uint64_t product = uint64_t{a[i]} * by;
    high[i] = static_cast<uint32_t>(product >> 32);
    low[i] = static_cast<uint32_t>(product);
  }
}

MOXZI_INLINE void words_of(const draw_counters& draws, uint64_t group, uint32_t* words) {
  alignas(64) uint32_t x[4][lanes], a_high[lanes], b_high[lanes];
  const uint64_t block = group * draw_lanes;
  const auto site = draws.site | static_cast<uint32_t>(block >> 32) << 16;
  for (int i = 0; i < lanes; i++) {
    x[0][i] = static_cast<uint32_t>(block) + static_cast<uint32_t>(i);
    x[1][i] = site;
    x[2][i] = draws.step[0];
    x[3][i] = draws.step[1];
  }
  uint32_t key_low = draws.key[0], key_high = draws.key[1];
  for (int round = 0; round < 10; round++) {
    alignas(64) uint32_t a_low[lanes], b_low[lanes];
    multiply(x[0], 0xD2511F53, a_high, a_low);
    multiply(x[2], 0xCD9E8D57, b_high, b_low);
    for (int i = 0; i < lanes; i++) {
      x[0][i] = b_high[i] ^ x[1][i] ^ key_low;
      x[1][i] = b_low[i];
      x[2][i] = a_high[i] ^ x[3][i] ^ key_high;
      x[3][i] = a_low[i];
    }
    key_low += 0x9E3779B9;
    key_high += 0xBB67AE85;
  }
  for (int w = 0; w < 4; w++) std::copy_n(x[w], lanes, words + w * lanes);
}

template <class T>
MOXZI_INLINE void drop_elements(const draw_counters& draws, uint64_t offset, uint64_t bound,
                                T scale, const T* x, T* out, int64_t count) {
  alignas(64) uint32_t words[words_at_once];
  const auto least = static_cast<uint32_t>(bound);
  for (int64_t i = 0; i < count;) {
    const auto n = offset + static_cast<uint64_t>(i);
    const auto first = static_cast<int64_t>(n % words_at_once);
    const auto some = std::min(words_at_once - first, count - i);
    words_of(draws, n / words_at_once, words);
    if (bound >> 32) // has no room in a word: nothing is kept
      std::fill_n(out + i, some, T{});
    else
      for (int64_t j = 0; j < some; j++)
        out[i + j] = words[first + j] >= least ? x[i + j] * scale : T{};
    i += some;
  }
}

} // namespace

MOXZI_CLONES void draw_words(const draw_counters& draws, uint64_t group, uint32_t* words) {
  words_of(draws, group, words);
}

MOXZI_CLONES void drop(const draw_counters& draws, uint64_t offset, uint64_t bound, float scale,
                       const float* x, float* out, int64_t count) {
  drop_elements(draws, offset, bound, scale, x, out, count);
}

MOXZI_CLONES void drop(const draw_counters& draws, uint64_t offset, uint64_t bound, double scale,
                       const double* x, double* out, int64_t count) {
  drop_elements(draws, offset, bound, scale, x, out, count);
}

} // namespace moxzi::device::torch
