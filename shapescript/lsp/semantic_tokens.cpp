#include <algorithm>

#include "shapescript/builtins.hpp"
#include "shapescript/lsp/cursor.hpp"
#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

namespace {

// The places in the legend below.
enum class kind : uint8_t {
  keyword,
  number,
  string,
  comment,
  operator_,
  dim,
  axis,
  record,
  model,
  function,
  method,
  parameter,
  variable,
  property,
  module,
  type
};

constexpr std::string_view kind_names[] = {
  "keyword", "number",   "string", "comment",   "operator", "enumMember", "axis",      "struct",
  "class",   "function", "method", "parameter", "variable", "property",   "namespace", "type"};

enum mark : uint32_t { declares = 1, library = 2, writes = 4 };
constexpr std::string_view mark_names[] = {"declaration", "defaultLibrary", "modification"};

struct colored {
  span where;
  kind what;
  uint32_t marks = 0;
};

kind kind_of(name_kind what) {
  switch (what) {
    case name_kind::dim:
      return kind::dim;
    case name_kind::axis:
      return kind::axis;
    case name_kind::record:
      return kind::record;
    case name_kind::field:
    case name_kind::member:
      return kind::property;
    case name_kind::model:
      return kind::model;
    case name_kind::function:
      return kind::function;
    case name_kind::method:
      return kind::method;
    case name_kind::parameter:
      return kind::parameter;
    case name_kind::local:
      return kind::variable;
    case name_kind::python:
    case name_kind::file:
      return kind::module;
  }
  return kind::variable;
}

// The words that are keywords only at their place.
std::vector<span> contextual_words(const view& of) {
  const auto& t = of.program();
  std::vector<span> out;
  const auto word = [&](uint32_t begin, std::string_view text) {
    if (of.at({begin, begin + static_cast<uint32_t>(text.size())}) == text)
      out.push_back({begin, begin + static_cast<uint32_t>(text.size())});
  };
  for (const auto& one : t.devices) {
    word(one.where.begin, "devices");
    for (const auto& option : one.options) out.push_back(option.word);
  }
  for (const auto& one : t.dim_decls) word(one.where.begin, "dim");
  for (const auto& one : t.data) word(one.where.begin, "data");
  for (const auto& one : t.models) word(one.where.begin, "model");
  for (const auto& one : t.imports) word(one.where.begin, "import");
  for (const auto& one : t.functions)
    if (one.is_extern) word(one.where.begin, "extern");
  std::sort(out.begin(), out.end(), [](span x, span y) { return x.begin < y.begin; });
  return out;
}

std::optional<colored> color_of(const view& of, const token& one, size_t at,
                                const std::vector<span>& words) {
  const auto value = static_cast<uint8_t>(one.kind);
  switch (one.kind) {
    case token_kind::integer:
    case token_kind::decimal:
      return colored{one.where, kind::number};
    case token_kind::string:
      return colored{one.where, kind::string};
    case token_kind::name: {
      const auto place =
        std::lower_bound(words.begin(), words.end(), one.where.begin,
                         [](span word, uint32_t begin) { return word.begin < begin; });
      if (place != words.end() && *place == one.where) return colored{one.where, kind::keyword};
      const auto* use = of.all().use_at(0, one.where.begin);
      if (use != nullptr && use->where == one.where)
        return colored{one.where, kind_of(of.all().names[use->name].kind),
                       (use->declares ? declares : 0u) | (use->writes ? writes : 0u)};
      const auto name = of.at(one.where);
      const auto& tokens = of.file().program.tokens;
      const bool inner = at > 0 && tokens[at - 1].kind == token_kind::dot;
      const bool named = at + 1 < tokens.size() && tokens[at + 1].kind == token_kind::assign;
      if (!inner && !named && find_builtin(name) != nullptr)
        return colored{one.where, kind::function, library};
      const bool is_type =
        name == "int" || name == "float" || name == "str" || dtype_named(name).has_value();
      if (!inner && is_type) return colored{one.where, kind::type, library};
      return std::nullopt;
    }
    default:
      if (value >= static_cast<uint8_t>(token_kind::kw_fn)
          && value <= static_cast<uint8_t>(token_kind::kw_false))
        return colored{one.where, kind::keyword};
      if (value >= static_cast<uint8_t>(token_kind::ellipsis)
          && value <= static_cast<uint8_t>(token_kind::bang))
        return colored{one.where, kind::operator_};
      return std::nullopt;
  }
}

json::value encoded(const view& of, span within) {
  const auto words = contextual_words(of);
  std::vector<colored> all;
  const auto& program = of.file().program;
  for (size_t i = 0; i < program.tokens.size(); ++i) {
    const auto where = program.tokens[i].where;
    if (where.end <= within.begin || where.begin >= within.end || where.begin == where.end)
      continue;
    if (const auto one = color_of(of, program.tokens[i], i, words)) all.push_back(*one);
  }
  for (const auto& one : program.comments)
    if (one.where.end > within.begin && one.where.begin < within.end)
      all.push_back({one.where, kind::comment});
  std::sort(all.begin(), all.end(),
            [](const colored& x, const colored& y) { return x.where.begin < y.where.begin; });
  json::array data;
  place last;
  for (const auto& one : all) {
    const auto range = of.range_of(one.where);
    if (range.start.line != range.end.line) continue; // the protocol has tokens of one line
    const auto lines = range.start.line - last.line;
    data.push_back(lines);
    data.push_back(lines == 0 ? range.start.column - last.column : range.start.column);
    data.push_back(range.end.column - range.start.column);
    data.push_back(static_cast<uint32_t>(one.what));
    data.push_back(one.marks);
    last = range.start;
  }
  return json::object{{"data", std::move(data)}};
}

} // namespace

json::object semantic_legend() {
  json::array kinds;
  for (const auto name : kind_names) kinds.push_back(json::string{name});
  json::array marks;
  for (const auto name : mark_names) marks.push_back(json::string{name});
  return {{"tokenTypes", std::move(kinds)}, {"tokenModifiers", std::move(marks)}};
}

outcome semantic_tokens(const view& of, const json::value&) {
  return encoded(of, {0, 0xFFFF'FFFF});
}

outcome semantic_tokens_in(const view& of, const json::value& params) {
  const auto* wanted = member(params, "range");
  const auto range = wanted == nullptr ? std::nullopt : read_range(*wanted);
  if (!range) return refusal{invalid_params, "`range` is not two places"};
  return encoded(
    of, {of.text.offset_of(range->start, of.unit), of.text.offset_of(range->end, of.unit)});
}

} // namespace shapescript::lsp
