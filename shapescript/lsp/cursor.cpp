#include "shapescript/lsp/cursor.hpp"

#include <algorithm>

#include "shapescript/lsp/calls.hpp"

namespace shapescript::lsp {

namespace {

using tokens = std::vector<token>;

bool is_structure(token_kind kind) noexcept {
  return kind == token_kind::newline || kind == token_kind::indent || kind == token_kind::dedent
         || kind == token_kind::end;
}

bool opens(token_kind kind) noexcept {
  return kind == token_kind::open_paren || kind == token_kind::open_bracket;
}

bool closes(token_kind kind) noexcept {
  return kind == token_kind::close_paren || kind == token_kind::close_bracket;
}

bool is_word(token_kind kind) noexcept {
  return kind == token_kind::name || (kind >= token_kind::kw_fn && kind <= token_kind::kw_false);
}

type type_of_result(const view& of, const callee& what) {
  if (what.function != no_index) return of.all().functions[what.function].result;
  type out;
  if (what.model == no_index) return out;
  out.base = base_type::model;
  out.declaration = what.model;
  return out;
}

// `data |> shuffle(seed=1)`: what goes in comes out, in batches after `batches`.
type type_of_stage(const view& of, const builtin& what, size_t close) {
  auto call = call_at(of, of.file().program.tokens[close].where.begin);
  if (!call) return {};
  if (!call->piped && !call->first) call->first = close - 1;
  auto out = first_type(of, *call);
  if (what.name == "batches" && is(out, base_type::dataset)) out.base = base_type::batches;
  return out;
}

// The shortest expression that ends there and has a type.
type type_of_parsed(const view& of, uint32_t end) {
  const auto& exprs = of.program().exprs;
  const type* best = nullptr;
  uint32_t best_begin = 0;
  for (size_t i = 0; i < exprs.size(); ++i) {
    if (exprs[i].where.end != end) continue;
    const auto& what = of.all().type_of(0, static_cast<expr_id>(i));
    if (is_poison(what) || (best != nullptr && exprs[i].where.begin <= best_begin)) continue;
    best = &what;
    best_begin = exprs[i].where.begin;
  }
  return best == nullptr ? type{} : *best;
}

// The type of a variable of this name, as it was declared last before the place.
type type_of_name(const view& of, std::string_view name, uint32_t offset) {
  const name_info* best = nullptr;
  for (const auto* one : names_at(of, offset)) {
    if (one->name != name || one->declared.begin > offset) continue;
    if (one->kind != name_kind::local && one->kind != name_kind::parameter) continue;
    if (best == nullptr || one->declared.begin > best->declared.begin) best = one;
  }
  if (best != nullptr) return best->what;
  const auto place = of.file().names.find(name);
  if (place == of.file().names.end()) return {};
  type out;
  if (place->second.kind == entity::file) {
    out.base = base_type::module;
    out.declaration = place->second.index;
  }
  return out;
}

} // namespace

std::optional<size_t> token_before(const view& of, uint32_t offset) {
  const auto& all = of.file().program.tokens;
  const auto next = std::partition_point(all.begin(), all.end(),
                                         [&](const token& one) { return one.where.end <= offset; });
  for (auto i = static_cast<size_t>(next - all.begin()); i-- > 0;) {
    const bool unclosed = all[i].kind == token_kind::bad && all[i].where.begin == all[i].where.end;
    if (!is_structure(all[i].kind) && !unclosed) return i;
  }
  return std::nullopt;
}

std::optional<size_t> word_token_at(const view& of, uint32_t offset) {
  const auto& all = of.file().program.tokens;
  const auto next = std::partition_point(all.begin(), all.end(),
                                         [&](const token& one) { return one.where.end < offset; });
  for (auto i = next; i != all.end() && i->where.begin <= offset; ++i)
    if (is_word(i->kind) && i->where.end >= offset) return static_cast<size_t>(i - all.begin());
  return std::nullopt;
}

type type_until(const view& of, size_t last) {
  const auto& all = of.file().program.tokens;
  if (auto parsed = type_of_parsed(of, all[last].where.end); !is_poison(parsed)) return parsed;
  const auto name = of.at(all[last].where);
  if (all[last].kind == token_kind::name) {
    if (last < 2 || all[last - 1].kind != token_kind::dot)
      return type_of_name(of, name, all[last].where.begin);
    for (const auto& one : names_inside(of, type_until(of, last - 2)))
      if (one.name == name) return one.what;
    return {};
  }
  if (!closes(all[last].kind)) return {};
  const auto open = opening_of(of, last);
  if (!open || *open == 0) return {};
  if (all[last].kind == token_kind::close_paren) {
    const auto called = callee_at(of, *open - 1);
    const bool stage = called.known != nullptr && called.known->how == rule::stage;
    return stage ? type_of_stage(of, *called.known, last) : type_of_result(of, called);
  }
  auto base = type_until(of, *open - 1);
  if (is(base, base_type::layers)) return base.parts.at(0);
  if (!is(base, base_type::record) || base.axes.empty()) return {};
  base.axes.erase(base.axes.begin());
  return base;
}

std::vector<inner_name> names_inside(const view& of, const type& what) {
  std::vector<inner_name> out;
  const auto& all = of.all();
  const auto add = [&](std::string_view name, name_kind kind, const type& of_it,
                       uint32_t declared) {
    inner_name one;
    one.name = name;
    one.kind = kind;
    one.what = of_it;
    one.declared = declared;
    out.push_back(std::move(one));
  };
  switch (what.base) {
    case base_type::record: {
      const auto& record = all.records[what.declaration];
      for (size_t i = 0; i < record.fields.size(); ++i) {
        auto field = record.fields[i];
        if (!is_poison(field))
          field.axes.insert(field.axes.begin(), what.axes.begin(), what.axes.end());
        add(all.modules[record.module]->text.text(record.decl->fields[i].name), name_kind::field,
            field, i < record.names.size() ? record.names[i] : no_index);
      }
      break;
    }
    case base_type::model:
    case base_type::gradient: {
      const auto& model = all.models[what.declaration];
      for (const auto& one : model.members)
        if (is(what, base_type::model) || one.kind == member_kind::param)
          add(one.name, name_kind::member, one.what, one.name_at);
      if (!is(what, base_type::model)) break;
      for (const auto& [name, index] : model.methods) {
        add(name, name_kind::method, all.functions[index].result, all.functions[index].name_at);
        out.back().function = index;
      }
      break;
    }
    case base_type::module: {
      if (what.declaration >= all.modules.size()) break;
      for (const auto& [name, one] : all.modules[what.declaration]->names) {
        if (one.name == no_index) continue;
        add(name, all.names[one.name].kind, all.names[one.name].what, one.name);
        if (one.kind == entity::function) out.back().function = one.index;
        if (one.kind == entity::model) out.back().model = one.index;
      }
      break;
    }
    default:
      break;
  }
  return out;
}

std::optional<size_t> opening_of(const view& of, size_t last) {
  const auto& all = of.file().program.tokens;
  size_t depth = 0;
  for (size_t i = last + 1; i-- > 0;) {
    if (is_structure(all[i].kind)) return std::nullopt;
    if (closes(all[i].kind)) ++depth;
    if (opens(all[i].kind) && --depth == 0) return i;
  }
  return std::nullopt;
}

size_t begin_of(const view& of, size_t last) {
  const auto& all = of.file().program.tokens;
  auto at = last;
  while (true) {
    if (closes(all[at].kind)) {
      const auto open = opening_of(of, at);
      const bool follows =
        open && *open > 0
        && (all[*open - 1].kind == token_kind::name || closes(all[*open - 1].kind));
      if (!follows) return open.value_or(at);
      at = *open - 1;
      continue;
    }
    if (at < 2 || all[at - 1].kind != token_kind::dot) return at;
    at -= 2;
  }
}

} // namespace shapescript::lsp
