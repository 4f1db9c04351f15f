#include "actors/management/device_interface.hpp"

#include <algorithm>
#include <utility>

#include "actors/management/device_types.hpp"
#include "actors/management/program_memo.hpp"
#include "base/limits.hpp"
#include "device/errors.hpp"

namespace moxzi::actors::management {

namespace {

using candid::cursor;
using candid::decoder;
using device::device_errc;

error undecodable(std::string_view reason) {
  return device::at(device_errc::undecodable, "argument", reason);
}

/// The steps that reading a request may take: as for any message, and not more values than the
/// largest sensible request has.
size_t steps_of(byte_view argument) {
  return std::min(argument.size() * limits::candid_steps_per_byte + limits::candid_steps_free,
                  limits::device_request_values_max);
}

/// `.train.loss: …` as `train.loss: …`; the only argument that is a list is that of parameters.
std::string readable(std::string explanation) {
  if (explanation.starts_with('[')) return "params" + explanation;
  const auto from = explanation.find_first_not_of(".: ");
  return explanation.substr(std::min(from, explanation.size()));
}

/// Reads a message's one argument; superfluous ones are skipped.
result<candid::value> read_argument(cursor& in, const known_header& header, candid::type_ref wanted,
                                    program_memo& memo) {
  decoder values{in,
                 header.types,
                 *device_types::get().service.types,
                 limits::candid_empty_values_max,
                 {.strict = true, .memo = &memo}};
  candid::value argument;
  const auto outcome =
    header.items.empty() ? values.missing(wanted) : values.read(header.items[0], wanted, &argument);
  if (memo.excess() > 0) {
    return device::fail_at(device_errc::program_too_long, "program", "{} operations; at most {}",
                           memo.excess(), limits::program_ops_max);
  }
  if (outcome == decoder::fit::mismatch) return undecodable(readable(values.explain()));
  if (outcome == decoder::fit::error) return undecodable(in.failure().message);
  for (size_t i = 1; i < header.items.size(); ++i) {
    if (!values.skip(header.items[i])) return undecodable(in.failure().message);
  }
  if (in.left() > 0) {
    return undecodable(fmt::format("{} bytes after the last argument", in.left()));
  }
  return argument;
}

} // namespace

bool is_device_method(std::string_view method) noexcept {
  return device_types::get().service.find(method) != nullptr;
}

struct device_interface::state {
  header_memo headers;
};

device_interface::device_interface() : state_(std::make_unique<state>()) {
  // nop
}

device_interface::~device_interface() = default;

result<device_request> device_interface::decode(std::string_view method, byte_view argument) {
  const auto& types = device_types::get();
  const auto* called = types.service.find(method);
  moxzi_assert(called != nullptr, "{} is no device method", method);
  cursor in{argument, steps_of(argument)};
  auto* header = state_->headers.read(in);
  if (header == nullptr) return undecodable(in.failure().message);
  program_memo memo{types.program.type, *header};
  const auto wanted = called->arguments.items[0];
  auto read = read_argument(in, *header, wanted, memo);
  if (!read) return read.error();
  if (wanted == types.params.type) return device_request{types.params.read(std::move(*read))};
  if (wanted == types.optimizer.type) {
    return device_request{types.optimizer.read(std::move(*read))};
  }
  auto run = types.run.read(std::move(*read));
  if (memo.known() != nullptr) {
    run.code = memo.known();
  } else {
    state_->headers.add(*header, {byte_string{memo.bytes()}, run.code, memo.steps()});
  }
  return device_request{std::move(run)};
}

bool is_mutating(const device_request& request) noexcept {
  const auto* run = std::get_if<device::run_request>(&request);
  return run == nullptr || run->train.has_value();
}

byte_string encode_argument(const device_request& request) {
  const auto& types = device_types::get();
  const auto message = [&](std::string_view method, const auto& how, const auto& what) {
    writer out;
    out.raw(types.service.find(method)->arguments.header);
    how.append(out, what);
    return out.take();
  };
  if (const auto* params = std::get_if<params_request>(&request)) {
    return message("moxzi_device_params", types.params, *params);
  }
  if (const auto* optimizer = std::get_if<optimizer_request>(&request)) {
    return message("moxzi_device_optimizer", types.optimizer, *optimizer);
  }
  return message("moxzi_device_run", types.run, std::get<device::run_request>(request));
}

byte_string encode_reply(const device_request& request, const device::run_reply& reply,
                         uint64_t device_ns) {
  const auto& types = device_types::get();
  if (!std::holds_alternative<device::run_request>(request)) {
    return types.service.find("moxzi_device_params")->results.header;
  }
  writer out;
  out.raw(types.service.find("moxzi_device_run")->results.header);
  types.result.append(out, {&reply, device_ns});
  return out.take();
}

} // namespace moxzi::actors::management
