#include "actors/canister_core.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace moxzi::actors {

namespace {

constexpr uint64_t ns_per_second = 1'000'000'000;

} // namespace

void canister_core::end_installation(execution_output output, core_effects& out) {
  if (output.trapped) {
    install_failure_ = output.trapped->message;
    if (life_ == life::installing) life_ = life::failed;
    running_.reset();
    return;
  }
  if (life_ == life::installing) life_ = life::running;
  next_beat_ns_ = time_ns_ + limits::heartbeat_interval_ns;
  apply(output, nullptr, out);
  finish_record(out);
}

void canister_core::end_inspection(const execution_output& output, core_effects& out) {
  auto request = std::move(*running_->inspected);
  running_.reset();
  if (output.trapped) {
    refuse(request, rejection_of(*output.trapped), out);
  } else if (!output.accepted) {
    refuse(
      request,
      rejected(reject_code::canister_reject, "MX406",
               fmt::format("Canister {} does not accept this message", settings_.self.to_text())),
      out);
  } else if (life_ == life::ended) {
    refuse(request, not_accepting(), out);
  } else {
    run_request(std::move(request), entry_kind::update, out);
  }
}

void canister_core::apply(execution_output& output, call_context* context, core_effects& out) {
  if (context) context->instructions += output.instructions;
  auto& digest = running_->digest;
  if (output.trapped) {
    digest.add_trap(output.trapped->error_code);
    // A cleanup that traps as well must not hide why it had to run.
    if (context && running_->kind != entry_kind::cleanup_callback) {
      context->failure = rejection_of(*output.trapped);
    }
    return;
  }
  digest.add(output.state_digest);
  if (!is_discarded(running_->kind)) ++version_;
  if (settings_.charging) {
    moxzi_assert(output.cycles_burned <= balance_);
    balance_.value += output.cycles_accepted.value - output.cycles_burned.value;
  }
  if (output.global_timer_ns && !is_discarded(running_->kind)) {
    timer_ns_ = *output.global_timer_ns;
    digest.add_timer(timer_ns_);
  }
  if (!context) return;
  moxzi_assert(output.cycles_accepted <= context->available);
  context->available.value -= output.cycles_accepted.value;
  if (running_->kind != entry_kind::cleanup_callback) context->failure.reset();
  if (output.answer && context->request && !context->answered) {
    if (auto* reply = std::get_if<reply_value>(&*output.answer)) {
      answer(*context, std::move(*reply), out);
    } else {
      auto& text = std::get<reject_value>(*output.answer).message;
      answer(*context, rejected(reject_code::canister_reject, "MX406", std::move(text)), out);
    }
  }
  for (auto& call : output.calls) issue(std::move(call), *context, out);
}

void canister_core::issue(outgoing_call call, call_context& context, core_effects& out) {
  if (settings_.charging) {
    moxzi_assert(call.attached <= balance_);
    balance_.value -= call.attached.value;
  }
  const auto number = ++next_call_;
  issued_call issued;
  issued.callee = call.callee;
  issued.request.identity = {settings_.self, settings_.epoch, number};
  issued.request.method = std::move(call.method);
  issued.request.argument = std::move(call.argument);
  issued.request.attached = call.attached;
  if (call.timeout_seconds) {
    const auto seconds = std::min(*call.timeout_seconds, limits::bounded_wait_seconds_max);
    issued.request.deadline_ns = running_->record.time_ns + seconds * ns_per_second;
    expiries_.emplace(issued.request.deadline_ns, number);
  }
  calls_.emplace(number,
                 open_call{settings_.epoch, running_->context, call.callee, call.on_reply,
                           call.on_reject, call.on_cleanup, issued.request.deadline_ns, false});
  ++calls_to_[issued.callee];
  ++context.open_calls;
  running_->digest.add(issued.callee, issued.request);
  out.calls.push_back(std::move(issued));
}

void canister_core::settle(uint64_t number, core_effects& out) {
  auto& context = contexts_.at(number);
  if (context.open_calls > 0) return;
  if (context.request && !context.answered) {
    auto why =
      context.failure
        ? *context.failure
        : rejected(reject_code::canister_error, "MX506",
                   fmt::format("Canister {} did not produce a response", settings_.self.to_text()));
    answer(context, std::move(why), out);
  }
  contexts_.erase(number);
}

void canister_core::finish_record(core_effects& out) {
  if (running_->is_recorded) {
    auto& record = running_->record;
    record.number = ++records_;
    record.digest = running_->digest.value();
    out.record = std::move(record);
  }
  running_.reset();
}

void canister_core::answer(call_context& context, call_answer value, core_effects& out) {
  call_response response{*context.request, std::move(value), context.available};
  context.answered = true;
  context.available = {};
  running_->digest.add(response);
  answers_.close(response);
  out.answers.push_back(std::move(response));
}

void canister_core::refuse(const call_request& request, rejection why, core_effects& out) {
  call_response response{request.identity, std::move(why), request.attached};
  if (request.mode == request_mode::update) answers_.close(response);
  out.answers.push_back(std::move(response));
}

void canister_core::refuse_waiting(core_effects& out) {
  for (auto& input : queue_) {
    if (const auto* request = std::get_if<call_request>(&input)) {
      refuse(*request, not_accepting(), out);
    }
  }
  queue_.clear();
  queued_requests_ = 0;
}

void canister_core::expire_calls() {
  while (!expiries_.empty() && expiries_.begin()->first <= time_ns_) {
    const auto number = expiries_.begin()->second;
    expiries_.erase(expiries_.begin());
    auto& call = calls_.at(number);
    call.has_response = true;
    call_response late;
    late.identity = {settings_.self, call.epoch, number};
    late.answer = rejected(reject_code::sys_unknown, "MX601",
                           "no response within the time that the call was to wait");
    queue_.emplace_back(std::move(late));
  }
}

rejection canister_core::not_accepting() const {
  if (life_ == life::failed) {
    return rejected(reject_code::canister_error, "MX537",
                    fmt::format("Canister {} has no code: its installation failed: {}",
                                settings_.self.to_text(), install_failure_));
  }
  return rejected(reject_code::canister_error, "MX509",
                  fmt::format("Canister {} is stopping", settings_.self.to_text()));
}

rejection canister_core::rejection_of(const trap& what) const {
  return rejected(reject_code::canister_error, what.error_code,
                  fmt::format("Canister {} trapped: {}", settings_.self.to_text(), what.message));
}

} // namespace moxzi::actors
