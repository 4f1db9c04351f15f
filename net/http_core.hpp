#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/entropy.hpp"
#include "net/answer_outbox.hpp"
#include "net/call_store.hpp"
#include "net/client_shares.hpp"
#include "net/http_call.hpp"
#include "net/http_counters.hpp"
#include "net/http_limits.hpp"

namespace moxzi::net {

namespace asio = boost::asio;

using steady = std::chrono::steady_clock;
using tcp_socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;

class http_session;

/// What the sessions of one server share. All but `io`, `open`, `closing` and `counters` belongs to
/// the server's thread.
///
/// A call's sink keeps the core alive (so that an answer can always be posted) but no session; what
/// is posted keeps neither. So nothing here can be held by itself.
class http_core : public std::enable_shared_from_this<http_core> {
public:
  http_core(http_limits limits, http_handlers handlers, std::shared_ptr<entropy> randomness);

  /// Sees to it that `http_session::expire` is called once `deadline` has passed. Deadlines mostly
  /// move away, so one timer for the earliest is enough: it costs a request nothing.
  void watch(steady::time_point deadline);

  void add(std::shared_ptr<http_session> session);
  void remove(http_session* session) noexcept;

  /// Ends the idle sessions now and the others by `end`.
  void begin_stop(steady::time_point end);

  /// One call of a client, kept or not, waits no more.
  void give_back(const client_key& client, bool was_kept);
  /// The id of a call that is kept from now on in the client's name; empty: no room is left.
  std::string keep_call(const client_key& client);
  /// Takes note of an answer that its client is to take; false if too many bytes wait already.
  bool hold_answer(const client_key& client, size_t bytes);
  /// It has been taken, or never will be.
  void drop_answer(const client_key& client, size_t bytes) noexcept;
  uint64_t now_ms() const noexcept;

  const http_limits limits;
  http_handlers handlers;
  std::shared_ptr<asio::ssl::context> tls; ///< none: plain HTTP
  call_store store{limits};
  client_shares shares;
  http_counters counters;
  answer_outbox outbox{*this};
  bool stopping = false;
  std::atomic<bool> closing{false}; ///< calls get 503; set from any thread
  std::atomic<size_t> open{0};      ///< sessions

private:
  void sweep();

  std::shared_ptr<entropy> randomness_;
  // Before `io`: handlers that `io` destroys hold sessions, which look into this.
  std::unordered_map<http_session*, std::shared_ptr<http_session>> sessions_;

public:
  asio::io_context io{1};

private:
  asio::steady_timer timer_{io};
  steady::time_point armed_ = steady::time_point::max();
  size_t unsent_ = 0; // bytes of the answers that are held
};

} // namespace moxzi::net
