#include "net/http_client.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/net/certificate_fixture.hpp"
#include "tests/net/http_fixture.hpp"

using namespace moxzi::net;
using namespace moxzi::net::test;
using testing::HasSubstr;

namespace {

std::string address(uint16_t port) {
  return "http://127.0.0.1:" + std::to_string(port);
}

std::string failure(const client_request& request) {
  auto out = send_request(request);
  return out ? "" : out.error().message;
}

} // namespace

TEST(http_client, sends_and_receives) {
  running_server s;
  auto out = send_request({.url = address(s.port) + "/",
                           .target = "/call-json/" + percent_encode("größe 1") + "/m",
                           .body = std::string(1u << 20, 'x')});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->status, 200);
  EXPECT_EQ(out->body, "update größe 1 m " + std::string(1u << 20, 'x'));
  out = send_request({.url = address(s.port), .method = "GET", .target = "/nowhere"});
  EXPECT_EQ(out->status, 404);
}

TEST(http_client, says_who_did_not_answer_and_why) {
  uint16_t port = 0;
  {
    running_server s;
    port = s.port;
  }
  EXPECT_EQ(failure({.url = address(port)}),
            address(port) + ": nobody listens there; is moxzid running?");
  std::vector<http_call_ptr> kept;
  running_server silent{[&kept](http_call_ptr call) { kept.push_back(std::move(call)); }};
  EXPECT_EQ(failure({.url = address(silent.port), .target = "/call-json/a/m", .timeout_ms = 50}),
            address(silent.port) + ": no answer within 50 ms");
  silent.server.stop(0);
  for (auto bad : {"ftp://x", "x", "http://", "https://", "http://x:", "http://x:y", "http://x/y",
                   "http://a@b"})
    EXPECT_THAT(failure({.url = bad}), HasSubstr("is no server's address")) << bad;
}

TEST(http_client, speaks_tls_with_servers_that_it_can_trust) {
  const certificate made;
  http_server server{{.port = 0, .tls = made.files()}, {echo, echo_node}};
  const auto port = std::to_string(server.start().value());
  const auto ask = [&](const std::string& host, const std::string& authorities) {
    auto out = send_request({.url = "https://" + host + ":" + port,
                             .target = "/call-json/a/m",
                             .body = "[1]",
                             .tls_ca = authorities});
    return out ? out->body : out.error().message;
  };
  const auto own = made.files().certificate;
  EXPECT_EQ(ask("localhost", own), "update a m [1]");
  EXPECT_THAT(ask("localhost", ""), HasSubstr("its certificate is not to be trusted"));
  EXPECT_THAT(ask("127.0.0.1", own),
              HasSubstr("its certificate is not to be trusted: hostname mismatch"));
  EXPECT_THAT(ask("localhost", own + ".none"), HasSubstr("cert.pem.none: no certificates"));
  EXPECT_EQ(failure({.url = "http://localhost:" + port, .target = "/health"}),
            "http://localhost:" + port
              + ": it closed the connection without an answer; does it speak https?");
}
