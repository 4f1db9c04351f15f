#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/nearest.hpp"
#include "shapescript/check/checker.hpp"

// What a name in an expression is, and which one was meant if it is unknown.

namespace shapescript {

type checker::function_value(uint32_t index) const {
  auto out = scalar_of(base_type::function);
  out.declaration = index;
  return out;
}

type checker::name(const expr& node) {
  const auto word = text(node.name);
  if (const auto* found = locals_.find(word)) {
    auto state = *found;
    local_infos_[state.local].used = true;
    use(local_infos_[state.local].name_at, node.name);
    if (state.maybe && !unread_ && !unknown_here_.contains(word)) {
      auto& d = report("E0209", node.name, fmt::format("`{}` is not assigned on every path", word),
                       "may have no value here");
      mark(d, state.assigned, "assigned here");
      state.maybe = false; // said once
      locals_.set(word, state);
    }
    return state.what;
  }
  if (const auto* found = find(word)) {
    use(found->name, node.name);
    switch (found->kind) {
      case entity::dim: {
        auto out = scalar_of(base_type::integer);
        if (!dims_[found->index].known) return {};
        out.value = size_form{dims_[found->index].value};
        out.known = refinement::pos;
        return out;
      }
      case entity::record:
      case entity::model: {
        auto out = scalar_of(base_type::declared_type);
        out.declaration = found->index;
        out.name = found->kind == entity::record ? "data" : "model";
        return out;
      }
      case entity::function:
        return function_value(found->index);
      case entity::python:
      case entity::file: {
        auto out = scalar_of(base_type::module);
        out.declaration = found->kind == entity::file ? found->index : no_index;
        out.name = word;
        if (found->kind == entity::file && found->index == no_index) return {};
        return out;
      }
    }
  }
  if (scope_ != nullptr) {
    if (const auto size = scope_->find(word); size != scope_->end()) {
      use_axis(node.name, scope_);
      auto out = scalar_of(base_type::integer);
      out.value = size->second;
      out.known = refinement::pos;
      return out;
    }
  }
  if (doubtful(word)) return {}; // a declaration that cannot be read may be called so
  if (word == "inf" || word == "nan" || word == "pi" || word == "e") {
    auto out = scalar_of(base_type::real);
    out.literal = true;
    if (word != "nan") out.known = refinement::pos;
    return out;
  }
  if (const auto* what = find_builtin(word)) {
    const bool constructs = what->how == rule::construct || what->how == rule::initialise;
    if (constructs && function_ != no_index) return without_axes(word, node.name);
    auto out = scalar_of(base_type::function);
    out.declaration = no_index;
    out.name = word;
    return out;
  }
  return unknown_name(node);
}

type checker::unknown_name(const expr& node) {
  const auto word = text(node.name);
  if (nameless_here_ || doubtful(word) || !unknown_here_.insert(word).second) return {};
  const auto made = loops_ > 0 ? assigned_later(word, 0) : span{};
  const auto locals = locals_.names();
  if (!(made == span{}) && made.begin <= node.where.end && !moxzi::nearest(word, locals)) {
    auto& d = report("E0201", node.name, fmt::format("unknown name `{}`", word),
                     "it has no value before the loop");
    if (!(made == node.name)) mark(d, made, "assigned here, for the next round");
    d.help.push_back(fmt::format("give it one before the loop, as in `{} = ...`", word));
    return {};
  }
  // A missing declaration is one mistake, in however many functions it is missed.
  constexpr size_t local_bytes_max = 2;
  const bool maybe_local = word.size() <= local_bytes_max && std::islower(word.front()) != 0;
  if (!first_time(word) && !maybe_local) return {};
  if (const auto later = assigned_later(word, node.where.begin); !(later == span{})) {
    auto& d = report("E0209", node.name, fmt::format("`{}` is used before it is assigned", word),
                     "has no value here");
    mark(d, later, "assigned here");
    return {};
  }
  const auto known = names_for(name_is_);
  auto& d = report("E0201", node.name, fmt::format("unknown name `{}`", word),
                   "nothing here has this name");
  if (!explain_unknown(d, node.name) && !habit_of_name(d, node.name))
    suggest(d, node.name, word, known);
  return {};
}

// The names that fit a place, those of the file before the builtins.
std::vector<std::string_view> checker::names_for(name_place use) const {
  std::vector<std::string_view> known;
  const bool called = use == name_place::called;
  for (const auto name : locals_.names()) {
    const auto base = locals_.find(name)->what.base;
    const bool callable = base == base_type::function || base == base_type::model
                          || base == base_type::poison || base == base_type::python;
    if (!called || callable) known.push_back(name);
  }
  for (const auto& [name, what] : mod().names) {
    const bool type = what.kind == entity::model || what.kind == entity::record;
    const bool fits = called ? what.kind == entity::function || what.kind == entity::model
                      : use == name_place::indexed            ? what.kind == entity::model
                      : type || what.kind == entity::function ? is_argument_
                                                              : true;
    if (fits) known.push_back(name);
  }
  if (use == name_place::value && scope_ != nullptr)
    for (const auto& [name, size] : *scope_) known.push_back(name);
  for (const auto name : builtin_names())
    if (called || (use == name_place::indexed ? makes_tensors(name) : is_argument_))
      known.push_back(name);
  if (use == name_place::value)
    for (const std::string_view name : {"inf", "nan", "pi"}) known.push_back(name);
  return known;
}

} // namespace shapescript
