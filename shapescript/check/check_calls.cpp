#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

// -- what is called ------------------------------------------------------------

type checker::call(const expr& node, expr_id id) {
  (void)id;
  return call_with(node, {});
}

type checker::call_with(const expr& node, std::vector<call_argument> first) {
  const auto& callee = t().at(node.left);
  call_site site{node.where, callee.where, std::move(first), node.patterns};
  for (const auto& one : node.arguments) {
    call_argument given;
    given.where = t().at(one.value).where;
    given.name = one.name;
    given.mut = one.mut;
    given.value = one.value;
    site.arguments.push_back(std::move(given));
  }
  return dispatch(callee, site);
}

type& checker::type_of(call_argument& one) {
  if (!one.typed) {
    next_is_argument_ = true;
    one.what = expression(one.value);
    one.typed = true;
  }
  return one.what;
}

type checker::dispatch(const expr& callee, call_site& site) {
  if (callee.kind == expr_kind::member) return call_member(callee, site);
  const auto call_what_it_is = [&] {
    site.self = id_of(callee);
    name_is_ = callee.kind == expr_kind::name ? name_place::called : name_place::value;
    const auto called = expression(site.self);
    name_is_ = name_place::value;
    return call_value(called, site);
  };
  if (callee.kind == expr_kind::name) {
    const auto word = text(callee.name);
    if (!locals_.contains(word)) {
      const auto* found = find(word);
      use_entity(callee.name);
      if (found != nullptr && found->kind == entity::function)
        return call_function(found->index, site, nullptr);
      if (found == nullptr)
        if (const auto* known = find_builtin(word)) return call_builtin(*known, site);
    }
  }
  if (callee.kind == expr_kind::index
      && (in_file(t().at(callee.left)) || t().at(callee.left).kind == expr_kind::name)) {
    const auto& named = t().at(callee.left);
    const auto word = text(named.name);
    const bool other = in_file(named);
    if (!other && locals_.contains(word)) return call_what_it_is();
    const auto* found = find_type(other ? t().at(named.left).name : span{}, named.name);
    if (found != nullptr && found->kind == entity::model) {
      auto out = scalar_of(base_type::model);
      out.declaration = found->index;
      for (const auto& one : callee.arguments) {
        const auto size = size_from(one.value);
        if (!size) return {};
        out.dims.push_back(*size);
        const auto kind = t().at(one.value).kind;
        const bool has_name = kind == expr_kind::name || kind == expr_kind::member;
        out.dim_names.emplace_back(has_name ? text(t().at(one.value).name) : std::string_view{});
      }
      const auto& model = models_[found->index];
      if (out.dims.size() != model.dims.size()) {
        report("E0202", callee.where,
               fmt::format("`{}` takes {} sizes, and {} are given", model.name, model.dims.size(),
                           out.dims.size()),
               "another number of sizes");
        return {};
      }
      std::vector<span> places;
      for (const auto& one : callee.arguments) places.push_back(t().at(one.value).where);
      model_uses_.push_back({module_, std::move(places), out, function_});
      return make_model(out, site);
    }
    if (!other && found == nullptr && index_name(named)) {
      auto out = construct(callee);
      const auto slots = slots_of(*find_builtin(word));
      const auto m = match(slots, site, false, std::string{word});
      for (auto& one : site.arguments) type_of(one);
      for (size_t i = 0; m.ok && i < slots.size(); ++i)
        if (m.slots[i] != nullptr && slots[i].name != "rng") need_number(m.slots[i]);
      return out;
    }
  }
  return call_what_it_is();
}

// Nodes are in the tree's array: the id is the place.
expr_id checker::id_of(const expr& node) const {
  return static_cast<expr_id>(&node - t().exprs.data());
}

type checker::call_value(const type& callee, call_site& site) {
  if (is(callee, base_type::function)) {
    if (callee.declaration != no_index) return call_function(callee.declaration, site, nullptr);
    if (!callee.name.empty()) return call_builtin(*find_builtin(callee.name), site);
    for (size_t i = 0; i < site.arguments.size(); ++i) {
      const auto& have = type_of(site.arguments[i]);
      if (i + 1 >= callee.parts.size()) {
        report("E0601", site.arguments[i].where, "too many arguments",
               fmt::format("it takes {}", callee.parts.size() - 1));
        return {};
      }
      report_misfit(fits(have, callee.parts[i]), have, callee.parts[i], site.arguments[i].where,
                    "E0403", "the parameter");
    }
    if (site.arguments.size() + 1 < callee.parts.size()) {
      report("E0603", site.callee, "an argument is missing",
             fmt::format("it takes {}", callee.parts.size() - 1));
      return {};
    }
    return callee.parts.empty() ? type{} : callee.parts.back();
  }
  if (is(callee, base_type::model)) {
    const auto& model = models_[callee.declaration];
    if (const auto found = model.methods.find("forward"); found != model.methods.end())
      return call_function(found->second, site, &callee);
    if (unread(model)) {
      for (auto& one : site.arguments)
        if (site.patterns == pattern_id::none) type_of(one);
      return {};
    }
  }
  if (is(callee, base_type::declared_type) && callee.name == "model") {
    type_expr lone;
    lone.where = lone.name = site.callee;
    size_scope none;
    const auto out = model_use(callee.declaration, lone, scope_ != nullptr ? *scope_ : none, false);
    if (!is_poison(out)) {
      if (!out.dims.empty()) model_uses_.back().maker = function_;
      return make_model(out, site);
    }
  }
  for (auto& one : site.arguments)
    if (site.patterns == pattern_id::none) type_of(one);
  if (is_poison(callee)) return {};
  if (is(callee, base_type::declared_type) && callee.name == "model") return {};
  if (doubtful(text(site.callee))) return {};
  // `[n]` is written in the program; `a type` is not.
  const auto seen = show(callee);
  auto& d = report("E0509", site.callee, fmt::format("`{}` cannot be called", text(site.callee)),
                   seen.starts_with("a ") ? seen : fmt::format("`{}`", seen));
  if (is(callee, base_type::model))
    d.help.push_back("a model is called if it has a method `forward`");
  return {};
}

type checker::call_member(const expr& callee, call_site& site) {
  const auto base = expression(callee.left);
  const auto word = text(callee.name);
  if (is(base, base_type::module) && base.declaration == no_index)
    return call_python(callee, base.name + "." + std::string{word}, site);
  if (is(base, base_type::python))
    return call_python(callee, base.name + "." + std::string{word}, site);
  if (is(base, base_type::model)) {
    const auto& model = models_[base.declaration];
    if (const auto found = model.methods.find(word); found != model.methods.end()) {
      const auto& f = functions_[found->second];
      use(f.name_at, callee.name);
      site.self = callee.left;
      return call_function(found->second, site, &base);
    }
  }
  site.self = id_of(callee);
  return call_value(member_of(callee, base), site);
}

type checker::call_python(const expr& callee, const std::string& name, call_site& site) {
  if (function_ != no_index) functions_[function_].python_calls.push_back(site.where);
  std::vector<type> given;
  for (auto& one : site.arguments) {
    const auto& what = type_of(one);
    if (given.empty() && is_tensor(what)) given.push_back(plain(what));
    if (function_ == no_index || (!is_tensor(what) && !is(what, base_type::record))) continue;
    if (what.axes.empty()) continue;
    auto& all = functions_[function_].questions;
    const auto place = static_cast<uint32_t>(all.size());
    all.push_back({split_question::python,
                   one.where,
                   callee.where,
                   name,
                   what.axes,
                   {},
                   what.crossed,
                   site.where});
    crossed_.push_back(place);
  }
  auto out = scalar_of(base_type::python);
  out.name = name;
  out.parts = std::move(given);
  return out;
}

type checker::make_model(const type& what, call_site& site) {
  static const std::vector<parameter_slot> slots{{"seed", true, false, false, false, false}};
  const auto m = match(slots, site, false, std::string{models_[what.declaration].name});
  for (auto& one : site.arguments) {
    const auto& seed = type_of(one);
    if (m.ok && !is_poison(seed) && !is(seed, base_type::integer))
      report("E0403", one.where, fmt::format("the seed is an int, not `{}`", show(seed)),
             fmt::format("`{}`", show(seed)));
  }
  host_work(site.where, "making a model");
  return what;
}

// -- functions of the program --------------------------------------------------

bool checker::bind_argument(const function_info& f, const parameter_info& parameter,
                            call_argument& given, symbol_map& map, call_site& site) {
  const auto& have = type_of(given);
  if (is_poison(have) || is_poison(parameter.what)) return false;
  if (is_tensor(parameter.what) && is_scalar(have))
    unify(parameter.what, as_tensor(have), map);
  else if (have.base == parameter.what.base)
    unify(parameter.what, have, map);
  const auto want = replace(parameter.what, map);
  const auto fit = fits(have, want);
  if (fit == misfit::none) {
    if (parameter.is_mut) leave_changed(parameter, want, given);
    return true;
  }
  const auto name = modules_[f.module]->text.text(f.decl->name);
  const auto declared = wanted_type(parameter.what, map, site, given.where);
  auto& d = *report_misfit(fit, have, declared, given.where, "E0403",
                           fmt::format("`{}` of `{}`", parameter.name, name));
  if (f.module == module_) {
    mark(d, parameter.where, fmt::format("declared `{}`", show(parameter.what)));
    points_to(d, parameter.where);
  }
  mark_fixed(d, f, parameter.what, map, site, given.where);
  if (given.piped) mark(d, site.callee, fmt::format("this stage takes `{}`", show(declared)));
  return false;
}

namespace {

// While it lives, reports are about how a call fits the function.
struct comparison {
  uint32_t& callee;
  uint32_t before;

  comparison(uint32_t& slot, uint32_t index) : callee(slot), before(slot) {
    slot = index;
  }
  ~comparison() {
    callee = before;
  }
};

} // namespace

type checker::call_function(uint32_t index, call_site& site, const type* self) {
  const auto& f = functions_[index];
  if (!f.resolved) return {};
  const size_t bound = self != nullptr ? 1 : 0;
  if (self == nullptr) site.self = expr_id::none;
  if (site.patterns != pattern_id::none) {
    report("E0602", site.where, fmt::format("`{}` takes no patterns", text(site.callee)),
           "not a builtin that reads patterns");
    return {};
  }
  symbol_map map;
  if (self != nullptr && !f.parameters.empty()) unify(f.parameters[0].what, *self, map);
  note_fixed(site, map, site.callee);
  std::vector<parameter_slot> slots;
  for (size_t i = bound; i < f.parameters.size(); ++i)
    slots.push_back({f.parameters[i].name, f.parameters[i].has_default, false, false,
                     f.parameters[i].is_mut, false});
  // A call counts even if its arguments are wrong: it decides where work is done.
  std::set<std::string_view> free;
  for (const auto one : f.only_in_result) free.insert(symbols_[one].name);
  const auto outer = std::exchange(callee_, index);
  auto m =
    match(slots, site, !free.empty(), std::string{modules_[f.module]->text.text(f.decl->name)}, &f);
  callee_ = outer;
  bool ok = m.ok;
  for (auto& one : site.arguments) {
    const auto slot = std::find(m.slots.begin(), m.slots.end(), &one);
    if (slot != m.slots.end() && !one.typed) {
      const auto& what = f.parameters[bound + static_cast<size_t>(slot - m.slots.begin())].what;
      if (is_scalar(what) || is(what, base_type::text)) wanted_ = show(what);
    }
    ok &= !is_poison(type_of(one));
  }
  const comparison with{callee_, index};
  if (m.ok) {
    for (auto* one : m.rest) {
      if (free.contains(text(one->name))) continue;
      auto& d =
        report("E0602", one->name,
               fmt::format("`{}` has no parameter `{}`", text(site.callee), text(one->name)),
               "no such parameter");
      explain_function(d, f, bound);
      ok = false;
    }
    if (ok) unify_all(f, bound, m, map, site);
    for (size_t i = 0; i < slots.size(); ++i) {
      if (m.slots[i] == nullptr) continue;
      const auto& p = f.parameters[i + bound];
      use(p.name_at, m.slots[i]->name);
      // Swapped arguments are one mistake: the first that does not fit is reported.
      if (ok) ok = bind_argument(f, p, *m.slots[i], map, site);
      note_fixed(site, map, m.slots[i]->where);
      check_mut(p, *m.slots[i], index);
    }
    check_self(f, site);
    check_aliases(site, !f.parameters.empty() && f.parameters[0].is_mut);
  }
  type out; // without axes of its own it is known all the same
  if (ok && !f.result_in_doubt)
    out = bind_result(f, map, site, m.rest);
  else if (is(f.result, base_type::none) || is_scalar(f.result))
    out = f.result;
  note_fixed(site, map, site.where);
  note_calls(index, map, site, ok && !is_poison(out));
  returned_ = places_returned(out, site);
  returned_by_ = site.where;
  return out;
}

type checker::bind_result(const function_info& f, symbol_map& map, call_site& site,
                          const std::vector<call_argument*>& extra) {
  std::vector<symbol> missing;
  const auto see = [&](const size_form& size) {
    for (const auto one : size.symbols()) {
      const bool ours = std::find(f.given.begin(), f.given.end(), one) != f.given.end()
                        || std::find(f.only_in_result.begin(), f.only_in_result.end(), one)
                             != f.only_in_result.end();
      if (ours && !map.contains(one)) missing.push_back(one);
    }
  };
  const auto look = [&](const type& what) {
    for (const auto& one : what.axes) see(one.size);
    for (const auto& one : what.dims) see(one);
    if (what.known == refinement::index) see(what.bound.size);
  };
  look(f.result);
  for (const auto& one : f.result.parts) look(one);
  for (const auto one : missing) {
    if (map.contains(one)) continue;
    const auto& name = symbols_[one].name;
    const auto found = std::find_if(extra.begin(), extra.end(),
                                    [&](call_argument* a) { return text(a->name) == name; });
    if (found == extra.end()) {
      if (std::find(f.given.begin(), f.given.end(), one) != f.given.end()) return {};
      auto& d = report("E0305", site.where,
                       fmt::format("the size of `{}` in the result is not given", name),
                       fmt::format("returns `{}`", show(f.result)));
      if (f.module == module_) mark(d, symbols_[one].declared, "only here");
      d.help.push_back(fmt::format("give it by name: `{}=...`", name));
      return {};
    }
    const auto& given = type_of(**found);
    if (!is(given, base_type::integer)) {
      report("E0403", (*found)->where,
             fmt::format("a size is an int, but this is {}", quote(given)), quote(given));
      return {};
    }
    use(symbols_[one].name_at, (*found)->name);
    const auto size = given.value ? *given.value : size_form::of(new_symbol(name, (*found)->where));
    if (const auto number = size.number(); number && *number < 1) {
      report("E0302", (*found)->where, fmt::format("a size is at least 1, and this is {}", *number),
             "below 1");
      return {};
    }
    const auto* dim = find(text((*found)->where));
    axis now{{}, size};
    if (const auto lone = size.lone())
      now.name = symbols_[*lone].name;
    else if (dim != nullptr && dim->kind == entity::dim)
      now.name = text((*found)->where);
    map[one] = std::move(now);
  }
  return replace(f.result, map);
}

void checker::note_calls(uint32_t callee, const symbol_map& map, const call_site& site,
                         bool sound) {
  if (function_ == no_index) return;
  call_edge edge{callee, site.where};
  for (const auto& [theirs, ours] : map) {
    for (const auto one : ours.size.symbols())
      bindings_.push_back({one, theirs, function_, site.where});
    if (sound) edge.sizes.emplace(theirs, ours.size);
  }
  if (sound) edge.given = site.given;
  functions_[function_].calls.push_back(std::move(edge));
}

} // namespace shapescript
