#include <algorithm>

#include "shapescript/lsp/extent.hpp"
#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

namespace {

// The protocol's kinds.
enum class symbol_kind : int {
  module = 2,
  class_ = 5,
  method = 6,
  field = 8,
  function = 12,
  constant = 14,
  struct_ = 23
};

struct outline_entry {
  symbol_kind kind;
  span name;
  span where; ///< the whole declaration
  std::string_view detail;
  std::vector<outline_entry> inner;
};

// From a name to the end of its type.
outline_entry field_of(const tree& t, const view& of, symbol_kind kind, span name, type_id type) {
  outline_entry out{kind, name, name, {}, {}};
  if (type == type_id::none) return out;
  out.where.end = std::max(name.end, t.at(type).where.end);
  out.detail = of.at(t.at(type).where);
  return out;
}

outline_entry function_entry(const view& of, const std::vector<extent>& blocks,
                             const function_decl& f, symbol_kind kind) {
  const span line{f.where.begin, std::max(f.name.end, f.where.end)};
  const auto detail = of.at({f.name.end, signature_of(of.file(), f).end});
  return {kind, f.name, extent_from(blocks, line), detail, {}};
}

outline_entry model_entry(const view& of, const std::vector<extent>& blocks, const model_decl& m) {
  const auto& t = of.program();
  outline_entry out{symbol_kind::class_, m.name, {}, {}, {}};
  out.where = extent_from(blocks, {m.where.begin, std::max(m.name.end, m.where.end)});
  for (const auto& one : m.members)
    out.inner.push_back(field_of(t, of, symbol_kind::field, one.name, one.type));
  for (const auto method : m.methods)
    out.inner.push_back(function_entry(of, blocks, t.functions[method], symbol_kind::method));
  std::sort(out.inner.begin(), out.inner.end(),
            [](const auto& x, const auto& y) { return x.name.begin < y.name.begin; });
  return out;
}

std::vector<outline_entry> outline(const view& of) {
  const auto& t = of.program();
  const auto blocks = blocks_of(of.file().program.tokens);
  std::vector<outline_entry> out;
  for (const auto& [kind, index] : t.order) {
    switch (kind) {
      case decl_kind::devices:
        break;
      case decl_kind::dim: {
        const auto& d = t.dim_decls[index];
        const auto value = d.value == dim_id::none ? span{} : t.at(d.value).where;
        out.push_back({symbol_kind::constant,
                       d.name,
                       {d.where.begin, std::max({d.name.end, d.where.end, value.end})},
                       value == span{} ? std::string_view{} : of.at(value),
                       {}});
        break;
      }
      case decl_kind::data: {
        const auto& d = t.data[index];
        outline_entry one{symbol_kind::struct_, d.name, {}, {}, {}};
        one.where = extent_from(blocks, {d.where.begin, std::max(d.name.end, d.where.end)});
        for (const auto& field : d.fields)
          one.inner.push_back(field_of(t, of, symbol_kind::field, field.name, field.type));
        out.push_back(std::move(one));
        break;
      }
      case decl_kind::model:
        out.push_back(model_entry(of, blocks, t.models[index]));
        break;
      case decl_kind::function:
        out.push_back(function_entry(of, blocks, t.functions[index], symbol_kind::function));
        break;
      case decl_kind::import: {
        const auto& d = t.imports[index];
        out.push_back({symbol_kind::module,
                       d.name,
                       {d.where.begin, std::max(d.name.end, d.where.end)},
                       {},
                       {}});
        break;
      }
    }
  }
  return out;
}

json::object to_json(const view& of, const outline_entry& one) {
  json::object out;
  out["name"] = of.at(one.name);
  out["kind"] = static_cast<int>(one.kind);
  if (!one.detail.empty()) out["detail"] = one.detail;
  const span whole{std::min(one.where.begin, one.name.begin),
                   std::max(one.where.end, one.name.end)};
  out["range"] = lsp::to_json(of.range_of(whole));
  out["selectionRange"] = lsp::to_json(of.range_of(one.name));
  json::array inner;
  for (const auto& part : one.inner)
    if (!of.at(part.name).empty()) inner.push_back(to_json(of, part));
  if (!inner.empty()) out["children"] = std::move(inner);
  return out;
}

bool holds(std::string_view name, std::string_view query) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
  return std::search(name.begin(), name.end(), query.begin(), query.end(),
                     [&](char x, char y) { return lower(x) == lower(y); })
           != name.end()
         || query.empty();
}

} // namespace

outcome document_symbols(const view& of, const json::value&) {
  json::array out;
  for (const auto& one : outline(of))
    if (!of.at(one.name).empty()) out.push_back(to_json(of, one));
  return json::value(std::move(out));
}

void find_symbols(const view& of, std::string_view query, json::array& out) {
  const auto add = [&](const outline_entry& one, std::string_view owner) {
    const auto name = of.at(one.name);
    if (name.empty() || !holds(name, query)) return;
    json::object entry;
    entry["name"] = name;
    entry["kind"] = static_cast<int>(one.kind);
    if (!owner.empty()) entry["containerName"] = owner;
    entry["location"] =
      json::object{{"uri", of.uri}, {"range", lsp::to_json(of.range_of(one.name))}};
    out.push_back(std::move(entry));
  };
  for (const auto& one : outline(of)) {
    add(one, {});
    for (const auto& part : one.inner) add(part, of.at(one.name));
  }
}

} // namespace shapescript::lsp
