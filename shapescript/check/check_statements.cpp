#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

// -- a function ----------------------------------------------------------------

void checker::check_body(uint32_t index) {
  auto& f = functions_[index];
  module_ = f.module;
  function_ = index;
  scope_ = &f.scope;
  needs_ = &f.needs;
  locals_.clear();
  local_infos_.clear();
  local_names_.clear();
  loops_ = 0;
  loop_ends_.clear();
  has_errors_here_ = false;
  unknown_here_.clear();
  unread_ = has_syntax_error(f.decl->where);
  nameless_here_ = false;
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const auto& p = f.parameters[i];
    const auto initial = f.decl->parameters[i].initial;
    if (initial != expr_id::none) {
      next_is_argument_ = true;
      const auto what = expression(initial);
      report_misfit(fits(what, p.what), what, p.what, t().at(initial).where, "E0404",
                    fmt::format("`{}`", p.name));
    }
  }
  roots_.clear();
  widenings_.clear();
  returned_by_ = {};
  for (const auto& p : f.parameters) {
    const auto local = static_cast<uint32_t>(local_infos_.size());
    const auto root = new_root(local);
    locals_.set(p.name, {local, p.what, false, p.where, {{root, {}}}});
    local_infos_.push_back({p.name, p.where, true, p.is_mut, true, false, 0, p.name_at, root});
  }
  if (!f.decl->is_extern) {
    const bool ends = run_block(f.decl->body);
    if (ends && !f.decl->results.empty() && !unread_) {
      auto& d = report("E0605", f.decl->name,
                       fmt::format("`{}` may end without a result", text(f.decl->name)),
                       "a path through it has no `return`");
      d.notes.push_back(fmt::format("it must return `{}` on every path", show(f.result)));
    }
    check_unused();
  }
  // A block that is missing was reported: what the function would do is not known.
  f.has_errors = has_errors_here_ || (f.decl->body.empty() && !f.decl->is_extern);
  scope_ = nullptr;
  needs_ = nullptr;
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
    if (full()) return false;
    const bool goes_on = run_statement(t().at(id));
    reaches = reaches && goes_on;
  }
  return reaches;
}

bool checker::run_statement(const stmt& node) {
  crossed_.clear();
  switch (node.kind) {
    case stmt_kind::error:
      has_errors_here_ = true;
      nameless_here_ |= node.nameless;
      // What it would have assigned is not known.
      for (const auto where : node.names) {
        if (const auto* found = locals_.find(text(where))) {
          auto state = *found;
          state.what = {};
          state.maybe = false;
          locals_.set(text(where), std::move(state));
        } else {
          assign_name(where, {}, where, 1, {});
        }
      }
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
      leave_round(node.kind == stmt_kind::break_);
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
  // What Python returns need not be known where it is thrown away.
  const bool calls = value.kind == expr_kind::call || value.kind == expr_kind::pipe;
  typed_cast_ = calls;
  const auto what = expression(node.values[0]);
  if (is_poison(what) || is(what, base_type::none)) return;
  if (calls && is(what, base_type::python)) return;
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
  const auto before = out_.size();
  check_return(node);
  if (out_.size() == before) return;
  for (auto i = before; i < out_.size(); ++i)
    functions_[function_].result_in_doubt |=
      out_[i].code.starts_with("E04") || out_[i].code.starts_with("E05");
}

void checker::check_return(const stmt& node) {
  const auto& f = functions_[function_];
  std::vector<type> values;
  const bool wants = !f.decl->results.empty();
  for (const auto id : node.values) {
    const bool one_of = values.size() < f.result.parts.size() && is(f.result, base_type::tuple);
    const auto& asked = one_of ? f.result.parts[values.size()] : f.result;
    if (wants && !is_poison(asked)) wanted_ = show(asked);
    values.push_back(expression(id));
  }
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
      const auto fit = fits(value.parts[i], f.result.parts[i]);
      mark_result(report_misfit(fit, value.parts[i], f.result.parts[i], one, "E0404", name), i);
      if (fit != misfit::none) return; // the others most likely for the same reason
    }
    return;
  }
  mark_result(report_misfit(fits(value, f.result), value, f.result, where, "E0404", name));
}

// -- assignment ----------------------------------------------------------------

void checker::run_assign(const stmt& node) {
  const bool typed = node.type != type_id::none;
  std::vector<type> values;
  std::vector<std::vector<place>> places;
  for (const auto id : node.values) {
    if (typed) wanted_ = text(t().at(node.type).where);
    const auto wanted = wanted_;
    values.push_back(expression(id));
    // An attribute of a Python file.
    if (is(values.back(), base_type::python)) {
      report_python(t().at(id), values.back(), wanted);
      values.back() = {};
    }
    places.push_back(is_reference(values.back()) ? places_of(id) : std::vector<place>{});
  }
  const span where{t().at(node.values.front()).where.begin, t().at(node.values.back()).where.end};
  if (typed) {
    const auto declared = resolve(node.type, *scope_, true);
    auto kept = is_poison(declared) ? values[0] : declared;
    if (values.size() == 1) {
      const auto fit = fits(values[0], declared);
      report_misfit(fit, values[0], declared, where, "E0404",
                    fmt::format("`{}`", text(t().at(node.targets[0]).where)));
      if (fit != misfit::none) kept = {};
    }
    assign_target(node, node.targets[0], kept, where, places[0]);
    return;
  }
  if (values.size() == 1 && is_poison(values[0])) values.resize(node.targets.size());
  // One name takes one value, and `x += f(y)` too.
  if (values.size() == 1 && is(values[0], base_type::tuple))
    values = std::vector<type>(values[0].parts);
  if (values.size() != node.targets.size()) {
    const span names{t().at(node.targets.front()).where.begin,
                     t().at(node.targets.back()).where.end};
    auto& d =
      report("E0417", names,
             fmt::format("{} name{} for {} value{}", node.targets.size(),
                         node.targets.size() == 1 ? "" : "s", values.size(),
                         values.size() == 1 ? "" : "s"),
             fmt::format("{} name{}", node.targets.size(), node.targets.size() == 1 ? "" : "s"));
    mark(d, where, fmt::format("{} value{}", values.size(), values.size() == 1 ? "" : "s"));
    values.assign(node.targets.size(), type{});
  }
  // Each of several values may be any of the models that they were taken from.
  places.resize(node.targets.size(), places[0]);
  ++next_group_;
  for (size_t i = 0; i < node.targets.size(); ++i) {
    auto value =
      node.operation == token_kind::assign ? values[i] : compound(node, node.targets[i], values[i]);
    if (is(value, base_type::none)) {
      report("E0404", where, "this gives no value", "nothing to assign");
      value = {};
    }
    assign_target(node, node.targets[i], std::move(value), where, places[i]);
  }
}

// `x += e` is `x = x + e`.
type checker::compound(const stmt& node, expr_id target, const type& value) {
  auto operation = token_kind::plus;
  if (node.operation == token_kind::minus_assign) operation = token_kind::minus;
  if (node.operation == token_kind::times_assign) operation = token_kind::times;
  if (node.operation == token_kind::divide_assign) operation = token_kind::divide;
  // What is only ever added to is not used.
  const auto& left = t().at(target);
  const auto* local = left.kind == expr_kind::name ? locals_.find(text(left.name)) : nullptr;
  const auto index = local != nullptr ? local->local : no_index;
  const bool used = index != no_index && local_infos_[index].used;
  const auto before = expression(target);
  if (index != no_index) local_infos_[index].used = used;
  if (is_poison(before) || is_poison(value)) return {};
  const auto right = t().at(node.values[0]).where;
  if (is_tensor(before) || is_tensor(value)) {
    const bool lone = is_tensor(value) && value.axes.empty();
    if (!is_widened(target))
      device_work(node.where, "arithmetic on tensors", lone ? text(right) : std::string_view{});
    auto out = elementwise(operation, before, value, node.where, node.name, right);
    out.crossed = crossed_;
    return out;
  }
  expr as_expr;
  as_expr.kind = expr_kind::binary;
  as_expr.operation = operation;
  as_expr.where = node.where;
  as_expr.name = node.name;
  as_expr.left = target;
  as_expr.right = node.values[0];
  return host_arithmetic(as_expr, before, value);
}

void checker::assign_target(const stmt& node, expr_id target, type value, span where,
                            std::vector<place> places) {
  const auto& left = t().at(target);
  if (left.kind == expr_kind::name)
    assign_name(left.name, std::move(value), where, node.targets.size() > 1 ? next_group_ : 0,
                std::move(places));
  else
    assign_field(node, target, value, where);
}

void checker::assign_name(span name, type value, span where, uint32_t group,
                          std::vector<place> places) {
  value.value.reset();
  if (is_reference(value) && places.empty()) places.push_back({new_root(), {}});
  const auto word = text(name);
  const auto* found = locals_.find(word);
  if (found != nullptr) use(local_infos_[found->local].name_at, name, true);
  if (found == nullptr) {
    // The same variable may have been assigned on another path.
    const auto [known, fresh] =
      local_names_.emplace(word, static_cast<uint32_t>(local_infos_.size()));
    if (fresh) {
      local_infos_.push_back({word, name, false, true, false, false, group});
      local_infos_.back().name_at = new_name(name_kind::local, word, name, value, function_);
      local_infos_.back().root = new_root();
    }
    const auto local = known->second;
    use(local_infos_[local].name_at, name, true);
    locals_.set(word, {local, std::move(value), false, name, std::move(places)});
    return;
  }
  auto state = *found;
  const auto& info = local_infos_[state.local];
  if (info.parameter && info.is_mut && !is_reference(value)) {
    // The caller sees it, and counts on what was declared.
    const auto& declared = functions_[function_].parameters[state.local].what;
    report_misfit(fits(value, declared), value, declared, where, "E0404",
                  fmt::format("`{}`", word));
  }
  if (loops_ > 0 && !same(state.what, value)) {
    if (auto both = widened(state.what, value)) {
      if (!is_tensor(state.what)) {
        widenings_[word] = {where, name};
        report_widened(word, state, value, where, name);
      }
      value = std::move(*both);
    } else {
      report_loop_type(word, state, value, name);
      value = {};
    }
  }
  state.what = std::move(value);
  state.maybe = false;
  state.assigned = name;
  state.places = std::move(places);
  locals_.set(word, std::move(state));
}

void checker::report_loop_type(std::string_view word, const local_state& state, const type& value,
                               span name) {
  const auto [before, after] = show_both(state.what, value);
  auto& d = report("E1003", name,
                   fmt::format("`{}` is `{}` and becomes `{}` in a loop", word, before, after),
                   fmt::format("`{}`", after));
  mark(d, state.assigned, fmt::format("`{}`", before));
  explain_sizes(d, state.what.axes, value.axes);
  d.notes.push_back("each round of a loop must find the types of the round before");
}

void checker::assign_field(const stmt& node, expr_id id, const type& value, span where) {
  const auto& target = t().at(id);
  const auto base = expression(target.left);
  // Where it was read before it was looked up already.
  const bool looked_up = node.operation != token_kind::assign && is_poison(value);
  const auto wanted = looked_up ? type{} : member_of(target, base);
  if (is_poison(base) || is_poison(wanted)) return;
  const auto places = places_of(id);
  if (changes_buffer(base, text(target.name), places)) {
    report_buffer(target.where);
    return;
  }
  if (!may_change(places, id, target.where, fmt::format("`{}` is changed", text(target.where)),
                  "changed here"))
    return;
  report_misfit(fits(value, wanted), value, wanted, where, "E0404",
                fmt::format("`{}`", text(target.where)));
}

} // namespace shapescript
