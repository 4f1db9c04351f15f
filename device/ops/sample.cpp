#include "device/ops/sample.hpp"

namespace moxzi::device {

int64_t sampler::below(int64_t limit) noexcept {
  // SplitMix64 (Steele, Lea and Flood, 2014).
  auto z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return limit <= 0 ? 0 : static_cast<int64_t>(z % static_cast<uint64_t>(limit));
}

int64_t sampler::size() noexcept {
  return below(12) == 0 ? 0 : some();
}

int64_t sampler::some() noexcept {
  switch (below(8)) {
    case 0:
      return 1;
    case 1:
      return 8 + below(12);
    default:
      return 1 + below(7);
  }
}

shape sampler::dims(size_t least, size_t most) noexcept {
  shape out;
  auto rank = least + static_cast<size_t>(below(static_cast<int64_t>(most - least + 1)));
  while (out.rank() < rank) out.push(size());
  return out;
}

shape sampler::some_dims(size_t least, size_t most) noexcept {
  auto out = dims(least, most);
  for (size_t i = 0; i < out.rank(); ++i)
    if (out[i] == 0) out[i] = 1;
  return out;
}

shape sampler::broadcast_to(const shape& dims) noexcept {
  shape out;
  auto from = below(3) == 0 ? static_cast<size_t>(below(static_cast<int64_t>(dims.rank()) + 1)) : 0;
  for (auto i = from; i < dims.rank(); ++i) out.push(below(4) == 0 ? 1 : dims[i]);
  return out;
}

} // namespace moxzi::device
