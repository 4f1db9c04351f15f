#include "shapescript/check/builtin_docs.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace shapescript {

namespace {

struct entry {
  std::string_view name;
  std::string_view text;
};

constexpr entry table[] = {
#define DOC(name, text) {name, text},
#include "shapescript/check/builtin_docs.def"
#undef DOC
};

} // namespace

std::string_view documentation_of(std::string_view builtin) noexcept {
  const auto place =
    std::lower_bound(std::begin(table), std::end(table), builtin,
                     [](const entry& one, std::string_view name) { return one.name < name; });
  return place != std::end(table) && place->name == builtin ? place->text : std::string_view{};
}

namespace {

std::string text_of(const parameter_slot& one) {
  if (one.variadic) return "...";
  std::string out = one.is_mut ? "mut " : "";
  out += one.name;
  if (one.by_name) out += '=';
  if (one.optional) out += '?';
  return out;
}

std::vector<form_parameter> parameters_of(const builtin& what) {
  std::vector<form_parameter> out;
  for (const auto& one : slots_of(what)) out.push_back({text_of(one), one});
  return out;
}

builtin_form form(std::string_view head, std::vector<form_parameter> parameters) {
  builtin_form out{std::string{head}, std::move(parameters), head.back() == ']'};
  if (out.brackets && out.parameters.empty()) return out;
  out.text += '(';
  for (const auto& one : out.parameters)
    out.text += (out.text.back() == '(' ? "" : ", ") + one.text;
  out.text += ')';
  return out;
}

// Patterns follow the values that they are of: `rearrange(x: P -> Q)`.
builtin_form pattern_form(const builtin& what) {
  const bool sums = what.name == "einsum";
  builtin_form out{std::string{what.name}, {}, false};
  out.parameters.push_back({sums ? "x, y" : "x", {}});
  out.parameters.push_back({sums ? "P, Q -> R" : "P -> Q", {}});
  out.text += "(" + out.parameters[0].text + ": " + out.parameters[1].text;
  if (what.name == "reduce") {
    out.parameters.push_back(parameters_of(what).back());
    out.text += ", " + out.parameters.back().text;
  }
  out.text += ')';
  return out;
}

// What the brackets hold: `causal[n m]`, `full[axes](v)`.
std::string with_axes(const builtin& what) {
  const std::string name{what.name};
  if (name == "causal" || name == "window" || name == "eye") return name + "[n m]";
  return name + (name == "arange" || name == "linspace" ? "[n]" : "[axes]");
}

bool takes_axes(const builtin& what) {
  return what.how == rule::construct || what.name == "zeros" || what.name == "ones"
         || what.name == "normal" || what.name == "uniform";
}

} // namespace

std::vector<builtin_form> forms_of(const builtin& what) {
  auto parameters = parameters_of(what);
  std::vector<builtin_form> out;
  if (what.how == rule::pattern) return {pattern_form(what)};
  if (what.how == rule::repeat) return {pattern_form(what), form(what.name, parameters)};
  if (what.how == rule::map) {
    out.push_back(form(what.name, parameters));
    out.push_back(form(what.name, {{"data", {"data"}}, {"f", {"f"}}}));
    return out;
  }
  if (takes_axes(what)) {
    if (what.name == "arange") parameters.clear(); // its size is in the brackets
    out.push_back(form(with_axes(what), parameters));
    if (fills_params(what)) out.push_back(form(what.name, parameters));
    if (what.name == "normal" || what.name == "uniform") std::swap(out[0], out[1]);
    return out;
  }
  const auto chosen = [&](std::string text) {
    parameters.insert(parameters.begin() + 1, form_parameter{std::move(text), {}});
  };
  if (what.name == "pad") chosen("AXIS=(before, after)");
  if (what.name == "shift") chosen("AXIS=n");
  if (what.name == "expand") chosen("AXIS=n");
  if (what.how == rule::dataset) chosen("FIELD=rows");
  out.push_back(form(what.name, parameters));
  if (what.name == "log") out.push_back(form(what.name, {{"path", {"path"}}, {"NAME=value", {}}}));
  return out;
}

std::string signature_of(const builtin& what) {
  return forms_of(what).front().text;
}

} // namespace shapescript
