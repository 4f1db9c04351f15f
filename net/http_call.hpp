#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes.hpp"

namespace moxzi::net {

/// What goes back to the client.
struct http_answer {
  uint16_t status = 200;
  std::string content_type = "application/json";
  byte_string body;
};

/// Where an answer is delivered; one per request.
class answer_sink {
public:
  virtual ~answer_sink() = default;
  /// Delivers the answer; the first one counts, later ones (after a deadline, say) are dropped.
  /// From any thread; returns at once.
  virtual void answer(http_answer what) noexcept = 0;
};

enum class call_kind : uint8_t { update, query };

/// One call of an actor's method, as it came in.
struct http_call {
  call_kind kind = call_kind::update;
  std::string actor; ///< name or principal, as in the path
  std::string method;
  byte_string body; ///< JSON: the array of arguments; empty = no arguments
  std::shared_ptr<answer_sink> sink;
};

using http_call_ptr = std::shared_ptr<const http_call>;

/// What the server does with a call: runs on the server's thread and must not block. A call whose
/// sink is destroyed unanswered is answered with an error.
using http_handler = std::function<void(http_call_ptr)>;

} // namespace moxzi::net
