#include "net/http_server.hpp"

#include <algorithm>
#include <chrono>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include "base/entropy.hpp"
#include "net/http_core.hpp"
#include "net/http_session.hpp"
#include "net/http_tls.hpp"

namespace moxzi::net {

using std::chrono::milliseconds;
using error_code = boost::system::error_code;

namespace {

// Above the limit, this many get a 503; the rest is closed at once.
constexpr size_t refused_connections_max = 64;
constexpr auto accept_pause = milliseconds{100};

// The usual soft limit of 1,024 descriptors is below our own limit of connections.
void raise_descriptor_limit(size_t connections_max) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  auto wanted = std::min<rlim_t>(limit.rlim_max, 2 * connections_max + 1'024);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace

/// The listening side. Shares its life with the thread that runs it.
class http_server::impl : public std::enable_shared_from_this<impl> {
public:
  impl(http_server_options options, http_handlers handlers)
      : options_(std::move(options)),
        core_(std::make_shared<http_core>(options_.limits, std::move(handlers),
                                          make_system_entropy())) {
    // nop
  }

  result<uint16_t> listen() {
    if (options_.tls) {
      auto made = make_tls_server(*options_.tls);
      if (!made) return made.error();
      core_->tls = *std::move(made);
    }
    error_code ec;
    auto address = asio::ip::make_address(options_.address, ec);
    if (ec)
      return fail(base_errc::malformed, "'{}' is no IP address to listen on", options_.address);
    raise_descriptor_limit(options_.limits.connections_max);
    asio::ip::tcp::endpoint endpoint{address, options_.port};
    acceptor_.open(endpoint.protocol(), ec);
    if (!ec) acceptor_.set_option(asio::socket_base::reuse_address{true}, ec);
    if (!ec) acceptor_.bind(endpoint, ec);
    if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
    if (ec)
      return fail(base_errc::io, "cannot listen on {}:{}: {}", options_.address, options_.port,
                  ec.message());
    accept();
    return acceptor_.local_endpoint().port();
  }

  void run() {
    core_->outbox.open();
    for (;;) {
      if (core_->io.poll_one() == 0) {
        core_->outbox.send();
        if (core_->io.run_one() == 0) break;
      }
      if (core_->handlers.turn) core_->handlers.turn();
      if (core_->outbox.is_due()) core_->outbox.send();
    }
  }

  void refuse_calls() noexcept {
    core_->closing = true;
  }

  void stop(uint32_t grace_ms) {
    asio::post(core_->io, [self = shared_from_this(), grace_ms] {
      error_code ignored;
      self->acceptor_.close(ignored);
      self->pause_.cancel();
      self->core_->begin_stop(steady::now() + milliseconds{grace_ms});
    });
  }

  /// After the thread has ended: lets go of what the handler holds.
  void release() {
    core_->handlers = {};
  }

  size_t connections() const noexcept {
    return core_->open;
  }

  http_numbers numbers() const noexcept {
    const auto& counted = core_->counters;
    http_numbers out;
    out.requests = counted.requests;
    for (size_t i = 0; i < out.answers.size(); ++i) out.answers[i] = counted.answers[i];
    out.connections_accepted = counted.connections_accepted;
    out.connections_refused = counted.connections_refused;
    out.connections_open = core_->open;
    out.calls_kept = counted.calls_kept;
    return out;
  }

private:
  void accept() {
    acceptor_.async_accept(core_->io.get_executor(),
                           [self = shared_from_this()](const error_code& ec, tcp_socket socket) {
                             self->on_accept(ec, std::move(socket));
                           });
  }

  void on_accept(const error_code& ec, tcp_socket socket) {
    if (ec == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (ec) {
      // Out of descriptors, most likely: trying again at once would only burn the processor.
      pause_.expires_after(accept_pause);
      pause_.async_wait([self = shared_from_this()](const error_code& e) {
        if (!e && self->acceptor_.is_open()) self->accept();
      });
      return;
    }
    admit(std::move(socket));
    accept();
  }

  void admit(tcp_socket socket) {
    error_code ignored;
    socket.set_option(asio::ip::tcp::no_delay{true}, ignored);
    auto& counted = core_->counters;
    ++counted.connections_accepted;
    auto why = refusal_of_one_more(socket);
    if (!why.empty()) {
      ++counted.connections_refused;
      if (core_->open >= options_.limits.connections_max + refused_connections_max) return;
    }
    auto session = std::make_shared<http_session>(std::move(socket), core_);
    core_->add(session);
    if (why.empty())
      session->start();
    else
      session->start_refused(std::move(why));
  }

  // Why this connection is one too many; empty if it is not.
  std::string refusal_of_one_more(const tcp_socket& socket) const {
    const auto& limits = options_.limits;
    if (core_->open >= limits.connections_max)
      return fmt::format("more than {} connections are open", limits.connections_max);
    error_code ec;
    const auto peer = socket.remote_endpoint(ec);
    if (!ec
        && core_->shares.of(key_of(peer.address())).connections
             >= limits.connections_per_client_max)
      return fmt::format("more than {} connections are open from this address",
                         limits.connections_per_client_max);
    return {};
  }

  http_server_options options_;
  std::shared_ptr<http_core> core_;
  asio::basic_socket_acceptor<asio::ip::tcp, asio::io_context::executor_type> acceptor_{core_->io};
  asio::steady_timer pause_{core_->io};
};

http_server::http_server(http_server_options options, http_handlers handlers)
    : impl_(std::make_shared<impl>(std::move(options), std::move(handlers))) {
  // nop
}

http_server::~http_server() {
  stop();
}

result<uint16_t> http_server::start() {
  auto port = impl_->listen();
  if (port) thread_ = std::thread{[impl = impl_] { impl->run(); }};
  return port;
}

void http_server::refuse_calls() noexcept {
  impl_->refuse_calls();
}

void http_server::stop(uint32_t grace_ms) noexcept {
  if (thread_.joinable()) {
    impl_->stop(grace_ms);
    thread_.join();
  }
  impl_->release();
}

size_t http_server::connections() const noexcept {
  return impl_->connections();
}

http_numbers http_server::numbers() const noexcept {
  return impl_->numbers();
}

} // namespace moxzi::net
