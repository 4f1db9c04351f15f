#include <algorithm>

#include <fmt/format.h>

#include "shapescript/checker.hpp"

namespace shapescript {

// -- a function ----------------------------------------------------------------

void checker::check_body(uint32_t index) {
  auto& f = functions_[index];
  module_ = f.module;
  function_ = index;
  scope_ = &f.scope;
  locals_.clear();
  local_infos_.clear();
  loops_ = 0;
  breaks_.clear();
  has_errors_here_ = false;
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const auto& p = f.parameters[i];
    const auto initial = f.decl->parameters[i].initial;
    if (initial != expr_id::none) {
      const auto what = expression(initial);
      report_misfit(fits(what, p.what), what, p.what, t().at(initial).where, "E0404",
                    fmt::format("`{}`", p.name));
    }
  }
  for (const auto& p : f.parameters) {
    locals_[p.name] = {uint32_t(local_infos_.size()), p.what, false, p.where};
    local_infos_.push_back({p.name, p.where, true, p.is_mut, true, false, 0});
  }
  if (!f.decl->is_extern) {
    const bool ends = run_block(f.decl->body);
    if (ends && !f.decl->results.empty() && !lenient()) {
      auto& d = report("E0605", f.decl->name,
                       fmt::format("`{}` may end without a result", text(f.decl->name)),
                       "a path through it has no `return`");
      d.notes.push_back(fmt::format("it must return `{}` on every path", show(f.result)));
    }
    check_unused();
  }
  f.has_errors = has_errors_here_;
  scope_ = nullptr;
  function_ = no_index;
}

void checker::check_unused() {
  if (has_errors_here_) return;
  std::set<uint32_t> used_groups;
  for (const auto& one : local_infos_)
    if (one.used && one.group != 0) used_groups.insert(one.group);
  for (const auto& one : local_infos_) {
    if (one.used || one.parameter || one.loop_variable || one.name.front() == '_') continue;
    // Of several results, some may be of no interest.
    if (one.group != 0 && used_groups.contains(one.group)) continue;
    auto& d =
      report("W0201", one.declared, fmt::format("`{}` is never used", one.name), "assigned here");
    d.help.push_back(fmt::format("if that is meant, call it `_{}`", one.name));
    d.fixes.push_back({one.declared, fmt::format("_{}", one.name)});
  }
}

// -- blocks --------------------------------------------------------------------

bool checker::run_block(const block& body) {
  bool reaches = true;
  for (const auto id : body) {
    const bool goes_on = run_statement(t().at(id));
    reaches = reaches && goes_on;
  }
  return reaches;
}

bool checker::run_statement(const stmt& node) {
  switch (node.kind) {
    case stmt_kind::error:
      has_errors_here_ = true;
      return true;
    case stmt_kind::pass:
      return true;
    case stmt_kind::expression:
      run_expression(node);
      return true;
    case stmt_kind::assign:
      run_assign(node);
      return true;
    case stmt_kind::return_:
      run_return(node);
      return false;
    case stmt_kind::break_:
    case stmt_kind::continue_:
      if (loops_ == 0) {
        const auto* word = node.kind == stmt_kind::break_ ? "break" : "continue";
        report("E1001", node.where, fmt::format("`{}` outside a loop", word),
               "no loop is around it");
        return true;
      }
      if (node.kind == stmt_kind::break_) breaks_.back().push_back(locals_);
      return false;
    case stmt_kind::for_:
      run_for(node);
      return true;
    case stmt_kind::while_:
      return run_while(node);
    case stmt_kind::if_:
      return run_if(node);
  }
  return true;
}

void checker::run_expression(const stmt& node) {
  const auto& value = t().at(node.values[0]);
  const auto what = expression(node.values[0]);
  if (is_poison(what) || is(what, base_type::none)) return;
  const auto* called = &value;
  if (value.kind == expr_kind::pipe) called = &t().at(value.right);
  for (const auto& one : called->arguments)
    if (!(one.mut == span{})) return; // it was called for what it changes
  if (value.kind == expr_kind::call && t().at(value.left).kind == expr_kind::member) {
    // A method may change its model.
    const auto name = text(t().at(value.left).name);
    for (const auto& f : functions_)
      if (f.owner != no_index && modules_[f.module]->text.text(f.decl->name) == name
          && !f.parameters.empty() && f.parameters[0].is_mut)
        return;
  }
  auto& d =
    report("W0601", value.where, "the result of this is not used", fmt::format("`{}`", show(what)));
  d.help.push_back("assign it, or leave the line out");
}

void checker::run_return(const stmt& node) {
  const auto& f = functions_[function_];
  std::vector<type> values;
  for (const auto id : node.values) values.push_back(expression(id));
  const bool wants = !f.decl->results.empty();
  if (values.empty()) {
    if (wants && !is_poison(f.result)) {
      report(
        "E0404", node.where,
        fmt::format("`{}` returns `{}`, and nothing is given", text(f.decl->name), show(f.result)),
        "a value is missing");
    }
    return;
  }
  const span where{t().at(node.values.front()).where.begin, t().at(node.values.back()).where.end};
  type value = values[0];
  if (values.size() > 1) {
    value = scalar_of(base_type::tuple);
    value.parts = values;
  }
  if (!wants) {
    if (is_poison(value) || is(value, base_type::none)) return;
    auto& d = report(
      "E0404", where,
      fmt::format("`{}` has no result, and `{}` is returned", text(f.decl->name), show(value)),
      fmt::format("`{}`", show(value)));
    d.help.push_back(fmt::format("declare it: `-> {}`", show(value)));
    return;
  }
  const auto name = fmt::format("the result of `{}`", text(f.decl->name));
  if (is(value, base_type::tuple) && is(f.result, base_type::tuple)
      && value.parts.size() == f.result.parts.size()) {
    for (size_t i = 0; i < value.parts.size(); ++i) {
      const auto one = values.size() > 1 ? t().at(node.values[i]).where : where;
      report_misfit(fits(value.parts[i], f.result.parts[i]), value.parts[i], f.result.parts[i], one,
                    "E0404", name);
    }
    return;
  }
  report_misfit(fits(value, f.result), value, f.result, where, "E0404", name);
}

// -- assignment ----------------------------------------------------------------

void checker::run_assign(const stmt& node) {
  std::vector<type> values;
  for (const auto id : node.values) values.push_back(expression(id));
  const span where{t().at(node.values.front()).where.begin, t().at(node.values.back()).where.end};
  if (node.type != type_id::none) {
    const auto want = resolve(node.type, *scope_, true);
    if (values.size() == 1)
      report_misfit(fits(values[0], want), values[0], want, where, "E0404",
                    fmt::format("`{}`", text(node.where)));
    auto kept = is_poison(want) ? values[0] : want;
    assign_target(node, node.targets[0], kept, where);
    return;
  }
  if (values.size() == 1 && is(values[0], base_type::tuple) && node.targets.size() > 1)
    values = std::vector<type>(values[0].parts);
  else if (values.size() == 1 && is_poison(values[0]))
    values.resize(node.targets.size());
  if (node.targets.size() == 1 && values.size() > 1) {
    type tuple = scalar_of(base_type::tuple);
    tuple.parts = values;
    values = {tuple};
  }
  if (values.size() != node.targets.size()) {
    const span names{t().at(node.targets.front()).where.begin,
                     t().at(node.targets.back()).where.end};
    auto& d = report("E0417", names,
                     fmt::format("{} names for {} value{}", node.targets.size(), values.size(),
                                 values.size() == 1 ? "" : "s"),
                     fmt::format("{} names", node.targets.size()));
    mark(d, where, fmt::format("{} value{}", values.size(), values.size() == 1 ? "" : "s"));
    values.assign(node.targets.size(), type{});
  }
  ++next_group_;
  for (size_t i = 0; i < node.targets.size(); ++i) {
    auto value =
      node.operation == token_kind::assign ? values[i] : compound(node, node.targets[i], values[i]);
    if (is(value, base_type::none)) {
      report("E0404", where, "this gives no value", "nothing to assign");
      value = {};
    }
    assign_target(node, node.targets[i], std::move(value), where);
  }
}

// `x += e` is `x = x + e`.
type checker::compound(const stmt& node, expr_id target, const type& value) {
  auto operation = token_kind::plus;
  if (node.operation == token_kind::minus_assign) operation = token_kind::minus;
  if (node.operation == token_kind::times_assign) operation = token_kind::times;
  if (node.operation == token_kind::divide_assign) operation = token_kind::divide;
  const auto before = expression(target);
  if (is_poison(before) || is_poison(value)) return {};
  const auto right = t().at(node.values[0]).where;
  if (is_tensor(before) || is_tensor(value)) {
    device_work(node.where, "arithmetic on tensors");
    return elementwise(operation, before, value, node.where, node.where, right);
  }
  expr as_expr;
  as_expr.kind = expr_kind::binary;
  as_expr.operation = operation;
  as_expr.where = as_expr.name = node.where;
  as_expr.left = target;
  as_expr.right = node.values[0];
  return host_arithmetic(as_expr, before, value);
}

void checker::assign_target(const stmt& node, expr_id target, type value, span where) {
  const auto& left = t().at(target);
  if (left.kind == expr_kind::name)
    assign_name(left.name, std::move(value), where, node.targets.size() > 1 ? next_group_ : 0);
  else
    assign_field(left, value, where);
}

void checker::assign_name(span name, type value, span where, uint32_t group) {
  value.value.reset();
  const auto word = text(name);
  const auto found = locals_.find(word);
  if (found == locals_.end()) {
    // The same variable may have been assigned on another path.
    uint32_t local = no_index;
    for (uint32_t i = 0; i < local_infos_.size(); ++i)
      if (local_infos_[i].name == word && !local_infos_[i].loop_variable) local = i;
    if (local == no_index) {
      local = uint32_t(local_infos_.size());
      local_infos_.push_back({word, name, false, true, false, false, group});
    }
    locals_[word] = {local, std::move(value), false, name};
    return;
  }
  auto& state = found->second;
  if (loops_ > 0 && !same(state.what, value)) {
    auto& d = report(
      "E1003", name,
      fmt::format("`{}` is `{}` and becomes `{}` in a loop", word, show(state.what), show(value)),
      fmt::format("`{}`", show(value)));
    mark(d, state.assigned, fmt::format("`{}`", show(state.what)));
    explain_sizes(d, state.what.axes, value.axes);
    d.notes.push_back("each round of a loop must find the types of the round before");
    value = {};
  }
  (void)where;
  state.what = std::move(value);
  state.maybe = false;
  state.assigned = name;
}

void checker::assign_field(const expr& target, const type& value, span where) {
  auto id = target.left;
  while (t().at(id).kind == expr_kind::member) id = t().at(id).left;
  const auto root = text(t().at(id).name);
  const auto want = member(target);
  const auto found = locals_.find(root);
  if (found != locals_.end()) {
    const auto& info = local_infos_[found->second.local];
    if (!info.is_mut) {
      auto& d =
        report("E0701", target.where,
               fmt::format("`{}` is changed, but `{}` is not `mut`", text(target.where), root),
               "changed here");
      mark(d, info.declared, "declared without `mut`");
      d.help.push_back(fmt::format("declare it as `mut {}`", root));
      d.fixes.push_back({{info.declared.begin, info.declared.begin}, "mut "});
      return;
    }
  }
  report_misfit(fits(value, want), value, want, where, "E0404",
                fmt::format("`{}`", text(target.where)));
}

// -- branches ------------------------------------------------------------------

void checker::condition(expr_id id) {
  const auto what = expression(id);
  if (is_poison(what) || is(what, base_type::boolean)) return;
  auto& d = report("E0506", t().at(id).where,
                   fmt::format("a condition is a host bool, but this is `{}`", show(what)),
                   fmt::format("`{}`", show(what)));
  if (is_tensor(what)) {
    d.notes.push_back("a tensor's values are not known while the program is put together, so that "
                      "each device function stays one fixed graph");
    d.help.push_back("choose between values with `where(condition, a, b)`");
  }
}

// Brings together what two paths know.
void checker::merge(locals& into, const locals& other, bool report_types) {
  for (auto& [name, state] : into) {
    const auto found = other.find(name);
    if (found == other.end()) {
      state.maybe = true;
      continue;
    }
    state.maybe |= found->second.maybe;
    if (same(state.what, found->second.what)) {
      state.what = is_poison(state.what) || is_poison(found->second.what)
                     ? type{}
                     : join_known(state.what, found->second.what);
      continue;
    }
    if (report_types) {
      const auto later =
        std::max(state.assigned.begin, found->second.assigned.begin) == state.assigned.begin
          ? state
          : found->second;
      const auto& first = later.assigned == state.assigned ? found->second : state;
      auto& d = report("E1003", later.assigned,
                       fmt::format("`{}` is `{}` here and `{}` on another path", name,
                                   show(later.what), show(first.what)),
                       fmt::format("`{}`", show(later.what)));
      mark(d, first.assigned, fmt::format("`{}`", show(first.what)));
      explain_sizes(d, first.what.axes, later.what.axes);
    }
    state.what = {};
  }
  for (const auto& [name, state] : other) {
    if (into.contains(name)) continue;
    into[name] = state;
    into[name].maybe = true;
  }
}

bool checker::run_if(const stmt& node) {
  std::optional<locals> after;
  const auto join = [&] {
    if (after)
      merge(*after, locals_, true);
    else
      after = locals_;
  };
  for (const auto& one : node.branches) {
    condition(one.condition);
    const auto before = locals_;
    if (run_block(one.body)) join();
    locals_ = before;
  }
  if (!node.has_else || run_block(node.body)) join();
  if (!after) return false;
  locals_ = std::move(*after);
  return true;
}

// -- loops ---------------------------------------------------------------------

void checker::assigned_in(const block& body, std::set<std::string_view>& out) const {
  for (const auto id : body) {
    const auto& node = t().at(id);
    for (const auto target : node.targets)
      if (t().at(target).kind == expr_kind::name) out.insert(text(t().at(target).name));
    for (const auto& one : node.branches) assigned_in(one.body, out);
    assigned_in(node.body, out);
  }
}

// What a loop assigns has lost its refinement when a round begins.
void checker::forget_known(const block& body) {
  std::set<std::string_view> names;
  assigned_in(body, names);
  for (auto& [name, state] : locals_)
    if (names.contains(name)) state.what = plain(state.what);
}

bool checker::run_while(const stmt& node) {
  const auto& one = node.branches[0];
  forget_known(one.body);
  condition(one.condition);
  const auto& written = t().at(one.condition);
  const bool forever =
    written.kind == expr_kind::boolean && written.operation == token_kind::kw_true;
  auto after = locals_;
  ++loops_;
  breaks_.emplace_back();
  run_block(one.body);
  if (!forever) merge(after, locals_, false);
  bool first = forever;
  for (const auto& state : breaks_.back()) {
    if (std::exchange(first, false))
      after = state;
    else
      merge(after, state, false);
  }
  const bool ends = !forever || !breaks_.back().empty();
  breaks_.pop_back();
  --loops_;
  locals_ = std::move(after);
  return ends;
}

type checker::element_of(const type& what, const expr& node) {
  switch (what.base) {
    case base_type::poison:
      return {};
    case base_type::range:
      return scalar_of(base_type::integer);
    case base_type::layers:
      return what.parts[0];
    case base_type::batches: {
      auto out = scalar_of(base_type::record);
      out.declaration = what.declaration;
      const auto b = new_symbol("b", node.where);
      symbols_[b].batch = true;
      out.axes.push_back({"b", size_form::of(b)});
      host_work(node.where, "a loop over a dataset");
      return out;
    }
    case base_type::dataset: {
      auto out = scalar_of(base_type::record);
      out.declaration = what.declaration;
      host_work(node.where, "a loop over a dataset");
      return out;
    }
    default:
      break;
  }
  auto& d = report("E1002", node.where, fmt::format("`{}` is nothing to loop over", show(what)),
                   fmt::format("`{}`", show(what)));
  d.help.push_back("a loop is over `lo..hi`, a dataset or the layers of a model");
  return {};
}

void checker::run_for(const stmt& node) {
  const auto& over = t().at(node.values[0]);
  const auto item = element_of(expression(node.values[0]), over);
  std::vector<type> items{item};
  if (is(item, base_type::tuple)) items = item.parts;
  if (node.names.size() != items.size()) {
    if (!is_poison(item))
      report("E0417", node.names.front(),
             fmt::format("{} names for {} value", node.names.size(), items.size()),
             "each round gives one value");
    items.assign(node.names.size(), type{});
  }
  forget_known(node.body);
  const auto before = locals_;
  ++loops_;
  breaks_.emplace_back();
  for (size_t i = 0; i < node.names.size(); ++i) {
    const auto name = text(node.names[i]);
    local_infos_.push_back({name, node.names[i], false, true, true, true, 0});
    locals_[name] = {uint32_t(local_infos_.size() - 1), items[i], false, node.names[i]};
  }
  run_block(node.body);
  auto after = before;
  const auto leave = [&](locals state) {
    for (const auto where : node.names) {
      // The loop's variable lives in it.
      const auto outer = before.find(text(where));
      if (outer == before.end())
        state.erase(text(where));
      else
        state[text(where)] = outer->second;
    }
    merge(after, state, false);
  };
  leave(locals_);
  for (const auto& state : breaks_.back()) leave(state);
  breaks_.pop_back();
  --loops_;
  locals_ = std::move(after);
}

} // namespace shapescript
