#pragma once

#include <memory>
#include <utility>

#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "net/http_core.hpp"

namespace moxzi::net {

/// A connection, plain or inside TLS, read and written in the same way.
class http_stream {
public:
  /// `tls` outlives the stream; null: plain.
  http_stream(tcp_socket socket, asio::ssl::context* tls) : socket_(std::move(socket)) {
    if (tls != nullptr) tls_ = std::make_unique<asio::ssl::stream<tcp_socket&>>(socket_, *tls);
  }

  bool is_tls() const noexcept {
    return tls_ != nullptr;
  }
  /// Below TLS.
  tcp_socket& socket() noexcept {
    return socket_;
  }

  template <class Handler>
  void async_handshake(Handler handler) {
    tls_->async_handshake(asio::ssl::stream_base::server, std::move(handler));
  }

  template <class Handler>
  void async_read_some(const asio::mutable_buffer& to, Handler handler) {
    if (tls_)
      tls_->async_read_some(to, std::move(handler));
    else
      socket_.async_read_some(to, std::move(handler));
  }

  template <class Buffers, class Handler>
  void async_write(const Buffers& from, Handler handler) {
    if (tls_)
      asio::async_write(*tls_, from, std::move(handler));
    else
      asio::async_write(socket_, from, std::move(handler));
  }

  /// Says that nothing more will be written. `handler` is called where that takes a while.
  template <class Handler>
  void end_writing(Handler handler) {
    boost::system::error_code ignored;
    if (tls_)
      tls_->async_shutdown(std::move(handler));
    else
      socket_.shutdown(tcp_socket::shutdown_send, ignored);
  }

private:
  tcp_socket socket_;
  std::unique_ptr<asio::ssl::stream<tcp_socket&>> tls_;
};

} // namespace moxzi::net
