#include "shapescript/lower/hover.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "shapescript/check/words.hpp"
#include "shapescript/lower/hover_facts.hpp"
#include "shapescript/lower/hover_placement.hpp"
#include "shapescript/report/render.hpp"

namespace shapescript {

namespace {

bool holds(span where, uint32_t offset) {
  return where.begin <= offset && offset < std::max(where.end, where.begin + 1);
}

bool empty(span where) {
  return where == span{};
}

class hovering {
public:
  hovering(const typed_tree& program, uint32_t offset, const cost_options& options)
      : program_(program), tree_(program.modules[0]->program.program), offset_(offset),
        options_(options) {
    // nop
  }

  std::optional<hover_info> run() {
    auto id = find_meaning();
    if (empty(out_.where)) return std::nullopt;
    // A file or type in an expression is no value of it.
    if (id != expr_id::none && tree_.at(id).where.end != out_.where.end) id = expr_id::none;
    find_costs(id);
    return std::move(out_);
  }

  std::optional<hover_info> run_meaning() {
    find_meaning();
    return empty(out_.where) ? std::nullopt : std::optional{std::move(out_)};
  }

  std::optional<hover_info> run_line() {
    to_first_word();
    const stmt* line = nullptr;
    const auto cost = cost_around(&line);
    if (line == nullptr) {
      const auto end = end_of_line();
      for (const auto& use : program_.uses)
        if (use.module == 0 && offset_ <= use.where.begin && use.where.begin < end)
          return hovering{program_, use.where.begin, options_}.run();
      return std::nullopt;
    }
    out_.where = line->where;
    out_.title = line_of(program_.modules[0]->text, line->where);
    const bool makes = line->kind == stmt_kind::expression || line->kind == stmt_kind::assign
                       || line->kind == stmt_kind::return_;
    const auto end = end_of_line();
    const auto& comments = program_.modules[0]->program.comments;
    const bool noted = std::any_of(comments.begin(), comments.end(), [&](const comment& one) {
      return offset_ <= one.where.begin && one.where.begin < end;
    });
    if (makes && !noted && line->values.size() == 1) {
      const auto& known = program_.type_of(0, line->values[0]);
      if (!is_poison(known) && !is(known, base_type::none))
        out_.title += ": " + program_.show(known);
    }
    add_values(cost ? &*cost : nullptr, *line);
    add_open_sizes();
    return std::move(out_);
  }

private:
  // The line's first character that is no blank.
  void to_first_word() {
    const auto all = program_.modules[0]->text.text();
    while (offset_ > 0 && all[offset_ - 1] != '\n') --offset_;
    while (offset_ < all.size() && all[offset_] == ' ') ++offset_;
  }

  size_t end_of_line() const {
    const auto all = program_.modules[0]->text.text();
    return std::min(all.find('\n', offset_), all.size());
  }

  std::string_view text(span where) const {
    return program_.modules[0]->text.text(where);
  }

  bool in_comment() const {
    const auto& all = program_.modules[0]->program.comments;
    return std::any_of(all.begin(), all.end(),
                       [this](const comment& one) { return holds(one.where, offset_); });
  }

  // The smallest expression around the place that has a type.
  expr_id smallest() const {
    auto best = expr_id::none;
    uint32_t length = UINT32_MAX;
    for (uint32_t i = 0; i < tree_.exprs.size(); ++i) {
      const auto& node = tree_.exprs[i];
      const auto size = node.where.end - node.where.begin;
      if (!holds(node.where, offset_) || size >= length) continue;
      if (is_poison(program_.type_of(0, expr_id{i}))) continue;
      best = expr_id{i};
      length = size;
    }
    return best;
  }

  // -- what it is --------------------------------------------------------------

  // The expression that it is, if it is one.
  expr_id find_meaning() {
    if (in_comment()) return expr_id::none;
    const auto* use = program_.use_at(0, offset_);
    const auto id = smallest();
    if (use != nullptr && holds(use->where, offset_)) {
      out_.where = use->where;
      of_name(program_.names[use->name]);
      return id;
    }
    if (of_word()) return expr_id::none;
    if (id != expr_id::none) of_expression(id);
    return id;
  }

  bool of_word() {
    const auto& own = *program_.modules[0];
    const auto& all = own.program.tokens;
    const auto next = std::partition_point(
      all.begin(), all.end(), [this](const token& one) { return one.where.end <= offset_; });
    if (next == all.end() || !holds(next->where, offset_)) return false;
    const auto* word = word_at(own, static_cast<size_t>(next - all.begin()));
    if (word == nullptr) return false;
    out_.where = next->where;
    out_.title = word->form;
    out_.facts.emplace_back(word->text);
    for (auto& one : device_facts(program_, next->where)) out_.facts.push_back(std::move(one));
    return true;
  }

  void add_sizes(const type& what) {
    for (const auto& one : what.axes) {
      const auto number = one.size.number();
      if (one.name.empty()) continue;
      auto said = number ? fmt::format("{} = {}", one.name, *number) : std::string{};
      if (!said.empty()
          && std::find(out_.sizes.begin(), out_.sizes.end(), said) == out_.sizes.end())
        out_.sizes.push_back(std::move(said));
    }
    for (const auto& one : what.parts) add_sizes(one);
  }

  std::string signature(uint32_t function) const {
    const auto& f = program_.functions[function];
    const auto& source = program_.modules[f.module]->text;
    auto out = fmt::format("fn {}(", source.text(f.decl->name));
    for (const auto& p : f.parameters) {
      if (out.back() != '(') out += ", ";
      out += fmt::format("{}{}: {}", p.is_mut ? "mut " : "", p.name, program_.show(p.what));
    }
    out += ")";
    if (!is(f.result, base_type::none)) out += " -> " + program_.show(f.result);
    return out;
  }

  std::string_view word_of(const name_info& what) const {
    switch (what.kind) {
      case name_kind::field:
        return "field ";
      case name_kind::member:
        if (what.owner < program_.models.size())
          for (const auto& one : program_.models[what.owner].members)
            if (one.name == what.name)
              return one.kind == member_kind::param    ? "param "
                     : one.kind == member_kind::buffer ? "buffer "
                                                       : "layer ";
        return "member ";
      case name_kind::parameter:
        return "parameter ";
      default:
        return "";
    }
  }

  void of_name(const name_info& what) {
    out_.facts = facts_of(program_, what);
    if (what.kind != name_kind::local && what.kind != name_kind::parameter
        && what.kind != name_kind::axis)
      out_.comment = comment_of(program_, what);
    switch (what.kind) {
      case name_kind::dim: {
        const auto number = what.what.value ? what.what.value->number() : std::nullopt;
        out_.title = number ? fmt::format("dim {} = {}", what.name, *number)
                            : fmt::format("dim {}", what.name);
        return;
      }
      case name_kind::axis:
        out_.title = fmt::format("axis {}", what.name);
        return;
      case name_kind::record:
        out_.title = fmt::format("data {}", what.name);
        return;
      case name_kind::model:
        out_.title = fmt::format("model {}", what.name);
        return;
      case name_kind::function:
      case name_kind::method:
        out_.title = signature(what.what.declaration);
        return;
      case name_kind::python:
        out_.title = fmt::format("Python module {}", what.name);
        return;
      case name_kind::file:
        out_.title = fmt::format("program {}", what.name);
        return;
      default:
        break;
    }
    // A variable's type is that of the expression, if it is one here.
    const auto* known = &what.what;
    const auto id = smallest();
    if (id != expr_id::none && tree_.at(id).where.end == out_.where.end)
      known = &program_.type_of(0, id);
    out_.title = fmt::format("{}{}: {}", word_of(what), what.name, program_.show(*known));
    add_sizes(*known);
  }

  void of_expression(expr_id id) {
    const auto& node = tree_.at(id);
    out_.where = node.where;
    const auto& known = program_.type_of(0, id);
    out_.title = fmt::format("{}: {}", shortened(text(node.where)), program_.show(known));
    add_sizes(known);
  }

  // -- what it costs -----------------------------------------------------------

  std::optional<uint32_t> function_around() const {
    std::optional<uint32_t> best;
    for (uint32_t i = 0; i < program_.functions.size(); ++i) {
      const auto& f = program_.functions[i];
      if (f.module != 0 || f.decl->where.begin > offset_) continue;
      if (!best || program_.functions[*best].decl->where.begin < f.decl->where.begin) best = i;
    }
    if (!best || program_.functions[*best].has_errors) return std::nullopt;
    return best;
  }

  const stmt* statement_in(const block& body) const {
    for (const auto id : body) {
      const auto& node = tree_.at(id);
      for (const auto& one : node.branches)
        if (const auto* inner = statement_in(one.body)) return inner;
      if (const auto* inner = statement_in(node.body)) return inner;
      if (holds(node.where, offset_)) return &node;
      for (const auto value : node.values)
        if (holds(tree_.at(value).where, offset_)) return &node;
    }
    return nullptr;
  }

  // The statement at the place, and the cost of the function that it is in.
  std::optional<function_cost> cost_around(const stmt** line) {
    const auto function = function_around();
    if (!function) return std::nullopt;
    *line = statement_in(program_.functions[*function].decl->body);
    if (*line == nullptr) return std::nullopt;
    out_.line = (*line)->where;
    if (program_.functions[*function].host) {
      add_calls(*function, **line);
      return std::nullopt;
    }
    if (!runs_on_devices(program_, *function)) return std::nullopt;
    auto cost = cost_of(program_, *function, options_);
    open_sizes_ = cost.sizes;
    if (cost.fault) {
      out_.unknown = "what it sends is not known: " + describe(program_, *cost.fault);
      return std::nullopt;
    }
    for (const auto& part : cost.lines) {
      if (!(part.line == (*line)->where)) continue;
      out_.sent = part.sent;
      for (const auto& each : part.sent) out_.sent_bytes += each.bytes;
    }
    return cost;
  }

  // What a controller's statement sends is what the functions do that it calls.
  void add_calls(uint32_t controller, const stmt& line) {
    auto called = costs_of_calls(program_, controller, span_of(line), options_);
    if (called.fault)
      out_.unknown = "what it sends is not known: " + describe(program_, *called.fault);
    for (const auto& each : called.sent) out_.sent_bytes += each.bytes;
    out_.sent = std::move(called.sent);
    open_sizes_ = std::move(called.sizes);
  }

  // The numbers rest on these.
  void add_open_sizes() {
    if (out_.sent.empty()) return;
    for (const auto& [name, size] : open_sizes_) {
      auto said = fmt::format("{} = {}", name, size);
      if (std::find(out_.sizes.begin(), out_.sizes.end(), said) == out_.sizes.end())
        out_.sizes.push_back(std::move(said));
    }
  }

  span span_of(const stmt& line) const {
    auto out = line.where;
    for (const auto id : line.values) out.end = std::max(out.end, tree_.at(id).where.end);
    for (const auto& one : line.branches)
      if (holds(tree_.at(one.condition).where, offset_)) out = tree_.at(one.condition).where;
    return out;
  }

  // The type of an expression, or of a name that is assigned.
  type type_of(expr_id id) const {
    const auto& known = program_.type_of(0, id);
    if (!is_poison(known)) return known;
    const auto& node = tree_.at(id);
    const auto* use = node.kind == expr_kind::name ? program_.use_at(0, node.where.begin) : nullptr;
    return use == nullptr ? known : program_.names[use->name].what;
  }

  std::string placement(const function_cost* cost, expr_id id) const {
    const auto known = type_of(id);
    return cost != nullptr ? placement_of(program_, *cost, id, known)
                           : placement_of(program_, known);
  }

  void find_costs(expr_id id) {
    const stmt* line = nullptr;
    const auto cost = cost_around(&line);
    if (id != expr_id::none) out_.placement = placement(cost ? &*cost : nullptr, id);
    if (id == expr_id::none || out_.placement.empty()) place_declared();
    add_open_sizes();
  }

  // A parameter where it is declared, a loop's variable.
  void place_declared() {
    const auto* use = program_.use_at(0, out_.where.begin);
    if (use == nullptr || !use->declares) return;
    const auto& name = program_.names[use->name];
    if (name.kind == name_kind::parameter || name.kind == name_kind::local)
      out_.placement = placement_of(program_, name.what);
  }

  // The names and fields of a statement, then what it makes.
  void add_values(const function_cost* cost, const stmt& line) {
    const auto end = span_of(line).end;
    std::vector<expr_id> all;
    for (uint32_t i = 0; i < tree_.exprs.size(); ++i) {
      const auto& node = tree_.exprs[i];
      const bool named = node.kind == expr_kind::name || node.kind == expr_kind::member;
      if (named && line.where.begin <= node.where.begin && node.where.end <= end)
        all.push_back(expr_id{i});
    }
    // Of `batch.img` the field is there, not the record.
    std::set<expr_id> bases;
    for (const auto id : all)
      if (tree_.at(id).kind == expr_kind::member) bases.insert(tree_.at(id).left);
    std::erase_if(all, [&](expr_id id) { return bases.contains(id); });
    std::sort(all.begin(), all.end(), [this](expr_id x, expr_id y) {
      return tree_.at(x).where.begin < tree_.at(y).where.begin;
    });
    all.insert(all.end(), line.values.begin(), line.values.end());
    for (const auto id : all) {
      auto where = placement(cost, id);
      if (where.empty()) continue;
      auto name = shortened(text(tree_.at(id).where));
      const auto same = [&](const hover_value& one) { return one.text == name; };
      if (std::any_of(out_.values.begin(), out_.values.end(), same)) continue;
      const auto known = type_of(id);
      add_sizes(known);
      out_.values.push_back({std::move(name), program_.show(known), std::move(where)});
    }
  }

  const typed_tree& program_;
  const tree& tree_;
  uint32_t offset_;
  const cost_options& options_;
  std::vector<std::pair<std::string, int64_t>> open_sizes_; // that what is sent is for
  hover_info out_;
};

} // namespace

std::optional<hover_info> hover_at(const typed_tree& program, uint32_t offset,
                                   const cost_options& options) {
  return hovering{program, offset, options}.run();
}

std::optional<hover_info> meaning_at(const typed_tree& program, uint32_t offset) {
  return hovering{program, offset, {}}.run_meaning();
}

std::optional<hover_info> hover_line(const typed_tree& program, uint32_t offset,
                                     const cost_options& options) {
  return hovering{program, offset, options}.run_line();
}

std::string render_text(const hover_info& what) {
  auto out = what.title + "\n";
  if (!what.sizes.empty()) out += fmt::format("  where {}\n", fmt::join(what.sizes, ", "));
  for (const auto& one : what.facts) out += fmt::format("  {}\n", one);
  std::string_view comment = what.comment;
  while (!comment.empty()) {
    const auto line = comment.substr(0, comment.find('\n'));
    out += fmt::format("  # {}\n", line);
    comment.remove_prefix(std::min(line.size() + 1, comment.size()));
  }
  if (!what.placement.empty()) out += fmt::format("  {}\n", what.placement);
  for (const auto& one : what.values)
    out += fmt::format("  {}: {}: {}\n", one.text, one.type, one.placement);
  for (const auto& one : what.sent) out += fmt::format("  {}\n", describe(one));
  if (!what.unknown.empty()) out += fmt::format("  {}\n", what.unknown);
  return out;
}

std::string render_json(const hover_info& what, const source& text) {
  const auto begin = text.position_of(what.where.begin);
  const auto end = text.position_of(what.where.end);
  std::string sizes;
  for (const auto& one : what.sizes) sizes += (sizes.empty() ? "" : ",") + json_text(one);
  auto out = fmt::format(
    R"({{"line":{},"col":{},"end_line":{},"end_col":{},"title":{},"sizes":[{}],"placement":{},)",
    begin.line, begin.column, end.line, end.column, json_text(what.title), sizes,
    what.placement.empty() ? "null" : json_text(what.placement));
  if (!what.facts.empty()) {
    std::string facts;
    for (const auto& one : what.facts) facts += (facts.empty() ? "" : ",") + json_text(one);
    out += fmt::format(R"("facts":[{}],)", facts);
  }
  if (!what.comment.empty()) out += fmt::format(R"("comment":{},)", json_text(what.comment));
  if (!what.values.empty()) {
    out += R"("values":[)";
    for (const auto& one : what.values)
      out += fmt::format(R"({}{{"text":{},"type":{},"placement":{}}})",
                         &one == &what.values.front() ? "" : ",", json_text(one.text),
                         json_text(one.type), json_text(one.placement));
    out += "],";
  }
  if (!what.unknown.empty()) return out + fmt::format(R"("unknown":{}}})", json_text(what.unknown));
  return out
         + fmt::format(R"("collectives":{},"bytes_per_step":{}}})", render_json(what.sent),
                       what.sent_bytes);
}

} // namespace shapescript
