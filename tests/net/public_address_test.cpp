#include "net/public_address.hpp"

#include <boost/asio/ip/address.hpp>
#include <gtest/gtest.h>

// By IANA's registries of special-purpose addresses.

namespace moxzi::net {
namespace {

bool is_public(const char* text) {
  const auto address = boost::asio::ip::make_address(text);
  return address.is_v4() ? is_public_v4(address.to_v4().to_bytes())
                         : is_public_v6(address.to_v6().to_bytes());
}

TEST(PublicAddress, OfEverybodyIsPublic) {
  for (const auto* text :
       {"1.1.1.1", "8.8.8.8", "11.0.0.1", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1", "172.15.255.255", "172.32.0.0", "192.167.255.255", "198.17.255.255",
        "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8",
        "64:ff9b::808:808", "2002:0808:0808::1"}) {
    EXPECT_TRUE(is_public(text)) << text;
  }
}

TEST(PublicAddress, OfMachinesNetworksAndReservesIsNot) {
  for (const auto* text : {"0.0.0.0",          "10.1.2.3",        "100.64.0.1",  "127.0.0.1",
                           "127.255.255.255",  "169.254.169.254", "172.16.0.1",  "172.31.255.255",
                           "192.0.0.1",        "192.0.2.1",       "192.168.0.1", "198.18.0.1",
                           "198.19.255.255",   "198.51.100.1",    "203.0.113.1", "224.0.0.1",
                           "240.0.0.1",        "255.255.255.255", "::",          "::1",
                           "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::7f00:1",    "64:ff9b::a00:1",
                           "64:ff9b:1::1",     "100::1",          "2001::1",     "2001:db8::1",
                           "2002:a00:1::1",    "3fff::1",         "fc00::1",     "fd12::1",
                           "fe80::1",          "fec0::1",         "ff02::1",     "4000::1"}) {
    EXPECT_FALSE(is_public(text)) << text;
  }
}

} // namespace
} // namespace moxzi::net
