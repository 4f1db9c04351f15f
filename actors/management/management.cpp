#include "actors/management/management.hpp"

#include <array>
#include <utility>

#include "actors/candid/binding.hpp"
#include "actors/candid/decode.hpp"
#include "actors/candid/encode.hpp"
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
                      [](const write_request&) { return record_kind::device_write; },
                      [](const device::delete_request&) { return record_kind::device_delete; },
                      [](const rename_request&) { return record_kind::device_rename; },
                      [](const auto&) { return record_kind::device_run; },
                    },
                    request);
}

/// The methods that need no device.
const candid::interface& common_methods() {
  static const auto made = [] {
    candid::declarations in;
    in.add_method("raw_rand", {}, {}, {candid::blob_form(in)});
    return in.service();
  }();
  return made;
}

} // namespace

management_self::behavior_type management_state::make_behavior(management_setup setup) {
  setup_ = std::move(setup);
  harden(self_, setup_.log);
  self_->set_down_handler([this](const caf::down_msg&) { lose_device(); });
  if (setup_.device) {
    had_device_ = true;
    self_->monitor(setup_.device);
  }
  return {
    [this](const meet_supervisor& what) { supervisor_ = what.handle; },
    [this](deliver_request& what) { call(what); },
    [this](const device::device_answer_ptr& what) { finish(*what); },
    [this](stop_atom) {
      supervisor_ = nullptr;
      self_->quit();
    },
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

// The worker answers by a message of its own, in order: a request of CAF's would need a deadline,
// and a run takes as long as it takes. The caller's bounded wait, or the worker's end, ends it.
void management_state::call_device(deliver_request& what) {
  if (!setup_.device) {
    const auto why = had_device_ ? device::at(device::device_errc::device_failed,
                                              what.request.method, "the device has stopped")
                                 : device::at(device::device_errc::no_device, what.request.method,
                                              "no device (start moxzid with --device)");
    return answer(what, rejection_of(why));
  }
  auto decoded = interface_.decode(what.request.method, what.request.argument);
  if (!decoded) return answer(what, rejection_of(decoded.error()));
  const byte_string owner{what.request.identity.caller.bytes()};
  auto& call = pending_.emplace_back(pending_call{std::move(what), *std::move(decoded)});
  ask_device(owner, call.request);
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

void management_state::finish(const device::device_answer& answered) {
  if (pending_.empty()) return;
  const auto call = std::move(pending_.front());
  pending_.pop_front();
  if (!answered.outcome) return answer(call.what, rejection_of(answered.outcome.error()));
  auto reply = encode_reply(call.request, *answered.outcome, answered.device_ns, answered.facts);
  if (is_mutating(call.request)) record(call, *answered.outcome, reply);
  answer(call.what, reply_value{std::move(reply)});
}

void management_state::lose_device() {
  setup_.log->error("device_lost pending={}", pending_.size());
  setup_.device = nullptr;
  while (!pending_.empty()) {
    const auto call = std::move(pending_.front());
    pending_.pop_front();
    const auto why = device::at(device::device_errc::device_failed, call.what.request.method,
                                "the device stopped during this call");
    answer(call.what, rejection_of(why));
  }
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
  const auto& method = *common_methods().find("raw_rand");
  if (const auto sound = candid::validate(what.request.argument, method.arguments); !sound) {
    return answer(
      what, rejected(reject_code::canister_reject, "MX400", "raw_rand: " + sound.error().message));
  }
  std::array<uint8_t, 32> bytes{};
  setup_.randomness->fill(bytes);
  const auto given = candid::value::string({reinterpret_cast<const char*>(bytes.data()), 32});
  answer(what, reply_value{candid::encode(method.results, {&given, 1}).value()});
}

void management_state::answer(const deliver_request& what, call_answer value) {
  const auto& request = what.request;
  self_->send(what.reply_to, call_response{request.identity, std::move(value), request.attached});
}

management_actor spawn_management(caf::actor_system& system, management_setup setup) {
  const auto behavior = [](management_state::self_pointer self, management_setup with) {
    return self->state.make_behavior(std::move(with));
  };
  return system.spawn(behavior, std::move(setup));
}

} // namespace moxzi::actors::management
