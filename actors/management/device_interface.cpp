#include "actors/management/device_interface.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "actors/management/device_types.hpp"
#include "actors/management/program_memo.hpp"
#include "base/limits.hpp"
#include "device/errors.hpp"
#include "device/ops/table.hpp"

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

/// `.train.loss: …` as `train.loss: …`, and `[0]: …` as `params[0]: …` where `list` is the name of
/// an argument that is a list.
std::string readable(std::string explanation, std::string_view list) {
  if (explanation.starts_with('[')) return std::string{list} + explanation;
  const auto from = explanation.find_first_not_of(".: ");
  return explanation.substr(std::min(from, explanation.size()));
}

/// What messages call an argument that is a list.
std::string_view list_of(std::string_view method) noexcept {
  if (method == "moxzi_device_write") return "tensors";
  if (method == "moxzi_device_rename") return "renames";
  return "params";
}

/// Reads a message's one argument; superfluous ones are skipped. A null value for methods that take
/// none.
result<candid::value> read_argument(cursor& in, const known_header& header,
                                    const candid::method_type& called, std::string_view method,
                                    program_memo& memo) {
  decoder values{in,
                 header.types,
                 *device_types::get().service.types,
                 limits::candid_empty_values_max,
                 {.strict = true, .memo = &memo}};
  candid::value argument;
  size_t read = 0;
  if (!called.arguments.items.empty()) {
    const auto wanted = called.arguments.items[0];
    const auto outcome = header.items.empty() ? values.missing(wanted)
                                              : values.read(header.items[0], wanted, &argument);
    if (memo.excess() > 0) {
      return device::fail_at(device_errc::program_too_long, "program", "{} operations; at most {}",
                             memo.excess(), limits::program_ops_max);
    }
    if (outcome == decoder::fit::mismatch) {
      return undecodable(readable(values.explain(), list_of(method)));
    }
    if (outcome == decoder::fit::error) return undecodable(in.failure().message);
    read = 1;
  }
  for (size_t i = read; i < header.items.size(); ++i) {
    if (!values.skip(header.items[i])) return undecodable(in.failure().message);
  }
  if (in.left() > 0) {
    return undecodable(fmt::format("{} bytes after the last argument", in.left()));
  }
  return argument;
}

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

/// The method of a request, and its argument's form; null for those that take none.
template <class Visitor>
auto visit_form(const device_request& request, const Visitor& with) {
  const auto& types = device_types::get();
  return std::visit(
    overloaded{
      [&](const params_request& x) { return with("moxzi_device_params", &types.params, x); },
      [&](const optimizer_request& x) {
        return with("moxzi_device_optimizer", &types.optimizer, x);
      },
      [&](const device::run_request& x) { return with("moxzi_device_run", &types.run, x); },
      [&](const device::read_request& x) { return with("moxzi_device_read", &types.read, x); },
      [&](const write_request& x) { return with("moxzi_device_write", &types.write, x); },
      [&](const device::delete_request& x) {
        return with("moxzi_device_delete", &types.remove, x);
      },
      [&](const rename_request& x) { return with("moxzi_device_rename", &types.rename, x); },
      [&](const list_request& x) { return with("moxzi_device_list", nullptr, x); },
      [&](const info_request& x) { return with("moxzi_device_info", nullptr, x); },
    },
    request);
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
  auto read = read_argument(in, *header, *called, method, memo);
  if (!read) return read.error();
  if (method == "moxzi_device_list") return device_request{list_request{}};
  if (method == "moxzi_device_info") return device_request{info_request{}};
  const auto as = [&read](const auto& form) { return device_request{form.read(std::move(*read))}; };
  if (method == "moxzi_device_params") return as(types.params);
  if (method == "moxzi_device_optimizer") return as(types.optimizer);
  if (method == "moxzi_device_read") return as(types.read);
  if (method == "moxzi_device_write") return as(types.write);
  if (method == "moxzi_device_delete") return as(types.remove);
  if (method == "moxzi_device_rename") return as(types.rename);
  auto run = types.run.read(std::move(*read));
  if (memo.known() != nullptr) {
    run.code = memo.known();
  } else {
    state_->headers.add(*header, {byte_string{memo.bytes()}, run.code, memo.steps()});
  }
  return device_request{std::move(run)};
}

namespace {

/// True if the operation writes, or draws: what is drawn next depends on how often that was done.
bool leaves_a_trace(const device::operation& what) noexcept {
  const auto* row = device::find_row(what.id);
  if (row == nullptr) return false;
  const bool draws = !row->pure && row->runs == device::row_runs::kernel;
  return draws || row->writes != device::row_writes::nothing;
}

} // namespace

bool is_mutating(const device_request& request) noexcept {
  return std::visit(overloaded{
                      [](const device::run_request& run) {
                        return run.train || std::ranges::any_of(*run.code, leaves_a_trace);
                      },
                      [](const device::read_request&) { return false; },
                      [](const list_request&) { return false; },
                      [](const info_request&) { return false; },
                      [](const auto&) { return true; },
                    },
                    request);
}

byte_string encode_argument(const device_request& request) {
  return visit_form(request, [](std::string_view method, auto form, const auto& what) {
    writer out;
    out.raw(device_types::get().service.find(method)->arguments.header);
    if constexpr (!std::is_null_pointer_v<decltype(form)>) form->append(out, what);
    return out.take();
  });
}

byte_string encode_reply(const device_request& request, const device::run_reply& reply,
                         uint64_t device_ns, const device::device_facts& facts,
                         uint64_t cycles_per_ms) {
  const auto& types = device_types::get();
  writer out;
  out.raw(visit_form(request, [&types](std::string_view method, auto, const auto&) {
    return types.service.find(method)->results.header;
  }));
  if (std::holds_alternative<device::run_request>(request)) {
    types.result.append(out, {&reply, device_ns});
  } else if (const auto* read = std::get_if<device::read_request>(&request)) {
    std::vector<named_tensor> tensors;
    for (size_t i = 0; i < reply.tensors.size(); ++i) {
      tensors.push_back({read->names[i], reply.tensors[i]});
    }
    types.contents.append(out, tensors);
  } else if (const auto* listing = std::get_if<device::space_listing>(&facts)) {
    types.listing.append(out, *listing);
  } else if (const auto* description = std::get_if<device::device_description>(&facts)) {
    types.description.append(out, {description, cycles_per_ms});
  }
  return out.take();
}

} // namespace moxzi::actors::management
