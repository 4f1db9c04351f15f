#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

// What the arguments of builtins must be besides tensors.

bool checker::need_text(call_argument* one, std::string_view wanted) {
  return one == nullptr || need(*one, is(type_of(*one), base_type::text), "E0403", wanted);
}

// `true` or `false`, written out where it decides a shape or a rule.
bool checker::need_flag(call_argument* one) {
  if (one == nullptr) return true;
  if (!need(*one, is(type_of(*one), base_type::boolean), "E0403", "`true` or `false`"))
    return false;
  if (one->value != expr_id::none && t().at(one->value).kind == expr_kind::boolean) return true;
  report("E0403", one->where, "`true` or `false` is written out here",
         "known only when the program runs");
  return false;
}

// As many groups as divide the axis that they are of.
bool checker::check_groups(call_argument& groups, const std::vector<axis>& over) {
  const auto& what = type_of(groups);
  if (!need(groups, is(what, base_type::integer), "E0403", "an int")) return false;
  const auto count = what.value ? what.value->number() : std::nullopt;
  if (count && *count < 1) {
    report("E0302", groups.where, fmt::format("there is at least 1 group, not {}", *count),
           "below 1");
    return false;
  }
  size_form channels{1};
  for (const auto& one : over) channels = channels * one.size;
  const auto size = channels.number();
  if (!count || !size || *size % *count == 0) return true;
  report("E0301", groups.where, fmt::format("{} groups do not divide {}", *count, *size),
         "not a whole number for each group");
  return false;
}

// A constructor that takes a value, with its brackets alone: `full[n]`.
type checker::construct_alone(const expr& node) {
  auto out = construct(node);
  const auto& base = t().at(node.left);
  const auto word = text(base.name);
  if (is_poison(out) || word == "arange") return out;
  for (const auto& slot : slots_of(*find_builtin(word))) {
    if (slot.optional || slot.by_name) continue;
    auto& d = report("E0603", base.where, fmt::format("`{}` needs `{}`", word, slot.name),
                     "an argument is missing");
    d.help.push_back(fmt::format("its values follow the axes: `{}(...)`", text(node.where)));
    return {};
  }
  return out;
}

// `zeros()` is an initialiser; in a function the axes are missing.
type checker::without_axes(std::string_view name, span where) {
  auto& d =
    report("E0603", where, fmt::format("`{}` needs its axes in brackets", name), "of what shape?");
  d.help.push_back(fmt::format(
    "as in `{}[{}]`", name, name == "causal" || name == "window" || name == "eye" ? "n m" : "n"));
  return {};
}

// -- functions as values -------------------------------------------------------

// The call of a function that `scan` or `map` is given, once for each slice.
type checker::call_step(const builtin& what, call_argument& function, call_site& step) {
  const auto& f = function.what;
  const auto count = step.arguments.size();
  size_t least = 0, most = 0;
  if (f.declaration != no_index) {
    const auto& parameters = functions_[f.declaration].parameters;
    most = parameters.size();
    least = static_cast<size_t>(std::count_if(parameters.begin(), parameters.end(),
                                              [](const auto& p) { return !p.has_default; }));
  } else if (!f.name.empty()) {
    for (const auto& slot : slots_of(*find_builtin(f.name))) {
      most += slot.by_name ? 0 : 1;
      least += slot.optional ? 0 : 1;
    }
  } else {
    least = most = f.parts.empty() ? 0 : f.parts.size() - 1;
  }
  if (count < least || count > most) {
    const auto takes = count < least ? least : most;
    report(count > most ? "E0601" : "E0603", function.where,
           fmt::format("`{}` calls this with {}", what.name,
                       count == 1 ? "one argument, a slice"
                                  : "two arguments: what is carried, and a slice"),
           fmt::format("takes {} argument{}", takes, takes == 1 ? "" : "s"));
    return {};
  }
  return call_value(f, step);
}

// -- two types in one message --------------------------------------------------

namespace {

using symbol_set = std::set<symbol>;

void collect(const size_form& size, symbol_set& out) {
  for (const auto one : size.symbols()) out.insert(one);
}

void collect(const type& what, symbol_set& out) {
  for (const auto& one : what.axes) collect(one.size, out);
  for (const auto& one : what.dims) collect(one, out);
  collect(what.bound.size, out);
  for (const auto& one : what.parts) collect(one, out);
}

using size_text = std::function<std::string(const size_form&)>;

// `n=2`: with the size behind each name.
axis spelled(const axis& one, const size_text& print) {
  const auto size = print(one.size);
  const auto& word = one.text();
  axis out{{}, one.size};
  out.written = word.empty() || word == size || size == word + "'" ? size : word + "=" + size;
  return out;
}

type spelled(type what, const size_text& print) {
  for (auto& one : what.axes) one = spelled(one, print);
  for (size_t i = 0; i < what.dims.size(); ++i) {
    const auto now = spelled(dim_of(what, i), print);
    if (i < what.dim_names.size()) what.dim_names[i] = now.written;
  }
  what.bound = spelled(what.bound, print);
  for (auto& one : what.parts) one = spelled(one, print);
  return what;
}

} // namespace

std::string checker::quoted(std::string seen) {
  const bool prose = seen.starts_with("a ") || seen.starts_with("an ") || seen == "nothing";
  return prose ? seen : "`" + seen + "`";
}

// Both as people write them; where that is the same text, with their sizes. A size of the second
// that is another one than its namesake in the first has a prime.
std::pair<std::string, std::string> checker::show_both(const type& x, const type& y) const {
  auto first = show(x);
  auto second = show(y);
  if (first != second) return {std::move(first), std::move(second)};
  symbol_set known;
  collect(x, known);
  const auto print = [this](const size_form& size) { return show(size); };
  const auto print_other = [&](const size_form& size) {
    return size.print([&](symbol one) {
      const auto& name = symbols_[one].name;
      const bool other = std::any_of(
        known.begin(), known.end(), [&](symbol s) { return s != one && symbols_[s].name == name; });
      return other && !known.contains(one) ? name + "'" : name;
    });
  };
  return {show(spelled(x, print)), show(spelled(y, print_other))};
}

} // namespace shapescript
