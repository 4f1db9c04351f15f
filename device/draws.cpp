#include "device/draws.hpp"

#include <numbers>

#include "base/codec.hpp"
#include "base/digest.hpp"
#include "device/philox.hpp"

namespace moxzi::device {

namespace {

std::array<uint32_t, 2> halves(uint64_t of) noexcept {
  return {static_cast<uint32_t>(of), static_cast<uint32_t>(of >> 32)};
}

} // namespace

uint64_t owner_key(byte_view owner) {
  writer key;
  key.bytes("moxzi-draws");
  key.bytes(owner);
  auto hash = sha256(key.data());
  return reader(as_bytes(hash)).u64();
}

draw_counters::draw_counters(const draw_keys& keys, uint32_t where, const attribute& seed)
    : site(where) {
  auto own = std::get_if<int64_t>(&seed);
  step = halves(own ? keys.seeded_step : keys.step);
  auto [low, high] = halves(own ? static_cast<uint64_t>(*own) : keys.seed);
  // Parameters are filled with counters whose last two words are 0.
  auto mixed = philox4x32_10({low, high, 1, 0}, halves(keys.owner));
  key = {mixed[0], mixed[1]};
}

std::array<uint32_t, 4> draw_counters::block(uint64_t n) const noexcept {
  auto [low, high] = halves(n);
  return philox4x32_10({low, site | high << 16, step[0], step[1]}, key);
}

float normal_of(const std::array<uint32_t, 4>& words, uint64_t n) noexcept {
  auto which = word_of_element(n), pair = which / 2 * 2;
  // Never 0, so that the logarithm is finite.
  auto u = (static_cast<double>(words[pair]) + 0.5) * 0x1p-32;
  auto angle = 2 * std::numbers::pi * static_cast<double>(words[pair + 1]) * 0x1p-32;
  auto radius = std::sqrt(-2 * std::log(u));
  return static_cast<float>(radius * (which % 2 == 0 ? std::cos(angle) : std::sin(angle)));
}

} // namespace moxzi::device
