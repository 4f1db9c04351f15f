#include "net/http_tls.hpp"

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/net/certificate_fixture.hpp"
#include "tests/net/http_fixture.hpp"

using namespace moxzi;
using namespace moxzi::net;
using namespace moxzi::net::test;
using testing::HasSubstr;
namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

namespace {

struct tls_server {
  explicit tls_server(tls_files files, http_limits limits = {})
      : server({.port = 0, .limits = limits, .tls = std::move(files)}, {echo, echo_node}),
        port(server.start().value()) {
    // nop
  }
  http_server server;
  uint16_t port;
};

// What a client that speaks at most the given version gets for its requests; the failure's text if
// there is no connection.
std::string ask(uint16_t port, const std::string& requests, int version_max = TLS1_3_VERSION) {
  asio::io_context io;
  ssl::context context{ssl::context::tls_client};
  SSL_CTX_set_max_proto_version(context.native_handle(), version_max);
  ssl::stream<asio::ip::tcp::socket> stream{io, context};
  boost::system::error_code ec;
  stream.next_layer().connect({asio::ip::address_v4::loopback(), port}, ec);
  if (!ec) stream.handshake(ssl::stream_base::client, ec);
  if (ec) return "no connection: " + ec.message();
  asio::write(stream, asio::buffer(requests), ec);
  std::string out;
  asio::read(stream, asio::dynamic_buffer(out), ec);
  EXPECT_TRUE(ec == asio::error::eof) << ec.message(); // close_notify, not a cut
  return out;
}

} // namespace

TEST(http_tls, answers_the_requests_of_one_connection_in_order) {
  const certificate made;
  tls_server s{made.files()};
  const auto answers =
    ask(s.port, post("/call-json/a/m", "[1]") + post("/call-json/a/m", std::string(100'000, 'x'))
                  + post("/call-json/a/m", "[3]", "Connection: close\r\n"));
  EXPECT_THAT(answers, HasSubstr("update a m [1]"));
  EXPECT_THAT(answers, HasSubstr("update a m " + std::string(100'000, 'x')));
  EXPECT_LT(answers.find("[1]"), answers.find("[3]"));
}

TEST(http_tls, speaks_1_3_alone_unless_told_otherwise) {
  const certificate made;
  const auto request = post("/call-json/a/m", "[1]", "Connection: close\r\n");
  {
    tls_server s{made.files()};
    EXPECT_THAT(ask(s.port, request, TLS1_2_VERSION), HasSubstr("no connection"));
    EXPECT_THAT(ask(s.port, request), HasSubstr("200 OK"));
  }
  auto files = made.files();
  files.allow_tls_1_2 = true;
  tls_server s{files};
  EXPECT_THAT(ask(s.port, request, TLS1_2_VERSION), HasSubstr("200 OK"));
  EXPECT_THAT(ask(s.port, request, TLS1_1_VERSION), HasSubstr("no connection"));
}

TEST(http_tls, who_does_not_speak_it_is_cut_off) {
  const certificate made;
  http_limits small;
  small.header_timeout_ms = 200;
  tls_server s{made.files(), small};
  raw_client plain{s.port};
  plain.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(plain.is_closed());
  // The beginning of a ClientHello, then silence.
  raw_client silent{s.port};
  silent.send(std::string_view{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11});
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(eventually([&s] { return s.server.connections() == 0; }));
}

TEST(http_tls, says_what_is_wrong_with_its_files) {
  const certificate made;
  const auto reason = [](tls_files files) {
    http_server s{{.port = 0, .tls = std::move(files)}, {echo, echo_node}};
    const auto port = s.start();
    return port ? std::string{"started"} : port.error().message;
  };
  auto files = made.files();
  files.certificate += ".none";
  EXPECT_THAT(reason(files), HasSubstr("cert.pem.none: no certificate"));
  files = made.files();
  files.key += ".none";
  EXPECT_THAT(reason(files), HasSubstr("key.pem.none: No such file"));
  files = made.files();
  ::chmod(files.key.c_str(), 0640);
  EXPECT_THAT(reason(files), HasSubstr("others than its owner may use this key"));
  ::chmod(files.key.c_str(), 0600);
  files.certificate = files.key;
  EXPECT_THAT(reason(files), HasSubstr("no certificate"));
  const certificate locked{"a pass phrase"};
  EXPECT_THAT(reason(locked.files()), HasSubstr("key.pem: the key is encrypted; 'openssl pkey"));
}
