#include "actors/record_payload.hpp"

#include <utility>

#include "actors/lifecycle_codec.hpp"

namespace moxzi::actors {

namespace {

using actors::put;
using persist::record_kind;

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

constexpr auto outside_code = static_cast<uint8_t>(request_origin::outside);
constexpr auto actor_code = static_cast<uint8_t>(request_origin::actor);

void put(writer& out, const call_request& request) {
  out.bytes(request.identity.caller.bytes());
  out.u32(request.identity.epoch);
  out.u64(request.identity.sequence);
  out.u8(static_cast<uint8_t>(request.origin));
  out.bytes(request.method);
  out.bytes(request.argument);
  put(out, request.attached);
  out.u64(request.deadline_ns);
}

call_request get_request(reader& in) {
  call_request request;
  request.identity.caller = get_principal(in);
  request.identity.epoch = in.u32();
  request.identity.sequence = in.u64();
  const auto origin = in.u8();
  if (origin != outside_code && origin != actor_code) in.reject("origin of a request is 0 or 1");
  request.origin = static_cast<request_origin>(origin);
  request.method = in.text();
  request.argument = in.bytes();
  request.attached = get_cycles(in);
  request.deadline_ns = in.u64();
  return request;
}

void put(writer& out, const call_response& response) {
  out.u32(response.identity.epoch);
  out.u64(response.identity.sequence);
  put(out, response.refunded);
  put(out, response.charged);
  if (const auto* reply = std::get_if<reply_value>(&response.answer)) {
    out.bytes(reply->argument);
    return;
  }
  const auto& why = std::get<rejection>(response.answer);
  out.u8(static_cast<uint8_t>(why.code));
  out.bytes(why.message);
  out.bytes(why.error_code);
}

rejection get_rejection(reader& in) {
  rejection why;
  const auto code = in.u8();
  constexpr auto first = static_cast<uint8_t>(reject_code::sys_fatal);
  constexpr auto last = static_cast<uint8_t>(reject_code::sys_unknown);
  if (code < first || code > last) in.reject("a reject code is 1 to 6");
  why.code = static_cast<reject_code>(code);
  why.message = in.text();
  why.error_code = in.text();
  return why;
}

call_response get_response(reader& in, const persist::record& from) {
  call_response response;
  if (auto self = principal::from_bytes(from.actor)) {
    response.identity.caller = *std::move(self);
  } else {
    in.reject(self.error().message);
  }
  response.identity.epoch = in.u32();
  response.identity.sequence = in.u64();
  response.refunded = get_cycles(in);
  response.charged = get_cycles(in);
  if (from.kind == record_kind::reply) {
    response.answer = reply_value{byte_string{in.bytes()}};
  } else {
    response.answer = get_rejection(in);
  }
  return response;
}

} // namespace

record_kind kind_of(const actor_input& input) noexcept {
  return std::visit(overloaded{
                      [](const create_input&) { return record_kind::create; },
                      [](const change_input& change) {
                        return std::holds_alternative<lifecycle::install_code>(change.what)
                                 ? record_kind::install
                                 : record_kind::change;
                      },
                      [](const call_request&) { return record_kind::request; },
                      [](const call_response& response) {
                        return std::holds_alternative<reply_value>(response.answer)
                                 ? record_kind::reply
                                 : record_kind::reject;
                      },
                      [](const fire_timer&) { return record_kind::timer; },
                      [](const beat&) { return record_kind::heartbeat; },
                      [](const memory_low&) { return record_kind::low_memory; },
                    },
                    input);
}

byte_string encode_payload(const actor_input& input, uint64_t instructions_max) {
  writer out;
  out.u64(instructions_max);
  std::visit(overloaded{
               [&out](const create_input& created) { put_created(out, created); },
               [&out](const change_input& change) { put_change(out, change); },
               [&out](const call_request& request) { put(out, request); },
               [&out](const call_response& response) { put(out, response); },
               [](const fire_timer&) {},
               [](const beat&) {},
               [](const memory_low&) {},
             },
             input);
  return out.take();
}

result<recorded_input> decode_payload(const persist::record& from) {
  reader in{from.payload};
  recorded_input value;
  value.instructions_max = in.u64();
  switch (from.kind) {
    case record_kind::create:
      value.input = get_created(in);
      break;
    case record_kind::install:
      value.input = get_installation(in);
      break;
    case record_kind::change:
      value.input = get_change(in);
      break;
    case record_kind::request:
      value.input = get_request(in);
      break;
    case record_kind::reply:
    case record_kind::reject:
      value.input = get_response(in, from);
      break;
    case record_kind::timer:
      value.input = fire_timer{};
      break;
    case record_kind::heartbeat:
      value.input = beat{};
      break;
    case record_kind::low_memory:
      value.input = memory_low{};
      break;
    default:
      return fail(base_errc::malformed, "record kind {} is not an actor's",
                  static_cast<int>(from.kind));
  }
  if (auto done = in.finish(); !done) return done.error();
  return value;
}

byte_string encode_payload(const recorded_device_call& call) {
  writer out;
  out.bytes(call.argument);
  out.bytes(call.reply);
  return out.take();
}

result<recorded_device_call> decode_device_payload(const persist::record& from) {
  reader in{from.payload};
  recorded_device_call call;
  call.argument = in.bytes();
  call.reply = in.bytes();
  if (auto done = in.finish(); !done) return done.error();
  return call;
}

persist::cycles_amount to_amount(cycles value) noexcept {
  return {static_cast<uint64_t>(value.value), static_cast<uint64_t>(value.value >> 64)};
}

cycles to_cycles(persist::cycles_amount value) noexcept {
  return {static_cast<uint128>(value.high) << 64 | value.low};
}

void outcome_digest::add(const call_response& answer) {
  out_.bytes(answer.identity.caller.bytes());
  out_.u8(std::holds_alternative<reply_value>(answer.answer) ? 1 : 2);
  put(out_, answer);
}

void outcome_digest::add(const principal& callee, const call_request& call) {
  out_.u8(3);
  out_.bytes(callee.bytes());
  put(out_, call);
}

void outcome_digest::add(const digest128& state) {
  out_.u8(4);
  out_.u64(state.low);
  out_.u64(state.high);
}

void outcome_digest::add_timer(uint64_t at_ns) {
  out_.u8(5);
  out_.u64(at_ns);
}

void outcome_digest::add_trap(std::string_view error_code) {
  out_.u8(6);
  out_.bytes(error_code);
}

void outcome_digest::add_change(std::string_view error_code) {
  out_.u8(7);
  out_.bytes(error_code);
}

void outcome_digest::add_certified(byte_view data) {
  out_.u8(8);
  out_.bytes(data);
}

} // namespace moxzi::actors
