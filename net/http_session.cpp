#include "net/http_session.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/status.hpp>
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

// True if the request line ends in a version of HTTP, though not in one of ours.
bool names_a_version(std::string_view header) {
  auto line = header.substr(0, header.find('\r'));
  auto target = line.find(' ');
  auto space = line.find(' ', target + 1);
  if (target == std::string_view::npos || space == std::string_view::npos) return false;
  auto version = line.substr(space + 1);
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return version.size() == 8 && version.substr(0, 5) == "HTTP/" && is_digit(version[5])
         && version[6] == '.' && is_digit(version[7]);
}

http_answer answer_of(const refusal& why) {
  return {.status = why.status, .body = to_json(why.why)};
}

// The sink of one call. If it goes without having been used, its client still gets an answer.
class call_sink : public answer_sink {
public:
  call_sink(std::shared_ptr<http_core> core, std::weak_ptr<http_session> session,
            std::shared_ptr<answer_gate> gate, uint64_t number)
      : core_(std::move(core)), session_(std::move(session)), gate_(std::move(gate)),
        number_(number) {
    // nop
  }

  ~call_sink() override {
    if (answered_) return;
    answer(core_->closing
             ? answer_of(server_stopping())
             : http_answer{.status = 500,
                           .body = to_json({reject_code::sys_fatal,
                                            "the call was lost inside the server", "MX191"})});
  }

  void answer(http_answer what) noexcept override {
    if (answered_.exchange(true)) return;
    auto written = gate_->write(number_, what);
    if (written.taken && written.rest.empty()) return;
    if (written.taken) {
      asio::post(core_->io,
                 [session = session_, number = number_, rest = std::move(written.rest)]() mutable {
                   if (auto target = session.lock()) target->deliver_rest(number, std::move(rest));
                 });
      return;
    }
    asio::post(core_->io, [session = session_, number = number_, what = std::move(what)]() mutable {
      if (auto target = session.lock()) target->deliver(number, std::move(what));
    });
  }

private:
  std::shared_ptr<http_core> core_;
  std::weak_ptr<http_session> session_;
  std::shared_ptr<answer_gate> gate_;
  uint64_t number_;
  std::atomic<bool> answered_{false};
};

} // namespace

http_session::http_session(tcp_socket socket, std::shared_ptr<http_core> core)
    : socket_(std::move(socket)), core_(std::move(core)), scan_(core_->limits) {
  // nop
}

http_session::~http_session() {
  gate_->shut();
}

void http_session::start() {
  set_deadline(milliseconds{core_->limits.header_timeout_ms});
  read_more();
}

void http_session::start_refused() {
  refuse(
    {503,
     {reject_code::sys_transient,
      fmt::format("more than {} connections are open", core_->limits.connections_max), "MX291"},
     {}});
}

// -- time ---------------------------------------------------------------------

void http_session::set_deadline(steady::duration from_now) {
  deadline_ = steady::now() + from_now;
  core_->watch(deadline_);
}

void http_session::expire() {
  note_answer();
  if (const auto now = steady::now(); deadline_ > now) return core_->watch(deadline_);
  if (phase_ == phase::waiting && call_deadline_ > steady::now()) return wait_for_answer();
  auto slow = bad_request(408, "MX006", "the request did not come in time");
  switch (phase_) {
    case phase::header:
      if (buffer_.size() == 0) return close();
      return refuse(slow);
    case phase::body:
      return refuse(slow);
    case phase::waiting:
      if (core_->stopping) return deliver(number_, answer_of(server_stopping()));
      return deliver(number_,
                     answer_of({504,
                                {reject_code::sys_unknown,
                                 "no answer within the call's time-out; the call goes on", "MX691"},
                                {}}));
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
  reading_ = true;
  auto room = phase_ == phase::header || phase_ == phase::waiting ? read_bytes : read_body_bytes;
  socket_.async_read_some(buffer_.prepare(room),
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
    // The next request, ahead of its turn. An end is found again when it is read for, and a
    // time-out that is being answered cancels.
    if (!ec && phase_ != phase::closed) buffer_.commit(size);
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
  if (auto refused = check_fields()) return refuse(*refused);
  route_ = find_route(view_of(request.method_string()), view_of(request.target()), core_->limits);
  if (parser_->is_done()) return dispatch();
  phase_ = phase::body;
  body_start_ = steady::now();
  body_bytes_ = 0;
  set_deadline(milliseconds{core_->limits.header_timeout_ms});
  if (request.count(http::field::expect) == 0 || buffer_.size() != 0) return take_body();
  if (const auto* refused = boost::variant2::get_if<refusal>(&route_))
    return refuse(*refused); // spares the client its body
  send_continue();
}

// What Beast lets pass and another reader of the same bytes might see differently.
std::optional<refusal> http_session::check_fields() const {
  const auto& request = parser_->get();
  auto bad = [](const char* why) { return bad_request(400, "MX003", why); };
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  auto length = request[http::field::content_length];
  auto coding = request[http::field::transfer_encoding];
  if (request.count(http::field::content_length) > 1
      || !std::all_of(length.begin(), length.end(), is_digit))
    return bad("the content length is not one number");
  if (request.count(http::field::transfer_encoding) > 1
      || (!coding.empty() && !beast::iequals(coding, "chunked")))
    return bad("the only transfer encoding this server takes is chunked");
  if (request.count(http::field::transfer_encoding) == 1
      && (coding.empty() || request.version() < 11))
    return bad("a transfer encoding has no place in this request");
  if (request.count(http::field::host) > 1
      || (request.version() == 11 && request.count(http::field::host) == 0))
    return bad("an HTTP/1.1 request has one Host field");
  auto expect = request[http::field::expect];
  if (!expect.empty() && !beast::iequals(expect, "100-continue"))
    return bad_request(417, "MX003", "the only expectation this server meets is 100-continue");
  return std::nullopt;
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
  asio::async_write(socket_, asio::buffer(text),
                    [self = shared_from_this()](const boost::system::error_code& ec, size_t) {
                      if (self->phase_ != phase::body) return;
                      if (ec) return self->close();
                      self->read_more();
                    });
}

void http_session::take_body() {
  while (buffer_.size() != 0 && !parser_->is_done()) {
    boost::system::error_code ec;
    auto used = parser_->put(buffer_.data(), ec);
    buffer_.consume(used);
    body_bytes_ += used;
    if (ec == http::error::need_more) {
      if (buffer_.size() > core_->limits.header_bytes_max)
        return refuse(bad_request(400, "MX003", "a chunk's first line does not end"));
      break;
    }
    if (ec) return refuse(describe(ec));
  }
  if (parser_->is_done()) return dispatch();
  auto earned = milliseconds{body_bytes_ * 1'000 / core_->limits.body_bytes_per_second_min};
  deadline_ = body_start_ + milliseconds{core_->limits.header_timeout_ms} + earned;
  core_->watch(deadline_);
  read_more();
}

// -- answering ----------------------------------------------------------------

void http_session::dispatch() {
  if (const auto* refused = boost::variant2::get_if<refusal>(&route_)) return respond(*refused);
  if (auto* target = boost::variant2::get_if<call_route>(&route_)) return call(std::move(*target));
  respond({.body = R"({"status":"ok"})"});
}

void http_session::call(call_route&& target) {
  if (core_->closing) return respond(server_stopping());
  auto& request = parser_->get();
  if (request.method() != http::verb::post && !request.body().empty())
    return respond(bad_request(400, "MX003", "arguments come by POST"));
  auto timeout_ms = core_->limits.call_timeout_ms;
  for (const char* name : {"timeout_ms", "timeout-ms"}) {
    if (request.count(name) == 0) continue;
    auto value = read_timeout(view_of(request[name]), core_->limits);
    if (const auto* refused = boost::variant2::get_if<refusal>(&value)) return respond(*refused);
    timeout_ms = boost::variant2::get<uint32_t>(value);
  }
  phase_ = phase::waiting;
  ++number_;
  call_deadline_ = steady::now() + milliseconds{target.timeout_ms.value_or(timeout_ms)};
  wait_for_answer();
  auto out = std::make_shared<http_call>();
  out->kind = target.kind;
  out->actor = std::move(target.actor);
  out->method = std::move(target.method);
  out->body = std::move(request.body());
  out->sink = std::make_shared<call_sink>(core_, weak_from_this(), gate_, number_);
  core_->handler(std::move(out));
}

// Where the next request can be read for, the answer need not go through this thread.
void http_session::wait_for_answer() {
  deadline_ = call_deadline_;
  if (keep_alive_ && !head_only_ && parser_->get().version() == 11 && buffer_.size() == 0) {
    // Looks now and then whether the answer has gone out, and so the connection is idle.
    const auto idle = steady::now() + milliseconds{core_->limits.idle_timeout_ms};
    deadline_ = std::min(deadline_, idle);
    gate_->open(number_, socket_.native_handle());
    read_more();
  }
  core_->watch(deadline_);
}

// Whatever happens while an answer is awaited: it may have gone out before that.
void http_session::note_answer() {
  if (phase_ != phase::waiting) return;
  const auto written = gate_->shut();
  if (!written) return;
  begin_request();
  deadline_ = *written + milliseconds{core_->limits.idle_timeout_ms};
  core_->watch(deadline_);
}

void http_session::deliver(uint64_t number, http_answer answer) {
  if (number != number_) return;
  note_answer();
  if (phase_ == phase::waiting) respond(std::move(answer));
}

void http_session::deliver_rest(uint64_t number, std::string rest) {
  if (phase_ != phase::waiting || number != number_) return;
  phase_ = phase::writing;
  header_out_ = std::move(rest);
  body_out_.clear();
  write_out();
}

void http_session::respond(const refusal& why) {
  respond(answer_of(why), why.allow);
}

void http_session::refuse(const refusal& why) {
  keep_alive_ = false;
  boost::system::error_code ignored;
  socket_.cancel(ignored);
  respond(answer_of(why), why.allow);
}

void http_session::respond(http_answer answer, std::string_view allow) {
  phase_ = phase::writing;
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

void http_session::write_out() {
  set_deadline(core_->stopping
                 ? last_answer_time
                 : milliseconds{core_->limits.header_timeout_ms
                                + body_out_.size() * 1'000 / answer_bytes_per_second_min});
  asio::async_write(socket_,
                    std::array{asio::const_buffer{header_out_.data(), header_out_.size()},
                               asio::const_buffer{body_out_.data(), body_out_.size()}},
                    [self = shared_from_this()](const boost::system::error_code& ec, size_t) {
                      self->on_written(ec);
                    });
}

void http_session::on_written(const boost::system::error_code& ec) {
  if (phase_ == phase::closed) return;
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
  boost::system::error_code ignored;
  socket_.shutdown(tcp_socket::shutdown_send, ignored);
  parser_.reset();
  buffer_.clear();
  set_deadline(linger_time);
  read_more();
}

void http_session::close() noexcept {
  if (phase_ == phase::closed) return;
  phase_ = phase::closed;
  gate_->shut();
  auto self = shared_from_this();
  boost::system::error_code ignored;
  socket_.close(ignored);
  core_->remove(this);
}

} // namespace moxzi::net
