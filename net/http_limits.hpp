#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits.hpp"

namespace moxzi::net {

/// The bounds of one HTTP server; the product's values unless a test makes them smaller.
struct http_limits {
  size_t header_bytes_max = limits::http_header_bytes_max;
  size_t target_bytes_max = limits::http_target_bytes_max;
  size_t body_bytes_max = limits::ingress_bytes_max;
  size_t connections_max = limits::http_connections_max;
  /// From the first byte of a request (of a connection, for its first) to the end of its header.
  uint32_t header_timeout_ms = limits::http_header_timeout_ms;
  /// Between two requests of a connection.
  uint32_t idle_timeout_ms = limits::http_idle_timeout_ms;
  /// Slower bodies are cut, once `header_timeout_ms` has passed.
  uint32_t body_bytes_per_second_min = limits::http_body_bytes_per_second_min;
  uint32_t call_timeout_ms = limits::call_timeout_ms;
};

} // namespace moxzi::net
