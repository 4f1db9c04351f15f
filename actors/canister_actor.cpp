#include "actors/canister_actor.hpp"

#include <utility>

#include "actors/candid/decode.hpp"
#include "actors/candid/errc.hpp"
#include "actors/harden.hpp"
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

/// Why a message of one actor is not shown to another: it is Candid that would cost its reader far
/// more than its sender, and what compilers put into modules to read it does not always count. What
/// is no Candid, or not sound, is the receiver's own affair.
std::optional<std::string> cost_refusal(byte_view bytes) {
  if (!bytes.starts_with("DIDL")) return std::nullopt;
  const auto sound = candid::validate_any(bytes);
  if (sound || sound.error().code != candid::candid_errc::over_limit) return std::nullopt;
  return "costs more to read than a message may: " + sound.error().message;
}

/// What the code exports a method of its interface as. Motoko's `loop_` (a keyword is no name
/// there) is `loop` in the interface that its compiler writes, and still `loop_` among the exports.
std::string exported_name(const actor_body& code, const std::string& method) {
  const auto has = [&code](const std::string& name) {
    return code.has_update(name) || code.has_query(name);
  };
  return has(method) || !has(method + "_") ? method : method + "_";
}

} // namespace

canister_state::~canister_state() {
  if (!setup_) return;
  setup_->alarms->cancel(self_->id());
  const auto why = rejected(reject_code::sys_unknown, "MX509",
                            fmt::format("actor '{}' was stopped before it answered this call; what "
                                        "it had done until its last await stays",
                                        setup_->name));
  for (const auto& [_, from] : origins_) {
    if (const auto* outside = std::get_if<outside_call>(&from)) {
      outside->call->sink->answer(http_refusal(why));
    }
  }
}

hosted_actor::behavior_type canister_state::make_behavior(hosted_setup_ptr setup) {
  setup_ = std::move(setup);
  core_.emplace(setup_->settings, *setup_->body);
  harden(self_, setup_->log);
  return {
    [this](deliver_request& what) { deliver(what); },
    [this](call_response& what) { feed(std::move(what)); },
    [this](const net::http_call_ptr& what) { call(what); },
    [this](install_code& what) { return install(what); },
    [this](execution_ended& what) { feed(std::move(what)); },
    [this](wake_atom) { wake(); },
    [this](stop_atom) { stop(); },
  };
}

void canister_state::deliver(deliver_request& what) {
  const auto& request = what.request;
  if (!is_own(request.identity)) {
    if (const auto why = cost_refusal(request.argument)) {
      const auto text = fmt::format("the argument of '{}' {}", request.method, *why);
      self_->send(what.reply_to, call_response{request.identity,
                                               rejected(reject_code::canister_error, "MX400", text),
                                               request.attached});
      return;
    }
  }
  origins_.try_emplace(what.request.identity, std::move(what.reply_to));
  feed(std::move(what.request));
}

void canister_state::call(const net::http_call_ptr& what) {
  const auto refuse = [&what](const rejection& why) { what->sink->answer(http_refusal(why)); };
  const auto& json = setup_->json;
  if (!json) {
    return refuse(bad_request(
      "MX401", fmt::format("actor '{}' has no Candid interface: its manifest entry names no .did "
                           "file and its module carries none, so JSON cannot be read for it",
                           setup_->name)));
  }
  if (!json->has(what->method)) return refuse(no_method(setup_->name, what->method, *json));
  auto argument = json->read_arguments(what->method, what->body);
  if (!argument) return refuse(bad_request("MX400", argument.error().message));
  call_request request;
  request.identity = {principal::anonymous(), setup_->settings.epoch, ++outside_calls_};
  request.origin = request_origin::outside;
  request.mode = what->kind == net::call_kind::query ? request_mode::query : request_mode::update;
  request.method = exported_name(*setup_->body, what->method);
  request.argument = *std::move(argument);
  origins_.emplace(request.identity, outside_call{what});
  feed(std::move(request));
}

caf::result<install_report> canister_state::install(install_code& what) {
  installing_ = self_->make_response_promise<install_report>();
  auto promise = *installing_;
  feed(std::move(what));
  return promise;
}

void canister_state::feed(core_input input) {
  act(core_->step(std::move(input), setup_->time->unix_ns()));
}

void canister_state::wake() {
  alarm_ns_.reset();
  feed(time_passed{});
}

void canister_state::stop() {
  stopping_ = true;
  feed(shut_down{});
}

void canister_state::act(core_effects effects) {
  for (const auto& line : effects.debug_lines) {
    setup_->log->info("debug_print actor={} text={}", setup_->name, json_quote(line));
  }
  answer(std::move(effects.answers), std::move(effects.record));
  send_calls(std::move(effects.calls));
  if (effects.execute) execute(*std::move(effects.execute));
  report_installation();
  if (stopping_ && !core_->busy()) {
    self_->quit();
  } else {
    set_alarm();
  }
}

// The output gate: what leaves the node leaves once the record of its cause, and so all before it,
// is durable. Between local actors nothing waits: their records follow in the same order.
void canister_state::answer(std::vector<call_response> answers,
                            std::optional<persist::record> record) {
  std::vector<outside_answer> leaving;
  std::vector<std::pair<caller_actor, call_response>> staying;
  for (auto& what : answers) {
    const auto at = origins_.find(what.identity);
    if (at == origins_.end()) continue;
    if (auto* outside = std::get_if<outside_call>(&at->second)) {
      auto http = to_http(*outside->call, what.answer);
      leaving.push_back({std::move(outside->call), std::move(http)});
    } else {
      guard_caller(what);
      staying.emplace_back(std::get<caller_actor>(std::move(at->second)), std::move(what));
    }
    origins_.erase(at);
  }
  std::function<void()> leave;
  if (!leaving.empty()) {
    leave = [leaving = std::move(leaving)] {
      for (const auto& [call, http] : leaving) call->sink->answer(http);
    };
  }
  if (record) {
    setup_->journal->append(*std::move(record), std::move(leave));
  } else if (leave) {
    leave();
  }
  for (auto& [to, response] : staying) self_->send(to, std::move(response));
}

void canister_state::guard_caller(call_response& what) const {
  const auto* reply = std::get_if<reply_value>(&what.answer);
  if (reply == nullptr || is_own(what.identity)) return;
  if (const auto why = cost_refusal(reply->argument)) {
    what.answer = rejected(reject_code::canister_error, "MX504",
                           fmt::format("the reply of actor '{}' {}", setup_->name, *why));
  }
}

bool canister_state::is_own(const call_identity& call) const {
  return call.caller == setup_->settings.self;
}

void canister_state::send_calls(std::vector<issued_call> calls) {
  for (auto& call : calls) {
    const caller_actor reply_to = caf::actor_cast<caller_actor>(self_);
    deliver_request what{std::move(call.callee), std::move(call.request), reply_to};
    if (what.callee.is_management()) {
      self_->send(setup_->management, std::move(what));
    } else if (what.callee == setup_->settings.self) {
      self_->send(caf::actor_cast<callee_actor>(self_), std::move(what));
    } else {
      self_->send(setup_->calls, std::move(what));
    }
  }
}

void canister_state::execute(start_execution what) {
  setup_->body->execute(std::move(what.input), std::move(what.may_call),
                        [self = hosted_actor{self_}](execution_output output) {
                          caf::anon_send(self, execution_ended{std::move(output)});
                        });
}

void canister_state::set_alarm() {
  const auto at = core_->wake_ns();
  if (at == alarm_ns_) return;
  alarm_ns_ = at;
  if (!at) return setup_->alarms->cancel(self_->id());
  setup_->alarms->set(self_->id(), *at,
                      [self = hosted_actor{self_}] { caf::anon_send(self, wake_atom::value); });
}

void canister_state::report_installation() {
  if (!installing_ || !core_->installation_ended()) return;
  installing_->deliver(install_report{core_->installed(), core_->install_failure()});
  installing_.reset();
}

net::http_answer canister_state::to_http(const net::http_call& call,
                                         const call_answer& answer) const {
  if (const auto* why = std::get_if<rejection>(&answer)) return http_refusal(*why);
  auto json = setup_->json->write_results(call.method, std::get<reply_value>(answer).argument);
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

canister_actor::canister_actor(caf::actor_config& config, hosted_setup_ptr setup)
    : super(config), unit_(setup->unit), setup_(std::move(setup)) {
  // nop
}

void canister_actor::enqueue(caf::mailbox_element_ptr what, caf::execution_unit* from) {
  super::enqueue(std::move(what), unit_ != nullptr ? unit_ : from);
}

void canister_actor::launch(caf::execution_unit* from, bool lazy, bool hide) {
  super::launch(unit_ != nullptr ? unit_ : from, lazy, hide);
}

canister_actor::behavior_type canister_actor::make_behavior() {
  return state.make_behavior(std::move(setup_));
}

} // namespace moxzi::actors
