#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "shapescript/checker.hpp"

namespace shapescript {

/// One axis that a pattern names: where, how large, and how often it was used in the result.
struct checker::atom {
  std::string name;
  size_form size;
  span where;
  int used = 0;
  bool number = false; ///< a literal in a group
  bool in_group = false;
  bool resized = false; ///< as of `axis`
};

struct checker::pattern_state {
  std::vector<atom> atoms;
  std::map<std::string, size_form, std::less<>> given; ///< by named arguments: `h=2`
  std::vector<std::vector<axis>> rests;                ///< what `...` stands for, each operand
  std::string operation;
  std::string_view by; ///< of `reduce`, with its quotes

  atom* find(std::string_view name) {
    for (auto& one : atoms)
      if (!one.number && one.name == name) return &one;
    return nullptr;
  }
};

namespace {

int64_t number_of(std::string_view digits) {
  int64_t value = 0;
  std::string plain;
  for (const char c : digits)
    if (c != '_') plain += c;
  std::from_chars(plain.data(), plain.data() + plain.size(), value);
  return value;
}

} // namespace

// A name's size, if the function or the call knows it.
std::optional<size_form> checker::known_size(const pattern_state& state, span name) const {
  const auto word = text(name);
  if (const auto found = state.given.find(word); found != state.given.end()) return found->second;
  for (const auto& one : state.atoms)
    if (!one.number && one.name == word) return one.size;
  if (scope_ != nullptr)
    if (const auto found = scope_->find(word); found != scope_->end()) return found->second;
  const auto* found = find(word);
  if (found != nullptr && found->kind == entity::dim && dims_[found->index].known)
    return size_form{dims_[found->index].value};
  return std::nullopt;
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

bool checker::read_name(pattern_state& state, const pattern_item& item, const type& operand,
                        size_t place) {
  const auto& over = operand.axes[place];
  const auto word = text(item.where);
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
      size = size_form{number_of(text(one.where))};
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
    auto& d =
      report("E0409", group.where,
             unknown == nullptr ? fmt::format("the group is {}, but the axis `{}` is {}",
                                              show(product), show(over), show(over.size))
                                : fmt::format("`{}` does not divide the axis `{}` of size {}",
                                              show(product), show(over), show(over.size)),
             fmt::format("`{}`", show(product)));
    for (const auto& one : group.inner)
      if (one.kind == pattern_item::name)
        if (const auto size = known_size(state, one.where); size && size->number())
          d.notes.push_back(fmt::format("`{}` is {}", text(one.where), show(*size)));
    return false;
  }
  if (unknown != nullptr && !define(state, unknown->where, *rest)) return false;
  for (const auto& one : group.inner) {
    if (one.kind == pattern_item::name) use_axis(one.where, scope_);
    if (one.kind == pattern_item::integer) {
      const auto value = number_of(text(one.where));
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
        const auto value = number_of(text(item.where));
        if (!(operand.axes[place].size == size_form{value})) {
          report("E0409", item.where,
                 fmt::format("the pattern says {}, but the axis `{}` is {}", value,
                             show(operand.axes[place]), show(operand.axes[place].size)),
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

// -- results -------------------------------------------------------------------

std::optional<size_form> checker::result_atom(pattern_state& state, const pattern_item& item,
                                              bool may_invent, const char* missing_code) {
  const auto word = text(item.where);
  if (item.kind == pattern_item::integer) {
    const auto value = number_of(word);
    for (auto& one : state.atoms) {
      if (!one.number || one.used > 0 || !(one.size == size_form{value})) continue;
      ++one.used;
      return one.size;
    }
    if (value == 1 || may_invent) return size_form{value};
    report(missing_code, item.where, fmt::format("the operand has no axis {}", value),
           "not in the pattern on the left");
    return std::nullopt;
  }
  auto* one = state.find(word);
  use_axis(item.where, scope_);
  if (one == nullptr) {
    if (const auto known = may_invent ? known_size(state, item.where) : std::nullopt) {
      state.atoms.push_back({std::string{word}, *known, item.where, 1, false, false});
      return known;
    }
    std::vector<std::string_view> names;
    for (const auto& a : state.atoms)
      if (!a.number) names.push_back(a.name);
    auto& d =
      report(missing_code, item.where, fmt::format("`{}` is in no pattern on the left", word),
             may_invent ? "its size is not known" : "comes from nowhere");
    suggest(d, item.where, word, names);
    if (may_invent) d.help.push_back(fmt::format("give its size by name: `{}=...`", word));
    return std::nullopt;
  }
  if (one->used > 0) {
    report("E0414", item.where, fmt::format("`{}` stands twice in the result", word),
           "the second time");
    return std::nullopt;
  }
  ++one->used;
  return one->size;
}

bool checker::result_axes(pattern_state& state, const pattern& written, std::vector<axis>& axes,
                          bool may_invent, const char* missing_code) {
  for (const auto& item : written.items) {
    if (item.kind == pattern_item::rest) {
      if (!state.rests.empty())
        axes.insert(axes.end(), state.rests[0].begin(), state.rests[0].end());
      continue;
    }
    axis out;
    if (item.kind == pattern_item::group) {
      out.size = size_form{1};
      for (const auto& one : item.inner) {
        const auto size = result_atom(state, one, may_invent, missing_code);
        if (!size) return false;
        out.size = out.size * *size;
        out.name += (out.name.empty() ? "" : "*") + std::string{text(one.where)};
      }
    } else {
      const auto size = result_atom(state, item, may_invent, missing_code);
      if (!size) return false;
      out.size = *size;
      if (item.kind == pattern_item::name) out.name = text(item.where);
      if (const auto* from = state.find(out.name)) out.resized = from->resized;
    }
    axes.push_back(std::move(out));
  }
  return true;
}

type checker::rearranged(const builtin& what, pattern_state& state, const pattern_call& call,
                         const type& operand) {
  if (!read_source(state, call.sources[0], operand)) return {};
  const bool invents = what.name == "repeat";
  auto out = operand;
  out.axes.clear();
  if (!result_axes(state, call.result, out.axes, invents, "E0407")) return {};
  if (what.name == "merge" && out.axes.size() >= operand.axes.size()) {
    report("E0406", call.result.where, "`merge` gives fewer axes than its operand has",
           fmt::format("{} of {}", out.axes.size(), operand.axes.size()));
    return {};
  }
  if (out.known == refinement::prob) keep_prob(out, call, operand);
  int64_t parts = 1;
  for (const auto& one : state.atoms) {
    if (one.used > 0) continue;
    if (what.name == "reduce") continue;
    if (what.name == "split" && one.number && one.in_group) {
      parts *= one.size.number().value_or(1);
      continue;
    }
    auto& d = report("E0407", one.where, fmt::format("`{}` is not in the result", one.name),
                     "lost by the pattern");
    d.help.push_back("to sum over an axis, write `reduce(... , by=\"sum\")` or `sum(over=...)`");
    return {};
  }
  if (what.name == "reduce") {
    out.known = known_reduced(state.by, operand);
    out.numbers.reset();
    out.value.reset();
  }
  if (parts == 1) return out;
  auto tuple = scalar_of(base_type::tuple);
  tuple.parts.assign(static_cast<size_t>(std::min<int64_t>(parts, 1024)), out);
  return tuple;
}

type checker::einsum(pattern_state& state, const pattern_call& call,
                     const std::vector<type>& operands) {
  // The axes of each operand by their size: the same axis of examples under two names is
  // every example against every other.
  std::vector<std::pair<size_form, std::string_view>> seen;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!read_source(state, call.sources[i], operands[i])) return {};
    size_t place = 0;
    for (const auto& item : call.sources[i].items) {
      if (item.kind == pattern_item::name && place < operands[i].axes.size()) {
        const auto& over = operands[i].axes[place];
        const auto at = std::find_if(seen.begin(), seen.end(),
                                     [&](const auto& one) { return one.first == over.size; });
        if (at == seen.end())
          seen.emplace_back(over.size, text(item.where));
        else if (at->second != text(item.where))
          crossing(item.where, "einsum", over,
                   fmt::format("`{}` is `{}` again: every example meets every other",
                               text(item.where), at->second));
      }
      ++place;
    }
  }
  auto out = tensor_of({}, operands[0].element);
  for (size_t i = 1; i < operands.size(); ++i) {
    const auto element =
      common_element(operands[0], operands[i],
                     t().at(call.operands.empty() ? expr_id{0} : call.operands.back()).where);
    if (!element) return {};
  }
  if (!result_axes(state, call.result, out.axes, false, "E0412")) return {};
  return out;
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
    const auto& given = type_of(one);
    if (is_poison(given)) {
      ok = false;
    } else if (what.name == "reduce" && word == "by") {
      by = state.by = text(one.where);
    } else if (is(given, base_type::integer)) {
      use_given_axis(one.name);
      state.given[std::string{word}] =
        given.value ? *given.value : size_form::of(new_symbol(std::string{word}, one.where));
    } else {
      report("E0403", one.where, fmt::format("a size is an int, but this is `{}`", show(given)),
             fmt::format("`{}`", show(given)));
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
             fmt::format("`{}` takes tensors, not `{}`", what.name, show(operands[i])),
             fmt::format("`{}`", show(operands[i])));
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
    if (by.front() == '"' && !known.contains(by)) {
      report("E0602", site.where, fmt::format("`reduce` knows no {}", by),
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
  if (ok)
    out = what.name == "einsum" ? einsum(state, call, operands)
                                : rearranged(what, state, call, operands[0]);
  if (is_poison(out)) define_rest(call);
  return out;
}

} // namespace shapescript
