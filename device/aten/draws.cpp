#include "device/aten/draws.hpp"

#include <array>
#include <optional>

namespace moxzi::device::aten {

namespace {

constexpr int64_t low_half = 0xffffffff;

std::array<int64_t, 8> halves_of(const draw_keys& keys) {
  std::array<int64_t, 8> out{};
  size_t n = 0;
  for (const auto key : {keys.seed, keys.owner, keys.step, keys.seeded_step}) {
    out[n++] = static_cast<int64_t>(key & low_half);
    out[n++] = static_cast<int64_t>(key >> 32);
  }
  return out;
}

using words = std::array<at::Tensor, 4>;

/// Words are i64 of 32 bits; products wrap as they do for unsigned numbers.
words philox(words x, at::Tensor key_low, at::Tensor key_high) {
  for (int round = 0; round < 10; round++) {
    const auto a = x[0] * int64_t{0xD2511F53}, b = x[2] * int64_t{0xCD9E8D57};
    const auto high = [](const at::Tensor& of) {
      return of.bitwise_right_shift(32).bitwise_and(low_half);
    };
    x = {high(b).bitwise_xor(x[1]).bitwise_xor(key_low), b.bitwise_and(low_half),
         high(a).bitwise_xor(x[3]).bitwise_xor(key_high), a.bitwise_and(low_half)};
    key_low = (key_low + int64_t{0x9E3779B9}).bitwise_and(low_half);
    key_high = (key_high + int64_t{0xBB67AE85}).bitwise_and(low_half);
  }
  return x;
}

/// The words of some blocks.
words words_of(const aten_call& call, const attribute& seed, const at::Tensor& blocks) {
  const auto key = [&call](int64_t n) { return call.draws.narrow(0, n, 1); };
  const auto constant = [&call](uint64_t value) {
    return at::full({1}, static_cast<int64_t>(value), call.draws.options());
  };
  auto low = key(0), high = key(1);
  auto* own = std::get_if<int64_t>(&seed);
  if (own) {
    low = constant(static_cast<uint64_t>(*own) & low_half);
    high = constant(static_cast<uint64_t>(*own) >> 32);
  }
  const auto mixed = philox({low, high, constant(1), constant(0)}, key(2), key(3));
  const int64_t step = own ? 6 : 4;
  const auto site = blocks.bitwise_right_shift(32).mul(1 << 16).add(int64_t{call.origin});
  return philox({blocks.bitwise_and(low_half), site, key(step), key(step + 1)}, mixed[0], mixed[1]);
}

/// By the place's own kernel.
at::Tensor drawn(const aten_call& call, const attribute& seed, int64_t count,
                 std::optional<size_t> which) {
  auto out = at::empty({count}, call.draws.options());
  if (count > 0) (*call.words)({call.draws, seed, call.origin, which}, out);
  return out;
}

} // namespace

at::Tensor keys_of(const draw_keys& keys, at::Device device) {
  auto out = at::empty({8}, at::TensorOptions().dtype(at::kLong).device(device));
  set_keys(out, keys);
  return out;
}

void set_keys(at::Tensor& to, const draw_keys& keys) {
  auto halves = halves_of(keys);
  to.copy_(at::from_blob(halves.data(), {8}, at::TensorOptions().dtype(at::kLong)));
}

at::Tensor words_of_elements(const aten_call& call, const attribute& seed, int64_t elements) {
  if (call.words) return drawn(call, seed, elements, std::nullopt);
  constexpr auto lanes = static_cast<int64_t>(draw_lanes);
  const auto rows = (elements + 4 * lanes - 1) / (4 * lanes);
  const auto blocks = at::arange(rows * lanes, call.draws.options()).view({rows, lanes});
  const auto all = words_of(call, seed, blocks);
  return at::stack({all[0], all[1], all[2], all[3]}, 1).view({-1}).narrow(0, 0, elements);
}

at::Tensor words_of_blocks(const aten_call& call, const attribute& seed, int64_t blocks,
                           size_t which) {
  if (call.words) return drawn(call, seed, blocks, which);
  return words_of(call, seed, at::arange(blocks, call.draws.options()))[which];
}

at::Tensor kept_by_dropout(const aten_call& call, const attribute& seed, at::IntArrayRef sizes,
                           double p) {
  int64_t elements = 1;
  for (const auto size : sizes) elements *= size;
  return words_of_elements(call, seed, elements)
    .ge(static_cast<int64_t>(words_below(p)))
    .view(sizes);
}

} // namespace moxzi::device::aten
