#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/result.hpp"
#include "net/http_call.hpp"
#include "net/http_counters.hpp"
#include "net/http_limits.hpp"
#include "net/tls_files.hpp"

namespace moxzi::net {

struct http_server_options {
  std::string address = "127.0.0.1";
  uint16_t port = 7000; ///< 0 = any free one
  http_limits limits = {};
  std::optional<tls_files> tls = {}; ///< none: plain HTTP
};

/// The HTTP server: routes, limits and time-outs of `docs/http.md`, on one thread of its own.
///
/// A call becomes one `http_call` for the handler, a page or command one `node_request`; its answer
/// may come from any thread, at any time, and the first counts: the actor's, or 504 at the
/// deadline. Requests of one connection are answered in order. Nothing a client sends ends more
/// than its own connection.
class http_server {
public:
  http_server(http_server_options options, http_handlers handlers);
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;
  /// Stops.
  ~http_server();

  /// Listens and starts the thread. Returns the port; fails, naming address and reason, where it
  /// cannot listen.
  result<uint16_t> start();

  /// From now on every new call gets 503; those under way go on. For a daemon whose actors are
  /// about to stop: none of its clients is to hear that an actor isn't there.
  void refuse_calls() noexcept;

  /// Stops accepting, closes idle connections, gives open calls `grace_ms` to be answered (then
  /// they get 503), and joins the thread: at most `grace_ms` and half a second.
  void stop(uint32_t grace_ms = 400) noexcept;

  /// Connections open now.
  size_t connections() const noexcept;

  /// What it has done so far. Thread-safe.
  http_numbers numbers() const noexcept;

private:
  class impl;
  std::shared_ptr<impl> impl_;
  std::thread thread_;
};

} // namespace moxzi::net
