#include <algorithm>

#include <fmt/format.h>

#include "net/http_session.hpp"

namespace http = boost::beast::http;

namespace moxzi::net {

namespace {

using std::chrono::milliseconds;

// How the arguments are written: as the content type says, else as they look.
call_format format_of(std::string_view content_type, std::string_view body) {
  const auto type = content_type.substr(0, content_type.find_first_of("; "));
  if (type == "application/octet-stream") return call_format::candid;
  if (type == "text/plain") return call_format::text;
  return body.substr(0, 4) == "DIDL" ? call_format::candid : call_format::text;
}

refusal too_many_waiting(size_t limit) {
  return {429,
          {reject_code::sys_transient,
           fmt::format("{} calls from this address wait already; call again later", limit),
           "MX292"},
          {}};
}

refusal no_room_for_calls() {
  return {429,
          {reject_code::sys_transient,
           "too many calls wait whose answers are to be kept; call again later", "MX293"},
          {}};
}

refusal timed_out(bool is_call, const std::string& id) {
  auto text = std::string{"no answer within the time-out"};
  if (is_call) text = "no answer within the call's time-out; the call goes on";
  if (!id.empty()) text += ", GET /calls/" + id + " will have its answer";
  return {504, {reject_code::sys_unknown, std::move(text), "MX691"}, {}};
}

// The error object with one member more.
byte_string with_call_id(byte_string body, const std::string& id) {
  if (id.empty()) return body;
  body.pop_back();
  return body + fmt::format(R"(,"call_id":"{}"}})", id);
}

} // namespace

void http_session::dispatch() {
  core_->counters.requests.fetch_add(1, std::memory_order_relaxed);
  if (const auto* refused = boost::variant2::get_if<refusal>(&route_)) return respond(*refused);
  if (auto* target = boost::variant2::get_if<call_route>(&route_)) return call(std::move(*target));
  if (const auto* target = boost::variant2::get_if<result_route>(&route_))
    return tell_result(*target);
  if (auto* target = boost::variant2::get_if<node_route>(&route_)) return ask(std::move(*target));
  respond({.body = R"({"status":"ok"})"});
}

// Options come in the URL or in the header; what only a controller may say, from this machine only.
std::optional<refusal> http_session::merge_options(call_options& options) {
  if (facts_.option_refused) return facts_.option_refused;
  auto& others = facts_.options;
  const auto merge = [](auto& into, auto& from, const char* name) -> std::optional<refusal> {
    if (!from) return std::nullopt;
    if (into) return bad_request(400, "MX003", fmt::format("{} is given twice", name));
    into = std::move(from);
    return std::nullopt;
  };
  if (auto bad = merge(options.timeout_ms, others.timeout_ms, "timeout_ms")) return bad;
  if (auto bad = merge(options.is_async, others.is_async, "async")) return bad;
  if (auto bad = merge(options.sender, others.sender, "sender")) return bad;
  if (auto bad = merge(options.cycles, others.cycles, "cycles")) return bad;
  const bool is_local = is_loopback_ && facts_.is_direct;
  if ((options.sender || options.cycles) && !is_local)
    return bad_request(403, "MX007",
                       fmt::format("{} may be given only by a program on this machine, to "
                                   "localhost, without a proxy between",
                                   options.sender ? "sender" : "cycles"));
  return std::nullopt;
}

void http_session::call(call_route&& target) {
  if (core_->closing) return respond(server_stopping());
  auto& request = parser_->get();
  if (request.method() != http::verb::post && !request.body().empty())
    return respond(bad_request(400, "MX003", "arguments come by POST"));
  auto& options = target.options;
  if (auto bad = merge_options(options)) return respond(*bad);
  if (core_->shares.of(client_).waiting >= core_->limits.waiting_per_client_max)
    return respond(too_many_waiting(core_->limits.waiting_per_client_max));
  auto out = std::make_shared<http_call>();
  out->kind = target.kind;
  if (!target.is_json) out->format = format_of(facts_.content_type, request.body());
  out->actor = std::move(target.actor);
  out->method = std::move(target.method);
  out->body = std::move(request.body());
  out->is_lenient = options.is_lenient.value_or(false);
  out->blob_base64 = options.blob_base64.value_or(false);
  out->sender = std::move(options.sender).value_or("");
  out->cycles = std::move(options.cycles).value_or("");
  if (options.is_async.value_or(false)) return call_later(std::move(out));
  is_call_ = true;
  out->sink = wait_for_answer(options.timeout_ms);
  core_->handlers.call(std::move(out));
}

void http_session::call_later(std::shared_ptr<http_call> call) {
  const auto id = core_->keep_call(client_);
  if (id.empty()) return respond(no_room_for_calls());
  ++core_->shares.of(client_).waiting;
  auto place = std::make_shared<answer_place>(answer_place{{}, 0, client_, true, id});
  call->sink = std::make_shared<call_sink>(core_, std::move(place), nullptr);
  core_->handlers.call(std::move(call));
  respond({.status = 202, .body = fmt::format(R"({{"call_id":"{}"}})", id)});
}

void http_session::tell_result(const result_route& target) {
  const auto found = core_->store.find(target.call_id, core_->now_ms());
  if (found.state == call_store::state::answered) return respond(http_answer{*found.answer});
  if (found.state == call_store::state::processing)
    return respond({.status = 202, .body = R"({"status":"processing"})"});
  respond(
    bad_request(404, "MX008", "no such call: its id is wrong, or its answer is no longer kept"));
}

void http_session::ask(node_route&& target) {
  if (core_->closing) return respond(server_stopping());
  auto out = std::make_shared<node_request>();
  out->what = target.what;
  out->actor = std::move(target.actor);
  out->section = std::move(target.section);
  out->from = target.from;
  out->cycles = std::move(target.cycles);
  out->is_local = is_loopback_ && facts_.is_direct;
  is_call_ = is_command(target.what);
  if (is_call_ && core_->shares.of(client_).waiting >= core_->limits.waiting_per_client_max)
    return respond(too_many_waiting(core_->limits.waiting_per_client_max));
  out->sink = wait_for_answer(std::nullopt);
  core_->handlers.node(std::move(out));
}

// -- waiting -------------------------------------------------------------------

std::shared_ptr<call_sink> http_session::wait_for_answer(std::optional<uint32_t> timeout_ms) {
  phase_ = phase::waiting;
  ++number_;
  if (is_call_) ++core_->shares.of(client_).waiting;
  call_deadline_ = steady::now() + milliseconds{timeout_ms.value_or(core_->limits.call_timeout_ms)};
  place_ =
    std::make_shared<answer_place>(answer_place{weak_from_this(), number_, client_, false, {}});
  watch_gate();
  return std::make_shared<call_sink>(core_, place_, gate_);
}

// Where the next request can be read for, the answer need not go through this thread.
void http_session::watch_gate() {
  deadline_ = call_deadline_;
  const bool is_simple = keep_alive_ && !head_only_ && !has_ended_ && !stream_.is_tls();
  if (is_simple && parser_->get().version() == 11 && buffer_.size() == 0) {
    // Looks now and then whether the answer has gone out, and so the connection is idle.
    const auto idle = steady::now() + milliseconds{core_->limits.idle_timeout_ms};
    deadline_ = std::min(deadline_, idle);
    gate_->open(number_, stream_.socket().native_handle());
    read_more();
  }
  core_->watch(deadline_);
}

// Whatever happens while an answer is awaited: it may have gone out before that.
void http_session::note_answer() {
  if (phase_ != phase::waiting) return;
  const auto written = gate_->shut();
  if (!written) return;
  stop_waiting();
  begin_request();
  deadline_ = *written + milliseconds{core_->limits.idle_timeout_ms};
  core_->watch(deadline_);
}

void http_session::stop_waiting() noexcept {
  place_.reset();
  if (is_call_) core_->give_back(client_, false);
  is_call_ = false;
}

// The call goes on, and its answer can be asked for where there is room to keep it.
void http_session::time_out() {
  const bool was_call = is_call_;
  std::string id;
  if (was_call && !core_->stopping) {
    id = core_->keep_call(client_);
    place_->is_detached = true;
    place_->id = id;
    is_call_ = false; // it still waits, for itself
  }
  stop_waiting();
  if (core_->stopping) return respond(server_stopping());
  auto answer = answer_of(timed_out(was_call, id));
  answer.body = with_call_id(std::move(answer.body), id);
  respond(std::move(answer));
}

void http_session::deliver(uint64_t number, http_answer answer) {
  if (number != number_) return;
  note_answer();
  if (phase_ != phase::waiting) return;
  stop_waiting();
  respond(std::move(answer));
}

void http_session::deliver_rest(uint64_t number, std::string rest) {
  if (phase_ != phase::waiting || number != number_) return;
  stop_waiting();
  phase_ = phase::writing;
  header_out_ = std::move(rest);
  body_out_.clear();
  write_out();
}

} // namespace moxzi::net
