#include <algorithm>

#include "actors/canister_core.hpp"
#include "base/assert.hpp"

// How executions of the state machine start.

namespace moxzi::actors {

namespace {

constexpr uint64_t query_call_bit = uint64_t{1} << 63;

// The actor's own limit of its heap is not for callbacks, so that what was begun can be ended, nor
// for its tasks, nor for queries, whose heap is given back.
bool is_limited(entry_kind kind) noexcept {
  return kind == entry_kind::init || kind == entry_kind::upgrade || kind == entry_kind::update;
}

} // namespace

void canister_core::start(create_input input, core_effects& out) {
  life_ = life::active;
  running_.emplace();
  begin_record(input, {}, 0);
  settings_ = std::move(input.settings);
  charging_ = input.charging;
  prices_ = input.prices;
  balance_ = input.balance;
  lifecycle::change entry;
  entry.origin = input.origin;
  entry.origin_version = input.origin_version;
  entry.controllers = settings_.controllers;
  entry.environment = settings_.environment;
  keep_change(std::move(entry));
  renew_facts();
  running_->digest.add_change({});
  finish_record(out);
}

void canister_core::start(change_input input, core_effects& out) {
  if (auto why = why_forbidden(input)) {
    out.changes.push_back({input.token, *std::move(why)});
    return;
  }
  std::visit([&](const auto& what) { change(what, input, out); }, lifecycle::request{input.what});
}

std::optional<rejection> canister_core::why_not(const call_request& request) const {
  const auto id = [this] { return host_.self.to_text(); };
  const auto refused = [](const char* code, std::string text) {
    return rejected(reject_code::canister_error, code, std::move(text));
  };
  if (life_ == life::removed) {
    return rejected(reject_code::destination_invalid, "MX301",
                    fmt::format("Canister {} is not hosted here any more", id()));
  }
  if (life_ == life::ended || run_ == lifecycle::run_status::stopping) {
    return refused("MX509", fmt::format("Canister {} is stopping", id()));
  }
  if (run_ == lifecycle::run_status::stopped) {
    return refused("MX508", fmt::format("Canister {} is stopped", id()));
  }
  if (!code_ && install_failure_.empty()) {
    const bool is_coming = (running_ && running_->change) || !changes_.empty();
    if (!is_coming) return refused("MX537", fmt::format("Canister {} has no code", id()));
  } else if (!code_ && !(running_ && running_->change)) {
    return refused("MX537", fmt::format("Canister {} has no code: its installation failed: {}",
                                        id(), install_failure_));
  }
  if (request.mode == request_mode::update && request.origin == request_origin::actor
      && request.identity.caller != host_.self && request.attached < settings_.call_cycles_min) {
    return refused("MX520", fmt::format("Canister {} takes calls of others only with {} cycles",
                                        id(), settings_.call_cycles_min.value));
  }
  if (request.query_chain.size() > limits::query_depth_max) {
    return refused(
      "MX525", fmt::format("queries call each other more than {} deep", limits::query_depth_max));
  }
  return std::nullopt;
}

void canister_core::start(call_request request, core_effects& out) {
  if (auto why = why_not(request)) return refuse(request, *std::move(why), out);
  const auto mode = code_->find_method(request.method);
  const bool is_update = request.mode == request_mode::update;
  if (!mode || (!is_update && *mode == method_mode::update)) {
    return refuse(request,
                  rejected(reject_code::canister_error, "MX536",
                           fmt::format("Canister {} has no {} method '{}'", host_.self.to_text(),
                                       is_update ? "update" : "query", request.method)),
                  out);
  }
  if (*mode == method_mode::composite_query) {
    if (request.mode == request_mode::query) {
      return run_request(std::move(request), entry_kind::composite_query, out);
    }
    return refuse(request,
                  rejected(reject_code::canister_error, "MX527",
                           fmt::format("'{}' of canister {} is a composite query: it can be called "
                                       "as a query only",
                                       request.method, host_.self.to_text())),
                  out);
  }
  const auto kind = *mode == method_mode::update ? entry_kind::update : entry_kind::query;
  if (kind == entry_kind::update && heap_bytes_ > heap_limit()) {
    return refuse(request,
                  rejected(reject_code::canister_error, "MX539",
                           fmt::format("Canister {} has a heap of {} bytes and may have {}",
                                       host_.self.to_text(), heap_bytes_, heap_limit())),
                  out);
  }
  const bool is_inspected = is_update && !replayed_limit_
                            && request.origin == request_origin::outside
                            && code_->has_entry(entry_kind::inspect);
  if (is_inspected) {
    run_inspection(std::move(request), out);
  } else {
    run_request(std::move(request), kind, out);
  }
}

void canister_core::start(call_response response, core_effects& out) {
  const auto sequence = response.identity.sequence;
  const bool is_query = (sequence & query_call_bit) != 0;
  auto& calls = is_query ? query_calls_ : calls_;
  const auto at = calls.find(sequence);
  if (at == calls.end()) return; // the code that made it went while the response waited
  auto call = std::move(at->second);
  calls.erase(at);
  expiries_.erase({call.expires_ns, sequence});
  if (!is_query) {
    if (const auto to = calls_to_.find(call.callee); --to->second == 0) calls_to_.erase(to);
  }
  run_response(std::move(response), std::move(call), out);
}

void canister_core::run_response(call_response response, open_call call, core_effects& out) {
  running_.emplace();
  const bool is_query = (response.identity.sequence & query_call_bit) != 0;
  running_->is_recorded = !is_query;
  const auto kind =
    is_query ? entry_kind::composite_reply : entry_kind::reply_callback; // limits are the same
  const auto instructions_max = limit_of(kind);
  if (!is_query) {
    begin_record(response, response.refunded, instructions_max);
    if (charging_) {
      const auto* reply = std::get_if<reply_value>(&response.answer);
      const auto bytes =
        reply ? reply->argument.size() : std::get<rejection>(response.answer).message.size();
      const cycles moved{std::min(call.held.value, uint128{prices_.call_byte} * bytes)};
      const cycles kept{
        std::min(uint128{call.held.value - moved.value},
                 price_of_instructions(prices_, instructions_max).value + prices_.execution)};
      balance_.value += response.refunded.value + call.held.value - moved.value - kept.value;
      const cycles charged{std::min(response.charged.value, balance_.value)};
      balance_.value -= charged.value;
      spent_.value += moved.value + charged.value;
      running_->held = kept;
    }
  }
  if (call.context == 0) { // nobody is left to be told
    settle_charge(0);
    running_->digest.add_change("dropped");
    return finish_record(out);
  }
  --contexts_.at(call.context).open_calls;
  running_->on_cleanup = call.on_cleanup;
  execution_input what;
  what.refunded = response.refunded;
  what.instructions_max = instructions_max;
  if (auto* reply = std::get_if<reply_value>(&response.answer)) {
    what.kind = kind;
    what.callback = call.on_reply;
    what.argument = std::move(reply->argument);
  } else {
    auto& why = std::get<rejection>(response.answer);
    what.kind = is_query ? entry_kind::composite_reject : entry_kind::reject_callback;
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
  if (run_ != lifecycle::run_status::running || !code_) return;
  run_task(entry_kind::timer, fire_timer{}, out);
}

void canister_core::start(beat, core_effects& out) {
  beat_waits_ = false;
  if (run_ != lifecycle::run_status::running || !code_) return;
  next_beat_ns_ = time_ns_ + limits::heartbeat_interval_ns;
  run_task(entry_kind::heartbeat, beat{}, out);
}

void canister_core::start(memory_low, core_effects& out) {
  const bool has_hook = code_ && code_->has_entry(entry_kind::low_memory);
  if (!has_hook || run_task(entry_kind::low_memory, memory_low{}, out)) {
    low_memory_ = low_hook::done;
  }
}

bool canister_core::run_task(entry_kind kind, actor_input task, core_effects& out) {
  const auto instructions_max = limit_of(kind);
  const auto held = hold(instructions_max);
  if (!held) {
    task_retry_ns_ = time_ns_ + limits::task_retry_ns;
    return false;
  }
  if (kind == entry_kind::timer) timer_ns_ = 0;
  running_.emplace();
  running_->held = *held;
  begin_record(task, {}, instructions_max);
  const auto context = ++next_context_;
  contexts_.try_emplace(context);
  execution_input what;
  what.kind = kind;
  what.instructions_max = instructions_max;
  execute(std::move(what), context, out);
  return true;
}

void canister_core::run_inspection(call_request request, core_effects& out) {
  running_.emplace();
  running_->is_recorded = false;
  execution_input what;
  what.kind = entry_kind::inspect;
  what.is_replicated = false;
  what.method = request.method;
  what.argument = request.argument;
  what.caller = request.identity.caller;
  what.instructions_max = limits::inspect_instructions_max;
  running_->inspected = std::move(request);
  execute(std::move(what), 0, out);
}

void canister_core::run_request(call_request request, entry_kind kind, core_effects& out) {
  const auto instructions_max = limit_of(kind);
  const bool is_recorded = request.mode == request_mode::update;
  cycles held;
  if (is_recorded) {
    const auto bytes = request.method.size() + request.argument.size();
    const bool is_outside = request.origin == request_origin::outside;
    const auto entrance = is_outside ? prices_.ingress + uint128{prices_.ingress_byte} * bytes : 0;
    const auto kept = hold(instructions_max, entrance);
    if (!kept) {
      return refuse(request,
                    rejected(reject_code::sys_transient, "MX207",
                             fmt::format("Canister {} is out of cycles: it could not pay for all "
                                         "that this message may do",
                                         host_.self.to_text())),
                    out);
    }
    held = *kept;
  }
  running_.emplace();
  running_->held = held;
  running_->is_recorded = is_recorded;
  if (is_recorded) begin_record(request, request.attached, instructions_max);
  const auto number = ++next_context_;
  auto& context = contexts_[number];
  context.request = request.identity;
  context.available = request.attached;
  context.deadline_ns = request.deadline_ns;
  context.is_query = request.mode == request_mode::query;
  if (context.is_query) {
    ++counts_.queries;
    counts_.query_bytes_in += request.argument.size();
  }
  execution_input what;
  what.kind = kind;
  what.is_transform = request.mode == request_mode::transform;
  what.method = std::move(request.method);
  what.argument = std::move(request.argument);
  what.instructions_max = instructions_max;
  if (kind == entry_kind::composite_query) {
    context.query = ++next_query_;
    context.expires_ns = time_ns_ + limits::query_time_ns_max;
    context.chain = std::move(request.query_chain);
    ++open_queries_;
  }
  execute(std::move(what), number, out);
}

void canister_core::run_cleanup(core_effects& out) {
  execution_input what;
  const bool is_query = is_composite(running_->kind);
  what.kind = is_query ? entry_kind::composite_cleanup : entry_kind::cleanup_callback;
  what.callback = *running_->on_cleanup;
  what.reject_code = running_->reject_code;
  what.instructions_max = limit_of(what.kind);
  running_->on_cleanup.reset();
  execute(std::move(what), running_->context, out);
}

void canister_core::execute(execution_input input, uint64_t context, core_effects& out) {
  running_->kind = input.kind;
  running_->context = context;
  if (context != 0) {
    const auto& at = contexts_.at(context);
    const bool is_cleanup =
      input.kind == entry_kind::cleanup_callback || input.kind == entry_kind::composite_cleanup;
    if (at.request) input.caller = at.request->caller;
    input.deadline_ns = at.deadline_ns;
    input.call_instructions = at.instructions;
    input.can_answer = at.request && !at.answered && !is_cleanup;
    if (input.can_answer) input.available = at.available;
    input.query = at.query;
  }
  input.is_replicated = running_->is_recorded;
  input.time_ns = time_ns_;
  input.balance = balance();
  input.facts = facts_;
  input.heap_bytes_max = is_limited(input.kind) ? heap_limit() : host_.heap_bytes_max;
  input.canister_version = running_->version = version_;
  input.status = static_cast<uint8_t>(run_);
  input.global_timer_ns = timer_ns_;
  if (running_->is_recorded) ++counts_.executions;
  out.execute = start_execution{std::move(input), bound_calls()};
}

may_call_function canister_core::bound_calls() const {
  if (is_composite(running_->kind)) {
    return [left = limits::queue_length_max](const principal&) mutable {
      return left > 0 && left-- > 0;
    };
  }
  return [open = calls_to_](const principal& callee) mutable {
    auto& calls = open[callee];
    if (calls >= limits::queue_length_max) return false;
    ++calls;
    return true;
  };
}

std::optional<cycles> canister_core::hold(uint64_t instructions_max, uint128 extra) {
  if (!charging_) return cycles{};
  const cycles held{price_of_instructions(prices_, instructions_max).value + prices_.execution};
  if (balance_.value < held.value + extra) return std::nullopt;
  balance_.value -= held.value + extra;
  spent_.value += extra;
  return held;
}

void canister_core::begin_record(const actor_input& input, cycles taken,
                                 uint64_t instructions_max) {
  auto& record = running_->record;
  record.kind = kind_of(input);
  record.actor = host_.self.bytes();
  record.time_ns = time_ns_;
  record.cycles = to_amount(taken);
  record.payload = encode_payload(input, instructions_max);
}

uint64_t canister_core::limit_of(entry_kind kind) const noexcept {
  if (replayed_limit_) return *replayed_limit_;
  switch (kind) {
    case entry_kind::init:
    case entry_kind::upgrade:
      return host_.install_instructions_max;
    case entry_kind::query:
      return host_.query_instructions_max;
    default:
      return is_composite(kind) ? host_.query_instructions_max : host_.update_instructions_max;
  }
}

} // namespace moxzi::actors
