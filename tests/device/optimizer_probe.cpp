// Steps one parameter by gradients that are given, for comparison with PyTorch: a choice as JSON on
// standard input, the parameter after each step as JSON on standard output.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>

#include <boost/json.hpp>

#include "base/bytes.hpp"
#include "device/optimizer.hpp"
#include "tests/device/support.hpp"

namespace {

using namespace moxzi;
using namespace moxzi::device;
using namespace moxzi::device::testing;
namespace json = boost::json;

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "moxzi_optimizer_probe: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T checked(result<T> what) {
  if (!what) die(what.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*what);
}

double number(const json::object& from, std::string_view name) {
  return from.at(name).to_number<double>();
}

std::optional<double> optional_number(const json::object& from, std::string_view name) {
  if (from.at(name).is_null()) return std::nullopt;
  return number(from, name);
}

byte_string bytes(const json::value& hex) {
  return checked(from_hex(std::string_view(hex.as_string())));
}

optimizer_kind kind_named(std::string_view name) {
  for (size_t i = 0; i <= static_cast<size_t>(optimizer_kind::muon); ++i)
    if (auto kind = static_cast<optimizer_kind>(i); name_of(kind) == name) return kind;
  die("no kind " + std::string(name));
}

lr_schedule schedule_of(const json::object& from) {
  const auto kind = std::string_view(from.at("kind").as_string());
  const auto count = [&](std::string_view name) { return from.at(name).to_number<uint64_t>(); };
  if (kind == "warmup") return schedule_warmup{count("steps")};
  if (kind == "cosine")
    return schedule_cosine{count("warmup"), count("total"), number(from, "floor")};
  if (kind == "linear")
    return schedule_linear{count("warmup"), count("total"), number(from, "floor")};
  if (kind == "step") return schedule_step{count("every"), number(from, "gamma")};
  return schedule_constant{};
}

optimizer_spec optimizer_of(const json::object& from) {
  optimizer_spec out{.name = "o",
                     .params = {"p"},
                     .lr = number(from, "lr"),
                     .beta1 = number(from, "beta1"),
                     .beta2 = number(from, "beta2"),
                     .eps = number(from, "eps"),
                     .weight_decay = number(from, "weight_decay"),
                     .kind = kind_named(std::string_view(from.at("kind").as_string())),
                     .schedule = schedule_of(from.at("schedule").as_object()),
                     .amsgrad = from.at("amsgrad").as_bool()};
  if (from.at("no_decay").as_bool()) out.no_decay = {"p"};
  return out;
}

json::array train(device_core& core, const json::object& how, uint32_t elements) {
  // The loss is the sum of gradient times parameter.
  run_request step{.code = shared({param("p"), reshape(0, {1, elements}), input(0), linear(2, 1)}),
                   .train = train_spec{.loss = 3, .optimizer = "o"}};
  step.train->clip = optional_number(how, "clip");
  step.train->clip_value = optional_number(how, "clip_value");
  const run_request look{.code = shared({param("p")}), .tensors = {0}};
  json::array after;
  for (auto& parts : how.at("gradients").as_array()) {
    auto left = parts.as_array().size();
    for (auto& part : parts.as_array()) {
      step.inputs = {{bytes(part), elem::f32, {1, elements}}};
      step.train->accumulate = --left > 0;
      checked(core.run("probe", step));
    }
    after.push_back(json::string(to_hex(checked(core.run("probe", look)).tensors.at(0).data)));
  }
  return after;
}

json::object probe(const json::object& how, const std::filesystem::path& plugins) {
  device_core core(
    checked(open_backend(std::string(how.at("device").as_string().c_str()), 1, plugins)), {});
  std::vector<uint32_t> dims;
  uint32_t elements = 1;
  for (auto& size : how.at("dims").as_array()) {
    dims.push_back(size.to_number<uint32_t>());
    elements *= dims.back();
  }
  tensor contents{bytes(how.at("initial")), elem::f32, dims};
  checked(core.define_params("probe", {{.name = "p", .dims = dims, .init = init_data{contents}}}));
  checked(core.define_optimizer("probe", optimizer_of(how)));
  return {{"after", train(core, how, elements)}};
}

} // namespace

int main() {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const auto plugins = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  try {
    json::array answers;
    const auto asked = json::parse(text);
    for (auto& how : asked.as_array()) answers.push_back(probe(how.as_object(), plugins));
    std::puts(json::serialize(answers).c_str());
  } catch (const std::exception& e) {
    die(e.what());
  }
}
