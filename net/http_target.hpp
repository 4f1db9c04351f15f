#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/variant2/variant.hpp>

#include "base/reject.hpp"
#include "net/http_call.hpp"
#include "net/http_limits.hpp"

/// From a request line to what it asks for. Pure.
namespace moxzi::net {

/// `GET /health`.
struct health_route {
  bool operator==(const health_route&) const = default;
};

/// `/call-json/<actor>/<method>` and `/query-json/<actor>/<method>`, percent-decoded.
struct call_route {
  call_kind kind = call_kind::update;
  std::string actor;
  std::string method;
  std::optional<uint32_t> timeout_ms; ///< of the query string
  bool operator==(const call_route&) const = default;
};

/// Why a request is answered without asking anybody.
struct refusal {
  uint16_t status = 400;
  rejection why;
  std::string_view allow; ///< the `Allow` header's value, with status 405
  bool operator==(const refusal&) const = default;
};

using route = boost::variant2::variant<refusal, health_route, call_route>;

/// Finds the route of a request. `target` is in origin form (`/path?query`) or absolute form.
route find_route(std::string_view method, std::string_view target, const http_limits& limits);

/// Reads a `timeout_ms`: 1 to the limit.
boost::variant2::variant<refusal, uint32_t> read_timeout(std::string_view text,
                                                         const http_limits& limits);

/// Undoes percent-encoding; nothing if an escape is malformed or the result is no UTF-8 text
/// without control characters.
std::optional<std::string> percent_decode(std::string_view text);

/// A fault of the request itself: code 0, `error_code` MX0nn.
refusal bad_request(uint16_t status, std::string error_code, std::string message);

/// 503: what a call gets that meets a server on its way out.
refusal server_stopping();

} // namespace moxzi::net
