#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/pattern_state.hpp"

namespace shapescript {

// A name's size, if the function or the call knows it.
std::optional<size_form> checker::known_size(const pattern_state& state, span name) const {
  const auto word = text(name);
  if (const auto found = state.given.find(word); found != state.given.end())
    return found->second.size;
  for (const auto& one : state.atoms)
    if (!one.number && one.name == word) return one.size;
  return size_known_as(word);
}

// "the axis `D` is 12"; an axis that is a number is not said twice.
std::string checker::say_axis(const axis& one) const {
  const auto size = show(one.size);
  return show(one) == size ? "the axis is " + size
                           : fmt::format("the axis `{}` is {}", show(one), size);
}

// A name that is new in the function becomes another name for the size.
bool checker::define(pattern_state& state, span name, const size_form& size) {
  const auto word = text(name);
  const bool lower = word.front() == '_' || (word.front() >= 'a' && word.front() <= 'z');
  if (!lower) {
    if (const auto* found = find(word); found != nullptr && found->kind == entity::dim) return true;
    std::vector<std::string_view> known;
    for (const auto& [other, what] : mod().names)
      if (what.kind == entity::dim) known.push_back(other);
    if (doubtful(word) || !first_time(word)) return false;
    auto& d = report("E0205", name, fmt::format("no dim is called `{}`", word),
                     "a capitalised axis must be a declared dim");
    suggest(d, name, word, known);
    return false;
  }
  if (scope_ != nullptr && !state.given.contains(word)) scope_->emplace(word, size);
  return true;
}

// Only `einsum` takes a diagonal: elsewhere each axis of the operand is named once.
bool checker::first_in_source(const pattern_state& state, const pattern_item& item) {
  if (state.operation == "einsum") return true;
  const auto word = text(item.where);
  const auto before = std::find_if(state.atoms.begin(), state.atoms.end(), [&](const atom& one) {
    return !one.number && one.name == word;
  });
  if (before == state.atoms.end()) return true;
  auto& d = report("E0414", item.where, fmt::format("`{}` stands twice in the pattern", word),
                   "the second time");
  mark(d, before->where, "the first time");
  d.help.push_back("a diagonal is taken by `einsum`, as in `einsum(x: n n -> n)`");
  return false;
}

bool checker::read_name(pattern_state& state, const pattern_item& item, const type& operand,
                        size_t place) {
  const auto& over = operand.axes[place];
  const auto word = text(item.where);
  if (!first_in_source(state, item)) return false;
  const auto given = state.given.find(word);
  if (over.name == word && given != state.given.end() && !(given->second.size == over.size)) {
    report("E0418", given->second.where,
           fmt::format("`{}` is given as {}, but it is an axis of `{}`", word,
                       show(given->second.size), show(operand.axes)),
           "another size");
    return false;
  }
  if (over.name != word) {
    if (const auto elsewhere = find_axis(operand.axes, word)) {
      auto& d = report("E0408", item.where,
                       fmt::format("the pattern calls axis {} `{}`, but `{}` is axis {} of `{}`",
                                   place + 1, word, word, *elsewhere + 1, show(operand.axes)),
                       fmt::format("this axis is `{}`", show(over)));
      explain_sizes(d, operand.axes);
      if (over.size == operand.axes[*elsewhere].size)
        d.notes.push_back("the two have the same size, so that nothing else would notice");
      return false;
    }
    const auto known = known_size(state, item.where);
    if (known && !(*known == over.size)) {
      auto& d =
        report("E0418", item.where,
               fmt::format("`{}` is already another size in this function than the axis `{}`", word,
                           show(over)),
               fmt::format("axis {} of `{}`", place + 1, show(operand.axes)));
      if (const auto lone = known->lone()) mark(d, symbols_[*lone].declared, "declared here");
      if (known->number()) d.notes.push_back(fmt::format("`{}` is {}", word, show(*known)));
      explain_sizes(d, {over});
      return false;
    }
    if (!known && !define(state, item.where, over.size)) return false;
  }
  use_axis(item.where, scope_);
  if (state.find(word) == nullptr)
    state.atoms.push_back({std::string{word}, over.size, item.where, 0, false, false,
                           over.name == word && over.resized});
  return true;
}

bool checker::read_group(pattern_state& state, const pattern_item& group, const axis& over) {
  size_form product{1};
  const pattern_item* unknown = nullptr;
  for (const auto& one : group.inner) {
    std::optional<size_form> size;
    if (one.kind == pattern_item::integer)
      size = size_form{number_in_pattern(text(one.where))};
    else
      size = known_size(state, one.where);
    if (size) {
      product = product * *size;
      continue;
    }
    // A dim whose value was reported.
    if (const auto* dim = find(text(one.where)); dim != nullptr && dim->kind == entity::dim)
      return false;
    if (unknown != nullptr) {
      auto& d = report("E0410", group.where,
                       fmt::format("the sizes of `{}` and `{}` are both unknown",
                                   text(unknown->where), text(one.where)),
                       "one of them must be given");
      d.help.push_back(fmt::format("give one by name: `{}=...`", text(one.where)));
      return false;
    }
    unknown = &one;
  }
  std::optional<size_form> rest = size_form{1};
  if (unknown != nullptr) {
    rest = divide(over.size, product);
    // What a symbolic axis leaves is decided where its size is known.
    if (!rest && !over.size.number() && product.number() != 0)
      rest = divided(over.size, product, group.where, text(group.where));
  }
  if (!rest || (unknown == nullptr && !(product == over.size))) {
    auto& d = report("E0409", group.where,
                     unknown == nullptr
                       ? fmt::format("the group is {}, but {}", show(product), say_axis(over))
                       : fmt::format("`{}` does not divide the axis `{}` of size {}", show(product),
                                     show(over), show(over.size)),
                     fmt::format("`{}`", show(product)));
    for (const auto& one : group.inner)
      if (one.kind == pattern_item::name)
        if (const auto size = known_size(state, one.where); size && size->number())
          d.notes.push_back(fmt::format("`{}` is {}", text(one.where), show(*size)));
    return false;
  }
  if (unknown != nullptr && !define(state, unknown->where, *rest)) return false;
  for (const auto& one : group.inner) {
    if (one.kind == pattern_item::name) {
      if (!first_in_source(state, one)) return false;
      use_axis(one.where, scope_);
    }
    if (one.kind == pattern_item::integer) {
      const auto value = number_in_pattern(text(one.where));
      state.atoms.push_back(
        {std::string{text(one.where)}, size_form{value}, one.where, 0, true, true});
    } else {
      const auto size = &one == unknown ? rest : known_size(state, one.where);
      state.atoms.push_back({std::string{text(one.where)}, *size, one.where, 0, false, true});
    }
  }
  return true;
}

bool checker::read_source(pattern_state& state, const pattern& written, const type& operand) {
  const auto rests = std::count_if(written.items.begin(), written.items.end(),
                                   [](const auto& x) { return x.kind == pattern_item::rest; });
  const auto named = written.items.size() - static_cast<size_t>(rests);
  const auto rank = operand.axes.size();
  if (rests > 1 || named > rank || (rests == 0 && named != rank)) {
    report("E0406", written.where,
           rests > 1 ? std::string{"`...` stands once in a pattern"}
                     : fmt::format("the pattern has {} axes, but `{}` has {}", named,
                                   show(operand.axes), rank),
           fmt::format("{} axes", named));
    return false;
  }
  size_t place = 0;
  state.rests.emplace_back();
  for (const auto& item : written.items) {
    switch (item.kind) {
      case pattern_item::rest:
        for (size_t k = named; k < rank; ++k) state.rests.back().push_back(operand.axes[place++]);
        break;
      case pattern_item::name:
        if (!read_name(state, item, operand, place)) return false;
        ++place;
        break;
      case pattern_item::integer: {
        const auto value = number_in_pattern(text(item.where));
        if (!(operand.axes[place].size == size_form{value})) {
          report("E0409", item.where,
                 fmt::format("the pattern says {}, but {}", value, say_axis(operand.axes[place])),
                 "another size");
          return false;
        }
        if (value != 1)
          state.atoms.push_back(
            {std::string{text(item.where)}, size_form{value}, item.where, 0, true, false});
        ++place;
        break;
      }
      case pattern_item::group:
        if (!read_group(state, item, operand.axes[place])) return false;
        ++place;
        break;
    }
  }
  return true;
}

// Sizes given by name are of axes that the patterns name.
bool checker::check_given(const builtin& what, const pattern_state& state,
                          const pattern_call& call) {
  std::set<std::string_view> named;
  const auto see = [&](const pattern& one) {
    for (const auto& item : one.items) {
      if (item.kind == pattern_item::name) named.insert(text(item.where));
      for (const auto& inner : item.inner) named.insert(text(inner.where));
    }
  };
  for (const auto& one : call.sources) see(one);
  see(call.result);
  for (const auto& [word, one] : state.given) {
    if (named.contains(word)) continue;
    auto& d = report("E0602", one.name,
                     fmt::format("no axis in the patterns of `{}` is called `{}`", what.name, word),
                     "no such axis");
    suggest(d, one.name, word, {named.begin(), named.end()});
    return false;
  }
  return true;
}

// After a mistake the names that the patterns bring into being are sizes that nothing is known of.
void checker::define_rest(const pattern_call& call) {
  if (scope_ == nullptr) return;
  const auto one = [this](const pattern_item& item) {
    const auto word = text(item.where);
    if (item.kind != pattern_item::name || scope_->contains(word) || find(word) != nullptr) return;
    scope_->emplace(std::string{word}, size_form::of(new_symbol(std::string{word}, item.where)));
  };
  for (const auto& source : call.sources)
    for (const auto& item : source.items) {
      one(item);
      for (const auto& inner : item.inner) one(inner);
    }
}

// -- the call ------------------------------------------------------------------

// The operands of a call with patterns, the one of a pipeline first; sizes given by name go to the
// state. A wrong one is poison, and `by` a question mark if a named argument is wrong.
std::optional<std::vector<type>> checker::pattern_operands(const builtin& what, call_site& site,
                                                           pattern_state& state, std::string& by) {
  const auto& call = t().at(site.patterns);
  std::vector<type> operands;
  std::vector<span> places;
  bool ok = true;
  for (auto& one : site.arguments) {
    if (one.name == span{}) {
      if (!one.piped) {
        report("E0604", one.where, "an operand stands before the patterns",
               fmt::format("as in `{}(x: a b -> b a)`", what.name));
        return std::nullopt;
      }
      operands.push_back(type_of(one));
      places.push_back(one.where);
      continue;
    }
    const auto word = text(one.name);
    if (!one.typed && one.value != expr_id::none && divides(t(), one.value)) {
      // `e=D/H` is a whole number, as in brackets.
      one.typed = true;
      if (auto size = size_from(one.value)) {
        one.what = scalar_of(base_type::integer);
        one.what.value = std::move(size);
      }
    }
    const auto& given = type_of(one);
    if (is_poison(given)) {
      ok = false;
    } else if (what.name == "reduce" && word == "by") {
      by = state.by = text(one.where);
      state.by_where = one.where;
      if (!need_text(&one)) ok = false;
    } else if (is(given, base_type::integer)) {
      use_given_axis(one.name);
      const auto size =
        given.value ? *given.value : size_form::of(new_symbol(std::string{word}, one.where));
      state.given[std::string{word}] = {size, one.name, one.where};
    } else {
      report("E0403", one.where, fmt::format("a size is an int, but this is {}", quote(given)),
             quote(given));
      ok = false;
    }
  }
  for (const auto id : call.operands) {
    operands.push_back(expression(id));
    places.push_back(t().at(id).where);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!is_poison(operands[i]) && !is_tensor(operands[i])) {
      report("E0503", places[i],
             fmt::format("`{}` takes tensors, not {}", what.name, quote(operands[i])),
             quote(operands[i]));
      operands[i] = {};
    }
  }
  if (!ok) by = "?";
  return operands;
}

type checker::call_pattern(const builtin& what, call_site& site) {
  device_work(site.where, what.name);
  const auto& call = t().at(site.patterns);
  pattern_state state;
  state.operation = what.name;
  std::string by;
  const auto given = pattern_operands(what, site, state, by);
  if (!given) return {};
  const auto& operands = *given;
  const bool ok = std::none_of(operands.begin(), operands.end(), is_poison) && by != "?";
  if (what.name == "reduce" && ok) {
    static const std::set<std::string_view> known{"\"sum\"", "\"mean\"", "\"max\"", "\"min\"",
                                                  "\"prod\""};
    if (by.empty()) {
      report("E0603", site.callee, "`reduce` needs `by`", "as in `by=\"sum\"`");
      return {};
    }
    if (!known.contains(by)) {
      report("E0602", state.by_where,
             by.front() == '"' ? fmt::format("`reduce` knows no {}", by)
                               : "what `reduce` does is written out, as in `by=\"sum\"`",
             "known are sum, mean, max, min and prod");
      return {};
    }
  }
  const size_t wanted = what.name == "einsum" ? operands.size() : 1;
  if (what.name != "einsum" && operands.size() != 1) {
    report(operands.empty() ? "E0603" : "E0601", site.callee,
           fmt::format("`{}` takes one operand", what.name),
           fmt::format("{} are given", operands.size()));
    return {};
  }
  if (operands.empty()) {
    report("E0603", site.callee, "`einsum` needs operands",
           "as in `einsum(x, y: a b, b c -> a c)`");
    return {};
  }
  if (call.sources.size() != wanted) {
    report("E0411", {call.sources.front().where.begin, call.sources.back().where.end},
           fmt::format("{} pattern{} for {} operand{}", call.sources.size(),
                       call.sources.size() == 1 ? "" : "s", wanted, wanted == 1 ? "" : "s"),
           "each operand has one pattern");
    return {};
  }
  type out;
  const auto before = out_.size();
  if (ok && check_given(what, state, call))
    out = what.name == "einsum" ? einsum(state, call, operands)
                                : rearranged(what, state, call, operands[0]);
  if (is_poison(out)) define_rest(call);
  if (is_poison(out) && out_.size() > before) mark_operands(out_[before], site);
  return out;
}

} // namespace shapescript
