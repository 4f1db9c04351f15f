#include <algorithm>
#include <utility>

#include "actors/management/management.hpp"
#include "actors/management/numbers.hpp"
#include "actors/record_payload.hpp"
#include "device/errors.hpp"

// The device's methods: decoded, passed to the worker in order, charged, recorded, answered.

namespace moxzi::actors::management {

namespace {

using persist::record_kind;

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

rejection rejection_of(const error& why) {
  if (why.code.category() != device::device_category()) {
    return rejected(reject_code::sys_transient, code_text(device::device_errc::device_failed),
                    why.message);
  }
  const auto code = static_cast<device::device_errc>(why.code.value());
  const auto reject = is_transient(code) ? reject_code::sys_transient //
                                         : reject_code::canister_reject;
  return rejected(reject, code_text(code), why.message);
}

record_kind kind_of(const device_request& request) noexcept {
  return std::visit(overloaded{
                      [](const params_request&) { return record_kind::device_params; },
                      [](const optimizer_request&) { return record_kind::device_optimizer; },
                      [](const write_request&) { return record_kind::device_write; },
                      [](const device::delete_request&) { return record_kind::device_delete; },
                      [](const rename_request&) { return record_kind::device_rename; },
                      [](const auto&) { return record_kind::device_run; },
                    },
                    request);
}

} // namespace

cycles management_state::device_cost(uint64_t device_ns) const noexcept {
  if (!setup_.charging) return {};
  const uint128 us = std::max<uint64_t>(1, device_ns / 1'000 + (device_ns % 1'000 != 0));
  return {(us * setup_.device_cycles_per_ms + 999) / 1'000};
}

// The worker answers by a message of its own, in order: a request of CAF's would need a deadline,
// and a run takes as long as it takes. The caller's bounded wait, or the worker's end, ends it.
void management_state::call_device(const call_ptr& call) {
  if (!setup_.device) {
    const auto why = had_device_ ? device::at(device::device_errc::device_failed, call->method(),
                                              "the device has stopped")
                                 : device::at(device::device_errc::no_device, call->method(),
                                              "no device (start moxzid with --device)");
    return refuse(call, rejection_of(why));
  }
  auto decoded = interface_.decode(call->method(), call->what.request.argument);
  if (!decoded) return refuse(call, rejection_of(decoded.error()));
  const auto held = call->available.value + call->what.request.caller_balance.value;
  if (setup_.charging && held < setup_.device_cycles_per_ms) {
    const auto why = device::fail_at(
      device::device_errc::out_of_cycles, call->method(),
      "the actor holds {} cycles; a device call needs {}, a millisecond's worth, to begin",
      to_integer(cycles{held}).to_text(), setup_.device_cycles_per_ms);
    return refuse(call, rejection_of(why));
  }
  const byte_string owner{call->caller().bytes()};
  auto& pending = pending_.emplace_back(pending_call{call, *std::move(decoded)});
  ask_device(owner, pending.request);
}

void management_state::ask_device(const byte_string& owner, device_request& request) {
  const auto ask = [this](auto message) {
    self_->send(setup_.device, std::make_shared<const decltype(message)>(std::move(message)));
  };
  std::visit(overloaded{
               [&](params_request& params) {
                 ask(device::define_params{owner, std::move(params)});
               },
               [&](optimizer_request& optimizer) {
                 ask(device::define_optimizer{owner, std::move(optimizer)});
               },
               [&](device::run_request& run) {
                 ask(device::run_program{
                   owner, {std::move(run.inputs), run.code, run.train, run.scalars, run.tensors}});
               },
               [&](const device::read_request& read) {
                 ask(device::read_params{owner, read});
               },
               [&](write_request& write) {
                 ask(device::write_params{owner, std::move(write)});
               },
               [&](device::delete_request& names) {
                 ask(device::delete_entries{owner, std::move(names)});
               },
               [&](rename_request& names) {
                 ask(device::rename_params{owner, std::move(names)});
               },
               [&](list_request) { ask(device::list_space{owner}); },
               [&](info_request) { ask(device::describe_device{owner}); },
             },
             request);
}

void management_state::end_device_call(const device::device_answer& answered) {
  if (pending_.empty()) return;
  const auto pending = std::move(pending_.front());
  pending_.pop_front();
  const auto& call = pending.call;
  if (setup_.metrics != nullptr)
    setup_.metrics->note_device_call(call->method(), answered.device_ns);
  const auto cost = device_cost(answered.device_ns);
  const cycles taken{std::min(cost.value, call->available.value)};
  call->available.value -= taken.value;
  call->charged = {cost.value - taken.value};
  if (!answered.outcome) return refuse(call, rejection_of(answered.outcome.error()));
  auto bytes = encode_reply(pending.request, *answered.outcome, answered.device_ns, answered.facts,
                            setup_.charging ? setup_.device_cycles_per_ms : 0);
  if (is_mutating(pending.request)) record(pending, *answered.outcome, bytes, cost);
  finish(call, reply_value{std::move(bytes)});
}

void management_state::lose_device() {
  setup_.log->error("device_lost pending={}", pending_.size());
  setup_.device = nullptr;
  while (!pending_.empty()) {
    const auto pending = std::move(pending_.front());
    pending_.pop_front();
    const auto why = device::at(device::device_errc::device_failed, pending.call->method(),
                                "the device stopped during this call");
    refuse(pending.call, rejection_of(why));
  }
}

void management_state::record(const pending_call& from, const device::run_reply& reply,
                              byte_string bytes, cycles cost) {
  const auto& request = from.call->what.request;
  persist::record what;
  what.kind = kind_of(from.request);
  what.actor = request.identity.caller.bytes();
  what.number = ++records_[request.identity.caller];
  what.time_ns = setup_.time->unix_ns();
  what.cycles = to_amount(cost);
  // The time a call took differs from run to run, so that the digest leaves it out.
  what.digest = xxh3_128(encode_reply(from.request, reply, 0));
  what.payload = encode_payload(recorded_device_call{request.argument, std::move(bytes)});
  setup_.journal->append(std::move(what), {});
}

} // namespace moxzi::actors::management
