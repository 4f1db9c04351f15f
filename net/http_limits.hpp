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
  size_t connections_per_client_max = limits::http_connections_per_client_max;
  /// Calls of one client that may wait for their answers at a time.
  size_t waiting_per_client_max = limits::http_waiting_per_client_max;
  /// Calls whose answers are kept to be asked for, of all clients and of one.
  size_t calls_kept_max = limits::http_calls_kept_max;
  size_t calls_kept_per_client_max = limits::http_calls_kept_per_client_max;
  size_t answers_kept_bytes_max = limits::http_answers_kept_bytes_max;
  /// Of answers that are not taken yet, but for small ones: of one client and of all.
  size_t unsent_bytes_per_client_max = limits::http_unsent_bytes_per_client_max;
  size_t unsent_bytes_max = limits::http_unsent_bytes_max;
  size_t small_answer_bytes = limits::http_small_answer_bytes;
  /// How long an answer is kept, and a call that has none.
  uint32_t answer_kept_ms = limits::http_answer_kept_ms;
  uint32_t call_kept_ms = limits::http_call_kept_ms;
  /// From the first byte of a request (of a connection, for its first) to the end of its header.
  uint32_t header_timeout_ms = limits::http_header_timeout_ms;
  /// Between two requests of a connection.
  uint32_t idle_timeout_ms = limits::http_idle_timeout_ms;
  /// Slower bodies are cut, once `header_timeout_ms` has passed.
  uint32_t body_bytes_per_second_min = limits::http_body_bytes_per_second_min;
  uint32_t call_timeout_ms = limits::call_timeout_ms;
};

} // namespace moxzi::net
