#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <boost/asio/ip/address.hpp>

namespace moxzi::net {

/// Who a client is, for fairness: its IPv4 address, or the /64 of its IPv6 address (which is what
/// one household or machine is given).
struct client_key {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const client_key&) const = default;
};

client_key key_of(const boost::asio::ip::address& address) noexcept;

/// What each client holds of the server. Not thread-safe.
class client_shares {
public:
  /// What one client holds. Stays where it is while anything is held.
  struct share {
    size_t connections = 0;
    size_t waiting = 0; ///< calls without an answer, whether somebody waits for it or not
    size_t kept = 0;    ///< of these, the ones that a `call_store` keeps
    size_t unsent = 0;  ///< bytes of large answers that it has not taken yet
  };

  share& of(const client_key& client) {
    return shares_[client];
  }
  /// Takes note that a part of the share was given back; forgets clients that hold nothing.
  void trim(const client_key& client);

  size_t clients() const noexcept {
    return shares_.size();
  }

private:
  struct hash {
    size_t operator()(const client_key& key) const noexcept {
      return static_cast<size_t>((key.high ^ key.low) * 0x9e3779b97f4a7c15u);
    }
  };
  std::unordered_map<client_key, share, hash> shares_;
};

} // namespace moxzi::net
