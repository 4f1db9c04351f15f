#include "net/http_client.hpp"

#include <chrono>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include "base/guard.hpp"

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using error_code = boost::system::error_code;

namespace moxzi::net {

namespace {

constexpr size_t response_bytes_max = 64u << 20;

struct server_name {
  std::string host;
  std::string port;
  bool is_tls = false;
};

result<server_name> read_url(std::string_view url) {
  auto bad = [url](std::string_view why) {
    return fail(base_errc::malformed,
                "'{}' is no server's address: {}; it looks like "
                "http://127.0.0.1:7000",
                url, why);
  };
  constexpr std::string_view plain = "http://", tls = "https://";
  server_name out;
  out.is_tls = url.starts_with(tls);
  if (!out.is_tls && !url.starts_with(plain))
    return bad("it starts with neither http:// nor https://");
  out.port = out.is_tls ? "443" : "80";
  auto rest = url.substr(out.is_tls ? tls.size() : plain.size());
  if (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
  if (rest.find_first_of("/?#@ ") != std::string_view::npos)
    return bad("it has more than a host and a port");
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

result<std::unique_ptr<ssl::context>> make_client_context(const std::string& authorities) {
  auto out = std::make_unique<ssl::context>(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(out->native_handle(), TLS1_2_VERSION);
  error_code ec;
  out->set_default_verify_paths(ec);
  if (!authorities.empty()) {
    out->load_verify_file(authorities, ec);
    if (ec)
      return fail(base_errc::io, "{}: no certificates of authorities: {}", authorities,
                  ec.message());
  }
  out->set_verify_mode(ssl::verify_peer, ec);
  return out;
}

// One exchange, step by step; each step starts the next.
class exchange {
public:
  exchange(const client_request& request, const server_name& server, ssl::context* tls)
      : server_(server) {
    if (tls != nullptr) {
      tls_.emplace(tcp_, *tls);
      SSL_set_tlsext_host_name(tls_->native_handle(), server.host.c_str());
      tls_->set_verify_callback([is_for_host = ssl::host_name_verification{server.host}](
                                  bool is_fine, ssl::verify_context& at) {
        if (!is_fine || is_for_host(is_fine, at)) return is_fine;
        // Else OpenSSL only knows that somebody refused it.
        X509_STORE_CTX_set_error(at.native_handle(), X509_V_ERR_HOSTNAME_MISMATCH);
        return false;
      });
    }
    tcp_.expires_after(std::chrono::milliseconds{request.timeout_ms});
    parser_.body_limit(response_bytes_max);
    request_.method_string(request.method);
    request_.target(request.target);
    request_.version(11);
    request_.set(http::field::host, request.url.substr(request.url.find("//") + 2));
    request_.set(http::field::connection, "close");
    request_.body() = request.body;
    request_.prepare_payload();
  }

  error_code run() {
    asio::ip::tcp::resolver resolver{io_};
    auto places = resolver.resolve(server_.host, server_.port, ec_);
    if (ec_) return ec_;
    tcp_.async_connect(places, [this](const error_code& ec, const auto&) {
      if (has_failed(ec)) return;
      if (!tls_) return send(tcp_);
      tls_->async_handshake(ssl::stream_base::client, [this](const error_code& shaken) {
        if (!has_failed(shaken)) send(*tls_);
      });
    });
    io_.run();
    return ec_;
  }

  client_response take() {
    return {static_cast<uint16_t>(parser_.get().result_int()), std::move(parser_.get().body())};
  }

  /// Why the server's certificate was refused; empty if it was not.
  std::string refused_certificate() {
    const auto found = tls_ ? SSL_get_verify_result(tls_->native_handle()) : X509_V_OK;
    return found == X509_V_OK ? "" : X509_verify_cert_error_string(found);
  }

private:
  bool has_failed(const error_code& ec) {
    ec_ = ec;
    return static_cast<bool>(ec);
  }

  template <class Stream>
  void send(Stream& stream) {
    http::async_write(stream, request_, [this, &stream](const error_code& ec, size_t) {
      if (has_failed(ec)) return;
      http::async_read(stream, buffer_, parser_,
                       [this](const error_code& read, size_t) { has_failed(read); });
    });
  }

  server_name server_;
  asio::io_context io_{1};
  beast::tcp_stream tcp_{io_};
  std::optional<ssl::stream<beast::tcp_stream&>> tls_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response_parser<http::string_body> parser_;
  error_code ec_;
};

} // namespace

result<client_response> send_request(const client_request& request) {
  auto server = read_url(request.url);
  if (!server) return server.error();
  std::unique_ptr<ssl::context> tls;
  if (server->is_tls) {
    auto made = make_client_context(request.tls_ca);
    if (!made) return made.error();
    tls = *std::move(made);
  }
  exchange one{request, *server, tls.get()};
  const auto ec = one.run();
  if (!ec) return one.take();
  const auto failed = [&request](std::string_view why) {
    return fail(base_errc::io, "{}: {}", request.url, why);
  };
  if (ec == asio::error::connection_refused)
    return failed("nobody listens there; is moxzid running?");
  if (ec == beast::error::timeout)
    return failed(fmt::format("no answer within {} ms", request.timeout_ms));
  if (const auto why = one.refused_certificate(); !why.empty())
    return failed(fmt::format("its certificate is not to be trusted: {}", why));
  if (ec == http::error::end_of_stream)
    return failed(server->is_tls
                    ? "it closed the connection without an answer"
                    : "it closed the connection without an answer; does it speak https?");
  return failed(ec.message());
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
