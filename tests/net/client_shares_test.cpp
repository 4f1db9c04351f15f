#include "net/client_shares.hpp"

#include <gtest/gtest.h>

using namespace moxzi::net;

namespace {

client_key key(const char* address) {
  return key_of(boost::asio::ip::make_address(address));
}

} // namespace

TEST(client_shares, a_client_is_an_ipv4_address_or_a_64_of_ipv6) {
  EXPECT_EQ(key("192.0.2.1"), key("192.0.2.1"));
  EXPECT_NE(key("192.0.2.1"), key("192.0.2.2"));
  EXPECT_EQ(key("192.0.2.1"), key("::ffff:192.0.2.1"));
  EXPECT_EQ(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
  EXPECT_NE(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
}

TEST(client_shares, who_holds_nothing_is_forgotten) {
  client_shares shares;
  const auto a = key("192.0.2.1");
  ++shares.of(a).connections;
  ++shares.of(key("192.0.2.2")).waiting;
  EXPECT_EQ(shares.clients(), 2u);
  shares.trim(a);
  EXPECT_EQ(shares.clients(), 2u);
  --shares.of(a).connections;
  shares.trim(a);
  shares.trim(a);
  EXPECT_EQ(shares.clients(), 1u);
}
