#include "shapescript/lsp/completion_items.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/builtin_docs.hpp"
#include "shapescript/lower/hover_facts.hpp"
#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

item_kind kind_of(name_kind what) {
  switch (what) {
    case name_kind::dim:
      return item_kind::constant;
    case name_kind::axis:
      return item_kind::type;
    case name_kind::record:
      return item_kind::struct_;
    case name_kind::model:
      return item_kind::class_;
    case name_kind::field:
    case name_kind::member:
      return item_kind::field;
    case name_kind::function:
      return item_kind::function;
    case name_kind::method:
      return item_kind::method;
    case name_kind::python:
    case name_kind::file:
      return item_kind::module;
    default:
      return item_kind::variable;
  }
}

std::string detail_of(const view& of, const name_info& one) {
  switch (one.kind) {
    case name_kind::function:
    case name_kind::method:
    case name_kind::record:
    case name_kind::model:
    case name_kind::python:
    case name_kind::file:
    case name_kind::axis:
      return describe(of, one);
    case name_kind::dim: {
      const auto value = one.what.value ? one.what.value->number() : std::nullopt;
      return value ? std::to_string(*value) : std::string{};
    }
    default:
      return is_poison(one.what) ? std::string{} : of.all().show(one.what);
  }
}

namespace {

// `name:FILE:PLACE`, the place of its declaration.
std::string about_name(const view& of, const name_info& one) {
  return fmt::format("name:{}:{}", one.declared.begin, of.all().modules[one.module]->text.name());
}

std::string documentation_of_name(const view& of, const name_info& one) {
  auto out = comment_of(of.all(), one);
  for (const auto& fact : facts_of(of.all(), one)) out += (out.empty() ? "" : "\n\n") + fact;
  return out;
}

} // namespace

completion_items::completion_items(const view& of, uint32_t begin, uint32_t offset, uint32_t end)
    : of_(of), begin_(begin), offset_(offset), end_(end) {
  // nop
}

void completion_items::add(item one, int rank) {
  if (!said_.emplace(one.label).second) return;
  json::object out{{"label", one.label}, {"kind", static_cast<int>(one.kind)}};
  if (!one.detail.empty()) out["detail"] = one.detail;
  if (of_.able().lazy_documentation && !one.about.empty()) {
    out["data"] = {{"uri", of_.uri}, {"about", one.about}};
  } else {
    if (one.documentation.empty() && !one.about.empty())
      one.documentation = documentation_about(of_, one.about);
    if (!one.documentation.empty())
      out["documentation"] = {{"kind", "markdown"}, {"value", one.documentation}};
  }
  const bool snippet = of_.able().snippets && !one.snippet.empty();
  const auto& text = snippet ? one.snippet : one.insert.empty() ? one.label : one.insert;
  if (snippet) out["insertTextFormat"] = 2;
  // What is behind the cursor stays, unless the client asks to replace the word.
  const auto insert = to_json(of_.range_of({begin_, offset_}));
  if (of_.able().insert_replace)
    out["textEdit"] = {
      {"newText", text}, {"insert", insert}, {"replace", to_json(of_.range_of({begin_, end_}))}};
  else
    out["textEdit"] = {{"newText", text}, {"range", insert}};
  out["sortText"] = std::string{static_cast<char>('0' + rank)} + one.label;
  items_.push_back(std::move(out));
}

// A name that the place itself is in the middle of is no help.
bool completion_items::being_written(const name_info& one) const {
  return one.module == 0 && one.declared.begin <= offset_ && offset_ <= one.declared.end;
}

bool completion_items::call_follows() const {
  const auto& text = of_.text.text();
  return end_ < text.size() && (text[end_] == '(' || text[end_] == '[');
}

// In a type a model has its sizes behind it; as a value it is made.
std::string completion_items::model_snippet(const name_info& one) const {
  bool sizes = false;
  for (const auto& model : of_.all().models)
    if (model.decl != nullptr && model.module == one.module && model.decl->name == one.declared)
      sizes = !model.dims.empty();
  if (mentioned) return sizes ? one.name + "[$1]" : std::string{};
  return one.name + (sizes ? "[$1](seed=${2:0})" : "(seed=${1:0})");
}

void completion_items::name(const name_info& one, int rank, std::string detail) {
  if (being_written(one)) return;
  if (detail.empty()) detail = detail_of(of_, one);
  item out{one.name, kind_of(one.kind), std::move(detail), {}, {}, {}, {}};
  const bool documented = one.kind != name_kind::local && one.kind != name_kind::parameter;
  if (documented && of_.able().lazy_documentation) out.about = about_name(of_, one);
  if (documented && !of_.able().lazy_documentation)
    out.documentation = documentation_of_name(of_, one);
  if (!call_follows()) {
    const bool function = one.kind == name_kind::function || one.kind == name_kind::method;
    if (function && !mentioned) out.snippet = one.name + "($1)";
    if (one.kind == name_kind::model) out.snippet = model_snippet(one);
  }
  add(std::move(out), rank);
}

void completion_items::names(std::initializer_list<name_kind> kinds, int rank) {
  for (const auto* one : names_at(of_, offset_))
    if (std::find(kinds.begin(), kinds.end(), one->kind) != kinds.end()) name(*one, rank);
}

void completion_items::word(std::string_view name, int rank, std::string_view snippet) {
  const auto* found = find_word(name);
  if (found == nullptr) return;
  item out{std::string{name}, item_kind::keyword, std::string{found->form}, {}, {}, {}, {}};
  if (names_type(found->role)) out.kind = item_kind::type;
  if (found->role == word_role::device || found->role == word_role::constant)
    out.kind = item_kind::value;
  out.about = fmt::format("word:{}", name);
  out.snippet = snippet;
  if (!snippet.empty()) out.kind = item_kind::snippet;
  add(std::move(out), rank);
}

void completion_items::words(std::initializer_list<word_role> roles, int rank) {
  for (const auto& one : language_words()) {
    if (std::find(roles.begin(), roles.end(), one.role) == roles.end()) continue;
    const bool brackets = one.form.find(std::string{one.name} + "[") != std::string_view::npos
                          && one.role != word_role::device;
    if (!brackets || mentioned || call_follows()) {
      word(one.name, rank);
      continue;
    }
    item out{std::string{one.name}, item_kind::type, std::string{one.form}, {}, {}, {}, {}};
    out.about = fmt::format("word:{}", one.name);
    out.snippet = out.label + "[$1]";
    add(std::move(out), rank);
  }
}

void completion_items::builtin_function(const builtin& what, int rank, bool called) {
  item out{std::string{what.name}, item_kind::function, signature_of(what), {}, {}, {}, {}};
  out.about = fmt::format("builtin:{}", what.name);
  if (called && !mentioned && !call_follows()) {
    const auto forms = forms_of(what);
    const auto& usual = forms.front();
    if (usual.brackets)
      out.snippet =
        fmt::format("{}[$1]{}", what.name,
                    usual.text.ends_with(')') && !usual.parameters.empty() ? "($2)" : "");
    else
      out.snippet = out.label + (usual.parameters.empty() ? "()" : "($1)");
  }
  add(std::move(out), rank);
}

json::array completion_items::take() {
  return std::move(items_);
}

std::string documentation_about(const view& of, std::string_view about) {
  const auto colon = about.find(':');
  if (colon == about.npos) return {};
  const auto kind = about.substr(0, colon);
  auto rest = about.substr(colon + 1);
  if (kind == "word") {
    const auto* found = find_word(rest);
    return found == nullptr ? std::string{} : std::string{found->text};
  }
  if (kind == "builtin") return std::string{documentation_of(rest)};
  if (kind != "name") return {};
  for (const auto& one : of.all().names)
    if (about_name(of, one) == about) return documentation_of_name(of, one);
  return {};
}

} // namespace shapescript::lsp
