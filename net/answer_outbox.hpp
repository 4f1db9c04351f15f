#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "net/http_call.hpp"

namespace moxzi::net {

class answer_gate;
class http_core;
struct answer_place;

/// An answer and where it is to go.
struct outgoing_answer {
  std::shared_ptr<answer_place> to;
  std::shared_ptr<answer_gate> gate; ///< none: through the server's thread
  http_answer what;
};

/// Writes the answer to its client's socket, or posts it to the server's thread. Thread-safe.
void hand_over(http_core& core, outgoing_answer answer);

/// Answers that the server's thread has and has not sent yet. While other requests are there to be
/// dealt with, a few answers are gathered: sent one by one, each would wake a client's thread,
/// which can cost more than all the rest of a call. All belongs to the server's thread but
/// `is_here`.
class answer_outbox {
public:
  explicit answer_outbox(http_core& core) : core_(core) {
    // nop
  }

  /// From now on the calling thread is the server's.
  void open() noexcept {
    thread_ = std::this_thread::get_id();
  }
  /// True on the server's thread.
  bool is_here() const noexcept {
    return thread_ == std::this_thread::get_id();
  }

  void add(outgoing_answer answer);
  /// No answer should wait any longer for others.
  bool is_due() const;
  void send();

private:
  http_core& core_;
  std::thread::id thread_;
  std::vector<outgoing_answer> answers_;
  std::chrono::steady_clock::time_point first_;
};

} // namespace moxzi::net
