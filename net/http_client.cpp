#include "net/http_client.hpp"

#include <chrono>
#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include "base/guard.hpp"

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using error_code = boost::system::error_code;

namespace moxzi::net {

namespace {

constexpr size_t response_bytes_max = 64u << 20;

struct server_name {
  std::string host;
  std::string port = "80";
};

result<server_name> read_url(std::string_view url) {
  constexpr std::string_view scheme = "http://";
  auto bad = [url](std::string_view why) {
    return fail(base_errc::malformed,
                "'{}' is no server's address: {}; it looks like "
                "http://127.0.0.1:7000",
                url, why);
  };
  if (url.substr(0, scheme.size()) != scheme) return bad("it does not start with http://");
  auto rest = url.substr(scheme.size());
  if (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
  if (rest.find_first_of("/?#@ ") != std::string_view::npos)
    return bad("it has more than a host and a port");
  server_name out;
  auto bracket = rest.find(']'); // of an IPv6 address
  auto colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
  out.host = rest.substr(0, colon);
  if (colon != std::string_view::npos) out.port = rest.substr(colon + 1);
  if (out.host.size() > 1 && out.host.front() == '[')
    out.host = out.host.substr(1, out.host.size() - 2);
  if (out.host.empty() || out.port.empty()
      || out.port.find_first_not_of("0123456789") != std::string::npos)
    return bad("host or port is missing");
  return out;
}

// One exchange, step by step; each step starts the next.
class exchange {
public:
  explicit exchange(const client_request& request) {
    stream_.expires_after(std::chrono::milliseconds{request.timeout_ms});
    parser_.body_limit(response_bytes_max);
    request_.method_string(request.method);
    request_.target(request.target);
    request_.version(11);
    request_.set(http::field::host, request.url.substr(request.url.find("//") + 2));
    request_.set(http::field::connection, "close");
    request_.body() = request.body;
    request_.prepare_payload();
  }

  error_code run(const server_name& server) {
    auto failed = [this](const error_code& ec) {
      ec_ = ec;
      return static_cast<bool>(ec);
    };
    asio::ip::tcp::resolver resolver{io_};
    auto places = resolver.resolve(server.host, server.port, ec_);
    if (ec_) return ec_;
    stream_.async_connect(places, [this, failed](const error_code& ec, const auto&) {
      if (failed(ec)) return;
      http::async_write(stream_, request_, [this, failed](const error_code& e, size_t) {
        if (failed(e)) return;
        http::async_read(stream_, buffer_, parser_,
                         [failed](const error_code& r, size_t) { failed(r); });
      });
    });
    io_.run();
    return ec_;
  }

  client_response take() {
    return {static_cast<uint16_t>(parser_.get().result_int()), std::move(parser_.get().body())};
  }

private:
  asio::io_context io_{1};
  beast::tcp_stream stream_{io_};
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response_parser<http::string_body> parser_;
  error_code ec_;
};

} // namespace

result<client_response> send_request(const client_request& request) {
  auto server = read_url(request.url);
  if (!server) return server.error();
  exchange one{request};
  auto ec = one.run(*server);
  if (ec == asio::error::connection_refused)
    return fail(base_errc::io, "{}: nobody listens there; is moxzid running?", request.url);
  if (ec == beast::error::timeout)
    return fail(base_errc::io, "{}: no answer within {} ms", request.url, request.timeout_ms);
  if (ec) return fail(base_errc::io, "{}: {}", request.url, ec.message());
  return one.take();
}

std::string percent_encode(std::string_view segment) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view plain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    "-._~";
  std::string out;
  for (unsigned char c : segment) {
    if (plain.find(static_cast<char>(c)) != std::string_view::npos) {
      out += static_cast<char>(c);
      continue;
    }
    out += '%';
    out += digits[c / 16];
    out += digits[c % 16];
  }
  return out;
}

} // namespace moxzi::net
