#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "shapescript/check/builtin_docs.hpp"
#include "shapescript/check/words.hpp"
#include "shapescript/lower/hover.hpp"
#include "shapescript/lsp/calls.hpp"
#include "shapescript/lsp/cursor.hpp"
#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

namespace {

std::string_view text_in(const view& of, uint32_t module, span where) {
  return of.all().modules[module]->text.text(where);
}

// A declaration up to the end of its line.
std::string line_at(const view& of, uint32_t module, span declared) {
  const auto& text = of.all().modules[module]->text;
  std::string_view line = text.line(text.line_of(declared.begin));
  if (const auto comment = line.find('#'); comment != line.npos) line = line.substr(0, comment);
  const auto first = line.find_first_not_of(' ');
  const auto last = line.find_last_not_of(" :");
  return first == line.npos ? std::string{} : std::string{line.substr(first, last - first + 1)};
}

// The expression that a name or field is written in, if its type is known.
const type* type_at(const view& of, span name) {
  const auto& exprs = of.program().exprs;
  for (size_t i = 0; i < exprs.size(); ++i) {
    const bool named = exprs[i].kind == expr_kind::name || exprs[i].kind == expr_kind::member;
    if (!named || !(exprs[i].name == name)) continue;
    const auto& what = of.all().type_of(0, static_cast<expr_id>(i));
    if (!is_poison(what) && !is(what, base_type::function)) return &what;
  }
  return nullptr;
}

// The smallest expression around a place whose type is worth showing.
std::optional<span> expression_at(const view& of, uint32_t offset, type& what) {
  const auto& exprs = of.program().exprs;
  std::optional<span> best;
  for (size_t i = 0; i < exprs.size(); ++i) {
    const auto where = exprs[i].where;
    if (offset < where.begin || offset > where.end) continue;
    if (best && where.end - where.begin >= best->end - best->begin) continue;
    const auto& found = of.all().type_of(0, static_cast<expr_id>(i));
    if (is_poison(found) || is(found, base_type::function)) continue;
    best = where;
    what = found;
  }
  return best;
}

// `D` is 784: the numbers behind the names of a type's axes.
std::string sizes_of(const type& what) {
  std::string out;
  std::set<std::string> said;
  for (const auto& one : what.axes) {
    const auto number = one.size.number();
    if (!number || one.text().empty()) continue;
    if (!said.insert(one.text()).second) continue;
    out += fmt::format("{}`{}` is {}", out.empty() ? "" : ", ", one.text(), *number);
  }
  return out;
}

// How the devices hold what stands at a place, and what its line makes them send each other.
std::string communication(const hover_info& found) {
  std::string out;
  if (!found.placement.empty()) out += "\n\n" + found.placement;
  if (!found.sent.empty()) out += "\n";
  for (const auto& one : found.sent) out += "\n- " + shapescript::describe(one);
  if (!found.unknown.empty()) out += "\n\n" + found.unknown;
  return out;
}

// What a wrong program sends is not known.
std::optional<hover_info> found_at(const view& of, uint32_t offset) {
  return of.known.has_errors() ? meaning_at(of.all(), offset) : hover_at(of.all(), offset);
}

// What is called where a token names an argument.
std::optional<call_signature> signature_naming(const view& of, size_t word) {
  const auto& all = of.file().program.tokens;
  if (word + 1 >= all.size() || all[word + 1].kind != token_kind::assign) return std::nullopt;
  const auto call = call_at(of, all[word + 1].where.end);
  if (!call || call->named.empty()) return std::nullopt;
  auto found = signatures_of(of, *call);
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

json::value shown(const view& of, span where, std::string_view code, const std::string& text,
                  const std::optional<hover_info>& found) {
  auto value = fmt::format("```shapescript\n{}\n```", code);
  const auto add = [&](std::string_view part) {
    if (!part.empty()) value += fmt::format("\n\n{}", part);
  };
  add(text);
  if (found) {
    add(fmt::format("{}", fmt::join(found->facts, "  \n")));
    add(found->comment);
    value += communication(*found);
  }
  return json::object{{"contents", {{"kind", "markdown"}, {"value", value}}},
                      {"range", to_json(of.range_of(where))}};
}

} // namespace

std::string header_of(const view& of, const function_info& f) {
  const auto where = signature_of(*of.all().modules[f.module], *f.decl);
  std::string out;
  bool blank = false;
  for (const char c : text_in(of, f.module, where)) {
    const bool space = c == ' ' || c == '\n' || c == '\r';
    if (!space || !blank) out += space ? ' ' : c;
    blank = space;
  }
  return (f.decl->is_extern ? "extern fn " : "fn ") + out;
}

std::string describe(const view& of, const name_info& what) {
  const auto typed = [&] { return fmt::format("{}: {}", what.name, of.all().show(what.what)); };
  switch (what.kind) {
    case name_kind::axis:
      return fmt::format("axis {}", what.name);
    case name_kind::function:
    case name_kind::method:
      for (const auto& f : of.all().functions)
        if (f.module == what.module && f.decl->name == what.declared) return header_of(of, f);
      return fmt::format("fn {}", what.name);
    case name_kind::parameter: {
      for (const auto& f : of.all().functions)
        for (const auto& p : f.parameters)
          if (f.module == what.module && p.where == what.declared && p.is_mut)
            return "mut " + typed();
      return typed();
    }
    case name_kind::local:
    case name_kind::field:
      return typed();
    case name_kind::dim:
    case name_kind::record:
    case name_kind::model:
    case name_kind::member:
    case name_kind::python:
    case name_kind::file:
      return line_at(of, what.module, what.declared);
  }
  return what.name;
}

outcome hover(const view& of, const json::value& params) {
  const auto place = offset_of(of, params);
  if (const auto* refused = std::get_if<refusal>(&place)) return *refused;
  const auto offset = std::get<uint32_t>(place);
  auto found = found_at(of, offset);
  if (const auto* use = of.all().use_at(0, offset)) {
    const auto& name = of.all().names[use->name];
    const auto* here = type_at(of, use->where);
    const auto valued = name.kind == name_kind::local || name.kind == name_kind::parameter
                        || name.kind == name_kind::field || name.kind == name_kind::member;
    auto code = describe(of, name);
    if (here != nullptr && valued && !use->declares)
      code = fmt::format("{}: {}", name.name, of.all().show(*here));
    std::string text = sizes_of(here != nullptr ? *here : name.what);
    if (name.kind == name_kind::dim)
      if (const auto value = name.what.value ? name.what.value->number() : std::nullopt)
        text = fmt::format("`{}` is {}", name.name, *value);
    // At the end of a name nothing stands there any more, though the editor means the name.
    if (!found || !(found->where == use->where)) found = found_at(of, use->where.begin);
    return shown(of, use->where, code, text, found);
  }
  if (const auto word = word_token_at(of, offset)) {
    const auto where = of.file().program.tokens[*word].where;
    if (!found || !(found->where == where)) found = found_at(of, where.begin);
    const auto* own = word_at(of.file(), *word);
    if (own != nullptr) return shown(of, where, own->form, {}, found);
    if (const auto signature = signature_naming(of, *word))
      return shown(of, where, signature->label, signature->documentation, found);
    if (const auto called = callee_at(of, *word); called.known != nullptr)
      return shown(of, where, signature_of(*called.known),
                   std::string{documentation_of(called.known->name)}, found);
  }
  type what;
  const auto where = expression_at(of, offset, what);
  if (!where) return json::value(nullptr);
  return shown(of, *where, of.all().show(what), sizes_of(what), found);
}

} // namespace shapescript::lsp
