#include <algorithm>

#include <fmt/format.h>

#include "shapescript/lower/cost.hpp"
#include "shapescript/report/render.hpp"

namespace shapescript {

namespace device = moxzi::device;

std::string grouped(int64_t number) {
  auto out = std::to_string(number);
  const size_t first = number < 0 ? 1 : 0;
  for (auto i = out.size(); i > first + 3;) out.insert(i -= 3, ",");
  return out;
}

std::string shortened(std::string_view text) {
  constexpr size_t bytes_max = 60;
  auto end = std::min(text.find('\n'), text.size());
  if (end <= bytes_max && end == text.size()) return std::string{text};
  end = std::min(end, bytes_max);
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string{text.substr(0, end)} + "...";
}

std::string line_of(const source& text, span where) {
  auto line = text.line(text.line_of(where.begin));
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return shortened(line);
}

std::string describe(const typed_tree& program, const device::placement& where,
                     const std::vector<std::string>& axes) {
  const auto count = program.devices.count;
  if (count < 2) return "on one device";
  switch (where.how) {
    case device::placed::whole:
      return "whole on every device";
    case device::placed::split:
      if (where.dim < axes.size() && !axes[where.dim].empty())
        return fmt::format("split along `{}` over the {} devices", axes[where.dim], count);
      return fmt::format("split over the {} devices", count);
    case device::placed::partial:
      return fmt::format("a term on each of the {} devices, to be joined by {}", count,
                         device::name_of(where.by));
    case device::placed::sharded:
      break;
  }
  return fmt::format("a share on each of the {} devices", count);
}

std::string describe(const line_traffic& what) {
  return fmt::format("{} of {}: {} {} value{}, {} bytes per step", device::name_of(what.kind),
                     what.what, grouped(what.elements), what.type, what.elements == 1 ? "" : "s",
                     grouped(what.bytes));
}

std::string describe(const typed_tree& program, const lowering_fault& what) {
  const auto& text = program.modules[what.module]->text;
  const auto at = text.position_of(what.where.begin);
  return fmt::format("{}:{}:{}: {}", text.name(), at.line, at.column, what.message);
}

namespace {

// `25.6 M`: four digits and a power of 1000.
std::string rounded(double number) {
  static constexpr const char* powers[] = {"", " k", " M", " G", " T", " P", " E"};
  size_t power = 0;
  while (number >= 999.95 && power + 1 < std::size(powers)) {
    number /= 1000;
    ++power;
  }
  return power == 0 ? fmt::format("{:.0f}", number)
                    : fmt::format("{:.1f}{}", number, powers[power]);
}

std::string place_of(const typed_tree& program, uint32_t module, span where) {
  const auto& text = program.modules[module]->text;
  return fmt::format("{}:{}", text.name(), text.line_of(where.begin));
}

std::string_view name_of(const typed_tree& program, const function_cost& cost) {
  const auto& f = program.functions[cost.function];
  return program.modules[f.module]->text.text(f.decl->name);
}

std::string sizes_of(const function_cost& cost) {
  std::string out;
  for (const auto& [name, size] : cost.sizes)
    out += fmt::format("{} {} = {}", out.empty() ? ", where" : ",", name, size);
  return out;
}

std::string memory_of(const function_cost& cost) {
  std::string out;
  const auto add = [&](std::string_view what, int64_t bytes) {
    if (bytes > 0) out += fmt::format("  {:<11} {} bytes a device\n", what, grouped(bytes));
  };
  add("parameters", cost.parameter_bytes);
  add("buffers", cost.buffer_bytes);
  if (cost.momentum_bytes > 0)
    out += fmt::format("  optimizer   {} bytes a device with momentum, {} without\n",
                       grouped(cost.state_bytes), grouped(cost.state_bytes - cost.momentum_bytes));
  else
    add("optimizer", cost.state_bytes);
  add("inputs", cost.input_bytes);
  add("activations", cost.activation_bytes);
  return out + fmt::format("  memory      {} bytes a device\n", grouped(cost.memory_bytes()));
}

} // namespace

std::string render_text(const typed_tree& program, const function_cost& cost) {
  const auto& f = program.functions[cost.function];
  const auto& text = program.modules[f.module]->text;
  auto out =
    fmt::format("{}: fn {}", place_of(program, f.module, f.decl->name), name_of(program, cost));
  if (cost.fault) return out + fmt::format("\n  no figures: {}\n", describe(program, *cost.fault));
  out +=
    fmt::format(" on {} device{}{}\n", cost.devices, cost.devices == 1 ? "" : "s", sizes_of(cost));
  for (const auto& line : cost.lines) {
    out += fmt::format("  {} | {}\n", text.line_of(line.line.begin), line_of(text, line.line));
    for (const auto& one : line.sent) out += fmt::format("      {}\n", describe(one));
  }
  out += fmt::format("  sent        {} bytes per step\n", grouped(cost.sent_bytes));
  out += fmt::format("  work        {}FLOP per step",
                     rounded(cost.flops) + (cost.flops < 1000 ? " " : ""));
  if (cost.devices > 1)
    out += fmt::format(", {}{}FLOP on the device with most", rounded(cost.device_flops),
                       cost.device_flops < 1000 ? " " : "");
  return out + "\n" + memory_of(cost);
}

namespace {

std::string json_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const auto& one : texts) out += (out.size() > 1 ? "," : "") + json_text(one);
  return out + "]";
}

} // namespace

std::string render_json(const std::vector<line_traffic>& sent) {
  std::string out = "[";
  for (const auto& one : sent)
    out += fmt::format(R"({}{{"kind":{},"what":{},"names":{},"type":{},"elements":{},"bytes":{}}})",
                       out.size() > 1 ? "," : "", json_text(device::name_of(one.kind)),
                       json_text(one.what), json_list(one.names), json_text(one.type), one.elements,
                       one.bytes);
  return out + "]";
}

std::string render_json(const typed_tree& program, const function_cost& cost) {
  const auto& f = program.functions[cost.function];
  const auto& text = program.modules[f.module]->text;
  auto out =
    fmt::format(R"({{"function":{},"file":{},"line":{})", json_text(name_of(program, cost)),
                json_text(text.name()), text.line_of(f.decl->name.begin));
  if (cost.fault) {
    const auto& where = program.modules[cost.fault->module]->text;
    const auto at = where.position_of(cost.fault->where.begin);
    return out
           + fmt::format(R"(,"fault":{{"file":{},"line":{},"col":{},"message":{}}}}})",
                         json_text(where.name()), at.line, at.column,
                         json_text(cost.fault->message));
  }
  out += fmt::format(R"(,"devices":{},"sizes":{{)", cost.devices);
  for (const auto& [name, size] : cost.sizes)
    out +=
      fmt::format("{}{}:{}", &size == &cost.sizes.front().second ? "" : ",", json_text(name), size);
  out += R"(},"lines":[)";
  for (const auto& line : cost.lines)
    out +=
      fmt::format(R"({}{{"line":{},"collectives":{}}})", &line == &cost.lines.front() ? "" : ",",
                  text.line_of(line.line.begin), render_json(line.sent));
  out += fmt::format(R"(],"bytes_per_step":{},"flops":{:.0f},"device_flops":{:.0f},)",
                     cost.sent_bytes, cost.flops, cost.device_flops);
  out += fmt::format(R"("parameter_bytes":{},"buffer_bytes":{},"optimizer_bytes":{},)",
                     cost.parameter_bytes, cost.buffer_bytes, cost.state_bytes);
  if (cost.momentum_bytes > 0)
    out += fmt::format(R"("optimizer_bytes_without_momentum":{},)",
                       cost.state_bytes - cost.momentum_bytes);
  return out
         + fmt::format(R"("input_bytes":{},"activation_bytes":{},"memory_bytes":{}}})",
                       cost.input_bytes, cost.activation_bytes, cost.memory_bytes());
}

} // namespace shapescript
