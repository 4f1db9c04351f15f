#include "actors/canister_actor.hpp"

#include <utility>

#include "actors/candid/decode.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/errc.hpp"
#include "actors/candid/text.hpp"
#include "actors/harden.hpp"
#include "actors/http_status.hpp"
#include "actors/stable_types.hpp"

namespace moxzi::actors {

namespace {

/// Why a message of one actor is not shown to another: it is Candid that would cost its reader far
/// more than its sender, and what compilers put into modules to read it does not always count. What
/// is no Candid, or not sound, is the receiver's own affair.
std::optional<std::string> cost_refusal(byte_view bytes) {
  if (!bytes.starts_with("DIDL")) return std::nullopt;
  const auto sound = candid::validate_any(bytes);
  if (sound || sound.error().code != candid::candid_errc::over_limit) return std::nullopt;
  return "costs more to read than a message may: " + sound.error().message;
}

} // namespace

canister_state::~canister_state() {
  if (!setup_) return;
  setup_->services.alarms->cancel(self_->id());
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
  harden(self_, setup_->services.log);
  if (setup_->services.metrics != nullptr)
    meters_ = setup_->services.metrics->meters_of(setup_->name);
  body_ = setup_->services.factory->make_body(setup_->settings.self);
  core_.emplace(setup_->settings);
  feed(setup_->created);
  return {
    [this](deliver_request& what) { deliver(what); },
    [this](call_response& what) { feed(std::move(what)); },
    [this](const net::http_call_ptr& what) { call(what); },
    [this](manage_actor& what) { manage(what); },
    [this](code_ready& what) { take_code(what); },
    [this](execution_ended& what) { end(what); },
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
  origins_.try_emplace(what.request.identity,
                       inside_call{std::move(what.reply_to), what.request.method});
  feed(std::move(what.request));
}

void canister_state::call(const net::http_call_ptr& what) {
  auto request = read_outside_call(*what, target());
  if (!request) return what->sink->answer(http_refusal(request.error()));
  if (request->mode == request_mode::query && !setup_->habits.anonymous_queries
      && request->identity.caller == principal::anonymous()) {
    return what->sink->answer(http_refusal(rejected(
      reject_code::canister_error, "MX512",
      fmt::format("actor '{}' answers queries only of callers with a name", setup_->name))));
  }
  request->identity.epoch |= setup_->settings.epoch;
  request->identity.sequence = ++outside_calls_;
  origins_.emplace(request->identity, outside_call{what});
  feed(*std::move(request));
}

// Changes keep their order while a module is made ready; what only reads goes before them.
void canister_state::manage(manage_actor& what) {
  const bool only_reads = std::visit(
    [](const auto& request) { return lifecycle::only_reads<std::decay_t<decltype(request)>>; },
    what.what);
  if (!only_reads) {
    changes_.push_back(std::move(what));
    return feed_changes();
  }
  change_input input;
  input.sender = what.sender;
  input.sender_version = what.sender_version;
  input.what = what.what;
  input.token = ++tokens_;
  asked_.emplace(input.token, std::move(what));
  feed(std::move(input));
}

void canister_state::feed_changes() {
  while (!changes_.empty() && !compiling_) {
    auto& first = changes_.front();
    auto* install = std::get_if<lifecycle::install_code>(&first.what);
    if (install != nullptr && !first.code) {
      compiling_ = true;
      setup_->services.factory->prepare(std::move(install->module),
                                        [self = hosted_actor{self_}](result<prepared_code> code) {
                                          caf::anon_send(self, code_ready{std::move(code)});
                                        });
      return;
    }
    change_input input;
    input.sender = first.sender;
    input.sender_version = first.sender_version;
    input.token = ++tokens_;
    if (install != nullptr) {
      input.code = first.code->code;
      input.module = input.code->hash();
      did_ = std::move(install->did);
    }
    auto asked = std::move(first);
    changes_.pop_front();
    input.what = asked.what;
    asked_.emplace(input.token, std::move(asked));
    feed(std::move(input));
  }
}

void canister_state::take_code(code_ready& what) {
  compiling_ = false;
  if (changes_.empty()) return; // refused meanwhile: the node stops
  if (what.code) {
    changes_.front().code = *std::move(what.code);
  } else {
    report(changes_.front(),
           rejected(reject_code::canister_error, "MX505",
                    fmt::format("Canister {}: {}", setup_->settings.self.to_text(),
                                what.code.error().message)));
    changes_.pop_front();
  }
  feed_changes();
}

void canister_state::feed(core_input input) {
  act(core_->step(std::move(input), setup_->services.time->unix_ns()));
  if (meters_) meters_->charged(core_->spent());
}

void canister_state::end(execution_ended& what) {
  if (meters_) {
    const auto now = setup_->services.time->monotonic_ns();
    meters_->executed(
      {now - execution_began_ns_, what.output.instructions, what.output.dirty_pages});
  }
  feed(std::move(what));
}

void canister_state::wake() {
  alarm_ns_.reset();
  feed(time_passed{});
}

void canister_state::stop() {
  stopping_ = true;
  while (!changes_.empty()) {
    report(changes_.front(), rejected(reject_code::canister_error, "MX509",
                                      fmt::format("actor '{}' ends with its node", setup_->name)));
    changes_.pop_front();
  }
  feed(shut_down{});
}

void canister_state::act(core_effects effects) {
  for (const auto& line : effects.debug_lines) {
    setup_->services.log->info("debug_print actor={} text={}", setup_->name, json_quote(line));
  }
  answer(std::move(effects.answers), std::move(effects.records));
  if (core_->code() != code_) follow_code();
  if (effects.forgets_space) forget_space(); // gone before it is said to be
  for (auto& change : effects.changes) answer_change(std::move(change));
  send_calls(std::move(effects.calls));
  ended_queries_.insert(ended_queries_.end(), effects.ended_queries.begin(),
                        effects.ended_queries.end());
  if (effects.execute || !core_->busy()) { // the body rests
    for (const auto query : ended_queries_) body_->end_query(query);
    ended_queries_.clear();
  }
  if (effects.clears_body) body_->clear();
  if (effects.removed) self_->send(setup_->supervisor, setup_->settings.self);
  if (effects.execute) execute(*std::move(effects.execute));
  if (stopping_ && !core_->busy()) {
    self_->quit();
  } else {
    set_alarm();
  }
}

// The output gate: what leaves the node leaves once the record of its cause, and so all before it,
// is durable. Between local actors nothing waits: their records follow in the same order.
void canister_state::answer(std::vector<call_response> answers,
                            std::vector<persist::record> records) {
  std::vector<outside_answer> leaving;
  std::vector<std::pair<caller_actor, call_response>> staying;
  for (auto& what : answers) {
    const auto at = origins_.find(what.identity);
    if (at == origins_.end()) continue;
    if (auto* outside = std::get_if<outside_call>(&at->second)) {
      if (meters_) meters_->answered(outside->call->method, outcome_of(what.answer));
      auto http = write_outside_answer(*outside->call, what.answer, target());
      leaving.push_back({std::move(outside->call), std::move(http)});
    } else {
      auto& inside = std::get<inside_call>(at->second);
      guard_caller(what);
      if (meters_) meters_->answered(inside.method, outcome_of(what.answer));
      staying.emplace_back(std::move(inside.reply_to), std::move(what));
    }
    origins_.erase(at);
  }
  std::function<void()> leave;
  if (!leaving.empty()) {
    leave = [leaving = std::move(leaving)] {
      for (const auto& [call, http] : leaving) call->sink->answer(http);
    };
  }
  if (records.empty() && leave) leave();
  for (auto& record : records) {
    const bool is_last = &record == &records.back();
    setup_->services.journal->append(std::move(record), is_last ? std::move(leave) : nullptr);
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
      self_->send(setup_->services.management, std::move(what));
    } else if (what.callee == setup_->settings.self) {
      self_->send(caf::actor_cast<callee_actor>(self_), std::move(what));
    } else {
      self_->send(setup_->services.calls, std::move(what));
    }
  }
}

// As a call of the actor's own would, so that it is recorded as one; nobody waits for the answer.
void canister_state::forget_space() {
  static const auto argument = [] {
    const auto types = candid::parse_types("(record { everything : opt bool })");
    const auto values = candid::text_to_values(*types, "(record { everything = opt true })");
    return *candid::encode(*types, *values);
  }();
  call_request request;
  request.identity = {setup_->settings.self, setup_->settings.epoch, 0};
  request.method = "moxzi_device_delete";
  request.argument = argument;
  request.caller_balance = {~uint128{0}}; // it is not refused for want of cycles
  self_->send(setup_->services.management, deliver_request{principal{}, std::move(request),
                                                           caf::actor_cast<caller_actor>(self_)});
}

void canister_state::execute(start_execution what) {
  if (meters_) execution_began_ns_ = setup_->services.time->monotonic_ns();
  body_->execute(std::move(what.input), std::move(what.may_call),
                 [self = hosted_actor{self_}](execution_output output) {
                   caf::anon_send(self, execution_ended{std::move(output)});
                 });
}

void canister_state::set_alarm() {
  const auto at = core_->wake_ns();
  if (at == alarm_ns_) return;
  alarm_ns_ = at;
  if (!at) return setup_->services.alarms->cancel(self_->id());
  setup_->services.alarms->set(
    self_->id(), *at, [self = hosted_actor{self_}] { caf::anon_send(self, wake_atom::value); });
}

void canister_state::answer_change(change_answer what) {
  const auto at = asked_.find(what.token);
  if (at == asked_.end()) return;
  const auto asked = std::move(at->second);
  asked_.erase(at);
  if (auto* status = std::get_if<lifecycle::status>(&what.answer)) status->name = setup_->name;
  if (auto* why = std::get_if<rejection>(&what.answer)) explain_upgrade(asked, *why);
  report(asked, std::move(what.answer));
}

// The compiler's run time only says that they do not fit.
void canister_state::explain_upgrade(const manage_actor& asked, rejection& why) const {
  constexpr char section[] = "motoko:stable-types";
  if (!asked.code || !code_ || why.message.find("Memory-incompatible") == std::string::npos) return;
  const auto* before = code_->find_metadata(section);
  const auto* after = asked.code->code->find_metadata(section);
  if (before == nullptr || after == nullptr) return;
  if (const auto text = stable_differences(before->contents, after->contents); !text.empty()) {
    why.message += fmt::format(" (stable variables: {})", text);
  }
}

void canister_state::report(const manage_actor& what, lifecycle::answer answer) {
  if (what.reply_to)
    self_->send(what.reply_to, managed{what.token, what.target, std::move(answer)});
}

void canister_state::follow_code() {
  code_ = core_->code();
  json_ = nullptr;
  if (!code_) return;
  if (meters_) {
    for (const auto& [method, _] : code_->methods()) meters_->know(method);
  }
  const auto* section = code_->find_metadata("candid:service");
  if (!did_ && section == nullptr) return;
  auto read = json_interface::make(did_ ? *did_ : section->contents, setup_->name);
  if (read) {
    json_ = *std::move(read);
  } else {
    setup_->services.log->error("interface_unreadable actor={} reason={}", setup_->name,
                                json_quote(read.error().message));
  }
}

outside_target canister_state::target() const {
  return {setup_->name, core_->code().get(), json_.get()};
}

canister_actor::canister_actor(caf::actor_config& config, hosted_setup_ptr setup)
    : super(config), unit_(setup->services.unit), setup_(std::move(setup)) {
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
