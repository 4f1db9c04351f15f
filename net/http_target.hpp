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

/// What a caller may ask for beside the call itself: in the URL or as fields of the header.
struct call_options {
  std::optional<uint32_t> timeout_ms;
  std::optional<std::string> sender; ///< a principal's text
  std::optional<std::string> cycles; ///< decimal digits
  std::optional<bool> is_async;
  std::optional<bool> is_lenient;
  std::optional<bool> blob_base64;
  bool operator==(const call_options&) const = default;
};

/// `/call-json/<actor>/<method>`, `/query-json/…`, `/call/…`, `/query/…`, percent-decoded.
struct call_route {
  call_kind kind = call_kind::update;
  bool is_json = true; ///< else the content type decides
  std::string actor;
  std::string method;
  call_options options; ///< of the query string
  bool operator==(const call_route&) const = default;
};

/// `GET /calls/<id>`: what became of a call.
struct result_route {
  std::string call_id;
  bool operator==(const result_route&) const = default;
};

/// A page about the node or an actor, or a command.
struct node_route {
  node_question what = node_question::status;
  std::string actor;
  std::string section;
  uint64_t from = 0;
  std::string cycles;
  bool operator==(const node_route&) const = default;
};

/// Why a request is answered without asking anybody.
struct refusal {
  uint16_t status = 400;
  rejection why;
  std::string_view allow; ///< the `Allow` header's value, with status 405
  bool operator==(const refusal&) const = default;
};

using route = boost::variant2::variant<refusal, health_route, call_route, result_route, node_route>;

/// Finds the route of a request. `target` is in origin form (`/path?query`) or absolute form.
route find_route(std::string_view method, std::string_view target, const http_limits& limits);

/// Host and port in a target in absolute form; empty in origin form.
std::string_view authority_of(std::string_view target) noexcept;

/// Takes one option of a call. Refused: a value that cannot be, an option given twice.
std::optional<refusal> set_option(call_options& out, std::string_view name, std::string_view value,
                                  const http_limits& limits);

/// The name of the option that a field of the header gives, or nothing: `Timeout-Ms` is
/// `timeout_ms`.
std::string_view option_of_field(std::string_view field) noexcept;

/// Undoes percent-encoding; nothing if an escape is malformed or the result is no UTF-8 text
/// without control characters.
std::optional<std::string> percent_decode(std::string_view text);

/// A fault of the request itself: code 0, `error_code` MX0nn.
refusal bad_request(uint16_t status, std::string error_code, std::string message);

/// 503: what a call gets that meets a server on its way out.
refusal server_stopping();

} // namespace moxzi::net
