#include <utility>

#include "actors/candid/decode.hpp"
#include "actors/management/management.hpp"
#include "actors/management/numbers.hpp"
#include "base/limits.hpp"

// Outcalls: checked, paid for, made by the network's client, and shown to the caller's transform
// function, if it names one, before the caller sees what came.

namespace moxzi::actors::management {

namespace {

using net::outcall_errc;

std::string_view word_of(http_method what) noexcept {
  switch (what) {
    case http_method::head:
      return "HEAD";
    case http_method::post:
      return "POST";
    case http_method::put:
      return "PUT";
    case http_method::remove:
      return "DELETE";
    case http_method::patch:
      return "PATCH";
    default:
      return "GET";
  }
}

net::outcall_request to_request(http_request_args& args) {
  net::outcall_request out;
  out.url = std::move(args.url);
  out.method = word_of(args.method);
  for (auto& one : args.headers) {
    out.headers.emplace_back(std::move(one.name), std::move(one.value));
  }
  if (args.body) out.body = std::move(*args.body);
  out.response_bytes_max = args.max_response_bytes.value_or(limits::outcall_bytes_max);
  return out;
}

/// What an outcall asks to be sent, as the Internet Computer counts it.
uint64_t bytes_of(const net::outcall_request& request,
                  const std::optional<http_transform>& transform) {
  uint64_t bytes = request.url.size() + request.body.size();
  for (const auto& [name, value] : request.headers) bytes += name.size() + value.size();
  if (transform) bytes += transform->function.method.size() + transform->context.size();
  return bytes;
}

rejection no_response(const error& why) {
  const auto code = static_cast<outcall_errc>(why.code.value());
  const auto text = "http_request: " + why.message;
  if (is_transient(code)) return rejected(reject_code::sys_transient, "MX210", text);
  switch (code) {
    case outcall_errc::bad_url:
    case outcall_errc::bad_header:
      return rejected(reject_code::canister_reject, "MX408", text);
    case outcall_errc::forbidden:
      return rejected(reject_code::sys_fatal, "MX110", text);
    default:
      return rejected(reject_code::sys_fatal, "MX111", text);
  }
}

// Names and values that are no UTF-8 could not be written as text.
http_request_reply to_reply(const net::outcall_response& from) {
  http_request_reply out;
  out.status = to_integer(uint64_t{from.status});
  for (const auto& [name, value] : from.headers) {
    if (is_utf8(name) && is_utf8(value)) out.headers.push_back({name, value});
  }
  out.body = from.body;
  return out;
}

} // namespace

void management_state::make_outcall(const call_ptr& call, http_request_args args) {
  if (args.transform && args.transform->function.service != call->caller()) {
    return refuse(call, rejected(reject_code::canister_reject, "MX408",
                                 "http_request: transform.function is not a method of the caller"));
  }
  if (!setup_.outcalls) {
    return refuse(
      call, rejected(reject_code::sys_fatal, "MX110", "http_request: this node makes no outcalls"));
  }
  open_outcall open{call, std::move(args.transform), {}};
  auto request = to_request(args);
  open.response_bytes_max = request.response_bytes_max;
  const auto& prices = setup_.prices;
  const cycles fee{prices.http_request
                   + uint128{prices.http_request_byte} * bytes_of(request, open.transform)
                   + uint128{prices.http_response_byte} * request.response_bytes_max};
  if (!take_fee(call, fee)) return;
  const auto number = ++outcalls_;
  open_outcalls_.emplace(number, std::move(open));
  setup_.outcalls->send(std::move(request), [self = management_self{self_},
                                             number](result<net::outcall_response> outcome) {
    using made = std::shared_ptr<const result<net::outcall_response>>;
    caf::anon_send(
      self, outcall_made{number, made{new result<net::outcall_response>{std::move(outcome)}}});
  });
}

void management_state::end_outcall(const outcall_made& what) {
  const auto at = open_outcalls_.find(what.number);
  if (at == open_outcalls_.end()) return;
  const auto& open = at->second;
  const auto& outcome = *what.outcome;
  if (outcome && open.transform) return transform(what.number, open, *outcome);
  const auto call = open.call;
  open_outcalls_.erase(at);
  if (!outcome) return refuse(call, no_response(outcome.error()));
  reply(call, method_types::get().http_request.reply, to_reply(*outcome));
}

// The function is the caller's own, so the request goes straight back to whom the answer goes to.
void management_state::transform(uint64_t number, const open_outcall& open,
                                 const net::outcall_response& response) {
  const auto& types = method_types::get();
  writer argument;
  argument.raw(types.transform_service.find("transform")->arguments.header);
  types.transform.args.append(argument, {to_reply(response), open.transform->context});
  call_request request;
  request.identity = {principal{}, 1, number};
  request.mode = request_mode::transform;
  request.method = open.transform->function.method;
  request.argument = argument.take();
  self_->send(
    caf::actor_cast<callee_actor>(open.call->what.reply_to),
    deliver_request{open.call->caller(), std::move(request), caf::actor_cast<caller_actor>(self_)});
}

void management_state::take_transformed(const call_response& what) {
  const auto at = open_outcalls_.find(what.identity.sequence);
  if (at == open_outcalls_.end()) return;
  const auto open = std::move(at->second);
  open_outcalls_.erase(at);
  const auto failed = [this, &open](std::string_view why) {
    refuse(open.call, rejected(reject_code::canister_error, "MX505",
                               fmt::format("http_request: the transform function '{}' {}",
                                           open.transform->function.method, why)));
  };
  if (const auto* why = std::get_if<rejection>(&what.answer)) {
    return failed("failed: " + why->message);
  }
  const auto& bytes = std::get<reply_value>(what.answer).argument;
  if (bytes.size() > open.response_bytes_max) {
    return failed(fmt::format("gave {} bytes; max_response_bytes is {}", bytes.size(),
                              open.response_bytes_max));
  }
  const auto& types = method_types::get();
  auto values = candid::decode(bytes, types.transform_service.find("transform")->results);
  if (!values) return failed("gave no response: " + values.error().message);
  reply(open.call, types.http_request.reply,
        types.transform.reply.read(std::move(values->front())));
}

} // namespace moxzi::actors::management
