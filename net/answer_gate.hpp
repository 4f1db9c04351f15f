#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_call.hpp"
#include "net/http_core.hpp"

namespace moxzi::net {

/// Appends the header of an answer that is `body_size` bytes long. `connection` is the field's
/// value; empty: there is none, and none of `Allow` likewise.
void write_header(std::string& out, const http_answer& answer, size_t body_size,
                  std::string_view connection, std::string_view allow);

/// Lets whoever has the answer to a session's call write it to the socket, so that the server's
/// thread is not woken for it: it takes up the connection again when the next request comes.
/// The session keeps the gate shut except while it waits for such an answer. Thread-safe.
class answer_gate {
public:
  /// What became of an answer: if `taken`, it is on its way but for `rest`.
  struct outcome {
    bool taken = false;
    std::string rest;
  };

  /// From now on the answer to the `number`th request may go to `socket`.
  void open(uint64_t number, int socket) noexcept;

  /// From now on none may. If one went out whole, the moment when it did, once.
  std::optional<steady::time_point> shut() noexcept;

  /// From any thread: writes a short answer, as far as the socket takes it at once.
  outcome write(uint64_t number, const http_answer& answer);

private:
  std::mutex mutex_;
  int socket_ = -1; // none: shut
  uint64_t number_ = 0;
  std::optional<steady::time_point> written_;
};

} // namespace moxzi::net
