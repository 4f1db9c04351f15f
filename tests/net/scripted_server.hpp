#pragma once

#include <functional>
#include <memory>
#include <string>

namespace moxzi::net::testing {

/// A server on the loopback that answers each connection's request with given bytes, then closes.
/// With TLS it shows a certificate for `localhost` and 127.0.0.1, signed by itself.
class scripted_server {
public:
  /// Gets the request whole; what it returns is sent as it is. Runs on the server's thread.
  using script = std::function<std::string(const std::string& request)>;

  explicit scripted_server(script what, bool with_tls = false);
  ~scripted_server();
  scripted_server(const scripted_server&) = delete;
  scripted_server& operator=(const scripted_server&) = delete;

  unsigned port() const noexcept;
  /// `http://127.0.0.1:PORT`, or `https://localhost:PORT`.
  std::string url() const;
  /// Where the certificate lies, as PEM.
  const std::string& certificate_file() const noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A response with a length.
std::string http_response(const std::string& body, const std::string& headers = {},
                          const std::string& status = "200 OK");

} // namespace moxzi::net::testing
