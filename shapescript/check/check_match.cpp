#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

// Arguments and the parameters they are given to.

namespace shapescript {

matched checker::match(const std::vector<parameter_slot>& slots, call_site& site, bool free_names,
                       const std::string& callee, const function_info* f) {
  // A method's `self` is no slot.
  const size_t bound = f != nullptr ? f->parameters.size() - slots.size() : 0;
  matched m;
  m.slots.resize(slots.size(), nullptr);
  size_t next = 0;
  bool named = false;
  bool extra = false;
  for (auto& one : site.arguments) {
    if (one.name == span{}) {
      if (named) {
        m.ok = false;
        if (is_poison(type_of(one))) continue;
        report("E0604", one.where, "a positional argument follows a named one",
               "give it a name, or move it to the front");
        continue;
      }
      while (next < slots.size() && slots[next].by_name) ++next;
      if (next < slots.size() && slots[next].variadic)
        m.rest.push_back(&one);
      else if (next < slots.size())
        m.slots[next++] = &one;
      else if (!std::exchange(extra, true)) {
        m.ok = false;
        if (is_poison(type_of(one))) continue;
        const auto takes = std::count_if(slots.begin(), slots.end(),
                                         [](const parameter_slot& x) { return !x.by_name; });
        auto& d = report("E0601", one.where, fmt::format("too many arguments for `{}`", callee),
                         fmt::format("it takes {} by position", takes));
        if (f != nullptr) explain_function(d, *f, bound);
        habit_of_argument(d, one, slots);
      }
      continue;
    }
    named = true;
    const auto word = text(one.name);
    const auto place = std::find_if(slots.begin(), slots.end(),
                                    [&](const parameter_slot& x) { return x.name == word; });
    if (place == slots.end()) {
      if (free_names) {
        m.rest.push_back(&one);
        continue;
      }
      m.ok = false;
      std::vector<std::string_view> known;
      for (const auto& x : slots)
        if (!x.variadic) known.push_back(x.name);
      auto& d = report("E0602", one.name, fmt::format("`{}` has no parameter `{}`", callee, word),
                       "no such parameter");
      if (f != nullptr)
        explain_function(d, *f, bound);
      else if (!known.empty())
        d.notes.push_back(fmt::format("`{}` takes {}", callee, list_names(known)));
      if (!habit_of_argument(d, one, slots)) suggest(d, one.name, word, known);
      continue;
    }
    auto*& filled = m.slots[static_cast<size_t>(place - slots.begin())];
    if (filled != nullptr) {
      m.ok = false;
      if (is_poison(type_of(*filled))) continue;
      auto& d = report("E0602", one.name, fmt::format("`{}` is given twice", word), "given again");
      mark(d, filled->where, "given here");
    }
    filled = &one;
  }
  if (m.ok) m.ok = nothing_missing(slots, m, site, callee, f);
  return m;
}

bool checker::nothing_missing(const std::vector<parameter_slot>& slots, const matched& m,
                              call_site& site, const std::string& callee, const function_info* f) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (m.slots[i] != nullptr || slots[i].optional || slots[i].variadic) continue;
    // An argument that is not known may be what is missing.
    const auto unknown = [this](call_argument& one) {
      return one.name == span{} && is_poison(type_of(one));
    };
    if (std::any_of(site.arguments.begin(), site.arguments.end(), unknown)) return false;
    auto& d = report("E0603", site.callee, fmt::format("`{}` needs `{}`", callee, slots[i].name),
                     slots[i].by_name ? fmt::format("`{}=` is missing", slots[i].name)
                                      : "an argument is missing");
    if (f == nullptr || f->module != module_) return false;
    const auto& one = f->parameters[f->parameters.size() - slots.size() + i];
    mark(d, one.where, fmt::format("`{}` is declared `{}`", one.name, show(one.what)));
    return false;
  }
  return true;
}

} // namespace shapescript
