#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_server.hpp"

/// A server on a free port and plain sockets to talk to it. Nothing here waits for ever: a read
/// that takes longer than the liveness deadline fails.
namespace moxzi::net::test {

/// How long anything that must happen may take before a test gives up.
constexpr int deadline_ms = 20'000;

struct response {
  int status = 0;
  std::map<std::string, std::string> fields; ///< names in lower case
  std::string body;
  bool keeps_open() const {
    return fields.count("connection") == 0 || fields.at("connection") != "close";
  }
};

/// A blocking client on a raw socket: what a test writes is what goes out.
class raw_client {
public:
  /// `host` is the last part of the loopback address that it comes from: 127.0.0.`host`.
  explicit raw_client(uint16_t port, uint8_t host = 1);
  raw_client(const raw_client&) = delete;
  raw_client& operator=(const raw_client&) = delete;
  ~raw_client();

  /// False if the server has closed.
  bool send(std::string_view bytes);
  /// Ends the sending direction.
  void finish();
  /// Ends the connection by RST.
  void reset();
  /// The next response; nothing if the connection ended (or the deadline passed) before it was
  /// complete. `has_body` is false after HEAD.
  std::optional<response> read(bool has_body = true);
  /// Everything until the server closes; nothing if it does not.
  std::optional<std::string> read_to_end();
  bool is_closed();

private:
  bool fill();

  int fd_;
  bool ended_ = false;
  std::string buffer_;
};

/// `POST target` with a length.
std::string post(std::string_view target, std::string_view body, std::string_view fields = "");

/// Answers `<kind> <actor> <method> <body>`, at once.
void echo(const http_call_ptr& call);

/// Answers `<number of the question> <actor> <section> <from> <cycles> local|remote`, at once.
void echo_node(const node_request_ptr& what);

/// Keeps calls until the test answers them.
struct held_calls {
  std::function<void(http_call_ptr)> handler();
  size_t size();
  /// The one that came first.
  http_call_ptr take();

  std::mutex mutex;
  std::vector<http_call_ptr> calls;
};

/// The last `"call_id":"…"` of an answer's body.
std::string call_id_of(const std::string& body);

/// A running server; `port` is where.
struct running_server {
  explicit running_server(std::function<void(http_call_ptr)> call = echo, http_limits limits = {});
  http_server server;
  uint16_t port;
};

/// Waits until `condition` holds; false after the deadline.
template <class Condition>
bool eventually(Condition condition);

/// One step of waiting (a millisecond in poll).
void wait_a_little();
/// Milliseconds of a clock that only goes forward.
int64_t now_ms();

template <class Condition>
bool eventually(Condition condition) {
  auto end = now_ms() + deadline_ms;
  while (!condition()) {
    if (now_ms() > end) return false;
    wait_a_little();
  }
  return true;
}

} // namespace moxzi::net::test
