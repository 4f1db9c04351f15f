#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/limits.hpp"
#include "base/result.hpp"

/// Calls of actors to servers elsewhere. The server answers whom it likes and what it likes, so
/// everything it says is bounded.
namespace moxzi::net {

/// What may be called.
enum class outcall_policy : uint8_t {
  off,   ///< nothing
  https, ///< servers on the internet, by TLS: no private, local or reserved addresses
  any,   ///< those, plain HTTP, and this machine and its networks
};

/// Why there is no response. Whether to try again differs.
enum class outcall_errc : int {
  forbidden = 1,    ///< the policy, or a bound on what may be asked
  bad_url = 2,      ///< no URL that can be called
  bad_header = 3,   ///< a header that cannot be sent
  unreachable = 4,  ///< no address, no connection, or it broke; may pass
  timed_out = 5,    ///< no whole response within the time; may pass
  busy = 6,         ///< too many calls are open; may pass
  not_trusted = 7,  ///< the server's certificate does not hold
  too_large = 8,    ///< the response is larger than asked for
  bad_response = 9, ///< what came back is no HTTP
};

const std::error_category& outcall_category() noexcept;

inline std::error_code make_error_code(outcall_errc code) noexcept {
  return {static_cast<int>(code), outcall_category()};
}

/// True if the same call may succeed later.
constexpr bool is_transient(outcall_errc code) noexcept {
  return code == outcall_errc::unreachable || code == outcall_errc::timed_out
         || code == outcall_errc::busy;
}

/// Names and values of headers, in order.
using header_list = std::vector<std::pair<std::string, std::string>>;

struct outcall_request {
  std::string url;
  std::string method = "GET";
  header_list headers;
  byte_string body;
  /// Of names and values of the response's headers, and its body, together.
  uint64_t response_bytes_max = limits::outcall_bytes_max;
};

struct outcall_response {
  uint32_t status = 0;
  header_list headers;
  byte_string body;
};

/// A URL, taken apart.
struct outcall_url {
  bool is_https = true;
  std::string host;        ///< a name, or an address without brackets
  std::string port;        ///< digits
  std::string target;      ///< path and query, never empty
  std::string host_header; ///< host, and port where it is not the scheme's own
};

/// Takes a URL apart: `http` or `https`, no user, at most `limits::outcall_url_bytes_max`. What
/// follows `#` is dropped; bytes that are not ASCII are percent-encoded behind the host.
result<outcall_url> read_outcall_url(std::string_view url);

/// Are these headers, with this body, such as may be sent? Framing and connection are not theirs to
/// say.
result<void> check_outcall(const outcall_request& request);

/// How outcalls are made.
struct outcall_options {
  outcall_policy policy = outcall_policy::https;
  std::string ca_file; ///< certificates to trust beside the system's; empty: none
  uint32_t timeout_ms = limits::outcall_timeout_ms;
  size_t open_max = limits::outcalls_open_max;
};

/// Are there certificates that servers can be checked against, and can they be read? Only files and
/// folders are looked for; they are read with the first outcall.
result<void> check_authorities(const outcall_options& options);

/// Makes outcalls, on a thread of its own. No redirect is followed, no certificate excused, nothing
/// tried twice. Addresses are checked after the name was resolved, and the one that was checked is
/// the one that is connected to.
class outcall_client {
public:
  explicit outcall_client(outcall_options options);
  /// Calls that are open end with `unreachable`.
  ~outcall_client();
  outcall_client(const outcall_client&) = delete;
  outcall_client& operator=(const outcall_client&) = delete;

  using handler = std::function<void(result<outcall_response>)>;

  /// `done` runs once: at once if the call may not be made, else on the client's thread. It hands
  /// on what it is given.
  void send(outcall_request request, handler done);

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace moxzi::net

template <>
struct std::is_error_code_enum<moxzi::net::outcall_errc> : std::true_type {};
