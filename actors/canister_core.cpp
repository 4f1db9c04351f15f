#include "actors/canister_core.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace moxzi::actors {

namespace {

// What a balance reads as where nothing is charged.
constexpr cycles uncharged_balance{1'000'000'000'000'000'000u};

} // namespace

canister_core::canister_core(core_settings settings, const actor_body& code)
    : settings_(std::move(settings)), code_(code), balance_(settings_.balance),
      answers_(limits::answers_kept_max, limits::answers_kept_bytes_max) {
  // nop
}

core_effects canister_core::step(core_input input, uint64_t time_ns) {
  time_ns_ = std::max(time_ns_, time_ns);
  core_effects out;
  std::visit([&](auto&& what) { take(std::move(what), out); }, std::move(input));
  start_next(out);
  return out;
}

result<core_effects> canister_core::replay(recorded_input input, uint64_t time_ns) {
  if (running_) return fail(base_errc::malformed, "an execution still runs");
  if (time_ns < time_ns_) return fail(base_errc::malformed, "its time is before the last one's");
  const bool is_install = std::holds_alternative<install_code>(input.input);
  if (is_install != (life_ == life::fresh)) {
    return fail(base_errc::malformed, "an actor's life starts with its installation, once");
  }
  time_ns_ = time_ns;
  replayed_limit_ = input.instructions_max;
  core_effects out;
  if (const auto* response = std::get_if<call_response>(&input.input)) {
    const auto call = calls_.find(response->identity.sequence);
    if (call == calls_.end() || call->second.epoch != response->identity.epoch) {
      return fail(base_errc::malformed, "it answers call {}, which the actor did not make",
                  response->identity.sequence);
    }
  }
  if (const auto* request = std::get_if<call_request>(&input.input)) {
    answers_.open(request->identity);
  }
  std::visit([&](auto&& what) { start(std::move(what), out); }, std::move(input.input));
  replayed_limit_.reset();
  if (!running_) return fail(base_errc::malformed, "the actor's code does not take this input");
  return out;
}

std::optional<uint64_t> canister_core::wake_ns() const noexcept {
  if (life_ != life::running) return std::nullopt;
  std::optional<uint64_t> at;
  const auto consider = [&at](uint64_t ns) { at = at ? std::min(*at, ns) : ns; };
  if (timer_ns_ != 0 && !timer_waits_) consider(timer_ns_);
  if (!expiries_.empty()) consider(expiries_.begin()->first);
  if (!beat_waits_ && code_.has_entry(entry_kind::heartbeat)) consider(next_beat_ns_);
  return at;
}

cycles canister_core::balance() const noexcept {
  return settings_.charging ? balance_ : uncharged_balance;
}

// -- inputs --------------------------------------------------------------------

void canister_core::take(install_code input, core_effects& out) {
  moxzi_assert(life_ == life::fresh);
  start(std::move(input), out);
}

void canister_core::take(call_request request, core_effects& out) {
  if (request.mode == request_mode::update) {
    switch (answers_.ask(request.identity)) {
      case answer_memory::verdict::fresh:
        break;
      case answer_memory::verdict::open:
        return;
      case answer_memory::verdict::answered:
        out.answers.push_back(*answers_.find(request.identity));
        return;
      case answer_memory::verdict::forgotten:
        refuse(request,
               rejected(reject_code::sys_unknown, "MX602",
                        "this call was taken before; its answer is no longer kept"),
               out);
        return;
    }
  }
  if (life_ == life::failed || life_ == life::ended) {
    refuse(request, not_accepting(), out);
    return;
  }
  if (queued_requests_ >= limits::queue_length_max) {
    refuse(request,
           rejected(reject_code::sys_transient, "MX201",
                    fmt::format("{} calls already wait for canister {}; call again later",
                                queued_requests_, settings_.self.to_text())),
           out);
    return;
  }
  if (request.mode == request_mode::update) answers_.open(request.identity);
  ++queued_requests_;
  queue_.emplace_back(std::move(request));
}

void canister_core::take(call_response response, core_effects&) {
  const auto call = calls_.find(response.identity.sequence);
  // Late (the bounded wait is over) or a second one: dropped, with its cycles.
  if (call == calls_.end() || call->second.epoch != response.identity.epoch
      || call->second.has_response) {
    return;
  }
  call->second.has_response = true;
  expiries_.erase({call->second.expires_ns, call->first});
  queue_.emplace_back(std::move(response));
}

void canister_core::take(time_passed, core_effects&) {
  if (life_ != life::running) return;
  expire_calls();
  if (timer_ns_ != 0 && timer_ns_ <= time_ns_ && !timer_waits_) {
    timer_waits_ = true;
    queue_.emplace_back(fire_timer{});
  }
  if (!beat_waits_ && next_beat_ns_ <= time_ns_ && code_.has_entry(entry_kind::heartbeat)) {
    beat_waits_ = true;
    queue_.emplace_back(beat{});
  }
}

void canister_core::take(shut_down, core_effects& out) {
  life_ = life::ended;
  refuse_waiting(out);
}

void canister_core::take(execution_ended ended, core_effects& out) {
  moxzi_assert(running_.has_value());
  auto& output = ended.output;
  out.instructions = output.instructions;
  out.debug_lines = std::move(output.debug_lines);
  running_->record.instructions += output.instructions;
  if (running_->kind == entry_kind::init) return end_installation(std::move(output), out);
  if (running_->kind == entry_kind::inspect) return end_inspection(output, out);
  const auto context = running_->context;
  apply(output, &contexts_.at(context), out);
  if (output.trapped && running_->on_cleanup) return run_cleanup(out);
  settle(context, out);
  finish_record(out);
}

// -- starting ------------------------------------------------------------------

void canister_core::start_next(core_effects& out) {
  if (life_ == life::failed) refuse_waiting(out);
  while (!running_ && life_ == life::running && !queue_.empty()) {
    auto input = std::move(queue_.front());
    queue_.pop_front();
    if (std::holds_alternative<call_request>(input)) --queued_requests_;
    std::visit([&](auto&& what) { start(std::move(what), out); }, std::move(input));
  }
}

void canister_core::start(install_code input, core_effects& out) {
  life_ = life::installing;
  running_.emplace();
  const auto instructions_max = limit_of(entry_kind::init);
  begin_record(input, {}, instructions_max);
  execution_input what;
  what.kind = entry_kind::init;
  what.argument = std::move(input.argument);
  what.instructions_max = instructions_max;
  execute(std::move(what), 0, out);
}

void canister_core::start(call_request request, core_effects& out) {
  const auto kind = entry_of(request);
  if (!kind) {
    const auto word = request.mode == request_mode::query ? "query" : "update";
    refuse(request,
           rejected(reject_code::canister_error, "MX536",
                    fmt::format("Canister {} has no {} method '{}'", settings_.self.to_text(), word,
                                request.method)),
           out);
    return;
  }
  const bool is_inspected = *kind == entry_kind::update && !replayed_limit_
                            && request.origin == request_origin::outside
                            && code_.has_entry(entry_kind::inspect);
  if (is_inspected) {
    run_inspection(std::move(request), out);
  } else {
    run_request(std::move(request), *kind, out);
  }
}

void canister_core::start(call_response response, core_effects& out) {
  const auto at = calls_.find(response.identity.sequence);
  moxzi_assert(at != calls_.end());
  const auto call = std::move(at->second);
  calls_.erase(at);
  expiries_.erase({call.expires_ns, response.identity.sequence});
  if (const auto to = calls_to_.find(call.callee); --to->second == 0) calls_to_.erase(to);
  auto& context = contexts_.at(call.context);
  --context.open_calls;
  if (settings_.charging) balance_.value += response.refunded.value;

  running_.emplace();
  running_->on_cleanup = call.on_cleanup;
  const auto instructions_max = limit_of(entry_kind::reply_callback);
  begin_record(response, response.refunded, instructions_max);
  execution_input what;
  what.refunded = response.refunded;
  what.instructions_max = instructions_max;
  if (auto* reply = std::get_if<reply_value>(&response.answer)) {
    what.kind = entry_kind::reply_callback;
    what.callback = call.on_reply;
    what.argument = std::move(reply->argument);
  } else {
    auto& why = std::get<rejection>(response.answer);
    what.kind = entry_kind::reject_callback;
    what.callback = call.on_reject;
    what.reject_code = why.code;
    what.reject_message = std::move(why.message);
    running_->reject_code = why.code;
  }
  execute(std::move(what), call.context, out);
}

void canister_core::start(fire_timer, core_effects& out) {
  timer_waits_ = false;
  if (timer_ns_ == 0 || timer_ns_ > time_ns_) return; // set anew, or off, since it came due
  timer_ns_ = 0;
  run_task(entry_kind::timer, fire_timer{}, out);
}

void canister_core::start(beat, core_effects& out) {
  beat_waits_ = false;
  next_beat_ns_ = time_ns_ + limits::heartbeat_interval_ns;
  run_task(entry_kind::heartbeat, beat{}, out);
}

void canister_core::run_task(entry_kind kind, actor_input task, core_effects& out) {
  running_.emplace();
  const auto instructions_max = limit_of(kind);
  begin_record(task, {}, instructions_max);
  const auto context = ++next_context_;
  contexts_.try_emplace(context);
  execution_input what;
  what.kind = kind;
  what.instructions_max = instructions_max;
  execute(std::move(what), context, out);
}

void canister_core::run_inspection(call_request request, core_effects& out) {
  running_.emplace();
  running_->is_recorded = false;
  execution_input what;
  what.kind = entry_kind::inspect;
  what.method = request.method;
  what.argument = request.argument;
  what.caller = request.identity.caller;
  what.instructions_max = limits::inspect_instructions_max;
  running_->inspected = std::move(request);
  execute(std::move(what), 0, out);
}

void canister_core::run_request(call_request request, entry_kind kind, core_effects& out) {
  running_.emplace();
  running_->is_recorded = request.mode == request_mode::update;
  const auto instructions_max = limit_of(kind);
  if (running_->is_recorded) begin_record(request, request.attached, instructions_max);
  const auto number = ++next_context_;
  auto& context = contexts_[number];
  context.request = request.identity;
  context.available = request.attached;
  context.deadline_ns = request.deadline_ns;
  execution_input what;
  what.kind = kind;
  what.method = std::move(request.method);
  what.argument = std::move(request.argument);
  what.instructions_max = instructions_max;
  execute(std::move(what), number, out);
}

void canister_core::run_cleanup(core_effects& out) {
  execution_input what;
  what.kind = entry_kind::cleanup_callback;
  what.callback = *running_->on_cleanup;
  what.reject_code = running_->reject_code;
  what.instructions_max = limit_of(entry_kind::cleanup_callback);
  running_->on_cleanup.reset();
  execute(std::move(what), running_->context, out);
}

void canister_core::execute(execution_input input, uint64_t context, core_effects& out) {
  running_->kind = input.kind;
  running_->context = context;
  if (context != 0) {
    const auto& at = contexts_.at(context);
    if (at.request) input.caller = at.request->caller;
    input.deadline_ns = at.deadline_ns;
    input.call_instructions = at.instructions;
    input.can_answer = at.request && !at.answered && input.kind != entry_kind::cleanup_callback;
    if (input.can_answer) input.available = at.available;
  }
  input.time_ns = time_ns_;
  input.balance = balance();
  input.controllers = settings_.controllers;
  input.is_controller_caller =
    std::find(settings_.controllers.begin(), settings_.controllers.end(), input.caller)
    != settings_.controllers.end();
  input.canister_version = version_;
  input.global_timer_ns = timer_ns_;
  out.execute =
    start_execution{std::move(input), [open = calls_to_](const principal& callee) mutable {
                      auto& calls = open[callee];
                      if (calls >= limits::queue_length_max) return false;
                      ++calls;
                      return true;
                    }};
}

void canister_core::begin_record(const actor_input& input, cycles taken,
                                 uint64_t instructions_max) {
  auto& record = running_->record;
  record.kind = kind_of(input);
  record.actor = settings_.self.bytes();
  record.time_ns = time_ns_;
  record.cycles = to_amount(taken);
  record.payload = encode_payload(input, instructions_max);
}

std::optional<entry_kind> canister_core::entry_of(const call_request& request) const {
  if (request.mode == request_mode::update && code_.has_update(request.method)) {
    return entry_kind::update;
  }
  if (code_.has_query(request.method)) return entry_kind::query;
  return std::nullopt;
}

uint64_t canister_core::limit_of(entry_kind kind) const noexcept {
  if (replayed_limit_) return *replayed_limit_;
  switch (kind) {
    case entry_kind::init:
    case entry_kind::pre_upgrade:
    case entry_kind::post_upgrade:
      return settings_.install_instructions_max;
    case entry_kind::query:
      return settings_.query_instructions_max;
    default:
      return settings_.update_instructions_max;
  }
}

} // namespace moxzi::actors
