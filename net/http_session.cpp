#include "net/http_session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <fmt/format.h>

namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace moxzi::net {

namespace {

using std::chrono::milliseconds;

constexpr auto linger_time = milliseconds{2'000};
constexpr auto last_answer_time = milliseconds{300}; // when the server stops
constexpr size_t linger_bytes_max = 8u << 20;
// A client that takes an answer more slowly than this, after a start of ten seconds, is cut.
constexpr size_t answer_bytes_per_second_min = 16u << 10;
constexpr size_t read_bytes = 4u << 10;
constexpr size_t read_body_bytes = 64u << 10;
// Buffers above this go back to the system between requests.
constexpr size_t kept_bytes_max = 64u << 10;

std::string_view view_of(const beast::flat_buffer& buffer) {
  return {static_cast<const char*>(buffer.data().data()), buffer.size()};
}

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

refusal too_much_unsent(size_t size) {
  return {503,
          {reject_code::sys_transient,
           fmt::format("the answer, of {} bytes, was dropped: too many bytes of answers wait "
                       "already for clients that do not read them",
                       size),
           "MX294"},
          {}};
}

} // namespace

http_answer answer_of(const refusal& why) {
  return {.status = why.status, .body = to_json(why.why)};
}

http_session::http_session(tcp_socket socket, std::shared_ptr<http_core> core)
    : stream_(std::move(socket), core->tls.get()), core_(std::move(core)), scan_(core_->limits),
      chunks_(core_->limits) {
  boost::system::error_code ec;
  const auto peer = stream_.socket().remote_endpoint(ec);
  if (ec) return; // gone already
  client_ = key_of(peer.address());
  is_loopback_ =
    peer.address().is_loopback() || client_ == key_of(asio::ip::address_v4::loopback());
}

http_session::~http_session() {
  gate_->shut();
}

void http_session::start() {
  set_deadline(milliseconds{core_->limits.header_timeout_ms});
  if (stream_.is_tls()) return shake_hands();
  read_more();
}

void http_session::start_refused(std::string why) {
  // Without a handshake there is nothing to be said.
  if (stream_.is_tls()) return close();
  refuse({503, {reject_code::sys_transient, std::move(why), "MX291"}, {}});
}

void http_session::shake_hands() {
  stream_.async_handshake([self = shared_from_this()](const boost::system::error_code& ec) {
    if (self->phase_ == phase::closed) return;
    if (ec) return self->close();
    self->read_more();
  });
}

// -- time ---------------------------------------------------------------------

void http_session::set_deadline(steady::duration from_now) {
  deadline_ = steady::now() + from_now;
  core_->watch(deadline_);
}

void http_session::expire() {
  note_answer();
  if (const auto now = steady::now(); deadline_ > now) return core_->watch(deadline_);
  if (phase_ == phase::waiting && call_deadline_ > steady::now()) return watch_gate();
  auto slow = bad_request(408, "MX006", "the request did not come in time");
  switch (phase_) {
    case phase::header:
      if (buffer_.size() == 0) return close();
      return refuse(slow);
    case phase::body:
      return refuse(slow);
    case phase::waiting:
      return time_out();
    case phase::writing:
    case phase::lingering:
    case phase::closed:
      return close();
  }
}

void http_session::begin_stop(steady::time_point end) {
  note_answer();
  keep_alive_ = false;
  if (phase_ != phase::waiting && phase_ != phase::writing) return close();
  if (phase_ == phase::waiting) deadline_ = call_deadline_ = std::min(call_deadline_, end);
  deadline_ = std::min(deadline_, end);
  core_->watch(deadline_);
}

// -- reading ------------------------------------------------------------------

void http_session::read_more() {
  if (reading_) return; // since the last call
  if (has_ended_) return close();
  reading_ = true;
  auto room = phase_ == phase::header || phase_ == phase::waiting ? read_bytes : read_body_bytes;
  stream_.async_read_some(buffer_.prepare(room),
                          [self = shared_from_this()](const boost::system::error_code& ec,
                                                      size_t size) { self->on_read(ec, size); });
}

void http_session::on_read(const boost::system::error_code& ec, size_t size) {
  reading_ = false;
  note_answer();
  if (phase_ == phase::lingering) {
    lingered_bytes_ += size;
    if (ec || lingered_bytes_ > linger_bytes_max) return close();
    return read_more();
  }
  if (phase_ != phase::header && phase_ != phase::body) {
    // The next request, ahead of its turn. An end is told once: Asio, having seen it, waits in vain
    // for another event. (A time-out that is being answered cancels.)
    if (!ec && phase_ != phase::closed) buffer_.commit(size);
    if (ec && ec != asio::error::operation_aborted) has_ended_ = true;
    return;
  }
  if (ec) return close();
  if (phase_ == phase::header && buffer_.size() == 0)
    set_deadline(milliseconds{core_->limits.header_timeout_ms});
  buffer_.commit(size);
  if (phase_ == phase::header)
    take_header();
  else
    take_body();
}

void http_session::take_header() {
  // One empty line before a request is some clients' habit (RFC 9112, 2.2).
  if (scan_.size() == 0 && view_of(buffer_).substr(0, 2) == "\r\n" && !skipped_line_) {
    skipped_line_ = true;
    buffer_.consume(2);
  }
  switch (scan_.scan(view_of(buffer_))) {
    case header_scan::state::need_more:
      return read_more();
    case header_scan::state::complete:
      return parse_header();
    case header_scan::state::bad_line_ending:
      return refuse(bad_request(400, "MX003", "a line of the header does not end in CR LF"));
    case header_scan::state::folded:
      return refuse(bad_request(400, "MX003", "a field of the header is folded over lines"));
    case header_scan::state::bad_byte:
      return refuse(bad_request(400, "MX003", "this is no HTTP request"));
    case header_scan::state::target_too_long:
      return refuse(bad_request(
        414, "MX005",
        fmt::format("the URL is longer than {} bytes", core_->limits.target_bytes_max)));
    case header_scan::state::header_too_long:
      return refuse(bad_request(
        431, "MX005",
        fmt::format("the header is longer than {} bytes", core_->limits.header_bytes_max)));
  }
}

void http_session::parse_header() {
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(static_cast<uint32_t>(core_->limits.header_bytes_max) + 1);
  parser_->body_limit(core_->limits.body_bytes_max);
  boost::system::error_code ec;
  auto used = parser_->put(asio::buffer(buffer_.data(), scan_.size()), ec);
  if (ec) return refuse(describe(ec));
  buffer_.consume(used);
  const auto& request = parser_->get();
  head_only_ = request.method() == http::verb::head;
  keep_alive_ = request.keep_alive() && !core_->stopping;
  facts_ = read_fields(request, request.version(), core_->limits);
  if (facts_.refused) return refuse(*facts_.refused);
  const auto asked_at = authority_of(view_of(request.target()));
  if (!asked_at.empty() && !is_local_host(asked_at)) facts_.is_direct = false;
  route_ = find_route(view_of(request.method_string()), view_of(request.target()), core_->limits);
  if (parser_->is_done()) return dispatch();
  phase_ = phase::body;
  body_start_ = steady::now();
  body_bytes_ = 0;
  chunks_ = chunk_scan{core_->limits};
  chunk_bytes_seen_ = 0;
  set_deadline(milliseconds{core_->limits.header_timeout_ms});
  if (!facts_.expects_continue || buffer_.size() != 0) return take_body();
  if (const auto* refused = boost::variant2::get_if<refusal>(&route_))
    return refuse(*refused); // spares the client its body
  send_continue();
}

refusal http_session::describe(const boost::system::error_code& ec) const {
  if (ec == http::error::body_limit)
    return bad_request(
      413, "MX004", fmt::format("the body is larger than {} bytes", core_->limits.body_bytes_max));
  if (ec == http::error::header_limit)
    return bad_request(
      431, "MX005",
      fmt::format("the header is longer than {} bytes", core_->limits.header_bytes_max));
  if (ec == http::error::bad_version && names_a_version(view_of(buffer_)))
    return bad_request(505, "MX003", "this server speaks HTTP/1.1");
  return bad_request(400, "MX003", fmt::format("this is no HTTP request: {}", ec.message()));
}

void http_session::send_continue() {
  static constexpr std::string_view text = "HTTP/1.1 100 Continue\r\n\r\n";
  stream_.async_write(asio::buffer(text),
                      [self = shared_from_this()](const boost::system::error_code& ec, size_t) {
                        if (self->phase_ != phase::body) return;
                        if (ec) return self->close();
                        self->read_more();
                      });
}

// What chunks look like is seen before the parser passes over it.
std::optional<refusal> http_session::look_at_chunks() {
  if (!parser_->chunked()) return std::nullopt;
  const auto found = chunks_.scan(view_of(buffer_).substr(chunk_bytes_seen_));
  chunk_bytes_seen_ = buffer_.size();
  const auto bad = [](std::string_view why) { return bad_request(400, "MX003", std::string{why}); };
  switch (found) {
    case chunk_scan::state::fine:
      return std::nullopt;
    case chunk_scan::state::bad_line_ending:
      return bad("a line of the chunked body does not end in CR LF, or a chunk not at its size");
    case chunk_scan::state::folded:
      return bad("a trailer field is folded over lines");
    case chunk_scan::state::bad_byte:
      return bad("a chunk does not begin with its size, or its line has control characters");
    case chunk_scan::state::open_quote:
      return bad("a quoted extension of a chunk goes on behind its line");
    case chunk_scan::state::too_long:
      return bad("the chunked body has too much in it that is neither data nor needed");
  }
  return std::nullopt;
}

void http_session::take_body() {
  if (const auto refused = look_at_chunks()) return refuse(*refused);
  while (buffer_.size() != 0 && !parser_->is_done()) {
    boost::system::error_code ec;
    auto used = parser_->put(buffer_.data(), ec);
    buffer_.consume(used);
    chunk_bytes_seen_ -= std::min(used, chunk_bytes_seen_);
    body_bytes_ += used;
    if (ec == http::error::need_more) break;
    if (ec) return refuse(describe(ec));
  }
  if (parser_->is_done()) return dispatch();
  auto earned = milliseconds{body_bytes_ * 1'000 / core_->limits.body_bytes_per_second_min};
  deadline_ = body_start_ + milliseconds{core_->limits.header_timeout_ms} + earned;
  core_->watch(deadline_);
  read_more();
}

// -- answering ----------------------------------------------------------------

void http_session::respond(const refusal& why) {
  respond(answer_of(why), why.allow);
}

void http_session::refuse(const refusal& why) {
  keep_alive_ = false;
  boost::system::error_code ignored;
  stream_.socket().cancel(ignored);
  respond(answer_of(why), why.allow);
}

void http_session::respond(http_answer answer, std::string_view allow) {
  phase_ = phase::writing;
  hold(answer);
  core_->counters.count(answer.status);
  if (core_->stopping) keep_alive_ = false;
  body_out_ = std::move(answer.body);
  std::string_view connection;
  if (!keep_alive_)
    connection = "close";
  else if (parser_ && parser_->get().version() < 11)
    connection = "keep-alive";
  header_out_.clear();
  write_header(header_out_, answer, body_out_.size(), connection, allow);
  if (head_only_) body_out_.clear();
  write_out();
}

void http_session::hold(http_answer& answer) {
  const auto size = answer.body.size();
  if (size <= core_->limits.small_answer_bytes) return;
  if (core_->hold_answer(client_, size))
    held_bytes_ = size;
  else
    answer = answer_of(too_much_unsent(size));
}

void http_session::let_go() noexcept {
  if (held_bytes_ != 0) core_->drop_answer(client_, std::exchange(held_bytes_, 0));
}

void http_session::write_out() {
  set_deadline(core_->stopping
                 ? last_answer_time
                 : milliseconds{core_->limits.header_timeout_ms
                                + body_out_.size() * 1'000 / answer_bytes_per_second_min});
  stream_.async_write(std::array{asio::const_buffer{header_out_.data(), header_out_.size()},
                                 asio::const_buffer{body_out_.data(), body_out_.size()}},
                      [self = shared_from_this()](const boost::system::error_code& ec, size_t) {
                        self->on_written(ec);
                      });
}

void http_session::on_written(const boost::system::error_code& ec) {
  if (phase_ == phase::closed) return;
  let_go();
  if (ec) return close();
  if (!keep_alive_) return core_->stopping ? close() : linger();
  next_request();
}

void http_session::begin_request() {
  phase_ = phase::header;
  scan_ = header_scan{core_->limits};
  skipped_line_ = false;
  head_only_ = false;
  parser_.reset();
}

void http_session::next_request() {
  begin_request();
  if (body_out_.capacity() > kept_bytes_max) byte_string{}.swap(body_out_);
  if (buffer_.size() != 0) {
    set_deadline(milliseconds{core_->limits.header_timeout_ms});
    return take_header();
  }
  if (buffer_.capacity() > kept_bytes_max && !reading_) buffer_.shrink_to_fit();
  set_deadline(milliseconds{core_->limits.idle_timeout_ms});
  read_more();
}

// Closing with unread bytes would reset the connection, and the client might lose the answer.
void http_session::linger() {
  phase_ = phase::lingering;
  parser_.reset();
  buffer_.clear();
  set_deadline(linger_time);
  stream_.end_writing(
    [self = shared_from_this()](const boost::system::error_code&) { self->close(); });
  if (!stream_.is_tls()) read_more();
}

void http_session::close() noexcept {
  if (phase_ == phase::closed) return;
  auto self = shared_from_this();
  note_answer();
  if (phase_ == phase::waiting && is_call_) {
    place_->is_detached = true; // the call goes on
    is_call_ = false;
  }
  place_.reset();
  let_go();
  phase_ = phase::closed;
  gate_->shut();
  boost::system::error_code ignored;
  stream_.socket().close(ignored);
  core_->remove(this);
}

} // namespace moxzi::net
