#include "actors/canister_core.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace moxzi::actors {

namespace {

constexpr uint64_t ns_per_second = 1'000'000'000;
constexpr uint64_t query_call_bit = uint64_t{1} << 63;

} // namespace

void canister_core::end_inspection(const execution_output& output, core_effects& out) {
  auto request = std::move(*running_->inspected);
  running_.reset();
  if (output.trapped) {
    refuse(request, rejection_of(*output.trapped), out);
  } else if (!output.accepted) {
    refuse(request,
           rejected(reject_code::canister_reject, "MX406",
                    fmt::format("Canister {} does not accept this message", host_.self.to_text())),
           out);
  } else if (life_ == life::ended) {
    refuse(request, *why_not(request), out);
  } else {
    const bool is_update = code_->find_method(request.method) == method_mode::update;
    run_request(std::move(request), is_update ? entry_kind::update : entry_kind::query, out);
  }
}

void canister_core::apply(execution_output& output, call_context* context, core_effects& out) {
  if (context) context->instructions += output.instructions;
  auto& digest = running_->digest;
  const auto kind = running_->kind;
  const bool is_cleanup =
    kind == entry_kind::cleanup_callback || kind == entry_kind::composite_cleanup;
  if (output.trapped) {
    if (running_->is_recorded) ++counts_.traps;
    digest.add_trap(output.trapped->error_code);
    // A cleanup that traps as well must not hide why it had to run.
    if (context && !is_cleanup) context->failure = rejection_of(*output.trapped);
    return;
  }
  digest.add(output.state_digest);
  if (charging_) {
    moxzi_assert(output.cycles_burned <= balance_);
    balance_.value += output.cycles_accepted.value - output.cycles_burned.value;
    spent_.value += output.cycles_burned.value;
  }
  if (running_->is_recorded) ++version_;
  if (!is_discarded(kind)) {
    if (output.global_timer_ns) {
      timer_ns_ = *output.global_timer_ns;
      digest.add_timer(timer_ns_);
    }
    if (output.certified_data) {
      certified_ = *std::move(output.certified_data);
      digest.add_certified(certified_);
    }
    note_memory(output);
  }
  if (!context) return;
  moxzi_assert(output.cycles_accepted <= context->available);
  context->available.value -= output.cycles_accepted.value;
  if (!is_cleanup) context->failure.reset();
  if (output.answer && context->request && !context->answered) {
    if (auto* reply = std::get_if<reply_value>(&*output.answer)) {
      answer(*context, std::move(*reply), out);
    } else {
      auto& text = std::get<reject_value>(*output.answer).message;
      answer(*context, rejected(reject_code::canister_reject, "MX406", std::move(text)), out);
    }
  }
  for (auto& call : output.calls) {
    if (context->query != 0) {
      issue_query(std::move(call), *context, out);
    } else {
      issue(std::move(call), *context, out);
    }
  }
}

void canister_core::note_memory(const execution_output& output) {
  heap_bytes_ = output.heap_bytes;
  stable_bytes_ = output.stable_bytes;
  watch_memory();
}

// The hook for little memory runs once each time that the heap comes close to its limit.
void canister_core::watch_memory() {
  const auto limit = heap_limit();
  const auto left = limit - std::min(limit, heap_bytes_);
  if (left >= settings_.wasm_memory_threshold) {
    low_memory_ = low_hook::off;
  } else if (low_memory_ == low_hook::off) {
    low_memory_ = low_hook::ready;
  }
}

void canister_core::issue(outgoing_call call, call_context& context, core_effects& out) {
  open_call open;
  if (charging_) {
    const auto price = price_of_call(prices_, call.method.size() + call.argument.size(),
                                     limits::reply_bytes_max, facts_->callback_instructions_max);
    const cycles all{call.attached.value + price.now.value + price.held.value};
    moxzi_assert(all <= balance_);
    balance_.value -= all.value;
    spent_.value += price.now.value;
    open.held = price.held;
  }
  const auto number = ++next_call_;
  issued_call issued;
  issued.callee = call.callee;
  issued.request.identity = {host_.self, host_.epoch, number};
  issued.request.method = std::move(call.method);
  issued.request.argument = std::move(call.argument);
  issued.request.attached = call.attached;
  issued.request.caller_balance = balance();
  issued.request.caller_version = running_->version;
  if (call.timeout_seconds) {
    const auto seconds = std::min(*call.timeout_seconds, limits::bounded_wait_seconds_max);
    issued.request.deadline_ns = running_->record.time_ns + seconds * ns_per_second;
    expiries_.emplace(issued.request.deadline_ns, number);
  }
  open.epoch = host_.epoch;
  open.context = running_->context;
  open.callee = call.callee;
  open.on_reply = call.on_reply;
  open.on_reject = call.on_reject;
  open.on_cleanup = call.on_cleanup;
  open.expires_ns = issued.request.deadline_ns;
  calls_.emplace(number, std::move(open));
  ++calls_to_[issued.callee];
  ++context.open_calls;
  running_->digest.add(issued.callee, issued.request);
  out.calls.push_back(std::move(issued));
}

// A composite query's calls are queries. They leave no record, so that their numbers are apart.
void canister_core::issue_query(outgoing_call call, call_context& context, core_effects& out) {
  const auto number = query_call_bit | ++next_query_call_;
  issued_call issued;
  issued.callee = call.callee;
  issued.request.identity = {host_.self, host_.epoch, number};
  issued.request.mode = request_mode::query;
  issued.request.method = std::move(call.method);
  issued.request.argument = std::move(call.argument);
  issued.request.query_chain = context.chain;
  issued.request.query_chain.push_back(host_.self);
  if (call.timeout_seconds) {
    const auto seconds = std::min(*call.timeout_seconds, limits::bounded_wait_seconds_max);
    issued.request.deadline_ns = time_ns_ + seconds * ns_per_second;
    expiries_.emplace(issued.request.deadline_ns, number);
  }
  open_call open;
  open.epoch = host_.epoch;
  open.context = running_->context;
  open.callee = call.callee;
  open.on_reply = call.on_reply;
  open.on_reject = call.on_reject;
  open.on_cleanup = call.on_cleanup;
  open.expires_ns = issued.request.deadline_ns;
  query_calls_.emplace(number, std::move(open));
  ++context.open_calls;
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
                   fmt::format("Canister {} did not produce a response", host_.self.to_text()));
    answer(context, std::move(why), out);
  }
  if (context.query != 0) {
    --open_queries_;
    out.ended_queries.push_back(context.query);
  }
  contexts_.erase(number);
  settle_stop(out);
}

// What was set aside for an execution comes back as far as it was not used.
void canister_core::settle_charge(uint64_t instructions) {
  if (running_->held.value == 0) return;
  const auto used = std::min(
    running_->held.value, price_of_instructions(prices_, instructions).value + prices_.execution);
  spent_.value += used;
  balance_.value += running_->held.value - used;
  running_->held = {};
}

void canister_core::finish_record(core_effects& out) {
  if (running_->is_recorded) {
    auto& record = running_->record;
    settle_charge(record.instructions);
    record.number = ++records_;
    record.digest = running_->digest.value();
    out.records.push_back(std::move(record));
  }
  running_.reset();
}

void canister_core::answer(call_context& context, call_answer value, core_effects& out) {
  call_response response{*context.request, std::move(value), context.available};
  context.answered = true;
  if (context.is_query) {
    const auto* reply = std::get_if<reply_value>(&response.answer);
    counts_.query_bytes_out += reply != nullptr
                                 ? reply->argument.size()
                                 : std::get<rejection>(response.answer).message.size();
  }
  context.available = {};
  if (running_) running_->digest.add(response); // not where a query ran out of time
  answers_.close(response);
  out.answers.push_back(std::move(response));
}

void canister_core::refuse(const call_request& request, rejection why, core_effects& out) {
  ++counts_.refused;
  call_response response{request.identity, std::move(why), request.attached};
  if (request.mode == request_mode::update) answers_.close(response);
  out.answers.push_back(std::move(response));
}

void canister_core::refuse_waiting(core_effects& out) {
  for (auto& input : queue_) {
    if (const auto* request = std::get_if<call_request>(&input)) {
      refuse(*request, *why_not(*request), out);
    } else if (const auto* response = std::get_if<call_response>(&input)) {
      if (life_ == life::removed) forget_call(response->identity.sequence, response->refunded);
    }
  }
  queue_.clear();
  queued_requests_ = 0;
}

rejection canister_core::rejection_of(const trap& what) const {
  return rejected(reject_code::canister_error, what.error_code,
                  fmt::format("Canister {} trapped: {}", host_.self.to_text(), what.message));
}

void canister_core::log(std::string text) {
  log_bytes_ += text.size();
  log_.push_back({log_count_++, time_ns_, std::move(text)});
  trim_log();
}

void canister_core::trim_log() {
  while (log_bytes_ > settings_.log_bytes_max) {
    log_bytes_ -= log_.front().text.size();
    log_.pop_front();
  }
}

} // namespace moxzi::actors
