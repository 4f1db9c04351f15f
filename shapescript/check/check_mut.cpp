#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

namespace {

// Any layer of a list, and anything in a model.
constexpr std::string_view any_layer = "[..]";
constexpr std::string_view anything = "..";

// Whether both may be one, or one is in the other.
bool overlap(const place& x, const place& y) {
  if (x.root != y.root) return false;
  const auto both = std::min(x.steps.size(), y.steps.size());
  for (size_t i = 0; i < both; ++i) {
    const auto& a = x.steps[i];
    const auto& b = y.steps[i];
    if (a == anything || b == anything) return true;
    if (a != b && a != any_layer && b != any_layer) return false;
  }
  return true;
}

void sort_places(std::vector<place>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

} // namespace

// -- what an expression stands for ---------------------------------------------

uint32_t checker::new_root(uint32_t local) {
  roots_.push_back(local);
  return static_cast<uint32_t>(roots_.size() - 1);
}

std::string_view checker::root_of(expr_id id) const {
  while (t().at(id).kind == expr_kind::member || t().at(id).kind == expr_kind::index)
    id = t().at(id).left;
  return t().at(id).kind == expr_kind::name ? text(t().at(id).name) : std::string_view{};
}

// What a variable, a field or a layer may be; nothing for any other expression.
std::vector<place> checker::places_of(expr_id id) {
  if (id == expr_id::none) return {};
  const auto& node = t().at(id);
  const auto below = [](std::vector<place> all, const std::string& step) {
    for (auto& one : all) one.steps.push_back(step);
    return all;
  };
  switch (node.kind) {
    case expr_kind::name: {
      const auto* found = locals_.find(text(node.name));
      if (found == nullptr) return {};
      if (is_reference(found->what)) return found->places;
      return {{local_infos_[found->local].root, {}}};
    }
    case expr_kind::member:
      return below(places_of(node.left), std::string{text(node.name)});
    case expr_kind::index: {
      auto all = places_of(node.left);
      if (node.arguments.size() != 1 || all.empty()) return {};
      // Under two indices stand two layers, as far as can be seen.
      const auto what = expression(node.arguments[0].value);
      const auto number = what.value ? what.value->number() : std::nullopt;
      return below(std::move(all), number ? fmt::format("[{}]", *number)
                                          : fmt::format("[{}]", text(node.arguments[0].where)));
    }
    case expr_kind::tuple: {
      std::vector<place> all;
      for (const auto one : node.items)
        for (auto& each : places_of(one)) all.push_back(std::move(each));
      sort_places(all);
      return all;
    }
    case expr_kind::call:
      return returned_by_ == node.where ? returned_ : std::vector<place>{};
    case expr_kind::pipe:
      return returned_by_ == t().at(node.right).where ? returned_ : std::vector<place>{};
    default:
      return {};
  }
}

std::vector<place> checker::places_of_each(expr_id layers) {
  auto all = places_of(layers);
  for (auto& one : all) one.steps.emplace_back(any_layer);
  return all;
}

// Whether a model may be a layer of another, or of one of its layers.
bool checker::holds(uint32_t model, uint32_t part) const {
  std::vector<uint32_t> open{model};
  for (size_t next = 0; next < open.size(); ++next) {
    for (const auto& member : models_[open[next]].members) {
      const auto& what = is(member.what, base_type::layers) ? member.what.parts[0] : member.what;
      if (!is(what, base_type::model)) continue;
      if (what.declaration == part) return true;
      if (std::find(open.begin(), open.end(), what.declaration) == open.end())
        open.push_back(what.declaration);
    }
  }
  return false;
}

// A function that gives a model may give one that it was given, or a part of it.
std::vector<place> checker::places_returned(const type& what, const call_site& site) {
  std::vector<place> all;
  const auto take = [&](const type& given, expr_id id) {
    if (!is_reference(given)) return;
    const bool whole = given.base == what.base && given.declaration == what.declaration;
    if (!whole && !is(what, base_type::tuple)
        && !(is(given, base_type::model) && holds(given.declaration, what.declaration)))
      return;
    for (auto& one : places_of(id)) {
      if (!whole) one.steps.emplace_back(anything);
      all.push_back(std::move(one));
    }
  };
  if (!is_reference(what)) return all;
  for (const auto& one : site.arguments) take(one.what, one.value);
  if (site.self != expr_id::none) take(expression(site.self), site.self);
  sort_places(all);
  return all;
}

// -- what may be changed -------------------------------------------------------

// A buffer is state of its model: only the model's methods change it.
bool checker::changes_buffer(const type& base, std::string_view field,
                             const std::vector<place>& places) const {
  if (!is(base, base_type::model)) return false;
  const auto& members = models_[base.declaration].members;
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const member_info& one) { return one.name == field; });
  if (found == members.end() || found->kind != member_kind::buffer) return false;
  const auto& f = functions_[function_];
  if (f.owner == no_index || f.parameters.empty()) return true;
  // `self` is the first of the locals.
  return std::any_of(places.begin(), places.end(),
                     [&](const place& one) { return roots_[one.root] != 0; });
}

void checker::report_buffer(span where) {
  auto& d =
    report("E0701", where, fmt::format("the buffer `{}` is changed outside its model", text(where)),
           "changed here");
  d.help.push_back("change it in a method of the model that takes `mut self`, and call that");
}

// Of what a function leaves in a tensor no more is known than its parameter says.
void checker::leave_changed(const parameter_info& parameter, const type& want,
                            const call_argument& given) {
  if (!is_tensor(want) || given.value == expr_id::none) return;
  const auto& node = t().at(given.value);
  if (node.kind == expr_kind::name) {
    const auto* found = locals_.find(text(node.name));
    if (found == nullptr || !is_tensor(found->what)) return;
    auto state = *found;
    state.what = plain(std::move(state.what));
    state.what.known = want.known;
    state.what.bound = want.bound;
    state.assigned = given.where;
    locals_.set(text(node.name), std::move(state));
    return;
  }
  if (node.kind != expr_kind::member || fits(want, given.what) == misfit::none) return;
  auto& d = report("E0502", given.where,
                   fmt::format("`{}` stays `{}`, but the call may leave any `{}` in it",
                               text(given.where), show(given.what), show(want)),
                   fmt::format("changed as `{}`", show(want)));
  origin(d, given.where);
  d.help.push_back(
    fmt::format("declare the parameter as `mut {}: {}`", parameter.name, show(given.what)));
}

void checker::explain_not_mut(diagnostic& d, span declared) {
  mark(d, declared, "declared without `mut`");
  d.help.push_back(fmt::format("declare it as `mut {}`", text(declared)));
  d.fixes.push_back({{declared.begin, declared.begin}, "mut "});
}

// Of each parameter that should be `mut` the first change is reported: its declaration is one
// mistake.
bool checker::may_change(const std::vector<place>& places, expr_id id, span where,
                         const std::string& how, const char* label) {
  for (const auto& one : places) {
    const auto local = roots_[one.root];
    if (local == no_index || local_infos_[local].is_mut) continue;
    const auto& info = local_infos_[local];
    has_errors_here_ = true;
    if (trials_ > 0) return false;
    if (std::exchange(functions_[function_].parameters[local].changed, true)) return false;
    const auto name = root_of(id);
    const auto* named = name == info.name ? nullptr : locals_.find(name);
    const bool surely = places.size() == 1;
    const auto part = one.steps.empty() ? "" : "a part of ";
    auto& d = report("E0701", where,
                     named == nullptr ? fmt::format("{}, but `{}` is not `mut`", how, info.name)
                                      : fmt::format("{}, but it {} {}`{}`, which is not `mut`", how,
                                                    surely ? "is" : "may be", part, info.name),
                     label);
    if (named != nullptr && surely && named->places.size() == 1)
      mark(d, named->assigned,
           fmt::format("`{}` is {}`{}`", name, named->places[0].steps.empty() ? "" : "a part of ",
                       info.name));
    explain_not_mut(d, info.declared);
    return false;
  }
  return true;
}

void checker::check_self(const function_info& f, const call_site& site) {
  if (site.self == expr_id::none || f.parameters.empty() || !f.parameters[0].is_mut) return;
  may_change(places_of(site.self), site.self, t().at(site.self).where,
             fmt::format("`{}` changes its model `{}`", modules_[f.module]->text.text(f.decl->name),
                         text(t().at(site.self).where)),
             "changed by the call");
}

void checker::check_mut(const parameter_info& parameter, const call_argument& given,
                        uint32_t callee) {
  const bool written = !(given.mut == span{});
  const auto begin = given.name == span{} ? given.where.begin : given.name.begin;
  if (!parameter.is_mut) {
    if (!written) return;
    auto d = make("E0701", given.where,
                  fmt::format("`{}` is passed as `mut`, but the parameter `{}` is not",
                              text(given.where), parameter.name),
                  "not changed by the call");
    d.fixes.push_back({{given.mut.begin, begin}, ""});
    const bool here = callee != no_index && functions_[callee].module == module_;
    if (here) mark(d, parameter.where, "declared without `mut`");
    d.help.push_back(here
                       ? fmt::format("leave `mut` out, or declare it as `mut {}`", parameter.name)
                       : "leave `mut` out");
    if (callee == no_index) {
      deliver(std::move(d));
      return;
    }
    has_errors_here_ = true;
    if (trials_ > 0) return;
    const auto& all = functions_[callee].parameters;
    mut_argument late{function_, callee, static_cast<size_t>(&parameter - all.data()), {}, d};
    for (const auto& one : places_of(given.value))
      if (const auto local = roots_[one.root]; local != no_index) late.ours.push_back(local);
    mut_arguments_.push_back(std::move(late));
    return;
  }
  if (is_poison(given.what)) return;
  if (!written) {
    const auto as_written = text({begin, given.where.end});
    auto& d =
      report("E0702", given.where, fmt::format("`{}` is changed by the call", text(given.where)),
             "say so with `mut`");
    d.help.push_back(fmt::format("write `mut {}`", as_written));
    if (!given.piped) d.fixes.push_back({{begin, begin}, "mut "});
    return;
  }
  const auto& node = t().at(given.value);
  const bool variable = node.kind == expr_kind::name || node.kind == expr_kind::member
                        || (node.kind == expr_kind::index && is_reference(given.what));
  const auto places = variable ? places_of(given.value) : std::vector<place>{};
  if (places.empty()) {
    report("E0701", given.where, "only a variable can be passed as `mut`",
           "the change would be lost");
    return;
  }
  if (node.kind == expr_kind::member
      && changes_buffer(expression(node.left), text(node.name), places)) {
    report_buffer(given.where);
    return;
  }
  may_change(places, given.value, given.where,
             fmt::format("`{}` is passed as `mut`", text(given.where)), "changed by the call");
}

// A call that says `mut` of what the function changes without saying so is right: the mistake is
// the function's, and the caller's if it does not say so either.
void checker::report_mut_arguments() {
  bool more = true;
  while (std::exchange(more, false)) {
    for (const auto& one : mut_arguments_) {
      if (!functions_[one.callee].parameters[one.parameter].changed) continue;
      for (const auto ours : one.ours) {
        auto& p = functions_[one.function].parameters[ours];
        if (p.is_mut || std::exchange(p.changed, true)) continue;
        more = true;
        module_ = functions_[one.function].module;
        const auto where = one.what.primary().where;
        auto& d =
          report("E0701", where,
                 fmt::format("`{}` is passed as `mut`, but `{}` is not `mut`", text(where), p.name),
                 "changed by the call");
        explain_not_mut(d, p.where);
      }
    }
  }
  for (auto& one : mut_arguments_) {
    if (functions_[one.callee].parameters[one.parameter].changed) continue;
    module_ = functions_[one.function].module;
    deliver(std::move(one.what));
  }
}

// Where a name that both may be came to stand for the other.
void checker::mark_second_name(diagnostic& d, expr_id id, expr_id other) {
  const auto* named = locals_.find(root_of(id));
  if (named == nullptr || root_of(id) == root_of(other)) return;
  if (local_infos_[named->local].parameter) return;
  mark(d, named->assigned, fmt::format("`{}` is a second name for it", root_of(id)));
}

void checker::check_aliases(const call_site& site, bool self_is_mut) {
  struct given {
    std::vector<place> places;
    span where;
    bool is_mut;
    expr_id value;
  };
  std::vector<given> all;
  if (site.self != expr_id::none)
    all.push_back({places_of(site.self), t().at(site.self).where, self_is_mut, site.self});
  for (const auto& one : site.arguments) {
    const bool element = one.value != expr_id::none && t().at(one.value).kind == expr_kind::index
                         && !is_reference(one.what);
    if (is_poison(one.what) || element) continue;
    given next{places_of(one.value), one.where, !(one.mut == span{}), one.value};
    for (const auto& before : all) {
      if (!next.is_mut && !before.is_mut) continue;
      const bool twice = std::any_of(next.places.begin(), next.places.end(), [&](const place& x) {
        return std::any_of(before.places.begin(), before.places.end(),
                           [&](const place& y) { return overlap(x, y); });
      });
      if (!twice) continue;
      const bool self = before.value == site.self;
      const auto* seen = !before.is_mut ? "passed here"
                         : self         ? "changed by the call"
                                        : "passed as `mut` here";
      auto& d =
        report("E0703", next.where,
               fmt::format("`{}` is passed twice, and changed", text(next.where)), "passed again");
      mark(d, before.where, seen);
      mark_second_name(d, next.value, before.value);
      mark_second_name(d, before.value, next.value);
      d.notes.push_back("what is passed as `mut` may not be seen under a second name");
      return;
    }
    all.push_back(std::move(next));
  }
}

} // namespace shapescript
