#include "shapescript/lower/hover_placement.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "shapescript/lower/costing.hpp"

namespace shapescript {

namespace device = moxzi::device;

namespace {

// Things that lie alike, and how.
struct alike {
  std::string how;
  std::vector<std::string> names;
};

void add(std::vector<alike>& all, std::string how, std::string name) {
  auto place =
    std::find_if(all.begin(), all.end(), [&](const alike& one) { return one.how == how; });
  if (place == all.end()) place = all.insert(all.end(), {std::move(how), {}});
  place->names.push_back(std::move(name));
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return out;
}

// `w1 and w2 split along `H` over the 2 devices, the rest whole on every device`.
std::string said(std::vector<alike> all) {
  if (all.empty()) return {};
  if (all.size() == 1) return all[0].how;
  constexpr size_t names_max = 4;
  std::stable_sort(all.begin(), all.end(),
                   [](const alike& x, const alike& y) { return x.names.size() < y.names.size(); });
  std::string out;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& one = all[i];
    const bool many = one.names.size() > names_max;
    const auto names = !many                 ? listed(one.names)
                       : i + 1 == all.size() ? "the rest"
                                             : fmt::format("{} of them", one.names.size());
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", names, one.how);
  }
  return out;
}

std::vector<std::string> names_of(const typed_tree& program, const std::vector<axis>& axes) {
  std::vector<std::string> out;
  for (const auto& one : axes) out.push_back(program.show(one));
  return out;
}

void add_parameters(const typed_tree& program, uint32_t model, const std::string& path,
                    std::vector<alike>& out, int depth = 0) {
  constexpr int depth_max = 64; // layers of layers
  if (depth > depth_max) return;
  for (const auto& one : program.models[model].members) {
    const auto name = path + std::string{one.name};
    if (one.kind == member_kind::buffer) continue;
    if (one.kind == member_kind::param) {
      std::vector<std::string> axes;
      for (const auto& each : one.what.axes) axes.push_back(each.name);
      add(out, describe(program, place_of_parameter(program.devices, axes), axes), name);
      continue;
    }
    const auto& layer = is(one.what, base_type::layers) ? one.what.parts[0] : one.what;
    if (is(layer, base_type::model))
      add_parameters(program, layer.declaration, name + ".", out, depth + 1);
  }
}

bool of_examples(const typed_tree& program, const type& known) {
  if (!is(known, base_type::record) || known.axes.empty()) return false;
  const auto lone = known.axes[0].size.lone();
  return lone && program.symbols[*lone].batch;
}

} // namespace

std::string placement_of(const typed_tree& program, const type& known) {
  if (is(known, base_type::model) || is(known, base_type::optimizer)) {
    std::vector<alike> all;
    add_parameters(program, known.declaration, {}, all);
    return said(std::move(all));
  }
  if (!of_examples(program, known)) return {};
  return describe(program, {device::placed::split, 0}, names_of(program, known.axes));
}

std::string placement_of(const typed_tree& program, const function_cost& cost, expr_id id,
                         const type& known) {
  const auto& places = cost.split.places;
  if (const auto found = cost.code.groups.find(id); found != cost.code.groups.end()) {
    std::vector<alike> all;
    for (const auto& one : found->second)
      add(all, describe(program, places[one.at], one.axes), one.name);
    return said(std::move(all));
  }
  if (const auto found = cost.code.registers.find(id); found != cost.code.registers.end())
    return describe(program, places[found->second], names_of(program, known.axes));
  return is(known, base_type::record) ? std::string{} : placement_of(program, known);
}

called_costs costs_of_calls(const typed_tree& program, uint32_t controller, span statement,
                            const cost_options& options) {
  called_costs out;
  std::vector<std::pair<uint32_t, uint32_t>> seen;
  for (const auto& call : program.functions[controller].calls) {
    const auto where = call.where;
    if (where.begin < statement.begin || where.end > statement.end) continue;
    if (!runs_on_devices(program, call.callee)) continue;
    const std::pair one{call.callee, where.begin};
    if (std::find(seen.begin(), seen.end(), one) != seen.end()) continue;
    seen.push_back(one);
    auto cost = cost_of(program, call.callee, options);
    if (cost.fault && !out.fault) out.fault = cost.fault;
    for (auto& line : cost.lines)
      for (auto& sent : line.sent) out.sent.push_back(std::move(sent));
    for (auto& size : cost.sizes)
      if (std::find(out.sizes.begin(), out.sizes.end(), size) == out.sizes.end())
        out.sizes.push_back(std::move(size));
  }
  return out;
}

} // namespace shapescript
