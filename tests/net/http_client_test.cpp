#include "net/http_client.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  for (auto bad :
       {"https://x", "x", "http://", "http://x:", "http://x:y", "http://x/y", "http://a@b"})
    EXPECT_THAT(failure({.url = bad}), HasSubstr("is no server's address")) << bad;
}
