#include "device/philox.hpp"

#include <cmath>
#include <numbers>

#include "base/codec.hpp"
#include "base/digest.hpp"

namespace moxzi::device {

std::array<uint32_t, 4> philox4x32_10(std::array<uint32_t, 4> x,
                                      std::array<uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ key[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ x[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return x;
}

std::array<double, 2> random_stream::uniforms(uint64_t block) const noexcept {
  auto words =
    philox4x32_10({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0},
                  {static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)});
  auto one = [](uint32_t high, uint32_t low) {
    return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
  };
  return {one(words[0], words[1]), one(words[2], words[3])};
}

double random_stream::uniform(uint64_t n) const noexcept {
  return uniforms(n / 2)[n % 2];
}

double random_stream::normal(uint64_t n) const noexcept {
  auto [u, v] = uniforms(n / 2);
  // 1 - u is in (0, 1], so the logarithm is finite.
  auto radius = std::sqrt(-2 * std::log1p(-u)), angle = 2 * std::numbers::pi * v;
  return radius * (n % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

namespace {

random_stream stream_of(const writer& key) {
  auto hash = sha256(key.data());
  return random_stream(reader(as_bytes(hash)).u64());
}

} // namespace

random_stream stream_of_parameter(uint64_t device_seed, byte_view owner, std::string_view name,
                                  uint64_t creation) {
  writer key;
  key.bytes("moxzi-parameter");
  key.u64(device_seed);
  key.bytes(owner);
  key.bytes(name);
  key.u64(creation);
  return stream_of(key);
}

random_stream stream_of_seed(uint64_t seed, std::string_view name) {
  writer key;
  key.bytes("moxzi-seeded-parameter");
  key.u64(seed);
  key.bytes(name);
  return stream_of(key);
}

} // namespace moxzi::device
