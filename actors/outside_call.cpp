#include "actors/outside_call.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "actors/candid/decode.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/interface.hpp"
#include "actors/candid/json.hpp"
#include "actors/candid/text.hpp"
#include "actors/http_status.hpp"
#include "base/nearest.hpp"

namespace moxzi::actors {

namespace {

using candid::method_type;

constexpr std::string_view no_arguments{"DIDL\0\0", 6};
// The bit of an epoch that marks calls from outside in somebody's name.
constexpr uint32_t outside_epochs = 1u << 31;

rejection bad(std::string error_code, std::string message) {
  return rejected(reject_code::none, std::move(error_code), std::move(message));
}

rejection no_interface(const std::string& actor) {
  return bad("MX401", fmt::format("actor '{}' has no Candid interface: its manifest entry names no "
                                  ".did file and its module carries none, so JSON cannot be read "
                                  "for it",
                                  actor));
}

rejection no_method(const std::string& actor, const std::string& method,
                    const json_interface& known) {
  const std::vector<std::string_view> names(known.methods().begin(), known.methods().end());
  return rejected(
    reject_code::canister_error, "MX536",
    fmt::format("actor '{}' has no method '{}'{}", actor, method, did_you_mean(method, names)));
}

result<byte_string> read_candid(const net::http_call& call, const method_type* method) {
  const byte_view bytes = call.body.empty() ? byte_view{no_arguments} : byte_view{call.body};
  const auto sound =
    method != nullptr ? candid::validate(bytes, method->arguments) : candid::validate_any(bytes);
  if (!sound) return sound.error();
  return byte_string{bytes};
}

result<byte_string> read_text(const net::http_call& call, const method_type* method) {
  const auto text = call.body.empty() ? std::string_view{"()"} : std::string_view{call.body};
  if (method != nullptr) {
    auto values = candid::text_to_values(method->arguments, text);
    if (!values) return values.error();
    return candid::encode(method->arguments, *values);
  }
  auto read = candid::text_to_message(text);
  if (!read) return read.error();
  return candid::encode(candid::make_tuple_type(read->types, read->items), read->values);
}

result<std::string> write_text(const method_type* method, byte_view reply) {
  if (method != nullptr) {
    auto values = candid::decode(reply, method->results);
    if (!values) return values.error();
    return candid::values_to_text(method->results, *values);
  }
  // Seen through before anything is built, so that what is refused takes no memory.
  if (auto sound = candid::validate_any(reply); !sound) return sound.error();
  auto values = candid::decode_any(reply);
  if (!values) return values.error();
  return candid::message_to_text(*values, {.annotate = true});
}

/// Who calls, and what comes along.
struct outside_caller {
  principal sender;
  cycles attached;
};

boost::system::result<outside_caller, rejection> read_caller(const net::http_call& call) {
  outside_caller out{principal::anonymous(), {}};
  if (!call.sender.empty()) {
    auto sender = principal::from_text(call.sender);
    if (!sender) return bad("MX400", fmt::format("sender: {}", sender.error().message));
    if (sender->is_management()) return bad("MX400", "sender: aaaaa-aa makes no calls");
    out.sender = *std::move(sender);
  }
  for (const char digit : call.cycles)
    out.attached.value = out.attached.value * 10 + static_cast<unsigned>(digit - '0');
  return out;
}

boost::system::result<byte_string, rejection> read_argument(const net::http_call& call,
                                                            const outside_target& target) {
  const auto* known = target.json;
  const bool is_json = call.format == net::call_format::json;
  if (known == nullptr && is_json) return no_interface(target.name);
  const auto* method = known == nullptr ? nullptr : known->find(call.method);
  if (known != nullptr && method == nullptr) return no_method(target.name, call.method, *known);
  auto argument =
    is_json ? candid::json_to_arguments(*method, call.body, {call.is_lenient, call.blob_base64})
    : call.format == net::call_format::candid ? read_candid(call, method)
                                              : read_text(call, method);
  if (!argument) return bad("MX400", argument.error().message);
  return *std::move(argument);
}

/// What the code exports a method of its interface as. Motoko's `loop_` (a keyword is no name
/// there) is `loop` in the interface that its compiler writes, and still `loop_` among the exports.
std::string exported_name(const actor_code* code, const std::string& method) {
  const bool is_as_named = code == nullptr || code->find_method(method);
  return is_as_named || !code->find_method(method + "_") ? method : method + "_";
}

} // namespace

boost::system::result<call_request, rejection> read_outside_call(const net::http_call& call,
                                                                 const outside_target& target) {
  auto caller = read_caller(call);
  if (!caller) return caller.error();
  call_request request;
  request.identity.caller = caller->sender;
  // Somebody's own calls have numbers of their own.
  if (!call.sender.empty()) request.identity.epoch = outside_epochs;
  request.origin = request_origin::outside;
  request.mode = call.kind == net::call_kind::query ? request_mode::query : request_mode::update;
  request.method = exported_name(target.code, call.method);
  request.attached = caller->attached;
  if (target.code == nullptr) return request; // an actor without code says so itself
  auto argument = read_argument(call, target);
  if (!argument) return argument.error();
  request.argument = *std::move(argument);
  return request;
}

net::http_answer write_outside_answer(const net::http_call& call, const call_answer& answer,
                                      const outside_target& target) {
  if (const auto* why = std::get_if<rejection>(&answer)) return http_refusal(*why);
  const auto& reply = std::get<reply_value>(answer).argument;
  if (call.format == net::call_format::candid)
    return {.content_type = "application/octet-stream", .body = reply};
  const auto* method = target.json == nullptr ? nullptr : target.json->find(call.method);
  const bool is_text = call.format == net::call_format::text;
  if (method == nullptr && !is_text) {
    return http_refusal(
      rejected(reject_code::canister_error, "MX504", "the actor has no Candid interface any more"));
  }
  auto text = is_text ? write_text(method, reply)
                      : candid::reply_to_json(*method, reply, {call.is_lenient, call.blob_base64});
  if (!text) {
    return http_refusal(rejected(reject_code::canister_error, "MX504",
                                 fmt::format("the reply of '{}' is not of the type that the "
                                             "actor's interface promises: {}",
                                             call.method, text.error().message)));
  }
  if (is_text) return {.content_type = "text/plain; charset=utf-8", .body = *std::move(text)};
  return {.body = *std::move(text)};
}

} // namespace moxzi::actors
