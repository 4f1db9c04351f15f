#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>

#include "net/answer_gate.hpp"
#include "net/call_sink.hpp"
#include "net/chunk_scan.hpp"
#include "net/http_body.hpp"
#include "net/http_core.hpp"
#include "net/http_fields.hpp"
#include "net/http_scan.hpp"
#include "net/http_stream.hpp"
#include "net/http_target.hpp"

namespace moxzi::net {

/// The answer to a request that is refused: its status and the error object.
http_answer answer_of(const refusal& why);

/// One connection. Everything runs on the server's thread, except that an answer may be written by
/// the thread that has it: see `answer_gate`.
///
///     header ─► body ─► waiting ─► writing ─► header … or lingering ─► closed
///
/// One request at a time: what a pipelining client sent ahead stays in the buffer (or in the
/// kernel's) until its turn, so answers are in order and a client that does not read them is not
/// read from either. How bytes become requests is in `http_session.cpp`, what is done with a
/// request in `http_dispatch.cpp`.
class http_session : public std::enable_shared_from_this<http_session> {
public:
  http_session(tcp_socket socket, std::shared_ptr<http_core> core);
  ~http_session();

  void start();
  /// Answers 503 to whatever comes: there are too many connections.
  void start_refused(std::string why);
  /// The deadline has passed.
  void expire();
  void begin_stop(steady::time_point end);
  /// An answer to the `number`th request; dropped unless that one is waiting.
  void deliver(uint64_t number, http_answer answer);
  /// The same, where all but `rest` has been written.
  void deliver_rest(uint64_t number, std::string rest);

  steady::time_point deadline() const noexcept {
    return deadline_;
  }
  const client_key& client() const noexcept {
    return client_;
  }

private:
  enum class phase : uint8_t { header, body, waiting, writing, lingering, closed };

  // -- reading
  void set_deadline(steady::duration from_now);
  void shake_hands();
  void read_more();
  void on_read(const boost::system::error_code& ec, size_t size);
  void take_header();
  void parse_header();
  std::optional<refusal> look_at_chunks();
  void take_body();
  void send_continue();
  refusal describe(const boost::system::error_code& ec) const;

  // -- what is asked for
  void dispatch();
  void call(call_route&& route);
  void call_later(std::shared_ptr<http_call> call);
  void ask(node_route&& route);
  void tell_result(const result_route& route);
  std::optional<refusal> merge_options(call_options& options);
  std::shared_ptr<call_sink> wait_for_answer(std::optional<uint32_t> timeout_ms);
  void watch_gate();
  void note_answer();
  void stop_waiting() noexcept;
  void time_out();

  // -- answering
  /// Answers and goes on with the next request where the connection is kept.
  void respond(http_answer answer, std::string_view allow = {});
  void respond(const refusal& why);
  /// Counts the answer's bytes until the client has them; too many, and it becomes a refusal.
  void hold(http_answer& answer);
  void let_go() noexcept;
  void write_out();
  /// Answers and ends the connection: where the next request begins is not known.
  void refuse(const refusal& why);
  void on_written(const boost::system::error_code& ec);
  void begin_request();
  void next_request();
  void linger();
  void close() noexcept;

  http_stream stream_;
  std::shared_ptr<http_core> core_;
  client_key client_;
  bool is_loopback_ = false; ///< the client is on this machine
  phase phase_ = phase::header;
  bool keep_alive_ = false;
  bool head_only_ = false;
  bool reading_ = false;
  bool has_ended_ = false;    // nothing more comes from the client
  bool skipped_line_ = false; // the empty line that may come before a request
  uint64_t number_ = 0;       // of the request
  steady::time_point deadline_ = steady::time_point::max();
  steady::time_point call_deadline_;
  steady::time_point body_start_;
  size_t body_bytes_ = 0;
  chunk_scan chunks_;
  size_t chunk_bytes_seen_ = 0; // of the buffer, by `chunks_`
  size_t lingered_bytes_ = 0;
  size_t held_bytes_ = 0; // of the answer, as the core counts them
  boost::beast::flat_buffer buffer_;
  header_scan scan_;
  std::optional<boost::beast::http::request_parser<http_body>> parser_;
  header_facts facts_;
  route route_;
  std::string header_out_;
  byte_string body_out_;
  std::shared_ptr<answer_gate> gate_ = std::make_shared<answer_gate>();
  std::shared_ptr<answer_place> place_; // while waiting
  bool is_call_ = false;                // what waits goes on after its deadline, and counts
};

} // namespace moxzi::net
