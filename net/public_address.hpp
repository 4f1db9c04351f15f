#pragma once

#include <array>
#include <cstdint>

namespace moxzi::net {

/// True if an IPv4 address, most significant byte first, is one that anybody on the internet may
/// have: not of a private or shared network, this machine, a link, a documentation or benchmark
/// range, multicast, or reserved (IANA's special-purpose registry).
bool is_public_v4(const std::array<uint8_t, 4>& address) noexcept;

/// The same for IPv6. An address that carries an IPv4 one (mapped, NAT64, 6to4) is as public as
/// that.
bool is_public_v6(const std::array<uint8_t, 16>& address) noexcept;

} // namespace moxzi::net
