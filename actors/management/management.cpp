#include "actors/management/management.hpp"

#include <utility>

#include "actors/harden.hpp"
#include "actors/management/management_methods.hpp"
#include "actors/management/numbers.hpp"

namespace moxzi::actors::management {

namespace {

/// True for a method that a composite query may call.
bool is_query(const std::string& name) {
  const auto* method = method_types::get().service.find(name);
  return method != nullptr && method->is_query();
}

} // namespace

management_self::behavior_type management_state::make_behavior(management_setup setup) {
  setup_ = std::move(setup);
  keys_.emplace(setup_.seed);
  harden(self_, setup_.log);
  self_->set_down_handler([this](const caf::down_msg&) { lose_device(); });
  if (setup_.device) {
    had_device_ = true;
    self_->monitor(setup_.device);
  }
  return {
    [this](const meet_supervisor& what) { meet(what.handle); },
    [this](deliver_request& what) { call(what); },
    [this](stop_atom) {
      supervisor_ = nullptr;
      self_->quit();
    },
    [this](const device::device_answer_ptr& what) { end_device_call(*what); },
    [this](managed& what) { take_answer(what); },
    [this](const outcall_made& what) { end_outcall(what); },
    [this](const call_response& what) { take_transformed(what); },
  };
}

bool management_state::is_version(const call_ptr& call, const std::optional<uint64_t>& said) {
  const auto& request = call->what.request;
  call->sender_version = said;
  if (!said || request.origin == request_origin::outside || *said == request.caller_version) {
    return true;
  }
  refuse(call, rejected(reject_code::canister_error, "MX504",
                        fmt::format("{}: sender_canister_version is {}, but the caller is at {}",
                                    call->method(), *said, request.caller_version)));
  return false;
}

void management_state::meet(const supervisor_actor& who) {
  supervisor_ = who;
  for (const auto& send : std::exchange(early_, {})) send();
}

void management_state::call(deliver_request& what) {
  const auto attached = what.request.attached;
  const auto call =
    std::make_shared<management_call>(management_call{std::move(what), attached, {}, {}});
  if (call->what.request.mode != request_mode::update && !is_query(call->method())) {
    return refuse(call, rejected(reject_code::canister_error, "MX536",
                                 fmt::format("the management canister has no query method '{}'",
                                             call->method())));
  }
  if (is_device_method(call->method())) return call_device(call);
  const auto* row = find_method(call->method());
  if (row == nullptr) {
    return refuse(call, rejected(reject_code::canister_reject, "MX407",
                                 fmt::format("the management canister has no method '{}' in this "
                                             "moxzid",
                                             call->method())));
  }
  if (const auto ran = row->run(*this, call); !ran) {
    refuse(call, rejected(reject_code::canister_reject, "MX408",
                          fmt::format("{}: {}", row->name, ran.error().message)));
  }
}

void management_state::reply_nothing(const call_ptr& call) {
  finish(call, reply_value{byte_string{"DIDL\0\0", 6}});
}

void management_state::refuse(const call_ptr& call, rejection why) {
  finish(call, std::move(why));
}

void management_state::finish(const call_ptr& call, call_answer value) {
  self_->send(call->what.reply_to, call_response{call->what.request.identity, std::move(value),
                                                 call->available, call->charged});
}

cycles management_state::asked(cycles price) const noexcept {
  return setup_.charging ? price : cycles{};
}

bool management_state::has_fee(const call_ptr& call, cycles price) {
  const auto fee = asked(price);
  if (fee <= call->available) return true;
  refuse(call,
         rejected(reject_code::canister_reject, "MX409",
                  fmt::format("{}: {} cycles must be attached to the call, not {}", call->method(),
                              to_integer(fee).to_text(), to_integer(call->available).to_text())));
  return false;
}

bool management_state::take_fee(const call_ptr& call, cycles price) {
  if (!has_fee(call, price)) return false;
  call->available.value -= asked(price).value;
  return true;
}

management_actor spawn_management(caf::actor_system& system, management_setup setup) {
  const auto behavior = [](management_state::self_pointer self, management_setup with) {
    return self->state.make_behavior(std::move(with));
  };
  return system.spawn(behavior, std::move(setup));
}

} // namespace moxzi::actors::management
