#include "net/public_address.hpp"

#include <algorithm>
#include <cstddef>

namespace moxzi::net {

namespace {

struct v4_range {
  std::array<uint8_t, 4> first;
  unsigned bits;
};

constexpr v4_range special_v4[] = {
  {{0, 0, 0, 0}, 8},       // this network
  {{10, 0, 0, 0}, 8},      // private
  {{100, 64, 0, 0}, 10},   // shared by a provider's customers
  {{127, 0, 0, 0}, 8},     // this machine
  {{169, 254, 0, 0}, 16},  // this link
  {{172, 16, 0, 0}, 12},   // private
  {{192, 0, 0, 0}, 24},    // protocol assignments
  {{192, 0, 2, 0}, 24},    // documentation
  {{192, 88, 99, 0}, 24},  // 6to4 relays
  {{192, 168, 0, 0}, 16},  // private
  {{198, 18, 0, 0}, 15},   // benchmarks
  {{198, 51, 100, 0}, 24}, // documentation
  {{203, 0, 113, 0}, 24},  // documentation
  {{224, 0, 0, 0}, 4},     // multicast
  {{240, 0, 0, 0}, 4},     // reserved, broadcast
};

struct v6_range {
  std::array<uint8_t, 4> first; // the rest is zero
  unsigned bits;
};

constexpr v6_range special_v6[] = {
  {{0x01, 0x00, 0, 0}, 64},       // discard
  {{0x20, 0x01, 0, 0}, 23},       // protocol assignments, Teredo among them
  {{0x20, 0x01, 0x0d, 0xb8}, 32}, // documentation
  {{0x3f, 0xff, 0, 0}, 20},       // documentation
  {{0x5f, 0x00, 0, 0}, 16},       // segment routing
  {{0xfc, 0x00, 0, 0}, 7},        // private
  {{0xfe, 0x80, 0, 0}, 10},       // this link
  {{0xfe, 0xc0, 0, 0}, 10},       // this site
  {{0xff, 0x00, 0, 0}, 8},        // multicast
};

template <size_t N>
bool is_within(const std::array<uint8_t, N>& address, const std::array<uint8_t, 4>& first,
               unsigned bits) noexcept {
  for (unsigned bit = 0; bit < bits; ++bit) {
    const auto at = bit / 8;
    const uint8_t wanted = at < first.size() ? first[at] : uint8_t{0};
    const auto mask = static_cast<uint8_t>(0x80u >> (bit % 8));
    if (((address[at] ^ wanted) & mask) != 0) return false;
  }
  return true;
}

bool is_embedded_v4_public(const std::array<uint8_t, 16>& address, size_t from) noexcept {
  std::array<uint8_t, 4> inner{};
  std::copy_n(address.begin() + static_cast<std::ptrdiff_t>(from), 4, inner.begin());
  return is_public_v4(inner);
}

} // namespace

bool is_public_v4(const std::array<uint8_t, 4>& address) noexcept {
  return std::none_of(std::begin(special_v4), std::end(special_v4), [&address](const auto& range) {
    return is_within(address, range.first, range.bits);
  });
}

bool is_public_v6(const std::array<uint8_t, 16>& address) noexcept {
  const auto zeros = static_cast<size_t>(
    std::find_if(address.begin(), address.end(), [](uint8_t byte) { return byte != 0; })
    - address.begin());
  // ::, ::1 and the old "compatible" addresses; then the mapped ones.
  if (zeros >= 12) return false;
  if (zeros == 10 && address[10] == 0xff && address[11] == 0xff) {
    return is_embedded_v4_public(address, 12);
  }
  if (is_within(address, {0x00, 0x64, 0xff, 0x9b}, 96)) return is_embedded_v4_public(address, 12);
  if (is_within(address, {0x20, 0x02, 0, 0}, 16)) return is_embedded_v4_public(address, 2);
  // Only 2000::/3 is given to anybody.
  if (!is_within(address, {0x20, 0, 0, 0}, 3)) return false;
  return std::none_of(std::begin(special_v6), std::end(special_v6), [&address](const auto& range) {
    return is_within(address, range.first, range.bits);
  });
}

} // namespace moxzi::net
