#pragma once

#include <map>
#include <optional>
#include <string>

#include "actors/candid/decode.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/text.hpp"
#include "actors/management/management.hpp"
#include "base/entropy.hpp"
#include "tests/actors/hosting/hosting_fixture.hpp"

namespace moxzi::actors::testing {

/// A node with the real management canister. Calls and replies are Candid text.
class managed_node : public hosting_fixture {
protected:
  managed_node() : randomness(make_system_entropy()) {
    // In place of the fixture's stand-in.
    caf::anon_send(route, stop_atom::value);
    caf::anon_send(management, stop_atom::value);
    management_set_up.journal = &journal;
    management_set_up.time = time.get();
    management_set_up.randomness = randomness.get();
    management_set_up.log = log;
    management_set_up.seed = sha256("seed");
    management_set_up.subnet = principal::of_actor("subnet");
    management_set_up.node = principal::of_actor("node");
    management_set_up.version = "0.1";
  }

  /// To be called once, when settings and setup stand.
  void begin() {
    management_set_up.charging = charging;
    management_set_up.prices = prices;
    management = management::spawn_management(*system, management_set_up);
    route = system->spawn(router, callee_actor{management}, log);
    boss();
  }

  /// A call of `aaaaa-aa`, with the argument as it is.
  call_response send_bytes(const std::string& method, byte_string argument,
                           const std::string& caller = "tester", cycles attached = {},
                           cycles balance = {}, request_mode mode = request_mode::update) {
    caf::scoped_actor self{*system};
    call_request request;
    request.identity = {principal::of_actor(caller), 1, ++sequence};
    request.method = method;
    request.argument = std::move(argument);
    request.attached = attached;
    request.caller_balance = balance;
    request.caller_version = version;
    request.mode = mode;
    self->send(management, deliver_request{principal{}, std::move(request),
                                           caf::actor_cast<caller_actor>(self)});
    call_response response;
    self->receive([&](call_response& what) { response = std::move(what); },
                  caf::after(patience) >> [&] { ADD_FAILURE() << method << ": no response"; });
    return response;
  }

  /// The same from a composite query.
  call_response send_query(const std::string& method, byte_string argument) {
    return send_bytes(method, std::move(argument), "tester", {}, {}, request_mode::query);
  }

  static const candid::method_type& type_of(const std::string& method) {
    const auto* found = management::method_types::get().service.find(method);
    EXPECT_NE(found, nullptr) << method;
    return *found;
  }
  static byte_string encode(const std::string& method, const std::string& arguments) {
    const auto& type = type_of(method).arguments;
    const auto values = candid::text_to_values(type, arguments);
    EXPECT_TRUE(values) << method << arguments << ": " << (values ? "" : values.error().message);
    return values ? candid::encode(type, *values).value() : byte_string{};
  }

  /// The reply as text, or `4 MX408: …`.
  std::string ask(const std::string& method, const std::string& arguments,
                  const std::string& caller = "tester", cycles attached = {}) {
    last = send_bytes(method, encode(method, arguments), caller, attached);
    return text_of(method, last);
  }
  static std::string text_of(const std::string& method, const call_response& response) {
    if (const auto* why = std::get_if<rejection>(&response.answer)) {
      return fmt::format("{} {}: {}", static_cast<int>(why->code), why->error_code, why->message);
    }
    const auto& type = type_of(method).results;
    const auto values = candid::decode(std::get<reply_value>(response.answer).argument, type);
    EXPECT_TRUE(values) << method << ": " << (values ? "" : values.error().message);
    return values ? candid::values_to_text(type, *values) : "";
  }

  /// A new canister of `caller`'s, as `principal "…"` has it.
  std::string make(const std::string& caller = "tester", cycles attached = {}) {
    const auto reply = ask("create_canister", "(record {})", caller, attached);
    const auto from = reply.find("principal \"");
    if (from == std::string::npos) {
      ADD_FAILURE() << reply;
      return {};
    }
    const auto begin = from + 11;
    return reply.substr(begin, reply.find('"', begin) - begin);
  }

  std::unique_ptr<entropy> randomness;
  management::management_setup management_set_up;
  call_response last;
  uint64_t version = 0; ///< of the callers
};

} // namespace moxzi::actors::testing
