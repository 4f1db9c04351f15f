#include "net/outcall.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <openssl/x509.h>
#include <unistd.h>

#include "net/public_address.hpp"

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using boost::asio::ip::tcp;
using error_code = boost::system::error_code;

namespace moxzi::net {

namespace {

constexpr char agent_name[] = "ic/1.0";

bool is_public(const asio::ip::address& address) {
  if (address.is_v4()) return is_public_v4(address.to_v4().to_bytes());
  return is_public_v6(address.to_v6().to_bytes());
}

http::request<http::string_body> to_http(const outcall_request& from, const outcall_url& to) {
  http::request<http::string_body> out;
  out.version(11);
  out.method_string(from.method);
  out.target(to.target);
  for (const auto& [name, value] : from.headers) out.insert(name, value);
  if (out.find(http::field::host) == out.end()) out.set(http::field::host, to.host_header);
  if (out.find(http::field::user_agent) == out.end()) out.set(http::field::user_agent, agent_name);
  out.set(http::field::connection, "close");
  out.body() = from.body;
  out.prepare_payload();
  return out;
}

/// One call, step by step; each step starts the next. Lives until its last step has run.
class outcall : public std::enable_shared_from_this<outcall> {
public:
  outcall(asio::io_context& on, ssl::context& trust, outcall_request request, outcall_url url,
          outcall_client::handler done)
      : request_(std::move(request)), url_(std::move(url)), done_(std::move(done)), resolver_(on),
        deadline_(on), stream_(on, trust) {
    parser_.header_limit(
      static_cast<uint32_t>(limits::outcall_headers_bytes_max + limits::outcall_headers_max * 8));
    parser_.body_limit(request_.response_bytes_max);
    if (request_.method == "HEAD") parser_.skip(true);
  }

  void start(outcall_policy policy, uint32_t timeout_ms) {
    may_be_anywhere_ = policy == outcall_policy::any;
    deadline_.expires_after(std::chrono::milliseconds{timeout_ms});
    deadline_.async_wait([self = shared_from_this(), timeout_ms](const error_code& ec) {
      if (ec) return;
      self->fail_with(outcall_errc::timed_out,
                      fmt::format("no whole response within {} ms", timeout_ms));
    });
    resolver_.async_resolve(url_.host, url_.port,
                            [self = shared_from_this()](const error_code& ec, const auto& places) {
                              self->connect(ec, places);
                            });
  }

  /// Ends the call if it is still open.
  void fail_with(outcall_errc code, std::string_view why) {
    finish(fail(code, "{}: {}", url_.host_header, why));
  }

private:
  void connect(const error_code& ec, const tcp::resolver::results_type& places) {
    if (!done_) return;
    if (ec) return fail_with(outcall_errc::unreachable, "no address: " + ec.message());
    for (const auto& place : places) {
      if (may_be_anywhere_ || is_public(place.endpoint().address())) {
        endpoints_.push_back(place.endpoint());
      }
    }
    if (endpoints_.empty()) {
      return fail_with(outcall_errc::forbidden,
                       "its address is private or this machine's; --outcalls any allows that");
    }
    beast::get_lowest_layer(stream_).async_connect(
      endpoints_,
      [self = shared_from_this()](const error_code& failed, const auto&) { self->greet(failed); });
  }

  void greet(const error_code& ec) {
    if (!done_) return;
    if (ec) return fail_with(outcall_errc::unreachable, "no connection: " + ec.message());
    if (!url_.is_https) return ask({});
    error_code ignored;
    const bool is_address = (asio::ip::make_address(url_.host, ignored), !ignored);
    if (!is_address) SSL_set_tlsext_host_name(stream_.native_handle(), url_.host.c_str());
    stream_.set_verify_callback(ssl::host_name_verification{url_.host});
    stream_.async_handshake(
      ssl::stream_base::client,
      [self = shared_from_this()](const error_code& failed) { self->ask(failed); });
  }

  void ask(const error_code& ec) {
    if (!done_) return;
    if (ec) {
      const bool is_distrust = ec.category() == asio::error::get_ssl_category();
      return fail_with(is_distrust ? outcall_errc::not_trusted : outcall_errc::unreachable,
                       "TLS: " + ec.message());
    }
    message_ = to_http(request_, url_);
    const auto next = [self = shared_from_this()](const error_code& failed, size_t) {
      self->listen(failed);
    };
    if (url_.is_https) {
      http::async_write(stream_, message_, next);
    } else {
      http::async_write(beast::get_lowest_layer(stream_), message_, next);
    }
  }

  void listen(const error_code& ec) {
    if (!done_) return;
    if (ec) return fail_with(outcall_errc::unreachable, "the connection broke: " + ec.message());
    const auto next = [self = shared_from_this()](const error_code& failed, size_t) {
      self->read(failed);
    };
    if (url_.is_https) {
      http::async_read(stream_, buffer_, parser_, next);
    } else {
      http::async_read(beast::get_lowest_layer(stream_), buffer_, parser_, next);
    }
  }

  void read(const error_code& ec) {
    if (!done_) return;
    if (ec == http::error::body_limit || ec == http::error::header_limit
        || ec == http::error::buffer_overflow) {
      return fail_with(outcall_errc::too_large, too_large_text());
    }
    // A body without length ends where a TLS stream is cut: whether it is whole cannot be told.
    if (ec && ec.category() == http::make_error_code(http::error::end_of_stream).category()) {
      return fail_with(outcall_errc::bad_response, ec.message());
    }
    if (ec) return fail_with(outcall_errc::unreachable, "the connection broke: " + ec.message());
    take_response();
  }

  void take_response() {
    outcall_response out;
    auto message = parser_.release();
    out.status = message.result_int();
    out.body = std::move(message.body());
    size_t bytes = out.body.size();
    for (const auto& field : message) {
      out.headers.emplace_back(field.name_string(), field.value());
      bytes += field.name_string().size() + field.value().size();
    }
    if (out.headers.size() > limits::outcall_headers_max) {
      return fail_with(
        outcall_errc::bad_response,
        fmt::format("{} headers; at most {}", out.headers.size(), limits::outcall_headers_max));
    }
    if (bytes > request_.response_bytes_max) {
      return fail_with(outcall_errc::too_large, too_large_text());
    }
    finish(std::move(out));
  }

  std::string too_large_text() const {
    return fmt::format("the response has more than {} bytes, its headers counted",
                       request_.response_bytes_max);
  }

  void finish(result<outcall_response> outcome) {
    if (!done_) return;
    const auto done = std::move(done_);
    done_ = nullptr;
    deadline_.cancel();
    resolver_.cancel();
    error_code ignored;
    beast::get_lowest_layer(stream_).socket().close(ignored);
    done(std::move(outcome));
  }

  outcall_request request_;
  outcall_url url_;
  outcall_client::handler done_;
  bool may_be_anywhere_ = false;
  tcp::resolver resolver_;
  asio::steady_timer deadline_;
  beast::ssl_stream<beast::tcp_stream> stream_;
  std::vector<tcp::endpoint> endpoints_;
  http::request<http::string_body> message_;
  beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
};

} // namespace

result<void> check_authorities(const outcall_options& options) {
  const auto is_there = [](const std::string& path) { return ::access(path.c_str(), R_OK) == 0; };
  if (!options.ca_file.empty() && !is_there(options.ca_file)) {
    return fail(base_errc::io, "{}: {}", options.ca_file, std::strerror(errno));
  }
  // As OpenSSL looks for them.
  const auto place = [](const char* variable, const char* otherwise) {
    const auto* given = std::getenv(variable);
    return std::pair{std::string{given != nullptr ? given : otherwise}, given != nullptr};
  };
  const auto file = place(X509_get_default_cert_file_env(), X509_get_default_cert_file());
  const auto folder = place(X509_get_default_cert_dir_env(), X509_get_default_cert_dir());
  for (const auto& [path, is_given] : {file, folder}) {
    if (is_given && !is_there(path))
      return fail(base_errc::io, "{}: {}", path, std::strerror(errno));
  }
  if (is_there(file.first) || is_there(folder.first)) return {};
  return fail(base_errc::io,
              "no certificates in {} or {}: install them (ca-certificates), or name "
              "them in {}",
              file.first, folder.first, X509_get_default_cert_file_env());
}

struct outcall_client::state {
  explicit state(outcall_options with) : options(std::move(with)) {
    thread = std::thread{[this] { io.run(); }};
  }

  /// For the thread. Read with the first call: the system's authorities take longer to read than
  /// all else that a node does to start.
  ssl::context& trust() {
    if (kept_trust) return *kept_trust;
    auto& made = kept_trust.emplace(ssl::context::tls_client);
    error_code ignored;
    made.set_default_verify_paths(ignored);
    if (!options.ca_file.empty()) made.load_verify_file(options.ca_file, ignored);
    made.set_verify_mode(ssl::verify_peer, ignored);
    SSL_CTX_set_min_proto_version(made.native_handle(), TLS1_2_VERSION);
    return made;
  }

  outcall_options options;
  std::optional<ssl::context> kept_trust;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  std::atomic<size_t> open{0};
  std::vector<std::weak_ptr<outcall>> calls; ///< for the thread
  std::thread thread;
};

outcall_client::outcall_client(outcall_options options)
    : state_(std::make_unique<state>(std::move(options))) {
  // nop
}

outcall_client::~outcall_client() {
  asio::post(state_->io, [this] {
    for (const auto& call : state_->calls) {
      if (const auto open = call.lock()) {
        open->fail_with(outcall_errc::unreachable, "this node is stopping");
      }
    }
    state_->work.reset();
  });
  state_->thread.join();
}

void outcall_client::send(outcall_request request, handler done) {
  const auto& options = state_->options;
  if (options.policy == outcall_policy::off) {
    return done(fail(outcall_errc::forbidden, "this node makes no outcalls (--outcalls off)"));
  }
  auto url = read_outcall_url(request.url);
  if (!url) return done(url.error());
  if (!url->is_https && options.policy != outcall_policy::any) {
    return done(fail(outcall_errc::forbidden,
                     "'{}' is not https://; --outcalls any allows plain HTTP", url->host_header));
  }
  if (auto sound = check_outcall(request); !sound) return done(sound.error());
  if (state_->open.fetch_add(1) >= options.open_max) {
    state_->open.fetch_sub(1);
    return done(fail(outcall_errc::busy, "{} outcalls are open already", options.open_max));
  }
  auto counted = [&open = state_->open, done = std::move(done)](result<outcall_response> outcome) {
    open.fetch_sub(1);
    done(std::move(outcome));
  };
  asio::post(state_->io, [state = state_.get(), request = std::move(request), url = *std::move(url),
                          counted = std::move(counted)]() mutable {
    auto call = std::make_shared<outcall>(state->io, state->trust(), std::move(request),
                                          std::move(url), std::move(counted));
    std::erase_if(state->calls, [](const auto& one) { return one.expired(); });
    state->calls.push_back(call);
    call->start(state->options.policy, state->options.timeout_ms);
  });
}

} // namespace moxzi::net
