#include <algorithm>

#include "shapescript/lsp/builtin_docs.hpp"
#include "shapescript/lsp/cursor.hpp"
#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

namespace {

json::object signature(std::string label, const std::vector<std::string>& parameters,
                       std::string_view documentation, size_t active) {
  json::array list;
  for (const auto& one : parameters) list.push_back(json::object{{"label", one}});
  json::object out{{"label", std::move(label)}, {"parameters", std::move(list)}};
  if (!documentation.empty()) out["documentation"] = documentation;
  return {{"signatures", json::array{std::move(out)}},
          {"activeSignature", 0},
          {"activeParameter", active}};
}

} // namespace

outcome signature_help(const view& of, const json::value& params) {
  const auto place = offset_of(of, params);
  if (const auto* refused = std::get_if<refusal>(&place)) return *refused;
  const auto call = call_at(of, std::get<uint32_t>(place));
  if (!call) return json::value(nullptr);
  const auto called = callee_at(of, call->name);
  std::vector<std::string> texts;
  std::vector<std::string_view> names;
  std::string label;
  std::string_view documentation;
  std::vector<parameter_slot> slots;
  if (called.known != nullptr) {
    label = signature_of(*called.known);
    documentation = documentation_of(called.known->name);
    slots = slots_of(*called.known);
    for (const auto& one : slots) {
      texts.push_back(parameter_text(one));
      names.push_back(one.name);
    }
  } else if (called.function != no_index) {
    const auto& f = of.all().functions[called.function];
    const auto& text = of.all().modules[f.module]->text;
    label = header_of(of, f);
    for (const auto& one : f.decl->parameters) {
      if (called.method && texts.empty() && names.empty() && text.text(one.name) == "self") {
        texts.emplace_back(text.text(one.where));
        names.emplace_back();
        continue;
      }
      texts.emplace_back(text.text(one.where));
      names.push_back(text.text(one.name));
    }
  } else {
    return json::value(nullptr);
  }
  auto active = call->argument + (call->piped || called.method ? 1 : 0);
  if (!call->named.empty()) {
    const auto named = std::find(names.begin(), names.end(), call->named);
    if (named != names.end()) active = static_cast<size_t>(named - names.begin());
  }
  // The values of a parameter that takes any number.
  for (size_t i = 0; i < slots.size() && call->named.empty(); ++i)
    if (slots[i].variadic) active = std::min(active, i);
  return signature(std::move(label), texts, documentation, active);
}

} // namespace shapescript::lsp
