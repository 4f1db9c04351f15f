#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

namespace {

// All that the terminal says besides the source lines.
std::string message_of(const diagnostic& what) {
  auto out = what.message;
  if (!what.primary().text.empty()) out += "\n" + what.primary().text;
  for (const auto& note : what.notes) out += "\nnote: " + note;
  for (const auto& help : what.help) out += "\nhelp: " + help;
  return out;
}

json::object to_json(const view& of, const diagnostic& what) {
  json::object out;
  out["range"] = lsp::to_json(of.range_of(what.primary().where));
  out["severity"] = what.level == severity::error ? 1 : 2;
  out["code"] = what.code;
  out["codeDescription"] = {{"href", fmt::format("shapescript-explain:{}.md", what.code)}};
  out["source"] = "shapescript";
  out["message"] = message_of(what);
  json::array related;
  for (const auto& label : what.labels) {
    if (label.primary) continue;
    const json::object where{{"uri", of.uri}, {"range", lsp::to_json(of.range_of(label.where))}};
    related.push_back(json::object{{"location", where}, {"message", label.text}});
  }
  if (!related.empty()) out["relatedInformation"] = std::move(related);
  if (what.code == "W0201") out["tags"] = json::array{1}; // shown faded
  return out;
}

std::string title_of(const view& of, const diagnostic& what) {
  if (what.fixes.size() > 1 && !what.help.empty()) {
    auto title = what.help.front();
    title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
    return title;
  }
  const auto& change = what.fixes.front();
  const auto before = of.at(change.where);
  if (change.text.empty()) return fmt::format("Remove `{}`", before);
  if (before.empty()) return fmt::format("Insert `{}`", change.text);
  return fmt::format("Replace `{}` by `{}`", before, change.text);
}

// `only` names kinds of actions; one that is empty is every kind.
bool wants_fixes(const json::value& params) {
  const auto* context = member(params, "context");
  const auto* only = context == nullptr ? nullptr : member(*context, "only");
  if (only == nullptr || !only->is_array()) return true;
  return std::any_of(only->get_array().begin(), only->get_array().end(), [](const auto& kind) {
    return kind.is_string() && (kind.get_string() == "quickfix" || kind.get_string().empty());
  });
}

} // namespace

json::array diagnostics(const view& of) {
  json::array out;
  for (const auto& one : of.known.diagnostics) out.push_back(to_json(of, one));
  return out;
}

outcome code_actions(const view& of, const json::value& params) {
  const auto* wanted = member(params, "range");
  const auto range = wanted == nullptr ? std::nullopt : read_range(*wanted);
  if (!range) return refusal{invalid_params, "`range` is not two places"};
  if (!wants_fixes(params)) return json::value(json::array{});
  const auto begin = of.text.offset_of(range->start, of.unit);
  const auto end = of.text.offset_of(range->end, of.unit);
  json::array out;
  for (const auto& one : of.known.diagnostics) {
    const auto where = one.primary().where;
    if (where.begin > end || where.end < begin) continue;
    if (one.fixes.empty()) continue;
    json::array edits;
    for (const auto& change : one.fixes)
      edits.push_back(
        json::object{{"range", lsp::to_json(of.range_of(change.where))}, {"newText", change.text}});
    json::object action;
    action["title"] = title_of(of, one);
    action["kind"] = "quickfix";
    action["diagnostics"] = json::array{to_json(of, one)};
    action["isPreferred"] = true;
    json::object changes;
    changes[of.uri] = std::move(edits);
    action["edit"] = json::object{{"changes", std::move(changes)}};
    out.push_back(std::move(action));
  }
  return json::value(std::move(out));
}

} // namespace shapescript::lsp
