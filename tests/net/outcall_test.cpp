#include "net/outcall.hpp"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/net/scripted_server.hpp"

namespace moxzi::net {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::http_response;
using ::testing::Pair;
using testing::scripted_server;

constexpr std::chrono::seconds patience{20};

result<outcall_response> call(outcall_request request, outcall_options options = {}) {
  std::promise<result<outcall_response>> promise;
  auto outcome = promise.get_future();
  outcall_client client{std::move(options)};
  client.send(std::move(request),
              [&promise](result<outcall_response> what) { promise.set_value(std::move(what)); });
  if (outcome.wait_for(patience) != std::future_status::ready) {
    return fail(outcall_errc::timed_out, "the test waited in vain");
  }
  return outcome.get();
}

outcall_options any() {
  outcall_options options;
  options.policy = outcall_policy::any;
  return options;
}

outcall_errc why(const result<outcall_response>& outcome) {
  EXPECT_FALSE(outcome.has_value());
  return outcome ? outcall_errc{} : static_cast<outcall_errc>(outcome.error().code.value());
}

TEST(Outcall, SendsWhatIsAskedAndGivesBackWhatComes) {
  std::string seen;
  scripted_server server{[&seen](const std::string& request) {
    seen = request;
    return http_response("pong", "X-Kind: a\r\nX-Kind: b\r\n", "201 Created");
  }};
  outcall_request request;
  request.url = server.url() + "/a/b?c=d#never-sent";
  request.method = "POST";
  request.headers = {{"X-Mine", "1"}};
  request.body = "ping";
  const auto got = call(request, any());
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->status, 201u);
  EXPECT_EQ(got->body, "pong");
  EXPECT_THAT(got->headers, AllOf(Contains(Pair("X-Kind", "a")), Contains(Pair("X-Kind", "b"))));
  EXPECT_THAT(seen, ::testing::StartsWith("POST /a/b?c=d HTTP/1.1\r\n"));
  EXPECT_THAT(seen, AllOf(HasSubstr("X-Mine: 1\r\n"), HasSubstr("User-Agent: ic/1.0\r\n"),
                          HasSubstr(fmt::format("Host: 127.0.0.1:{}\r\n", server.port())),
                          ::testing::EndsWith("\r\n\r\nping")));
}

TEST(Outcall, FollowsNoRedirect) {
  scripted_server server{[](const std::string&) {
    return http_response("", "Location: http://127.0.0.1:1/\r\n", "302 Found");
  }};
  const auto got = call({.url = server.url()}, any());
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->status, 302u);
}

TEST(Outcall, HeadHasNoBodyWhateverItsLengthSays) {
  scripted_server server{[](const std::string&) {
    return std::string{"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"};
  }};
  const auto got = call({.url = server.url(), .method = "HEAD"}, any());
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->body, "");
}

TEST(Outcall, ReadsChunksAndBodiesThatEndWithTheConnection) {
  int n = 0;
  scripted_server server{[&n](const std::string&) -> std::string {
    if (n++ == 0) {
      return "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
             "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    }
    return "HTTP/1.1 200 OK\r\n\r\nto the end";
  }};
  EXPECT_EQ(call({.url = server.url()}, any())->body, "abcde");
  EXPECT_EQ(call({.url = server.url()}, any())->body, "to the end");
}

TEST(Outcall, AResponseAboveWhatWasAskedForIsRefused) {
  scripted_server server{[](const std::string&) { return http_response(std::string(100, 'x')); }};
  outcall_request request{.url = server.url()};
  request.response_bytes_max = 99;
  EXPECT_EQ(why(call(request, any())), outcall_errc::too_large);
  // Headers count: "Content-Length" and "100".
  request.response_bytes_max = 116;
  EXPECT_EQ(why(call(request, any())), outcall_errc::too_large);
  request.response_bytes_max = 117;
  EXPECT_TRUE(call(request, any()).has_value());
}

TEST(Outcall, ManyOrLongHeadersAreRefused) {
  std::string many;
  for (int i = 0; i < 70; ++i) many += fmt::format("X-{}: 1\r\n", i);
  scripted_server first{[&many](const std::string&) { return http_response("", many); }};
  EXPECT_EQ(why(call({.url = first.url()}, any())), outcall_errc::bad_response);
  scripted_server second{[](const std::string&) {
    return http_response("", "X-Long: " + std::string(100'000, 'x') + "\r\n");
  }};
  EXPECT_EQ(why(call({.url = second.url()}, any())), outcall_errc::too_large);
}

TEST(Outcall, WhatIsNoHttpIsSaidToBe) {
  scripted_server server{[](const std::string&) { return std::string{"SSH-2.0-x\r\n\r\n"}; }};
  EXPECT_EQ(why(call({.url = server.url()}, any())), outcall_errc::bad_response);
}

TEST(Outcall, AServerThatDoesNotAnswerRunsOutOfTime) {
  std::promise<void> over;
  auto waits = over.get_future().share();
  scripted_server server{[waits](const std::string&) {
    waits.wait();
    return std::string{};
  }};
  auto options = any();
  options.timeout_ms = 100;
  const auto got = call({.url = server.url()}, options);
  over.set_value();
  EXPECT_EQ(why(got), outcall_errc::timed_out);
  EXPECT_THAT(got.error().message, HasSubstr("within 100 ms"));
}

TEST(Outcall, NobodyThereIsTransient) {
  std::string url;
  {
    scripted_server gone{[](const std::string&) { return std::string{}; }};
    url = gone.url();
  }
  const auto code = why(call({.url = url}, any()));
  EXPECT_EQ(code, outcall_errc::unreachable);
  EXPECT_TRUE(is_transient(code));
}

TEST(Outcall, OpenCallsEndWhenTheClientDoes) {
  std::promise<void> over;
  auto waits = over.get_future().share();
  scripted_server server{[waits](const std::string&) {
    waits.wait();
    return std::string{};
  }};
  std::promise<result<outcall_response>> promise;
  {
    outcall_client client{any()};
    client.send({.url = server.url()}, [&promise](auto what) { promise.set_value(what); });
  }
  over.set_value();
  EXPECT_EQ(why(promise.get_future().get()), outcall_errc::unreachable);
}

TEST(Outcall, NoMoreThanTheBoundAreOpen) {
  std::promise<void> over;
  auto waits = over.get_future().share();
  scripted_server server{[waits](const std::string&) {
    waits.wait();
    return http_response("");
  }};
  auto options = any();
  options.open_max = 1;
  outcall_client client{options};
  std::promise<result<outcall_response>> first;
  client.send({.url = server.url()}, [&first](auto what) { first.set_value(what); });
  std::promise<result<outcall_response>> second;
  client.send({.url = server.url()}, [&second](auto what) { second.set_value(what); });
  EXPECT_EQ(why(second.get_future().get()), outcall_errc::busy);
  over.set_value();
  EXPECT_TRUE(first.get_future().get().has_value());
}

// -- TLS ----------------------------------------------------------------------

TEST(Outcall, TrustsACertificateOfACaThatItIsGiven) {
  scripted_server server{[](const std::string&) { return http_response("secret"); }, true};
  auto options = any();
  options.ca_file = server.certificate_file();
  const auto got = call({.url = server.url()}, options);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->body, "secret");
  // By address, which the certificate names as well.
  const auto by_address = fmt::format("https://127.0.0.1:{}", server.port());
  EXPECT_TRUE(call({.url = by_address}, options).has_value());
}

TEST(Outcall, DistrustsAnUnknownCertificateAndAForeignName) {
  scripted_server server{[](const std::string&) { return http_response("secret"); }, true};
  EXPECT_EQ(why(call({.url = server.url()}, any())), outcall_errc::not_trusted);
  auto options = any();
  options.ca_file = server.certificate_file();
  // The same server by an address that the certificate does not name.
  const auto other = fmt::format("https://[::ffff:127.0.0.1]:{}", server.port());
  EXPECT_EQ(why(call({.url = other}, options)), outcall_errc::not_trusted);
}

// -- what may be called -------------------------------------------------------

TEST(Outcall, ThePolicySaysWhatMayBeCalled) {
  scripted_server server{[](const std::string&) { return http_response(""); }, true};
  outcall_options options;
  options.ca_file = server.certificate_file();
  const auto local = call({.url = server.url()}, options);
  EXPECT_EQ(why(local), outcall_errc::forbidden);
  EXPECT_THAT(local.error().message, HasSubstr("--outcalls any"));
  for (const auto* url : {"http://example.com", "https://10.0.0.1", "https://[::1]",
                          "https://[::ffff:127.0.0.1]", "https://169.254.169.254/latest"}) {
    EXPECT_EQ(why(call({.url = url}, options)), outcall_errc::forbidden) << url;
  }
  options.policy = outcall_policy::off;
  EXPECT_EQ(why(call({.url = "https://example.com"}, options)), outcall_errc::forbidden);
}

TEST(Outcall, HeadersThatWouldChangeTheMessageAreRefused) {
  const std::pair<std::string, std::string> bad[] = {{"X", "a\r\nY: b"},
                                                     {"X Y", "a"},
                                                     {"", "a"},
                                                     {"X", std::string(1, '\0')},
                                                     {"Transfer-Encoding", "chunked"},
                                                     {"content-length", "3"},
                                                     {"Connection", "keep-alive"}};
  for (const auto& [name, value] : bad) {
    const auto got = call({.url = "http://127.0.0.1:1", .headers = {{name, value}}}, any());
    EXPECT_EQ(why(got), outcall_errc::bad_header) << name;
  }
  outcall_request many{.url = "http://127.0.0.1:1"};
  many.headers.assign(65, {"x", "y"});
  EXPECT_EQ(why(call(many, any())), outcall_errc::bad_header);
  many.headers.assign(7, {"x", std::string(8'000, 'y')});
  EXPECT_EQ(why(call(many, any())), outcall_errc::bad_header);
  EXPECT_EQ(why(call({.url = "http://127.0.0.1:1", .body = std::string(2'000'001, 'x')}, any())),
            outcall_errc::forbidden);
}

TEST(OutcallUrl, IsTakenApart) {
  const auto url = read_outcall_url("HTTPS://Example.com:8443/a%20b?x=\xc3\xa9#part");
  ASSERT_TRUE(url.has_value()) << url.error().message;
  EXPECT_TRUE(url->is_https);
  EXPECT_EQ(url->host, "Example.com");
  EXPECT_EQ(url->port, "8443");
  EXPECT_EQ(url->target, "/a%20b?x=%C3%A9");
  EXPECT_EQ(url->host_header, "Example.com:8443");
  EXPECT_EQ(read_outcall_url("https://a.b")->target, "/");
  EXPECT_EQ(read_outcall_url("https://a.b?q")->target, "/?q");
  EXPECT_EQ(read_outcall_url("http://a.b")->port, "80");
  const auto v6 = read_outcall_url("https://[2001:db8::1]/");
  ASSERT_TRUE(v6.has_value()) << v6.error().message;
  EXPECT_EQ(v6->host, "2001:db8::1");
  EXPECT_EQ(v6->host_header, "[2001:db8::1]");
}

TEST(OutcallUrl, SaysWhatIsWrong) {
  for (const std::string url :
       {"", "example.com", "ftp://a.b", "https://", "https://user@a.b", "https://a.b:0",
        "https://a.b:70000", "https://a.b:", "https://a.b:8x", "https://a b/", "https://a.b/c d",
        "https://[::1", "https://[::1]x", "https://a.b/\r\nX: y"}) {
    const auto read = read_outcall_url(url);
    ASSERT_FALSE(read.has_value()) << url;
    EXPECT_EQ(read.error().code, make_error_code(outcall_errc::bad_url));
  }
  EXPECT_FALSE(read_outcall_url("https://a.b/" + std::string(8'200, 'x')).has_value());
}

TEST(Outcall, AuthoritiesThatCannotBeReadAreNamed) {
  outcall_options options;
  options.ca_file = "/nowhere/ca.pem";
  const auto found = check_authorities(options);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "/nowhere/ca.pem: No such file or directory");
}

} // namespace
} // namespace moxzi::net
