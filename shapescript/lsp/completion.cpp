#include <algorithm>
#include <set>

#include "shapescript/lsp/builtin_docs.hpp"
#include "shapescript/lsp/cursor.hpp"
#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

namespace {

// The protocol's kinds.
enum class item_kind : int {
  method = 2,
  function = 3,
  field = 5,
  variable = 6,
  class_ = 7,
  module = 9,
  keyword = 14,
  constant = 21,
  struct_ = 22,
  type = 25
};

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

// What may stand at the place.
enum class setting { inside, over, sizes, type, declaration, member, value };

class collector {
public:
  explicit collector(const view& of, uint32_t offset) : of_(of), offset_(offset) {
  }

  void add(std::string_view label, item_kind kind, std::string_view detail, int rank,
           std::string_view documentation = {}, std::string_view insert = {}) {
    if (!said_.emplace(label).second) return;
    json::object item{{"label", label}, {"kind", static_cast<int>(kind)}};
    if (!detail.empty()) item["detail"] = detail;
    if (!documentation.empty()) item["documentation"] = documentation;
    if (!insert.empty()) item["insertText"] = insert;
    item["sortText"] = std::string{static_cast<char>('0' + rank)} + std::string{label};
    items_.push_back(std::move(item));
  }

  void words(std::initializer_list<std::string_view> all, item_kind kind, int rank) {
    for (const auto word : all) add(word, kind, {}, rank);
  }

  // A name that the place itself is in the middle of is no help.
  bool being_written(const name_info& one) const {
    return one.declared.begin <= offset_ && offset_ <= one.declared.end;
  }

  void names(std::initializer_list<name_kind> kinds, int rank) {
    for (const auto* one : names_at(of_, offset_)) {
      if (std::find(kinds.begin(), kinds.end(), one->kind) == kinds.end()) continue;
      if (being_written(*one)) continue;
      add(one->name, kind_of(one->kind), detail_of(*one), rank);
    }
  }

  void types() {
    names({name_kind::record, name_kind::model}, 0);
    words({"int",  "float", "bool",    "str",     "f32",  "f64",       "f16",
           "bf16", "i8",    "i16",     "i32",     "i64",  "u8",        "NonNeg",
           "Pos",  "Unit",  "Prob",    "Index",   "Grad", "AdamW",     "Adam",
           "Sgd",  "Lion",  "Dataset", "Batches", "Rng",  "BatchNorm", "fn"},
          item_kind::type, 1);
  }

  void builtins(int rank) {
    for (const auto name : builtin_names())
      add(name, item_kind::function, signature_of(*find_builtin(name)), rank,
          documentation_of(name));
  }

  json::array take() {
    return std::move(items_);
  }

private:
  std::string detail_of(const name_info& one) const {
    switch (one.kind) {
      case name_kind::function:
      case name_kind::method:
        if (is(one.what, base_type::function) && one.what.declaration < of_.all().functions.size())
          return header_of(of_, of_.all().functions[one.what.declaration]);
        return {};
      case name_kind::local:
      case name_kind::parameter:
      case name_kind::field:
      case name_kind::member:
        return of_.all().show(one.what);
      case name_kind::dim: {
        const auto value = one.what.value ? one.what.value->number() : std::nullopt;
        return value ? std::to_string(*value) : std::string{};
      }
      default:
        return {};
    }
  }

  const view& of_;
  uint32_t offset_;
  std::set<std::string, std::less<>> said_;
  json::array items_;
};

// Whether a new logical line begins between two places.
bool line_between(const view& of, uint32_t begin, uint32_t end) {
  const auto& all = of.file().program.tokens;
  for (auto i = std::partition_point(all.begin(), all.end(),
                                     [&](const token& one) { return one.where.end < begin; });
       i != all.end() && i->where.begin < end; ++i)
    if (i->kind == token_kind::newline) return true;
  return of.at({begin, end}).find('\n') != std::string_view::npos && !call_at(of, end).has_value();
}

// The bracket that is open at a token, if it holds sizes.
bool in_brackets(const view& of, size_t last) {
  const auto& all = of.file().program.tokens;
  size_t depth = 0;
  for (size_t i = last + 1; i-- > 0;) {
    const auto kind = all[i].kind;
    if (kind == token_kind::newline || kind == token_kind::indent) return false;
    if (kind == token_kind::close_bracket || kind == token_kind::close_paren) ++depth;
    if (kind != token_kind::open_bracket && kind != token_kind::open_paren) continue;
    if (depth-- == 0) return kind == token_kind::open_bracket;
  }
  return false;
}

// Whether the name that is assigned at a token stands for axes in the call around it.
bool names_axes(const view& of, uint32_t offset) {
  const auto call = call_at(of, offset);
  if (!call || call->named.empty()) return false;
  if (call->named == "over") return true;
  const auto called = callee_at(of, call->name);
  if (called.known == nullptr) return false;
  for (const auto& one : slots_of(*called.known))
    if (one.name == call->named) return one.axes;
  return false;
}

// A place where nothing of the line is written yet.
setting at_line_start(const view& of, uint32_t begin) {
  auto column = begin;
  while (column > 0 && of.text.text()[column - 1] == ' ') --column;
  if (column == begin) return setting::declaration;
  if (function_at(of, begin) == no_index && model_at(of, begin) != no_index) return setting::member;
  return setting::value;
}

setting setting_at(const view& of, uint32_t begin) {
  const auto last = token_before(of, begin);
  const auto& all = of.file().program.tokens;
  if (!last || line_between(of, all[*last].where.end, begin)) return at_line_start(of, begin);
  const auto kind = all[*last].kind;
  if (kind == token_kind::dot) return setting::inside;
  if (names_axes(of, begin)) return setting::over;
  const bool brackets = in_brackets(of, *last);
  if (brackets) return setting::sizes;
  if (kind == token_kind::kw_as || kind == token_kind::arrow || kind == token_kind::close_bracket)
    return setting::type;
  if (kind == token_kind::colon) return setting::type;
  return setting::value;
}

void named_arguments(const view& of, uint32_t begin, collector& out) {
  const auto call = call_at(of, begin);
  if (!call || !call->named.empty()) return;
  const auto called = callee_at(of, call->name);
  const auto offer = [&](std::string_view name) {
    const auto text = std::string{name} + "=";
    out.add(text, item_kind::field, "argument", 0, {}, text);
  };
  if (called.known != nullptr) {
    for (const auto& one : slots_of(*called.known))
      if (!one.variadic && (one.by_name || one.optional)) offer(one.name);
  } else if (called.function != no_index) {
    for (const auto& one : of.all().functions[called.function].parameters)
      if (one.has_default) offer(one.name);
  }
}

void values(const view& of, uint32_t begin, collector& out) {
  named_arguments(of, begin, out);
  out.names({name_kind::local, name_kind::parameter}, 1);
  out.names(
    {name_kind::function, name_kind::model, name_kind::record, name_kind::python, name_kind::file},
    2);
  out.names({name_kind::dim, name_kind::axis}, 3);
  out.builtins(4);
  out.words({"mut", "for", "in", "while", "if", "elif", "else", "return", "break", "continue",
             "pass", "and", "or", "not", "as", "true", "false"},
            item_kind::keyword, 5);
}

} // namespace

outcome completion(const view& of, const json::value& params) {
  const auto place = offset_of(of, params);
  if (const auto* refused = std::get_if<refusal>(&place)) return *refused;
  const auto offset = std::get<uint32_t>(place);
  auto begin = offset; // of the word that is being written
  const auto& text = of.text.text();
  const auto is_word = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  for (const auto& one : of.file().program.comments)
    if (one.where.begin < offset && offset <= one.where.end) return json::value(json::array{});
  for (const auto& one : of.file().program.tokens)
    if (one.kind == token_kind::string && one.where.begin < offset && offset < one.where.end)
      return json::value(json::array{});
  collector out{of, offset};
  switch (setting_at(of, begin)) {
    case setting::inside: {
      const auto dot = *token_before(of, begin);
      if (dot == 0) break;
      for (const auto& one : names_inside(of, type_until(of, dot - 1))) {
        const auto detail = one.function != no_index
                              ? header_of(of, of.all().functions[one.function])
                              : of.all().show(one.what);
        out.add(one.name, kind_of(one.kind), detail, 0);
      }
      break;
    }
    case setting::over:
      out.names({name_kind::axis}, 0);
      out.names({name_kind::dim}, 1);
      break;
    case setting::sizes:
      out.names({name_kind::axis, name_kind::dim}, 0);
      out.names({name_kind::local, name_kind::parameter}, 1);
      out.types();
      break;
    case setting::type:
      out.types();
      out.names({name_kind::axis, name_kind::dim}, 2);
      break;
    case setting::declaration:
      out.words({"fn", "dim", "devices", "model", "data", "extern", "import"}, item_kind::keyword,
                0);
      break;
    case setting::member:
      out.words({"param", "buffer", "layer", "fn"}, item_kind::keyword, 0);
      break;
    case setting::value:
      values(of, begin, out);
      break;
  }
  return json::value(out.take());
}

} // namespace shapescript::lsp
