#include "tests/actors/script_body.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/codec.hpp"
#include "base/limits.hpp"

namespace moxzi::actors::testing {

namespace {

struct script_trap {
  std::string text;
};

// Takes one token: a word, or all between balanced braces.
std::string take(std::string_view& rest) {
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  if (rest.empty() || rest.front() != '{') {
    const auto end = std::min(rest.find(' '), rest.size());
    std::string word{rest.substr(0, end)};
    rest.remove_prefix(end);
    return word;
  }
  size_t depth = 0;
  size_t at = 0;
  for (; at < rest.size(); ++at) {
    if (rest[at] == '{') ++depth;
    if (rest[at] == '}' && --depth == 0) break;
  }
  std::string block{rest.substr(1, at - 1)};
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return block;
}

std::vector<std::string> steps_of(std::string_view script) {
  std::vector<std::string> steps(1);
  int depth = 0;
  for (const char c : script) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == ';' && depth == 0) {
      steps.emplace_back();
    } else if (c != ' ' || !steps.back().empty()) {
      steps.back() += c;
    }
  }
  return steps;
}

bool has_argument(const std::string& verb) {
  return verb == "reply" || verb == "reject" || verb == "trap" || verb == "print";
}

} // namespace

struct script_body::run_state {
  const execution_input& input;
  const may_call_function& may_call;
  execution_output& output;
  cycles attach;
  std::optional<uint32_t> wait;
  std::string method = "run";
  cycles balance;
};

std::string script_body::script_of(const execution_input& input) {
  switch (input.kind) {
    case entry_kind::timer:
      return on_timer;
    case entry_kind::heartbeat:
      return on_heartbeat;
    case entry_kind::low_memory:
      return "add 100000";
    case entry_kind::take_snapshot:
    case entry_kind::load_snapshot:
      return {};
    case entry_kind::reply_callback:
    case entry_kind::reject_callback:
    case entry_kind::cleanup_callback:
    case entry_kind::composite_reply:
    case entry_kind::composite_reject:
    case entry_kind::composite_cleanup: {
      const auto at = continuations_.find(input.callback.environment);
      return at == continuations_.end() ? "trap no such continuation" : at->second;
    }
    default:
      return input.argument;
  }
}

closure script_body::keep(std::string script) {
  continuations_[++next_] = std::move(script);
  return {1, next_};
}

void script_body::perform_call(std::string_view& rest, run_state& at) {
  outgoing_call call;
  call.callee = principal::of_actor(take(rest));
  call.method = at.method;
  call.argument = take(rest);
  auto on_reply = take(rest);
  auto on_reject = take(rest);
  auto on_cleanup = take(rest);
  const auto& facts = at.input.facts;
  call_price price;
  if (facts && facts->charging) {
    price = price_of_call(facts->prices, call.method.size() + call.argument.size(),
                          limits::reply_bytes_max, facts->callback_instructions_max);
  }
  const cycles needed{price.now.value + price.held.value + at.attach.value};
  if (needed > at.balance || !at.may_call(call.callee)) {
    at.attach = {};
    perform(on_reject, at);
    return;
  }
  at.balance.value -= needed.value;
  call.on_reply = keep(std::move(on_reply));
  call.on_reject = keep(std::move(on_reject));
  if (!on_cleanup.empty()) call.on_cleanup = keep(std::move(on_cleanup));
  call.attached = std::exchange(at.attach, {});
  call.timeout_seconds = std::exchange(at.wait, std::nullopt);
  at.output.calls.push_back(std::move(call));
}

void script_body::perform(const std::string& script, run_state& at) {
  auto& output = at.output;
  for (const auto& step : steps_of(script)) {
    std::string_view rest = step;
    const auto verb = take(rest);
    if (has_argument(verb) && !rest.empty()) rest.remove_prefix(1);
    const auto number = [&rest] { return std::stoll("0" + take(rest)); };
    if (verb == "reply") {
      output.answer = reply_value{std::string{rest}};
    } else if (verb == "reject") {
      output.answer = reject_value{std::string{rest}};
    } else if (verb == "echo") {
      const bool is_reply =
        at.input.kind == entry_kind::reply_callback || at.input.kind == entry_kind::composite_reply;
      output.answer = reply_value{is_reply ? at.input.argument : at.input.reject_message};
    } else if (verb == "get") {
      output.answer = reply_value{std::to_string(counter)};
    } else if (verb == "add") {
      counter += number();
    } else if (verb == "trap") {
      throw script_trap{std::string{rest}};
    } else if (verb == "print") {
      output.debug_lines.emplace_back(rest);
    } else if (verb == "certify") {
      output.certified_data = take(rest);
    } else if (verb == "burn") {
      const cycles wanted{static_cast<uint64_t>(number())};
      const cycles burned{std::min(wanted, at.balance).value};
      output.cycles_burned.value += burned.value;
      at.balance.value -= burned.value;
    } else if (verb == "timer") {
      output.global_timer_ns = static_cast<uint64_t>(number());
    } else if (verb == "attach") {
      at.attach = {static_cast<uint64_t>(number())};
    } else if (verb == "wait") {
      at.wait = static_cast<uint32_t>(number());
    } else if (verb == "method") {
      at.method = take(rest);
    } else if (verb == "accept") {
      const cycles wanted{static_cast<uint64_t>(number())};
      const cycles left{at.input.available.value - output.cycles_accepted.value};
      output.cycles_accepted.value += std::min(wanted, left).value;
      at.balance.value += std::min(wanted, left).value;
    } else if (verb == "call") {
      perform_call(rest, at);
    } else if (!verb.empty()) {
      throw script_trap{"unknown step " + verb};
    }
  }
}

execution_output script_body::run(execution_input input, const may_call_function& may_call) {
  seen.push_back(input);
  const auto counter_before = counter;
  const auto continuations_before = continuations_;
  const auto next_before = next_;
  execution_output output;
  output.instructions = 10 + input.argument.size();
  output.accepted = accepts;
  std::optional<trap> trapped;
  if (input.kind != entry_kind::inspect) {
    try {
      run_state at{input, may_call, output, {}, {}, "run", input.balance};
      perform(script_of(input), at);
    } catch (const script_trap& why) {
      trapped = trap{"MX503", why.text};
    }
  }
  output.heap_bytes = heap_bytes;
  if (trapped || is_discarded(input.kind)) {
    counter = counter_before;
    // A composite query's own go on.
    if (trapped || !is_composite(input.kind)) {
      continuations_ = continuations_before;
      next_ = next_before;
    }
  }
  if (trapped) {
    execution_output nothing;
    nothing.trapped = std::move(trapped);
    nothing.instructions = output.instructions;
    nothing.debug_lines = std::move(output.debug_lines);
    nothing.heap_bytes = heap_bytes;
    return nothing;
  }
  writer state;
  state.u64(static_cast<uint64_t>(counter));
  state.u64(next_);
  output.state_digest = xxh3_128(state.data());
  return output;
}

} // namespace moxzi::actors::testing
