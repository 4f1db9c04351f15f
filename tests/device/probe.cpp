// moxzi_device_probe: one JSON object on standard input says which model to train on which device;
// the answer on standard output has the initial tensors and the losses. For comparing a device with
// another library, and for looking at one by hand.

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <string>

#include <boost/json.hpp>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "tests/device/support.hpp"

namespace json = boost::json;
using namespace moxzi;
using namespace moxzi::device;
using namespace moxzi::device::testing;

namespace {

/// What to do; every field of the input has a default, unknown ones are refused.
struct choice {
  std::string device = "reference";
  std::string text_hex; ///< rows * (length + 1) bytes
  int64_t rows = 1;
  int64_t width = 16;
  int64_t steps = 20;
  int64_t threads = 1;
  int64_t seed = 0;
  double deviation = 0.1;
  double lr = 0.05, beta1 = 0.9, beta2 = 0.99, eps = 1e-8, weight_decay = 0;
  double clip = -1; ///< below 0: none
  bool bias = false;
  std::string kind = "adamw";
};

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "moxzi_device_probe: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T checked(result<T> what) {
  if (!what) die(what.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*what);
}

void read_field(const json::value& from, std::string& to) {
  to = from.as_string().c_str();
}
void read_field(const json::value& from, int64_t& to) {
  to = from.to_number<int64_t>();
}
void read_field(const json::value& from, double& to) {
  to = from.to_number<double>();
}
void read_field(const json::value& from, bool& to) {
  to = from.as_bool();
}

choice read_choice(const std::string& text) {
  choice out;
  auto parsed = json::parse(text);
  for (auto& [key, value] : parsed.as_object()) {
    bool known = false;
    auto field = [&](std::string_view name, auto& to) {
      if (key != name) return;
      read_field(value, to);
      known = true;
    };
    field("device", out.device);
    field("text_hex", out.text_hex);
    field("rows", out.rows);
    field("width", out.width);
    field("steps", out.steps);
    field("threads", out.threads);
    field("seed", out.seed);
    field("deviation", out.deviation);
    field("lr", out.lr);
    field("beta1", out.beta1);
    field("beta2", out.beta2);
    field("eps", out.eps);
    field("weight_decay", out.weight_decay);
    field("clip", out.clip);
    field("bias", out.bias);
    field("kind", out.kind);
    if (!known) die("unknown field " + std::string(key));
  }
  return out;
}

/// The page's model for `rows` texts side by side.
program model(uint32_t rows, uint32_t length, bool bias) {
  program code{input(0),
               narrow(0, 1, 0, length),
               narrow(0, 1, 1, length),
               reshape(2, {rows * length}),
               param("embed"),
               embedding(4, 1),
               param("head")};
  if (bias) code.push_back(param("bias"));
  auto at = static_cast<reg>(code.size());
  code.push_back(linear(5, 6, bias ? 7 : no_register));
  code.push_back(reshape(at, {rows * length, 256}));
  code.push_back(cross_entropy(at + 1, 3));
  return code;
}

json::array train(device_core& core, const choice& how, const run_request& step, json::array& norms,
                  double& best_us) {
  json::array losses;
  auto time = make_system_clock();
  for (int64_t i = 0; i < how.steps; ++i) {
    auto from = time->monotonic_ns();
    auto reply = checked(core.run("probe", step));
    auto us = static_cast<double>(time->monotonic_ns() - from) / 1000;
    if (i == 0 || us < best_us) best_us = us;
    losses.push_back(reply.scalars.at(0));
    if (reply.grad_norm) norms.push_back(*reply.grad_norm);
  }
  return losses;
}

json::object probe(const choice& how, const std::filesystem::path& plugins) {
  device_core core(checked(open_backend(how.device, static_cast<uint32_t>(how.threads), plugins)),
                   {.seed = static_cast<uint64_t>(how.seed)});
  auto text = checked(from_hex(how.text_hex));
  auto rows = static_cast<uint32_t>(how.rows), width = static_cast<uint32_t>(how.width);
  if (rows == 0 || text.size() % rows != 0 || text.size() / rows < 2)
    die("text_hex must hold rows * (length + 1) bytes");
  auto length = static_cast<uint32_t>(text.size() / rows) - 1;
  std::vector<param_spec> params{
    {.name = "embed", .dims = {256, width}, .init = init_normal{how.deviation}},
    {.name = "head", .dims = {256, width}, .init = init_normal{how.deviation}}};
  if (how.bias)
    params.push_back({.name = "bias", .dims = {256}, .init = init_normal{how.deviation}});
  checked(core.define_params("probe", params));
  optimizer_spec optimizer{.name = "o",
                           .lr = how.lr,
                           .beta1 = how.beta1,
                           .beta2 = how.beta2,
                           .eps = how.eps,
                           .weight_decay = how.weight_decay,
                           .kind =
                             how.kind == "adam" ? optimizer_kind::adam : optimizer_kind::adamw};
  program reading;
  run_request read;
  for (auto& spec : params) {
    optimizer.params.push_back(spec.name);
    read.tensors.push_back(static_cast<reg>(reading.size()));
    reading.push_back(param(spec.name));
  }
  read.code = shared(reading);
  checked(core.define_optimizer("probe", optimizer));
  auto initial = checked(core.run("probe", read));
  json::object tensors;
  for (size_t i = 0; i < params.size(); ++i)
    tensors[params[i].name] = to_hex(initial.tensors[i].data);

  auto code = model(rows, length, how.bias);
  auto loss = static_cast<reg>(code.size() - 1);
  run_request step{.inputs = {{text, elem::u8, {rows, length + 1}}},
                   .code = shared(code),
                   .train = train_spec{.loss = loss, .optimizer = "o"},
                   .scalars = {loss}};
  if (how.clip >= 0) step.train->clip = how.clip;
  json::array norms;
  double best_us = 0;
  auto losses = train(core, how, step, norms, best_us);
  return {{"device", core.info().kind},
          {"initial_hex", std::move(tensors)},
          {"losses", std::move(losses)},
          {"grad_norms", std::move(norms)},
          {"best_step_us", best_us}};
}

} // namespace

int main() {
  std::string text(std::istreambuf_iterator<char>(std::cin), {});
  auto plugins = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  try {
    std::puts(json::serialize(probe(read_choice(text), plugins)).c_str());
  } catch (const std::exception& e) {
    die(e.what());
  }
}
