#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "shapescript/lower/costing.hpp"

namespace shapescript {

namespace device = moxzi::device;

namespace {

// What travels, as a person knows it.
enum class known_as : uint8_t {
  inside, // an operation, while it makes a value
  parameter_gradient,
  parameter,
  value,
  gradient,   // of a value
  on_the_way, // to one
};

class line_names {
public:
  line_names(const typed_tree& program, const lowered& code) : program_(program), code_(code) {
    for (const auto& one : code.gradients)
      if (!one.path.empty()) models_.insert(one.path.substr(0, one.path.find('.')));
    for (const auto& one : code.parameters) models_.insert(one.name.substr(0, one.name.find('.')));
  }

  std::pair<known_as, std::string> operator()(const device::collective& sent) const {
    const auto what = sent.what;
    if (sent.elements != code_.code.types[what].dims.elements())
      return {known_as::inside, expression(what)};
    for (const auto& one : code_.gradients)
      if (one.at == what) return {known_as::parameter_gradient, name_of(one)};
    const auto& results = code_.results;
    if (std::find(results.begin(), results.end(), what) != results.end())
      return {known_as::value, "the result"};
    const auto back = code_.gradient_of.find(what);
    if (back == code_.gradient_of.end()) {
      const bool parameter = code_.code.code[what].id == device::op::param;
      return {parameter ? known_as::parameter : known_as::value, name_of(what)};
    }
    const auto of = back->second;
    if (of == what || !has_name(of)) return {known_as::on_the_way, expression(what)};
    return {known_as::gradient, name_of(of)};
  }

  // In the order of the model.
  void sort(std::vector<std::string>& names) const {
    const auto place = [&](const std::string& name) {
      const auto& all = code_.gradients;
      return std::find_if(all.begin(), all.end(),
                          [&](const lowered_need& g) { return name_of(g) == name; });
    };
    std::stable_sort(names.begin(), names.end(),
                     [&](const auto& x, const auto& y) { return place(x) < place(y); });
  }

private:
  // `w1`; `d.w1` where the function has several models.
  std::string name_of(const lowered_need& one) const {
    return models_.size() > 1 && !one.path.empty() ? one.path : one.name;
  }

  bool has_name(device::reg x) const {
    const auto id = code_.code.code[x].id;
    return id == device::op::param || id == device::op::input || code_.values.contains(x);
  }

  std::string name_of(device::reg x) const {
    const auto& what = code_.code.code[x];
    if (what.id == device::op::param) return std::get<std::string>(what.attributes[0]);
    if (what.id == device::op::input)
      return code_.inputs[static_cast<size_t>(std::get<int64_t>(what.attributes[0]))].name;
    return expression(x);
  }

  std::string expression(device::reg x) const {
    const auto& from = code_.origins[code_.code.origins[x]];
    return fmt::format("`{}`", shortened(program_.modules[from.module]->text.text(from.where)));
  }

  const typed_tree& program_;
  const lowered& code_;
  std::set<std::string> models_;
};

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t names_max = 4;
  if (names.size() > names_max)
    return fmt::format("{}, {} and {} others", names[0], names[1], names.size() - 2);
  std::string out;
  for (size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return out;
}

std::string said(known_as how, const std::vector<std::string>& names) {
  const bool several = names.size() > 1;
  switch (how) {
    case known_as::inside:
      return "statistics of " + listed(names);
    case known_as::parameter:
    case known_as::value:
      return listed(names);
    case known_as::on_the_way:
      return (several ? "gradients in " : "a gradient in ") + listed(names);
    case known_as::parameter_gradient:
      if (names.size() == 1 && names[0].empty()) return "the gradient";
      break;
    case known_as::gradient:
      break;
  }
  return (several ? "the gradients of " : "the gradient of ") + listed(names);
}

struct group {
  known_as how{};
  line_traffic traffic;
};

} // namespace

std::vector<line_cost> lines_of(const typed_tree& program, const lowered& code,
                                const device::split_program& split) {
  const line_names name_of{program, code};
  std::map<uint32_t, std::pair<span, std::vector<group>>> lines; // by where a line begins
  for (const auto& one : split.sent) {
    const auto& line = code.origins[one.origin].line;
    auto& [where, groups] = lines[line.begin];
    where = line;
    auto [how, name] = name_of(one);
    const std::string type{device::name_of(one.type)};
    auto place = std::find_if(groups.begin(), groups.end(), [&, how = how](const group& g) {
      return std::tie(g.traffic.kind, g.traffic.type, g.how) == std::tie(one.kind, type, how);
    });
    if (place == groups.end())
      place = groups.insert(groups.end(), {how, {one.kind, {}, type, 0, 0, {}}});
    place->traffic.elements += one.elements;
    place->traffic.bytes += one.bytes();
    auto& names = place->traffic.names;
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  std::vector<line_cost> out;
  for (auto& [begin, line] : lines) {
    out.push_back({line.first, {}});
    for (auto& one : line.second) {
      if (one.how == known_as::parameter_gradient) name_of.sort(one.traffic.names);
      one.traffic.what = said(one.how, one.traffic.names);
      out.back().sent.push_back(std::move(one.traffic));
    }
  }
  return out;
}

} // namespace shapescript
