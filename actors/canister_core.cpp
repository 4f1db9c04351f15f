#include "actors/canister_core.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace moxzi::actors {

namespace {

// What a balance reads as where nothing is charged.
constexpr cycles uncharged_balance{1'000'000'000'000'000'000u};

bool is_query(const call_request& request) noexcept {
  return request.mode != request_mode::update;
}

} // namespace

canister_core::canister_core(core_settings settings)
    : host_(std::move(settings)),
      answers_(limits::answers_kept_max, limits::answers_kept_bytes_max) {
  // nop
}

core_effects canister_core::step(core_input input, uint64_t time_ns) {
  time_ns_ = std::max(time_ns_, time_ns);
  if (!std::holds_alternative<execution_ended>(input)) replaying_ = false;
  core_effects out;
  std::visit([&](auto&& what) { take(std::move(what), out); }, std::move(input));
  start_next(out);
  return out;
}

result<core_effects> canister_core::replay(recorded_input input, uint64_t time_ns) {
  if (running_) return fail(base_errc::malformed, "an execution still runs");
  if (time_ns < time_ns_) return fail(base_errc::malformed, "its time is before the last one's");
  const bool is_creation = std::holds_alternative<create_input>(input.input);
  if (is_creation != (life_ == life::fresh)) {
    return fail(base_errc::malformed, "an actor's life starts with its creation, once");
  }
  time_ns_ = time_ns;
  replaying_ = true;
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
  if (!running_ && out.records.empty()) {
    return fail(base_errc::malformed, "the actor does not take this input");
  }
  return out;
}

std::optional<uint64_t> canister_core::wake_ns() const noexcept {
  if (life_ != life::active) return std::nullopt;
  std::optional<uint64_t> at;
  const auto consider = [&at](uint64_t ns) { at = at ? std::min(*at, ns) : ns; };
  if (!expiries_.empty()) consider(expiries_.begin()->first);
  if (!stops_.empty()) consider(stops_.front().deadline_ns);
  if (open_queries_ > 0) {
    for (const auto& [number, context] : contexts_) {
      const bool runs = running_ && running_->context == number; // ends by its own limit
      if (context.expires_ns != 0 && !runs) consider(context.expires_ns);
    }
  }
  if (run_ != lifecycle::run_status::running || !code_) return at;
  if (host_.has_timers && timer_ns_ != 0 && !timer_waits_ && code_->has_entry(entry_kind::timer)) {
    consider(std::max(timer_ns_, task_retry_ns_));
  }
  if (host_.has_heartbeat && !beat_waits_ && code_->has_entry(entry_kind::heartbeat)) {
    consider(std::max(next_beat_ns_, task_retry_ns_));
  }
  // It would run now, if the actor could have paid for it.
  if (low_memory_ == low_hook::ready && task_retry_ns_ > time_ns_) consider(task_retry_ns_);
  return at;
}

cycles canister_core::balance() const noexcept {
  return charging_ ? balance_ : uncharged_balance;
}

cycles canister_core::held() const noexcept {
  cycles all;
  for (const auto& [_, call] : calls_) all.value += call.held.value;
  return all;
}

// -- inputs --------------------------------------------------------------------

void canister_core::take(create_input input, core_effects& out) {
  moxzi_assert(life_ == life::fresh);
  start(std::move(input), out);
}

void canister_core::take(change_input input, core_effects& out) {
  if (life_ == life::removed) {
    return refuse_change(input, "MX301", "is not hosted here any more", out);
  }
  if (life_ == life::ended) return refuse_change(input, "MX509", "ends with its node", out);
  const bool only_reads =
    std::visit([](const auto& what) { return lifecycle::only_reads<std::decay_t<decltype(what)>>; },
               input.what);
  if (only_reads) return read(input, out);
  if (changes_.size() >= limits::changes_waiting_max) {
    return refuse_change(input, "MX201", "has too many changes waiting", out);
  }
  changes_.push_back(std::move(input));
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
        return refuse(request,
                      rejected(reject_code::sys_unknown, "MX602",
                               "this call was taken before; its answer is no longer kept"),
                      out);
    }
  }
  if (auto why = why_not(request)) return refuse(request, *std::move(why), out);
  if (queued_requests_ >= limits::queue_length_max) {
    return refuse(request,
                  rejected(reject_code::sys_transient, "MX201",
                           fmt::format("{} calls already wait for canister {}; call again later",
                                       queued_requests_, host_.self.to_text())),
                  out);
  }
  if (request.mode == request_mode::update) answers_.open(request.identity);
  ++queued_requests_;
  queue_.emplace_back(std::move(request));
}

void canister_core::take(call_response response, core_effects&) {
  const auto sequence = response.identity.sequence;
  if (life_ == life::removed) return forget_call(sequence, response.refunded);
  auto& calls = calls_.contains(sequence) ? calls_ : query_calls_;
  const auto call = calls.find(sequence);
  // Late (the bounded wait is over) or a second one: dropped, with its cycles.
  if (call == calls.end() || call->second.epoch != response.identity.epoch
      || call->second.has_response) {
    return;
  }
  call->second.has_response = true;
  expiries_.erase({call->second.expires_ns, sequence});
  queue_.emplace_back(std::move(response));
}

// Nobody is left to whom anything could come back.
void canister_core::forget_call(uint64_t sequence, cycles refunded) {
  const auto call = calls_.find(sequence);
  if (call == calls_.end()) return;
  if (charging_) spent_.value += call->second.held.value + refunded.value;
  calls_.erase(call);
}

void canister_core::take(time_passed, core_effects& out) {
  if (life_ != life::active) return;
  expire_calls();
  expire_queries(out);
  while (!stops_.empty() && stops_.front().deadline_ns <= time_ns_) {
    out.changes.push_back(
      {stops_.front().token,
       rejected(reject_code::sys_transient, "MX206",
                fmt::format("canister {} still has open calls and goes on stopping",
                            host_.self.to_text()))});
    stops_.erase(stops_.begin());
  }
  if (run_ != lifecycle::run_status::running || !code_ || time_ns_ < task_retry_ns_) return;
  if (host_.has_timers && timer_ns_ != 0 && timer_ns_ <= time_ns_ && !timer_waits_
      && code_->has_entry(entry_kind::timer)) {
    timer_waits_ = true;
    queue_.emplace_back(fire_timer{});
  }
  if (host_.has_heartbeat && !beat_waits_ && next_beat_ns_ <= time_ns_
      && code_->has_entry(entry_kind::heartbeat)) {
    beat_waits_ = true;
    queue_.emplace_back(beat{});
  }
}

void canister_core::take(shut_down, core_effects& out) {
  if (life_ != life::removed) life_ = life::ended;
  refuse_waiting(out);
  while (!changes_.empty()) {
    refuse_change(changes_.front(), "MX509", "ends with its node", out);
    changes_.pop_front();
  }
  for (const auto& stop : stops_) {
    change_input asked;
    asked.token = stop.token;
    refuse_change(asked, "MX509", "ends with its node", out);
  }
  stops_.clear();
}

void canister_core::take(execution_ended ended, core_effects& out) {
  moxzi_assert(running_.has_value());
  auto& output = ended.output;
  out.instructions = output.instructions;
  out.debug_lines = std::move(output.debug_lines);
  if (running_->is_recorded) {
    for (const auto& line : out.debug_lines) log(line);
    if (output.trapped) log("[TRAP]: " + output.trapped->message);
  }
  running_->record.instructions += output.instructions;
  if (const auto at = contexts_.find(running_->context); at != contexts_.end()) {
    if (at->second.is_query) counts_.query_instructions += output.instructions;
  }
  counts_.instructions += output.instructions;
  if (running_->change) return end_change_execution(std::move(output), out);
  if (running_->kind == entry_kind::inspect) return end_inspection(output, out);
  const auto context = running_->context;
  apply(output, &contexts_.at(context), out);
  if (output.trapped && running_->on_cleanup) return run_cleanup(out);
  settle(context, out);
  finish_record(out);
}

// -- what is next --------------------------------------------------------------

void canister_core::start_next(core_effects& out) {
  if (life_ == life::removed) refuse_waiting(out);
  while (!running_ && !replaying_ && life_ == life::active) {
    if (!changes_.empty() && open_queries_ == 0) {
      auto input = std::move(changes_.front());
      changes_.pop_front();
      start(std::move(input), out);
      continue;
    }
    if (low_memory_ == low_hook::ready && open_queries_ == 0
        && run_ == lifecycle::run_status::running && time_ns_ >= task_retry_ns_) {
      start(memory_low{}, out);
      continue;
    }
    auto input = next_input();
    if (!input) return;
    std::visit([&](auto&& what) { start(std::move(what), out); }, *std::move(input));
  }
}

std::optional<canister_core::queued_input> canister_core::next_input() {
  bool is_first = changes_.empty();
  for (auto at = queue_.begin(); at != queue_.end(); ++at) {
    if (!may_start(*at, is_first)) {
      is_first = false;
      continue;
    }
    auto input = std::move(*at);
    queue_.erase(at);
    if (std::holds_alternative<call_request>(input)) --queued_requests_;
    return input;
  }
  return std::nullopt;
}

// While a composite query waits, the state it began with must stay: only queries may run. One that
// somebody's query waits for goes before all others, or two actors could wait for each other.
bool canister_core::may_start(const queued_input& input, bool is_first) const {
  if (open_queries_ == 0) return true;
  if (const auto* request = std::get_if<call_request>(&input)) {
    return is_query(*request) && (is_first || !request->query_chain.empty());
  }
  const auto* response = std::get_if<call_response>(&input);
  return response != nullptr && query_calls_.contains(response->identity.sequence);
}

void canister_core::expire_calls() {
  while (!expiries_.empty() && expiries_.begin()->first <= time_ns_) {
    const auto number = expiries_.begin()->second;
    expiries_.erase(expiries_.begin());
    auto& calls = calls_.contains(number) ? calls_ : query_calls_;
    auto& call = calls.at(number);
    call.has_response = true;
    call_response late;
    late.identity = {host_.self, call.epoch, number};
    late.answer = rejected(reject_code::sys_unknown, "MX601",
                           "no response within the time that the call was to wait");
    queue_.emplace_back(std::move(late));
  }
}

void canister_core::expire_queries(core_effects& out) {
  if (open_queries_ == 0) return;
  for (auto at = contexts_.begin(); at != contexts_.end();) {
    auto& [number, context] = *at++;
    const bool is_due = context.expires_ns != 0 && context.expires_ns <= time_ns_;
    if (!is_due || (running_ && running_->context == number)) continue;
    context.failure = rejected(reject_code::canister_error, "MX528",
                               "the query and those it called took too long together");
    std::erase_if(query_calls_, [&, of = number](const auto& entry) {
      if (entry.second.context != of) return false;
      expiries_.erase({entry.second.expires_ns, entry.first});
      return true;
    });
    std::erase_if(queue_, [this](const queued_input& input) {
      const auto* response = std::get_if<call_response>(&input);
      return response != nullptr && !calls_.contains(response->identity.sequence)
             && !query_calls_.contains(response->identity.sequence);
    });
    context.open_calls = 0;
    settle(number, out);
  }
}

} // namespace moxzi::actors
