#include "actors/management/management.hpp"

#include <array>
#include <utility>

#include "actors/harden.hpp"
#include "actors/record_payload.hpp"
#include "device/errors.hpp"

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
                      [](const device::run_request&) { return record_kind::device_run; },
                    },
                    request);
}

} // namespace

struct management_state::pending_call {
  deliver_request what;
  device_request request;
};

management_actor::behavior_type management_state::make_behavior(management_setup setup) {
  setup_ = std::move(setup);
  harden(self_, setup_.log);
  return {
    [this](deliver_request& what) { call(what); },
    [this](stop_atom) { self_->quit(); },
  };
}

void management_state::call(deliver_request& what) {
  const auto& method = what.request.method;
  if (is_device_method(method)) return call_device(what);
  if (method == "raw_rand") return give_randomness(what);
  answer(what, rejected(
                 reject_code::canister_reject, "MX407",
                 fmt::format("the management canister has no method '{}' in this moxzid", method)));
}

void management_state::call_device(deliver_request& what) {
  if (!setup_.device) {
    const auto why = device::at(device::device_errc::no_device, what.request.method,
                                "no device (start moxzid with --device)");
    return answer(what, rejection_of(why));
  }
  auto decoded = interface_.decode(what.request.method, what.request.argument);
  if (!decoded) return answer(what, rejection_of(decoded.error()));
  const byte_string owner{what.request.identity.caller.bytes()};
  auto call = std::make_shared<pending_call>(pending_call{std::move(what), *std::move(decoded)});
  // Without a deadline of CAF's: a run takes as long as it takes, the caller's own bounded wait and
  // the end of the worker (an error here) are what ends it.
  const auto ask = [&](auto request) {
    self_->request(setup_.device, caf::infinite, std::move(request))
      .then([this, call](const device::device_answer_ptr& answer) { finish(*call, *answer); },
            [this, call](const caf::error&) {
              const auto why = device::at(device::device_errc::device_failed,
                                          call->what.request.method, "the device has stopped");
              answer(call->what, rejection_of(why));
            });
  };
  std::visit(overloaded{
               [&](params_request& params) {
                 ask(std::make_shared<const device::define_params>(
                   device::define_params{owner, std::move(params)}));
               },
               [&](optimizer_request& optimizer) {
                 ask(std::make_shared<const device::define_optimizer>(
                   device::define_optimizer{owner, std::move(optimizer)}));
               },
               [&](device::run_request& run) {
                 // All but the inputs is kept, to know later what the call did.
                 ask(std::make_shared<const device::run_program>(device::run_program{
                   owner, {std::move(run.inputs), run.code, run.train, run.scalars, run.tensors}}));
               },
             },
             call->request);
}

void management_state::finish(pending_call& call, const device::device_answer& answered) {
  if (!answered.outcome) return answer(call.what, rejection_of(answered.outcome.error()));
  auto reply = encode_reply(call.request, *answered.outcome, answered.device_ns);
  if (is_mutating(call.request)) record(call, *answered.outcome, reply);
  answer(call.what, reply_value{std::move(reply)});
}

void management_state::record(const pending_call& call, const device::run_reply& reply,
                              byte_string bytes) {
  const auto& request = call.what.request;
  persist::record what;
  what.kind = kind_of(call.request);
  what.actor = request.identity.caller.bytes();
  what.number = ++records_[request.identity.caller];
  what.time_ns = setup_.time->unix_ns();
  // The time a call took differs from run to run, so that the digest leaves it out.
  what.digest = xxh3_128(encode_reply(call.request, reply, 0));
  what.payload = encode_payload(recorded_device_call{request.argument, std::move(bytes)});
  setup_.journal->append(std::move(what), {});
}

void management_state::give_randomness(const deliver_request& what) {
  std::array<uint8_t, 32> bytes{};
  setup_.randomness->fill(bytes);
  // Candid: one type (vec nat8), one value of that type, 32 bytes long.
  byte_string reply{"DIDL\x01\x6d\x7b\x01\x00\x20", 10};
  reply.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  answer(what, reply_value{std::move(reply)});
}

void management_state::answer(const deliver_request& what, call_answer value) {
  const auto& request = what.request;
  self_->send(what.reply_to, call_response{request.identity, std::move(value), request.attached});
}

management_actor::behavior_type management(management_state::self_pointer self,
                                           management_setup setup) {
  return self->state.make_behavior(std::move(setup));
}

} // namespace moxzi::actors::management
