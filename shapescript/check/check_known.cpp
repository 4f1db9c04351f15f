#include <algorithm>

#include "shapescript/check/checker.hpp"

namespace shapescript {

// What is known of values, and what operations leave of it.

// `Prob[X]` goes with X as long as the pattern leaves it whole.
void checker::keep_prob(type& out, const pattern_call& call, const type& operand) const {
  out.known = refinement::unit;
  const auto place = find_axis(operand.axes, operand.bound);
  if (!place) return;
  const auto& items = call.sources[0].items;
  size_t at = 0;
  for (const auto& item : items) {
    const size_t covers =
      item.kind == pattern_item::rest ? operand.axes.size() + 1 - items.size() : 1;
    if (*place >= at + covers) {
      at += covers;
      continue;
    }
    const auto whole = [&](const pattern_item& x) {
      return x.kind == item.kind
             && (x.kind == pattern_item::rest || text(x.where) == text(item.where));
    };
    if (item.kind != pattern_item::rest && item.kind != pattern_item::name) return;
    if (std::none_of(call.result.items.begin(), call.result.items.end(), whole)) return;
    out.known = refinement::prob;
    if (item.kind == pattern_item::name) out.bound.name = text(item.where);
    return;
  }
}

// What is known of sums, means and extremes over axes.
refinement checker::known_reduced(std::string_view by, const type& of) {
  const bool keeps = by.find("prod") == by.npos && is_float(of.element) && known_nonneg(of);
  if (!keeps) return refinement::none;
  return known_pos(of) ? refinement::pos : refinement::nonneg;
}

// `normal(std=0.02)`, with what is known of the values it gives.
type checker::initialiser(const builtin& what, matched& m) {
  for (auto* one : m.slots)
    if (!need_number(one)) return {};
  auto out = scalar_of(base_type::initializer);
  out.name = what.name;
  if (what.name == "zeros" || what.name == "eye") out.value = size_form{0};
  if (what.name == "ones") out.value = size_form{1};
  const bool fills = what.name == "full" || what.name == "uniform";
  // What is known of the lower end is known of all, but for its value.
  if (fills && m.slots[0] != nullptr) {
    const auto& low = m.slots[0]->what;
    out.known = known_pos(low)      ? refinement::pos
                : known_nonneg(low) ? refinement::nonneg
                                    : refinement::none;
    if (what.name == "full") {
      out.value = low.value;
      out.numbers = low.numbers;
      out.literal = is(low, base_type::real);
    }
  }
  return out;
}

} // namespace shapescript
