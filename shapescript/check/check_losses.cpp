#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/align.hpp"
#include "shapescript/check/checker.hpp"

namespace shapescript {

// -- masks and choices ---------------------------------------------------------

type checker::where_rule(call_site& site, matched& m) {
  auto& c = *m.slots[0];
  auto& a = *m.slots[1];
  auto& b = *m.slots[2];
  if (!need_bool(c)) return {};
  for (auto* one : {&a, &b})
    if (!need(*one, is_tensor(one->what) || is_scalar(one->what), "E0503", "a tensor")) return {};
  const auto x = as_tensor(a.what);
  const auto y = as_tensor(b.what);
  const auto axes = align(x, y, site.callee, b.where);
  if (!axes) return {};
  const auto element = common_element(x, y, b.where);
  if (!element) return {};
  auto both = tensor_of(*axes, *element);
  const auto all = align(c.what, both, site.callee, b.where);
  if (!all) return {};
  both.axes = *all;
  const auto joined = join_known(x, y);
  both.known = joined.known == refinement::prob ? refinement::unit : joined.known;
  both.bound = joined.bound;
  return both;
}

type checker::masked_fill(call_site& site, matched& m) {
  auto& x = *m.slots[0];
  auto& mask = *m.slots[1];
  auto& v = *m.slots[2];
  if (!need(x, is_tensor(x.what), "E0503", "a tensor")) return {};
  if (!need_bool(mask) || !need_number(&v)) return {};
  const auto axes = align(x.what, mask.what, site.callee, mask.where);
  if (!axes) return {};
  if (axes->size() != x.what.axes.size()) {
    auto& d =
      report("E0413", mask.where,
             fmt::format("the mask `{}` has axes that `{}` has not", show(mask.what), show(x.what)),
             "larger than what it masks");
    mark(d, x.where, fmt::format("`{}`", show(x.what)));
    return {};
  }
  const auto value = as_tensor(v.what);
  if (!common_element(x.what, value, v.where)) return {};
  auto out = x.what;
  if (out.known == refinement::prob) out.known = refinement::unit;
  const bool keeps = (out.known == refinement::nonneg && known_nonneg(v.what))
                     || (out.known == refinement::pos && known_pos(v.what))
                     || (out.known == refinement::unit && known_unit(v.what));
  if (out.known != refinement::index && !keeps) out.known = refinement::none;
  return out;
}

type checker::one_hot(matched& m) {
  auto& ids = *m.slots[0];
  const auto& n = type_of(*m.slots[1]);
  if (!need(*m.slots[1], is(n, base_type::integer), "E0403", "a size")) return {};
  const auto size = n.value ? *n.value : size_form::of(new_symbol("n", m.slots[1]->where));
  const bool whole =
    is_tensor(ids.what) && !is_float(ids.what.element) && ids.what.element != dtype::boolean;
  if (!need(ids, whole, "E0505", "an `Index` tensor")) return {};
  auto want = ids.what;
  want.known = refinement::index;
  want.bound = {std::string{text(m.slots[1]->where)}, size};
  want.literal = false;
  if (const auto fit = fits(ids.what, want); fit != misfit::none) {
    report_misfit(fit, ids.what, want, ids.where, "E0403", "what `one_hot` takes");
    return {};
  }
  auto out = tensor_of(ids.what.axes, dtype::f32, refinement::unit);
  out.axes.push_back(
    {t().at(m.slots[1]->value).kind == expr_kind::name ? want.bound.name : "", size});
  return out;
}

// -- normalisers ---------------------------------------------------------------

type checker::affine_norm(const builtin& what, matched& m) {
  auto& x = *m.slots[0];
  if (!need_float(x)) return {};
  const auto places = axes_named(*m.slots[1], x.what);
  if (!places) return {};
  std::vector<axis> over;
  for (size_t i = 0; i < x.what.axes.size(); ++i)
    if (std::find(places->begin(), places->end(), i) != places->end())
      over.push_back(x.what.axes[i]);
  for (const auto& one : over) crossing(m.slots[1]->where, "normalising", one);
  const auto slots = slots_of(what);
  for (size_t i = 2; i < m.slots.size(); ++i) {
    if (m.slots[i] == nullptr) continue;
    auto& extra = *m.slots[i];
    if (slots[i].name == "eps" && !need_number(&extra)) return {};
    if (slots[i].name == "groups" && !check_groups(extra, over)) return {};
    if (slots[i].name == "eps" || slots[i].name == "groups") continue;
    if (is_number(type_of(extra))) continue;
    if (!need_float(extra)) return {};
    const auto want = tensor_of(over, x.what.element);
    const auto fit = fits(plain(extra.what), want);
    if (fit == misfit::none) continue;
    report_misfit(fit, extra.what, want, extra.where, "E0403", "a gain or bias");
    return {};
  }
  auto out = x.what;
  out.known = refinement::none;
  return out;
}

type checker::batch_norm(matched& m) {
  auto& x = *m.slots[0];
  auto& bn = *m.slots[1];
  if (!need_float(x)) return {};
  const auto places = axes_named(*m.slots[2], x.what);
  if (!places) return {};
  const bool model = is(type_of(bn), base_type::model) && bn.what.declaration == 0;
  if (!need(bn, model, "E0403", "a `BatchNorm`")) return {};
  check_mut({"bn", {}, {}, true, false}, bn);
  const auto& size = bn.what.dims.at(0);
  for (size_t i = 0; i < x.what.axes.size(); ++i) {
    const bool reduced = std::find(places->begin(), places->end(), i) != places->end();
    if (!reduced && x.what.axes[i].size == size) {
      auto out = x.what;
      out.known = refinement::none;
      return out;
    }
  }
  auto& d = report("E0403", bn.where,
                   fmt::format("`{}` has no axis of size {} left for `{}`", show(x.what),
                               show(size), show(bn.what)),
                   fmt::format("`{}`", show(bn.what)));
  mark(d, x.where, fmt::format("`{}`", show(x.what)));
  return {};
}

// -- losses --------------------------------------------------------------------

// The mean over all axes, or over all but that of the examples.
type checker::loss_result(const type& value, const call_argument* per_example,
                          std::optional<size_t> over) {
  auto out = tensor_of({}, value.element, refinement::nonneg);
  const bool keeps = says_true(per_example) && !value.axes.empty() && (!over || *over != 0);
  if (keeps) out.axes.push_back(value.axes[0]);
  return out;
}

type checker::loss(const builtin& what, call_site& site, matched& m) {
  auto& x = *m.slots[0];
  auto& y = *m.slots[1];
  for (auto* one : {&x, &y}) {
    if (is_number(type_of(*one))) continue;
    if (!need_float(*one)) return {};
  }
  if (what.name == "huber" && !need_number(m.slots[2])) return {};
  if (!need_flag(m.slots.back())) return {};
  const auto a = as_tensor(x.what);
  const auto b = as_tensor(y.what);
  const auto axes = align(a, b, site.callee, y.where);
  if (!axes || !common_element(a, b, y.where)) return {};
  if (axes->size() != a.axes.size() || axes->size() != b.axes.size()) {
    auto& d = report("E0401", y.where,
                     fmt::format("`{}` compares values of one shape, not `{}` and `{}`", what.name,
                                 show(a), show(b)),
                     fmt::format("`{}`", show(b)));
    mark(d, x.where, fmt::format("`{}`", show(a)));
    origin(d, x.where);
    origin(d, y.where);
    return {};
  }
  auto value = a;
  value.axes = *axes;
  const bool has_over = what.name == "kl";
  std::optional<size_t> over;
  if (has_over) {
    over = one_axis(*m.slots[2], value);
    if (!over) return {};
  }
  return loss_result(value, m.slots.back(), over);
}

// `cross_entropy(logits, label, over=C)`: the label is an index of the axis.
type checker::cross_entropy(matched& m) {
  auto& logits = *m.slots[0];
  auto& label = *m.slots[1];
  if (!need_float(logits)) return {};
  const auto place = one_axis(*m.slots[2], logits.what);
  if (!place) return {};
  const auto over = logits.what.axes[*place];
  crossing(m.slots[2]->where, "cross_entropy", over);
  if (m.slots.size() == 5 && !need_number(m.slots[3])) return {};
  if (!need_flag(m.slots.back())) return {};
  auto want = logits.what;
  want.axes.erase(want.axes.begin() + static_cast<std::ptrdiff_t>(*place));
  want.element = dtype::i64;
  want.known = refinement::index;
  want.bound = over;
  want.literal = false;
  auto have = as_tensor(type_of(label));
  if (!need(label, is_tensor(have), "E0505", "an `Index` tensor")) return {};
  auto fit = fits(have, want);
  if (fit == misfit::element) fit = misfit::bound;
  if (fit != misfit::none) {
    report_misfit(fit, have, want, label.where, "E0403", "the label");
    return {};
  }
  auto value = logits.what;
  value.axes = want.axes;
  return loss_result(value, m.slots.back(), std::nullopt);
}

// A mask is broadcast to the queries' axes with the keys' as the last.
bool checker::fits_mask(call_argument& mask, type queries, const axis& keys) {
  if (!need_bool(mask)) return false;
  queries.axes.back() = keys;
  const auto how = align_axes(queries.axes, mask.what.axes);
  if (how.complete && !how.unequal && !how.nameless) return true;
  auto& d =
    report("E0413", mask.where,
           fmt::format("the mask `{}` cannot be aligned with the axes `{}` of queries and keys",
                       show(mask.what.axes), show(queries.axes)),
           quote(mask.what));
  explain_sizes(d, queries.axes, mask.what.axes);
  return false;
}

type checker::attention(call_site& site, matched& m) {
  for (size_t i : {0, 1, 2}) {
    if (!need_float(*m.slots[i])) return {};
    if (!need(*m.slots[i], m.slots[i]->what.axes.size() >= 2, "E0403",
              "a tensor of two axes or more"))
      return {};
  }
  const auto& q = m.slots[0]->what;
  const auto& k = m.slots[1]->what;
  const auto& v = m.slots[2]->what;
  const auto differ = [&](const axis& x, const axis& y, size_t at, const char* what) {
    if (x.size == y.size) return false;
    auto& d = report("E0402", m.slots[at]->where,
                     fmt::format("`attention` needs {}, but `{}` is {} and `{}` is {}", what,
                                 show(x), show(x.size), show(y), show(y.size)),
                     fmt::format("`{}`", show(m.slots[at]->what)));
    explain_sizes(d, {x}, {y});
    return true;
  };
  if (differ(q.axes.back(), k.axes.back(), 1, "one last axis of queries and keys")) return {};
  if (differ(k.axes[k.axes.size() - 2], v.axes[v.axes.size() - 2], 2,
             "one axis of keys and values"))
    return {};
  if (m.slots[3] != nullptr && !fits_mask(*m.slots[3], q, k.axes[k.axes.size() - 2])) return {};
  if (!need_number(m.slots[4])) return {};
  crossing(site.where, "attention", k.axes[k.axes.size() - 2]);
  auto out = q;
  out.known = refinement::none;
  out.axes.back() = v.axes.back();
  return out;
}

} // namespace shapescript
