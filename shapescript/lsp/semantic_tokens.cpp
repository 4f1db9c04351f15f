#include <algorithm>
#include <map>

#include "shapescript/check/builtins.hpp"
#include "shapescript/check/words.hpp"
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
  type,
  device,
  modifier
};

constexpr std::string_view kind_names[] = {
  "keyword",  "number",   "string",    "comment",  "operator", "enumMember",
  "axis",     "struct",   "class",     "function", "method",   "parameter",
  "variable", "property", "namespace", "type",     "device",   "modifier"};

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

kind kind_of(word_role what) {
  switch (what) {
    case word_role::option:
      return kind::modifier;
    case word_role::device:
      return kind::device;
    case word_role::layer:
      return kind::model;
    case word_role::constant:
      return kind::variable;
    default:
      return names_type(what) ? kind::type : kind::keyword;
  }
}

bool is_variable(name_kind what) {
  return what == name_kind::local || what == name_kind::parameter || what == name_kind::axis;
}

// Tells what names are, also in lines that can't be read: those have no uses.
class painter {
public:
  explicit painter(const view& of) : of_(of), tokens_(of.file().program.tokens) {
    for (const auto& one : tokens_)
      if (one.kind == token_kind::kw_fn) begins_.push_back(one.where.begin);
    for (const auto& one : of.all().names)
      if (one.module == 0 && is_variable(one.kind)) variables_[one.name].push_back(&one);
  }

  std::optional<colored> color_of(size_t at) {
    const auto& one = tokens_[at];
    if (one.kind == token_kind::open_paren || one.kind == token_kind::open_bracket)
      open_.push_back(at);
    if ((one.kind == token_kind::close_paren || one.kind == token_kind::close_bracket)
        && !open_.empty())
      open_.pop_back();
    if (one.kind == token_kind::newline) open_.clear();
    switch (one.kind) {
      case token_kind::integer:
      case token_kind::decimal:
        return colored{one.where, kind::number};
      case token_kind::string:
        return colored{one.where, kind::string};
      case token_kind::name:
        return color_of_name(at);
      default:
        break;
    }
    if (one.kind >= token_kind::kw_fn && one.kind <= token_kind::kw_false)
      return colored{one.where, kind::keyword};
    if (one.kind >= token_kind::ellipsis && one.kind <= token_kind::bang)
      return colored{one.where, kind::operator_};
    return std::nullopt;
  }

private:
  token_kind beside(size_t at, int step) const {
    const auto place = static_cast<int64_t>(at) + step;
    const bool inside = place >= 0 && place < static_cast<int64_t>(tokens_.size());
    return inside ? tokens_[static_cast<size_t>(place)].kind : token_kind::end;
  }

  std::optional<colored> color_of_name(size_t at) const {
    const auto where = tokens_[at].where;
    const auto* use = of_.all().use_at(0, where.begin);
    if (use != nullptr && use->where == where)
      return colored{where, kind_of(of_.all().names[use->name].kind),
                     (use->declares ? declares : 0u) | (use->writes ? writes : 0u)};
    const auto* word = word_at(of_.file(), at);
    const bool own =
      word != nullptr && (names_type(word->role) || word->role == word_role::constant);
    if (word != nullptr && !own) return colored{where, kind_of(word->role)};
    const bool called = beside(at, 1) == token_kind::open_paren;
    if (beside(at, -1) == token_kind::dot)
      return colored{where, called ? kind::function : kind::property};
    if (beside(at, -1) == token_kind::kw_fn) return colored{where, kind::function, declares};
    const bool named = beside(at, 1) == token_kind::assign || beside(at, 1) == token_kind::colon;
    if (!open_.empty() && named) return colored{where, kind::parameter};
    if (const auto known = kind_by_name(where)) return colored{where, *known};
    if (is_axis(at)) return colored{where, kind::axis};
    if (own) return colored{where, kind_of(word->role), library};
    if (find_builtin(of_.at(where)) != nullptr) return colored{where, kind::function, library};
    return std::nullopt;
  }

  // A small name in a pattern, or in the brackets of a type.
  bool is_axis(size_t at) const {
    const char c = of_.at(tokens_[at].where).front();
    if (open_.empty() || !(c == '_' || (c >= 'a' && c <= 'z'))) return false;
    const auto open = open_.back();
    if (tokens_[open].kind == token_kind::open_paren) return tokens_[open].arrow_inside;
    switch (beside(open, -1)) {
      case token_kind::colon:
      case token_kind::arrow:
      case token_kind::kw_as:
        return true;
      case token_kind::name: {
        const auto* word = find_word(of_.at(tokens_[open - 1].where));
        return word != nullptr && word->role == word_role::refinement;
      }
      default:
        return false;
    }
  }

  // What the file declares by this name, or the function around the place.
  std::optional<kind> kind_by_name(span where) const {
    const auto name = of_.at(where);
    const auto function = std::upper_bound(begins_.begin(), begins_.end(), where.begin);
    const auto begin = function == begins_.begin() ? 0 : *std::prev(function);
    const auto end = function == begins_.end() ? UINT32_MAX : *function;
    if (const auto place = variables_.find(name); place != variables_.end())
      for (const auto* one : place->second)
        if (begin <= one->declared.begin && one->declared.begin < end) return kind_of(one->kind);
    const auto place = of_.file().names.find(name);
    if (place == of_.file().names.end() || place->second.name == no_index) return std::nullopt;
    return kind_of(of_.all().names[place->second.name].kind);
  }

  const view& of_;
  const std::vector<token>& tokens_;
  std::vector<uint32_t> begins_; // of functions, also of those that can't be read
  std::map<std::string_view, std::vector<const name_info*>> variables_;
  std::vector<size_t> open_; // brackets
};

json::value encoded(const view& of, span within) {
  painter colors{of};
  std::vector<colored> all;
  const auto& program = of.file().program;
  for (size_t i = 0; i < program.tokens.size(); ++i) {
    const auto where = program.tokens[i].where;
    const auto one = colors.color_of(i);
    if (where.end <= within.begin || where.begin >= within.end || where.begin == where.end)
      continue;
    if (one) all.push_back(*one);
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
