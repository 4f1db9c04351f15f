#include "net/client_shares.hpp"

#include <boost/asio/ip/address_v6.hpp>

namespace moxzi::net {

namespace {

// No IPv6 network starts like this: the address would be IPv4's, mapped.
constexpr uint64_t is_v4 = 0xffff;

} // namespace

client_key key_of(const boost::asio::ip::address& address) noexcept {
  if (address.is_v4()) return {is_v4, address.to_v4().to_uint()};
  const auto bytes = address.to_v6().to_bytes();
  if (address.to_v6().is_v4_mapped()) {
    uint64_t v4 = 0;
    for (size_t i = 12; i < 16; ++i) v4 = v4 << 8 | bytes[i];
    return {is_v4, v4};
  }
  client_key key;
  for (size_t i = 0; i < 8; ++i) key.high = key.high << 8 | bytes[i];
  return key;
}

void client_shares::trim(const client_key& client) {
  const auto at = shares_.find(client);
  if (at == shares_.end()) return;
  const auto& held = at->second;
  if (held.connections == 0 && held.waiting == 0 && held.kept == 0 && held.unsent == 0)
    shares_.erase(at);
}

} // namespace moxzi::net
