#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "shapescript/check/pattern_state.hpp"

namespace shapescript {

int64_t number_in_pattern(std::string_view digits) {
  int64_t value = 0;
  std::string plain;
  for (const char c : digits)
    if (c != '_') plain += c;
  std::from_chars(plain.data(), plain.data() + plain.size(), value);
  return value;
}

// -- results -------------------------------------------------------------------

std::optional<size_form> checker::result_atom(pattern_state& state, const pattern_item& item,
                                              bool may_invent, const char* missing_code) {
  const auto word = text(item.where);
  if (item.kind == pattern_item::integer) {
    const auto value = number_in_pattern(word);
    for (auto& one : state.atoms) {
      if (!one.number || one.used > 0 || !(one.size == size_form{value})) continue;
      ++one.used;
      return one.size;
    }
    if (value == 1 || may_invent) return size_form{value};
    report(missing_code, item.where, fmt::format("`{}` is in no pattern on the left", value),
           "comes from nowhere");
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
        out.written += (out.written.empty() ? "" : "*") + std::string{text(one.where)};
      }
      if (item.inner.size() == 1) out = axis_written(out.written, out.size);
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

} // namespace shapescript
