// moxzi_device_rows [DEVICE] [ROUNDS]: calls every row of the table on random operands and prints
// one JSON object a call: the operands, the results and the gradients, for another library to
// check.

#include <cstdio>
#include <filesystem>
#include <string>

#include <boost/json.hpp>

#include "base/bytes.hpp"
#include "tests/device/row_call.hpp"

namespace json = boost::json;
using namespace moxzi;
using namespace moxzi::device;
using namespace moxzi::device::testing;

namespace {

json::value value_of(const field& f, const attribute& from) {
  if (std::holds_alternative<std::monostate>(from)) return nullptr;
  if (auto flag = std::get_if<bool>(&from)) return *flag;
  if (auto number = std::get_if<double>(&from)) return *number;
  if (auto text = std::get_if<std::string>(&from)) return json::string(*text);
  if (auto list = std::get_if<std::vector<uint32_t>>(&from))
    return json::array(list->begin(), list->end());
  auto integer = std::get<int64_t>(from);
  if (f.kind == field_kind::dtype) return json::string(name_of(static_cast<dtype>(integer)));
  if (f.kind == field_kind::choice) return json::string(f.choices[static_cast<size_t>(integer)]);
  return integer;
}

json::object object_of(const tensor& from) {
  return {{"elem", name_of(from.type)},
          {"shape", json::array(from.dims.begin(), from.dims.end())},
          {"hex", to_hex(from.data)}};
}

json::object describe(const row_call& call) {
  json::object operands, attributes;
  json::array rest;
  size_t operand = 0, value = 0;
  for (auto& f : call.how->fields) {
    if (!is_register(f.kind)) {
      attributes[f.name] = value_of(f, call.what.attributes[value++]);
      continue;
    }
    auto one = [&](size_t n) -> json::value {
      auto& from = call.operands[n];
      if (from.at == no_register) return nullptr;
      auto out = object_of(from.contents);
      out["type"] = name_of(from.type);
      if (!from.parameter.empty()) out["parameter"] = from.parameter;
      return out;
    };
    if (f.kind != field_kind::regs) {
      operands[f.name] = one(operand++);
      continue;
    }
    for (; operand < call.operands.size(); ++operand) rest.push_back(one(operand));
    operands[f.name] = rest;
  }
  return {{"row", call.how->name},           {"call", call.text()},
          {"pytorch", call.how->pytorch},    {"tolerance", call.how->tolerance},
          {"operands", std::move(operands)}, {"attributes", std::move(attributes)}};
}

void add_gradients(backend& on, const row_call& call, std::mt19937& random, json::object& to) {
  auto what = differentiate_call(call, random);
  if (!what) throw std::runtime_error(call.text() + ": " + what.error().message);
  to["weights"] = object_of(what->operands.back().contents);
  json::object gradients;
  for (size_t n = 0; n < what->names.size(); ++n) {
    auto r = what->code.gradients[n];
    if (r == no_register) continue;
    gradients[what->names[n]] =
      object_of(run_program(on, what->code.code, {r}, what->operands).at(0));
  }
  to["gradients"] = std::move(gradients);
}

void print_calls(backend& on, const row& how, int rounds) {
  for (size_t t = 0; t < dtype_count; ++t) {
    auto type = static_cast<dtype>(t);
    if (!how.takes.contains(type)) continue;
    std::mt19937 random(static_cast<uint32_t>(how.id) * 8 + static_cast<uint32_t>(t) + 77);
    sampler samples(random(), type);
    for (int i = 0; i < rounds; ++i) {
      auto what = how.example(samples);
      auto operands = operands_of(what, random);
      auto call = make_call(how, std::move(what), std::move(operands));
      if (!call) throw std::runtime_error(call.error().message);
      auto out = describe(*call);
      out["result"] = object_of(run_program(on, call->code, {call->result}, call->operands).at(0));
      if (has_gradient(*call)) add_gradients(on, *call, random, out);
      std::puts(json::serialize(out).c_str());
    }
  }
}

} // namespace

int main(int count, char** values) {
  try {
    std::string kind = count > 1 ? values[1] : "reference";
    auto rounds = count > 2 ? std::stoi(values[2]) : 20;
    std::error_code ignored;
    auto plugins = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    auto on = open_backend(kind, 1, plugins);
    if (!on) throw std::runtime_error(on.error().message);
    for (auto& how : table())
      if (!how.internal() && how.example) print_calls(**on, how, rounds);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "moxzi_device_rows: %s\n", e.what());
    return 1;
  }
}
