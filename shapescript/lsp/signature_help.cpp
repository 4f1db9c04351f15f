#include "shapescript/lsp/calls.hpp"
#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

namespace {

// Units of UTF-16, which the protocol counts places in a label by.
size_t units_of(std::string_view text) {
  const document one{std::string{text}};
  return one.place_of(static_cast<uint32_t>(text.size()), encoding::utf16).column;
}

json::object to_json(const view& of, const call_signature& what, std::optional<size_t> active) {
  json::array parameters;
  size_t from = 0;
  for (const auto& one : what.parameters) {
    const auto at = what.label.find(one.text, from);
    if (of.able().label_places && at != std::string::npos) {
      const auto begin = units_of(std::string_view{what.label}.substr(0, at));
      parameters.push_back(json::object{{"label", json::array{begin, begin + units_of(one.text)}}});
      from = at + one.text.size();
    } else {
      parameters.push_back(json::object{{"label", one.text}});
    }
  }
  json::object out{{"label", what.label}};
  // One past the last stands for none.
  out["activeParameter"] = active.value_or(what.parameters.size());
  out["parameters"] = std::move(parameters);
  if (!what.documentation.empty())
    out["documentation"] = {{"kind", "markdown"}, {"value", what.documentation}};
  return out;
}

} // namespace

outcome signature_help(const view& of, const json::value& params) {
  const auto place = offset_of(of, params);
  if (const auto* refused = std::get_if<refusal>(&place)) return *refused;
  const auto call = call_at(of, std::get<uint32_t>(place));
  if (!call) return json::value(nullptr);
  const auto all = signatures_of(of, *call);
  if (all.empty()) return json::value(nullptr);
  json::array signatures;
  for (const auto& one : all) signatures.push_back(to_json(of, one, parameter_of(one, *call)));
  const auto active = parameter_of(all[0], *call).value_or(all[0].parameters.size());
  return json::object{
    {"signatures", std::move(signatures)}, {"activeSignature", 0}, {"activeParameter", active}};
}

} // namespace shapescript::lsp
