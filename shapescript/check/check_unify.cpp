#include <algorithm>

#include "shapescript/check/checker.hpp"

namespace shapescript {

// What the axes of a called function are at the call.

bool checker::unify(const type& want, const type& have, symbol_map& map) {
  const auto one = [&](const size_form& size, const axis& given) {
    if (const auto lone = size.lone()) {
      map.emplace(*lone, given);
      return;
    }
    // `2*n+1` against 7, `n/2` against 3: what n is.
    const auto known = [&](symbol s) { return map.contains(s); };
    for (const auto& term : size.under().terms())
      if (!std::all_of(term.symbols.begin(), term.symbols.end(), known)) return;
    const auto value = [&](symbol s) { return map.at(s).size; };
    const auto value_of = [&](const size_sum::product& term) {
      size_form part{term.factor};
      for (const auto s : term.symbols)
        if (known(s)) part = part * value(s);
      return part;
    };
    std::optional<symbol> unknown;
    size_form rest{0}, factor{0}, under{0};
    for (const auto& term : size.over().terms()) {
      const auto open = std::count_if(term.symbols.begin(), term.symbols.end(),
                                      [&](symbol s) { return !known(s); });
      if (open > 1 || (open == 1 && unknown)) return;
      if (open == 1) {
        unknown = *std::find_if_not(term.symbols.begin(), term.symbols.end(), known);
        factor = value_of(term);
      } else {
        rest = rest + value_of(term);
      }
    }
    for (const auto& term : size.under().terms()) under = under + value_of(term);
    if (!unknown) return;
    if (const auto solved = divide(given.size * under - rest, factor))
      map.emplace(*unknown, axis{"", *solved});
  };
  if (want.axes.size() == have.axes.size())
    for (size_t i = 0; i < want.axes.size(); ++i) one(want.axes[i].size, have.axes[i]);
  if (want.dims.size() == have.dims.size())
    for (size_t i = 0; i < want.dims.size(); ++i) one(want.dims[i], dim_of(have, i));
  if (want.known == refinement::index && have.known == refinement::index)
    one(want.bound.size, have.bound);
  return true;
}

// What the arguments say about the axes of the function: first those that are one axis alone, so
// that the order of the parameters does not matter.
void checker::unify_all(const function_info& f, size_t bound, matched& m, symbol_map& map,
                        call_site& site) {
  const auto each = [&](bool alone) {
    for (size_t i = 0; i < m.slots.size(); ++i) {
      if (m.slots[i] == nullptr) continue;
      auto want = f.parameters[i + bound].what;
      auto have = type_of(*m.slots[i]);
      if (is_tensor(want)) have = as_tensor(have);
      if (have.base != want.base || have.axes.size() != want.axes.size()) continue;
      for (size_t k = want.axes.size(); alone && k-- > 0;) {
        if (want.axes[k].size.lone()) continue;
        want.axes.erase(want.axes.begin() + static_cast<std::ptrdiff_t>(k));
        have.axes.erase(have.axes.begin() + static_cast<std::ptrdiff_t>(k));
      }
      unify(want, have, map);
      note_fixed(site, map, m.slots[i]->where);
    }
  };
  each(true);
  for (auto before = map.size() + 1; before != map.size();) {
    before = map.size();
    each(false);
  }
}

} // namespace shapescript
