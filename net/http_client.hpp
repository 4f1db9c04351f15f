#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::net {

struct client_request {
  std::string url = "http://127.0.0.1:7000"; ///< the server: `http[s]://HOST[:PORT]`
  std::string method = "POST";
  std::string target = "/"; ///< percent-encoded
  byte_string body;
  uint32_t timeout_ms = 300'000; ///< for the whole exchange
  std::string tls_ca = {};       ///< PEM: authorities beside the system's
};

struct client_response {
  uint16_t status = 0;
  byte_string body;
};

/// Sends one request and waits for its response: for programs a person runs, on their own thread.
/// With `https` the server's certificate must be for its host and lead to a known authority. Any
/// status is a response; fails where there was none, naming the server and why.
result<client_response> send_request(const client_request& request);

/// Percent-encodes one segment of a path.
std::string percent_encode(std::string_view segment);

} // namespace moxzi::net
