#include "shapescript/lsp/cursor.hpp"

#include <algorithm>

#include "shapescript/builtins.hpp"

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

// The bracket that the one at `last` closes; nothing if there is none.
std::optional<size_t> opening(const tokens& all, size_t last) {
  size_t depth = 0;
  for (size_t i = last + 1; i-- > 0;) {
    if (is_structure(all[i].kind)) return std::nullopt;
    if (closes(all[i].kind)) ++depth;
    if (opens(all[i].kind) && --depth == 0) return i;
  }
  return std::nullopt;
}

type type_of_result(const view& of, const callee& what) {
  return what.function == no_index ? type{} : of.all().functions[what.function].result;
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

std::optional<size_t> word_at(const view& of, uint32_t offset) {
  const auto& all = of.file().program.tokens;
  const auto next = std::partition_point(all.begin(), all.end(),
                                         [&](const token& one) { return one.where.end < offset; });
  for (auto i = next; i != all.end() && i->where.begin <= offset; ++i)
    if (i->kind == token_kind::name && i->where.end >= offset)
      return static_cast<size_t>(i - all.begin());
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
  const auto open = opening(all, last);
  if (!open || *open == 0) return {};
  if (all[last].kind == token_kind::close_paren)
    return type_of_result(of, callee_at(of, *open - 1));
  const auto base = type_until(of, *open - 1);
  return is(base, base_type::layers) ? base.parts.at(0) : type{};
}

std::vector<inner_name> names_inside(const view& of, const type& what) {
  std::vector<inner_name> out;
  const auto& all = of.all();
  switch (what.base) {
    case base_type::record: {
      const auto& record = all.records[what.declaration];
      for (size_t i = 0; i < record.fields.size(); ++i) {
        auto field = record.fields[i];
        field.axes.insert(field.axes.begin(), what.axes.begin(), what.axes.end());
        const auto& written = all.modules[record.module]->text;
        out.push_back({written.text(record.decl->fields[i].name), name_kind::field, field});
      }
      break;
    }
    case base_type::model:
    case base_type::gradient: {
      const auto& model = all.models[what.declaration];
      for (const auto& one : model.members)
        if (is(what, base_type::model) || one.kind == member_kind::param)
          out.push_back({one.name, name_kind::member, one.what});
      if (!is(what, base_type::model)) break;
      for (const auto& [name, index] : model.methods)
        out.push_back({name, name_kind::method, all.functions[index].result, index});
      break;
    }
    case base_type::module: {
      if (what.declaration >= all.modules.size()) break;
      for (const auto& [name, one] : all.modules[what.declaration]->names) {
        if (one.name == no_index) continue;
        const auto& info = all.names[one.name];
        const auto f = one.kind == entity::function ? one.index : no_index;
        out.push_back({name, info.kind, info.what, f});
      }
      break;
    }
    default:
      break;
  }
  return out;
}

callee callee_at(const view& of, size_t token) {
  callee out;
  const auto& all = of.file().program.tokens;
  if (all[token].kind != token_kind::name) return out;
  const auto name = of.at(all[token].where);
  if (token >= 2 && all[token - 1].kind == token_kind::dot) {
    for (const auto& one : names_inside(of, type_until(of, token - 2))) {
      if (one.name != name) continue;
      out.function = one.function;
      out.method = one.kind == name_kind::method;
    }
    return out;
  }
  const auto place = of.file().names.find(name);
  if (place != of.file().names.end()) {
    if (place->second.kind == entity::function) out.function = place->second.index;
    return out;
  }
  out.known = find_builtin(name);
  return out;
}

std::optional<call_around> call_at(const view& of, uint32_t offset) {
  const auto& all = of.file().program.tokens;
  call_around out;
  size_t depth = 0;
  bool here = true; // still in the argument at hand
  const auto last = token_before(of, offset);
  if (!last) return std::nullopt;
  for (size_t i = *last + 1; i-- > 0;) {
    const auto kind = all[i].kind;
    if (is_structure(kind)) return std::nullopt; // the line's begin
    if (closes(kind)) ++depth;
    if (depth == 0 && kind == token_kind::comma) {
      ++out.argument;
      here = false;
    }
    if (depth == 0 && here && kind == token_kind::assign && i > 0
        && all[i - 1].kind == token_kind::name)
      out.named = of.at(all[i - 1].where);
    if (!opens(kind)) continue;
    if (depth > 0) {
      --depth;
      continue;
    }
    if (kind == token_kind::open_bracket) {
      out.argument = 0; // a list or index inside the call
      here = true;
      out.named = {};
      continue;
    }
    if (i == 0 || all[i - 1].kind != token_kind::name) return std::nullopt;
    out.name = i - 1;
    auto first = i - 1;
    while (first >= 2 && all[first - 1].kind == token_kind::dot) first -= 2;
    out.piped = first > 0 && all[first - 1].kind == token_kind::pipe;
    if (first > 0 && all[first - 1].kind == token_kind::kw_fn) return std::nullopt;
    return out;
  }
  return std::nullopt;
}

} // namespace shapescript::lsp
