// A bare Boost.Beast server: what HTTP alone costs. One thread, keep-alive; answers every POST with
// its body. Prints its port.   usage: beast_server

#include <cstdio>
#include <memory>

#include <boost/asio.hpp>
#include <boost/beast.hpp>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

namespace {

class session : public std::enable_shared_from_this<session> {
public:
  explicit session(tcp::socket socket) : stream_(std::move(socket)) {
    stream_.socket().set_option(tcp::no_delay{true});
  }

  void read() {
    request_ = {};
    http::async_read(stream_, buffer_, request_,
                     [self = shared_from_this()](beast::error_code failed, size_t) {
                       if (!failed) self->answer();
                     });
  }

private:
  void answer() {
    response_ = {};
    response_.keep_alive(request_.keep_alive());
    response_.set(http::field::content_type, "application/json");
    response_.body() = std::move(request_.body());
    response_.prepare_payload();
    http::async_write(stream_, response_,
                      [self = shared_from_this()](beast::error_code failed, size_t) {
                        if (!failed && self->request_.keep_alive()) self->read();
                      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

void accept(tcp::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](beast::error_code failed, tcp::socket socket) {
    if (!failed) std::make_shared<session>(std::move(socket))->read();
    accept(acceptor);
  });
}

} // namespace

int main() {
  asio::io_context io{1};
  tcp::acceptor acceptor{io, {asio::ip::make_address_v4("127.0.0.1"), 0}};
  std::printf("%d\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  accept(acceptor);
  io.run();
}
