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

/// How the arguments are written, and the results are to be.
enum class call_format : uint8_t {
  json,   ///< the array of arguments, of results
  candid, ///< a Candid message
  text,   ///< Candid text: `(42, "x")`
};

/// One call of an actor's method, as it came in.
struct http_call {
  call_kind kind = call_kind::update;
  call_format format = call_format::json;
  std::string actor; ///< name or principal, as in the path
  std::string method;
  byte_string body;         ///< empty = no arguments
  bool is_lenient = false;  ///< JSON in: keys that a record does not have are passed over
  bool blob_base64 = false; ///< JSON out: blobs in base64
  std::string sender;       ///< a principal's text; empty: anonymous
  std::string cycles;       ///< to be attached, in decimal digits; empty: none
  std::shared_ptr<answer_sink> sink;
};

using http_call_ptr = std::shared_ptr<const http_call>;

/// What can be asked of the node itself.
enum class node_question : uint8_t {
  // For anybody.
  metrics,
  status,
  actors,
  actor,
  did,
  logs,
  metadata,
  // For controllers.
  upgrade,
  reinstall,
  stop,
  start,
  topup,
};

/// True if the question changes something.
constexpr bool is_command(node_question what) noexcept {
  return what >= node_question::upgrade;
}

/// A page about the node or one of its actors, or a command to it.
struct node_request {
  node_question what = node_question::status;
  std::string actor;     ///< name or principal, as in the path
  std::string section;   ///< metadata
  uint64_t from = 0;     ///< logs: the first line's number
  std::string cycles;    ///< topup: how many, in decimal digits
  bool is_local = false; ///< asked by a program of this machine, for itself
  std::shared_ptr<answer_sink> sink;
};

using node_request_ptr = std::shared_ptr<const node_request>;

/// What the server does with what comes in. All run on the server's thread and must not block.
/// What is destroyed with its sink unanswered is answered with an error.
struct http_handlers {
  std::function<void(http_call_ptr)> call;
  std::function<void(node_request_ptr)> node;
  std::function<void()> turn = {}; ///< after each piece of the server's work: brief work of others
};

} // namespace moxzi::net
