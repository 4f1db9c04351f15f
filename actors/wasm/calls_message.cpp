#include "actors/wasm/system_calls.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "actors/wasm/call_frame.hpp"
#include "base/bytes.hpp"
#include "base/limits.hpp"

// What is known of the message, and its answer.

namespace moxzi::actors {

namespace {

void msg_arg_data_size(call_frame& f) {
  f.give(f.state.input.argument.size());
}

void msg_arg_data_copy(call_frame& f) {
  f.copy_out(f.state.input.argument);
}

void msg_caller_size(call_frame& f) {
  f.give(f.state.input.caller.bytes().size());
}

void msg_caller_copy(call_frame& f) {
  f.copy_out(f.state.input.caller.bytes());
}

void msg_reject_code(call_frame& f) {
  f.give(static_cast<uint64_t>(f.state.input.reject_code));
}

void msg_reject_msg_size(call_frame& f) {
  f.give(f.state.input.reject_message.size());
}

void msg_reject_msg_copy(call_frame& f) {
  f.copy_out(f.state.input.reject_message);
}

void msg_deadline(call_frame& f) {
  f.give(f.state.input.deadline_ns);
}

bool may_answer(call_frame& f) {
  if (!f.state.can_answer()) f.violation("the call has been answered already");
  return !f.failed();
}

void msg_reply_data_append(call_frame& f) {
  if (!may_answer(f)) return;
  auto piece = f.bytes(0);
  if (!piece) return;
  auto max = f.state.input.is_replicated ? limits::reply_bytes_max : limits::query_reply_bytes_max;
  if (piece->size() > max - f.state.reply.size())
    return f.violation(fmt::format("the reply is longer than {} bytes", max));
  f.state.reply += *piece;
}

void msg_reply(call_frame& f) {
  if (may_answer(f)) f.state.output.answer = reply_value{std::move(f.state.reply)};
}

void msg_reject(call_frame& f) {
  if (!may_answer(f)) return;
  auto text = f.bytes(0);
  if (!text) return;
  if (text->size() > limits::reply_bytes_max)
    return f.violation(fmt::format("the text is longer than {} bytes", limits::reply_bytes_max));
  if (!is_utf8(*text)) return f.violation("the text is not UTF-8");
  f.state.output.answer = reject_value{std::string{cut_text(*text, limits::reject_text_bytes_max)}};
}

void msg_method_name_size(call_frame& f) {
  f.give(f.state.input.method.size());
}

void msg_method_name_copy(call_frame& f) {
  f.copy_out(f.state.input.method);
}

void accept_message(call_frame& f) {
  if (f.state.output.accepted) return f.violation("the message has been accepted already");
  f.state.output.accepted = true;
}

void certified_data_set(call_frame& f) {
  auto data = f.bytes(0);
  if (!data) return;
  if (data->size() > 32) return f.violation("certified data has at most 32 bytes");
  f.state.output.certified_data = byte_string{*data};
}

// Who signed a request from outside is not passed on.
void no_bytes_size(call_frame& f) {
  f.give(0);
}

void no_bytes_copy(call_frame& f) {
  f.copy_out({});
}

void data_certificate_present(call_frame& f) {
  f.give(0);
}

void data_certificate_size(call_frame& f) {
  f.violation("there is no certificate (data_certificate_present gives 0)");
}

void data_certificate_copy(call_frame& f) {
  data_certificate_size(f);
}

using namespace context;
constexpr context_set queries = replicated_query | query | composite_query;
constexpr context_set rejects = reject_callback | composite_reject;
constexpr context_set callbacks = reply_callback | composite_reply | rejects;
constexpr context_set answering = update | queries | transform | callbacks;
constexpr context_set with_argument =
  init | update | queries | transform | reply_callback | composite_reply | inspect;
constexpr context_set with_sender =
  update | queries | callbacks | cleanup | composite_cleanup | inspect;
constexpr context_set changing =
  init | pre_upgrade | update | reply_callback | reject_callback | system_task;

constexpr system_call rows[] = {
  {"accept_message", "", "", inspect, accept_message},
  {"certified_data_set", "II", "", changing, certified_data_set},
  {"data_certificate_copy", "III", "", query | composite_query, data_certificate_copy},
  {"data_certificate_present", "", "i", not_start, data_certificate_present},
  {"data_certificate_size", "", "I", query | composite_query, data_certificate_size},
  {"msg_arg_data_copy", "III", "", with_argument, msg_arg_data_copy, true},
  {"msg_arg_data_size", "", "I", with_argument, msg_arg_data_size},
  {"msg_caller_copy", "III", "", not_start, msg_caller_copy},
  {"msg_caller_info_data_copy", "III", "", with_sender, no_bytes_copy},
  {"msg_caller_info_data_size", "", "I", with_sender, no_bytes_size},
  {"msg_caller_info_signer_copy", "III", "", with_sender, no_bytes_copy},
  {"msg_caller_info_signer_size", "", "I", with_sender, no_bytes_size},
  {"msg_caller_size", "", "I", not_start, msg_caller_size},
  {"msg_deadline", "", "l", answering, msg_deadline},
  {"msg_method_name_copy", "III", "", inspect, msg_method_name_copy, true},
  {"msg_method_name_size", "", "I", inspect, msg_method_name_size},
  {"msg_reject", "II", "", answering, msg_reject, true},
  {"msg_reject_code", "", "i", callbacks | cleanup, msg_reject_code},
  {"msg_reject_msg_copy", "III", "", rejects, msg_reject_msg_copy, true},
  {"msg_reject_msg_size", "", "I", rejects, msg_reject_msg_size},
  {"msg_reply", "", "", answering, msg_reply},
  {"msg_reply_data_append", "II", "", answering, msg_reply_data_append, true},
};

} // namespace

std::span<const system_call> message_calls() noexcept {
  return rows;
}

} // namespace moxzi::actors
