#include "actors/outside_call.hpp"

#include <utility>
#include <vector>

#include "actors/http_status.hpp"
#include "base/nearest.hpp"

namespace moxzi::actors {

namespace {

rejection bad_request(std::string error_code, std::string message) {
  return rejected(reject_code::none, std::move(error_code), std::move(message));
}

rejection no_method(const std::string& actor, const std::string& method,
                    const json_interface& json) {
  const std::vector<std::string_view> known(json.methods().begin(), json.methods().end());
  return rejected(
    reject_code::canister_error, "MX536",
    fmt::format("actor '{}' has no method '{}'{}", actor, method, did_you_mean(method, known)));
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
  const auto* json = target.json;
  if (target.code != nullptr && json == nullptr) {
    return bad_request(
      "MX401", fmt::format("actor '{}' has no Candid interface: its manifest entry names no .did "
                           "file and its module carries none, so JSON cannot be read for it",
                           target.name));
  }
  call_request request;
  request.origin = request_origin::outside;
  request.mode = call.kind == net::call_kind::query ? request_mode::query : request_mode::update;
  request.method = exported_name(target.code, call.method);
  if (json == nullptr) return request; // an actor without code says so itself
  if (!json->has(call.method)) return no_method(target.name, call.method, *json);
  auto argument = json->read_arguments(call.method, call.body);
  if (!argument) return bad_request("MX400", argument.error().message);
  request.argument = *std::move(argument);
  return request;
}

net::http_answer write_outside_answer(const net::http_call& call, const call_answer& answer,
                                      const outside_target& target) {
  if (const auto* why = std::get_if<rejection>(&answer)) return http_refusal(*why);
  if (target.json == nullptr) {
    return http_refusal(
      rejected(reject_code::canister_error, "MX504", "the actor has no Candid interface any more"));
  }
  auto json = target.json->write_results(call.method, std::get<reply_value>(answer).argument);
  if (!json) {
    return http_refusal(rejected(reject_code::canister_error, "MX504",
                                 fmt::format("the reply of '{}' is not of the type that the "
                                             "actor's interface promises: {}",
                                             call.method, json.error().message)));
  }
  net::http_answer http;
  http.body = *std::move(json);
  return http;
}

} // namespace moxzi::actors
