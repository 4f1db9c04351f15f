#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

bool checker::same(const type& x, const type& y) const {
  if (is_poison(x) || is_poison(y)) return true;
  if (x.base != y.base) return false;
  switch (x.base) {
    case base_type::tensor:
      return x.element == y.element && same_sizes(x.axes, y.axes);
    case base_type::record:
      return x.declaration == y.declaration && same_sizes(x.axes, y.axes);
    case base_type::model:
    case base_type::gradient:
      return x.declaration == y.declaration && x.dims == y.dims;
    case base_type::optimizer:
      return x.name == y.name && x.declaration == y.declaration && x.dims == y.dims;
    case base_type::dataset:
    case base_type::batches:
      return x.declaration == y.declaration;
    case base_type::tuple:
    case base_type::layers:
      return std::equal(x.parts.begin(), x.parts.end(), y.parts.begin(), y.parts.end(),
                        [this](const type& a, const type& b) { return same(a, b); });
    default:
      return true;
  }
}

misfit checker::fits_tensor(const type& have, const type& want) const {
  if (!same_sizes(have.axes, want.axes)) return misfit::shape;
  if (want.known == refinement::index) {
    if (have.known != refinement::index)
      return is_float(have.element) || have.element == dtype::boolean ? misfit::element
                                                                      : misfit::bound;
    const auto x = have.bound.size.number();
    const auto y = want.bound.size.number();
    const bool within = have.bound.size == want.bound.size || (x && y && *x <= *y);
    return within ? misfit::none : misfit::bound;
  }
  if (have.element != want.element) {
    const bool numbers = have.element != dtype::boolean && want.element != dtype::boolean;
    const bool widens = have.element == dtype::i64 || is_float(want.element);
    if (!have.literal || !numbers || !widens) return misfit::element;
  }
  if (want.known == refinement::prob) {
    const bool along = have.known == refinement::prob && same_bound(have, want);
    return along ? misfit::none : misfit::known;
  }
  bool shown = implies(have.known, want.known);
  if (have.literal && have.known == refinement::index) shown |= want.known == refinement::nonneg;
  if (want.known == refinement::nonneg) shown |= known_nonneg(have);
  if (want.known == refinement::pos) shown |= known_pos(have);
  if (want.known == refinement::unit) shown |= known_unit(have);
  return shown ? misfit::none : misfit::known;
}

misfit checker::fits(const type& have, const type& want) const {
  if (is_poison(have) || is_poison(want)) return misfit::none;
  if (is_tensor(want) && is_scalar(have)) {
    if (!want.axes.empty()) return misfit::shape;
    auto value = as_tensor(have);
    if (is(have, base_type::real)) {
      if (!is_float(want.element)) return misfit::element;
      value.element = want.element;
    }
    return fits_tensor(value, want);
  }
  if (is(want, base_type::real) && is(have, base_type::integer)) return misfit::none;
  if (have.base != want.base) return misfit::kind;
  if (is_tensor(want)) return fits_tensor(have, want);
  if (is(want, base_type::record) && have.declaration == want.declaration)
    return same_sizes(have.axes, want.axes) ? misfit::none : misfit::shape;
  if (is(want, base_type::tuple)) {
    if (have.parts.size() != want.parts.size()) return misfit::kind;
    for (size_t i = 0; i < have.parts.size(); ++i)
      if (const auto one = fits(have.parts[i], want.parts[i]); one != misfit::none) return one;
    return misfit::none;
  }
  return same(have, want) ? misfit::none : misfit::kind;
}

diagnostic* checker::report_misfit(misfit what, const type& have, const type& want, span where,
                                   const char* shape_code, const std::string& wanted_by) {
  const auto [wanted, seen_text] = show_both(want, have);
  const auto said = show(have);
  const auto seen = said == seen_text ? quote(have) : "`" + seen_text + "`";
  // A size of the same name that is another one: where it comes from.
  const auto namesakes = [&](diagnostic& d) {
    if (seen.find('\'') == seen.npos) return;
    for (const auto& one : have.axes) {
      const auto lone = one.size.lone();
      if (!lone || symbols_[*lone].module != module_ || symbols_[*lone].name != one.name) continue;
      if (seen.find(one.name + "'") == seen.npos) continue;
      d.notes.push_back(fmt::format(
        "`{0}'` is another size than `{0}`, known only when the program runs", one.name));
      mark(d, symbols_[*lone].declared, fmt::format("`{}'` is this", one.name));
    }
  };
  switch (what) {
    case misfit::none:
      return nullptr;
    case misfit::kind:
    case misfit::shape: {
      auto& d = report(shape_code, where,
                       fmt::format("{} is `{}`, but this is {}", wanted_by, wanted, seen), seen);
      origin(d, where);
      explain_sizes(d, have.axes, want.axes);
      namesakes(d);
      return &d;
    }
    case misfit::element: {
      auto& d = report("E0501", where,
                       fmt::format("{} is `{}`, but this is {}", wanted_by, wanted, seen), seen);
      origin(d, where);
      if (is_tensor(want) && (is_tensor(have) || is_scalar(have)))
        d.help.push_back(
          fmt::format("dtypes change only by a cast, as in `x as {}`", name_of(want.element)));
      return &d;
    }
    case misfit::known: {
      auto& d = report(
        "E0502", where,
        fmt::format("{} is `{}`, but this is only known to be {}", wanted_by, wanted, seen), seen);
      origin(d, where);
      d.help.push_back(fmt::format("if it holds all the same, say so: `... as {}`", wanted));
      return &d;
    }
    case misfit::bound: {
      auto& d =
        report("E0505", where,
               fmt::format("{} is `{}`, and this {} may be larger", wanted_by, wanted, seen), seen);
      origin(d, where);
      explain_sizes(d, {have.bound}, {want.bound});
      return &d;
    }
  }
  return nullptr;
}

// How an axis without a name is written, with the names of the symbols in it replaced: `3*A` where
// A is the caller's D is `3*D`. Empty if one of them has none there.
std::string checker::replace_names(const axis& one, const symbol_map& map) const {
  std::map<std::string_view, const axis*> names;
  for (const auto s : one.size.symbols())
    if (const auto found = map.find(s); found != map.end())
      names.emplace(symbols_[s].name, &found->second);
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  std::string out;
  for (size_t at = 0; at < one.written.size();) {
    auto end = at;
    while (end < one.written.size() && is_letter(one.written[end])) ++end;
    const auto word = std::string_view{one.written}.substr(at, std::max<size_t>(1, end - at));
    at += word.size();
    const auto found = names.find(word);
    if (found == names.end()) {
      out += word;
      continue;
    }
    const auto& name = found->second->text();
    if (name.empty()) return {};
    out += std::all_of(name.begin(), name.end(), is_letter) ? name : "(" + name + ")";
  }
  return out;
}

// The type with a called function's symbols replaced by what they are at the call.
type checker::replace(const type& what, const symbol_map& map) const {
  if (map.empty()) return what;
  const auto size_of = [&map](symbol one) {
    const auto found = map.find(one);
    return found == map.end() ? size_form::of(one) : found->second.size;
  };
  const auto axis_of = [&](const axis& one) {
    if (const auto lone = one.size.lone())
      if (const auto found = map.find(*lone); found != map.end()) return found->second;
    auto now = one;
    now.size = one.size.replace(size_of);
    now.written = replace_names(one, map);
    return now;
  };
  type out = what;
  for (auto& one : out.axes) one = axis_of(one);
  for (size_t i = 0; i < out.dims.size(); ++i) {
    const auto now = axis_of(dim_of(out, i));
    out.dims[i] = now.size;
    if (i < out.dim_names.size()) out.dim_names[i] = now.text();
  }
  out.bound = axis_of(what.bound);
  if (is(what, base_type::layers) && what.value) out.value = what.value->replace(size_of);
  for (auto& one : out.parts) one = replace(one, map);
  return out;
}

} // namespace shapescript
