#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

type checker::shape_rule(const builtin& what, call_site& site, matched& m) {
  switch (what.how) {
    case rule::transpose:
      return transpose(m);
    case rule::diagonal:
    case rule::trace: {
      auto& x = *m.slots[0];
      if (!need(x, is_tensor(x.what) && !x.what.axes.empty(), "E0503", "a tensor with axes"))
        return {};
      auto out = plain(x.what);
      const auto rank = out.axes.size();
      if (what.name == "diag" && rank == 1) {
        out.axes.push_back(out.axes[0]);
        return out;
      }
      const bool square = rank >= 2 && out.axes[rank - 1].size == out.axes[rank - 2].size;
      if ((what.name == "diag" || what.name == "trace")
          && !need(x, square, "E0403", "a square matrix"))
        return {};
      if (!need(x, rank >= 2, "E0403", "a tensor of two axes or more")) return {};
      if (what.name == "diag") out.axes.pop_back();
      if (what.name == "trace") out.axes.resize(rank - 2);
      return out;
    }
    case rule::join: {
      if (m.rest.empty()) {
        report("E0603", site.callee, fmt::format("`{}` needs values to join", what.name),
               "an argument is missing");
        return {};
      }
      for (auto* one : m.rest)
        if (!need(*one, is_tensor(as_tensor(one->what)), "E0503", "a tensor")) return {};
      return what.name == "concat" ? concat(m) : stack(m);
    }
    case rule::padded:
      return padded(what, site, m);
    case rule::topk:
      return topk(m);
    case rule::gather:
      return gather(what, m);
    case rule::expand: {
      auto& x = *m.slots[0];
      if (!need(x, is_tensor(as_tensor(x.what)), "E0503", "a tensor")) return {};
      auto out = as_tensor(x.what);
      for (size_t i = m.rest.size(); i-- > 0;) {
        const auto size = size_argument(m.rest[i], 1);
        if (!size || !new_axis(m.rest[i]->name, out.axes)) return {};
        out.axes.insert(out.axes.begin(), axis{std::string{text(m.rest[i]->name)}, *size});
      }
      return out;
    }
    case rule::convolution:
      return convolution(what, site, m);
    case rule::pooling:
      return pooling(what, site, m);
    case rule::repeat:
      return stage_rule(what, site, *m.slots[0]);
    case rule::initialise:
    case rule::construct:
      return function_ == no_index ? initialiser(what, m) : without_axes(what.name, site.callee);
    default:
      return {};
  }
}

type checker::transpose(matched& m) {
  auto& x = *m.slots[0];
  if (!need(x, is_tensor(x.what), "E0503", "a tensor")) return {};
  const auto a = one_axis(*m.slots[1], x.what);
  if (!a) return {};
  const auto b = one_axis(*m.slots[2], x.what);
  if (!b) return {};
  if (*a == *b) {
    report(
      "E0414", m.slots[2]->where,
      fmt::format("`transpose` swaps two axes, and `{}` is named twice", show(x.what.axes[*a])),
      "the second time");
    return {};
  }
  auto out = x.what;
  std::swap(out.axes[*a], out.axes[*b]);
  return out;
}

// -- joining -------------------------------------------------------------------

type checker::concat(matched& m) {
  auto out = m.rest[0]->what;
  const auto along = one_axis(*m.slots.back(), out);
  if (!along) return {};
  for (size_t i = 1; i < m.rest.size(); ++i) {
    auto& next = *m.rest[i];
    bool fits_all = next.what.axes.size() == out.axes.size();
    for (size_t k = 0; fits_all && k < out.axes.size(); ++k)
      fits_all = k == *along || next.what.axes[k].size == out.axes[k].size;
    if (!fits_all) {
      const auto [first, second] = show_both(m.rest[0]->what, next.what);
      auto& d = report("E0415", next.where,
                       fmt::format("`concat` joins along `{}`; the other axes of `{}` and `{}` "
                                   "differ",
                                   out.axes[*along].name, first, second),
                       fmt::format("`{}`", second));
      mark(d, m.rest[0]->where, fmt::format("`{}`", first));
      explain_sizes(d, m.rest[0]->what.axes, next.what.axes);
      return {};
    }
    if (!common_element(out, next.what, next.where)) return {};
    out.axes[*along].resize(out.axes[*along].size + next.what.axes[*along].size);
    const auto joined = join_known(out, next.what);
    out.known = joined.known;
    out.bound = joined.bound;
  }
  if (out.known == refinement::prob && bound_by(out, out.axes[*along]))
    out.known = refinement::unit;
  return out;
}

// The name of an axis that is added: none of the value's own.
bool checker::new_axis(span name, const std::vector<axis>& axes) {
  if (!find_axis(axes, text(name))) return true;
  report("E0414", name, fmt::format("`{}` has an axis `{}` already", show(axes), text(name)),
         "a new axis has a name of its own");
  return false;
}

type checker::stack(matched& m) {
  const auto words = axis_words(*m.slots.back());
  if (words.size() != 1) return {};
  use_axis(words[0].where, scope_);
  auto out = as_tensor(m.rest[0]->what);
  for (size_t i = 1; i < m.rest.size(); ++i) {
    const auto next = as_tensor(m.rest[i]->what);
    if (!same_sizes(next.axes, out.axes)) {
      const auto [first, second] = show_both(out, next);
      auto& d =
        report("E0415", m.rest[i]->where,
               fmt::format("`stack` joins values of one shape, not `{}` and `{}`", first, second),
               fmt::format("`{}`", second));
      mark(d, m.rest[0]->where, fmt::format("`{}`", first));
      explain_sizes(d, out.axes, next.axes);
      return {};
    }
    if (!common_element(out, next, m.rest[i]->where)) return {};
    out = join_known(out, next);
  }
  if (!new_axis(words[0].where, out.axes)) return {};
  const size_form count{static_cast<int64_t>(m.rest.size())};
  const auto known = size_known_as(words[0].name);
  out.axes.insert(out.axes.begin(),
                  axis{std::string{words[0].name}, count, known && !(*known == count)});
  if (scope_ != nullptr && find(words[0].name) == nullptr)
    scope_->emplace(std::string{words[0].name}, count);
  use_axis(words[0].where, scope_);
  return out;
}

// `pad(x, n=(1, 1))`, `shift(x, n=1)`: axes by name.
type checker::padded(const builtin& what, call_site& site, matched& m) {
  auto& x = *m.slots[0];
  if (!need(x, is_tensor(x.what), "E0503", "a tensor")) return {};
  if (!need_number(m.slots[1])) return {};
  if (m.rest.empty()) {
    auto& d = report("E0603", site.callee, fmt::format("`{}` needs an axis", what.name),
                     "an argument is missing");
    d.help.push_back(fmt::format("as in `{}(x, n=1)`", what.name));
    return {};
  }
  auto out = plain(x.what);
  for (auto* one : m.rest) {
    const auto place = axis_called({text(one->name), one->name, {}}, out.axes);
    if (!place) return {};
    if (what.name == "shift") {
      if (!need(*one, is(type_of(*one), base_type::integer), "E0403", "an int")) return {};
      crossing(one->name, "shift", out.axes[*place]);
      continue;
    }
    const auto& amount = type_of(*one);
    std::vector<type> parts{amount};
    if (is(amount, base_type::tuple))
      parts = amount.parts;
    else
      parts.push_back(amount);
    for (const auto& part : parts) {
      if (is_poison(part)) return {};
      if (!is(part, base_type::integer) || parts.size() != 2) {
        report("E0403", one->where, "how much to pad is an int, or one for each side",
               quote(amount));
        return {};
      }
      if (const auto number = part.value ? part.value->number() : std::nullopt;
          number && *number < 0) {
        report("E0403", one->where, fmt::format("how much to pad is 0 or more, not {}", *number),
               "negative");
        return {};
      }
      out.axes[*place].resize(
        out.axes[*place].size
        + (part.value ? *part.value : size_form::of(new_symbol("pad", one->where))));
    }
  }
  return out;
}

type checker::topk(matched& m) {
  auto& x = *m.slots[0];
  if (!need(x, is_tensor(x.what), "E0503", "a tensor")) return {};
  const auto place = one_axis(*m.slots[1], x.what);
  if (!place) return {};
  const auto k = size_argument(m.slots[2], 1);
  if (!k) return {};
  const auto over = x.what.axes[*place];
  crossing(m.slots[1]->where, "topk", over);
  const auto asked = k->number();
  const auto size = over.size.number();
  if (asked && size && *asked > *size) {
    report(
      "E0416", m.slots[2]->where,
      fmt::format("the axis `{}` has {} values, and {} are asked for", show(over), *size, *asked),
      "more than there are");
    return {};
  }
  auto values = x.what;
  values.literal = false;
  if (values.known == refinement::prob) values.known = refinement::unit;
  values.axes[*place].resize(*k);
  auto places = tensor_of(values.axes, dtype::i64, refinement::index);
  places.bound = over;
  auto out = scalar_of(base_type::tuple);
  out.parts = {values, places};
  return out;
}

// Indices along one axis stand where the others of the value do; without it they pick one of each.
bool checker::picks_in_place(const type& x, size_t place, const call_argument& ids) {
  auto own = ids.what.axes;
  if (own.size() + 1 == x.axes.size())
    own.insert(own.begin() + static_cast<std::ptrdiff_t>(place), x.axes[place]);
  bool same = own.size() == x.axes.size();
  for (size_t i = 0; same && i < own.size(); ++i)
    same = i == place || own[i].size == x.axes[i].size;
  if (same) return true;
  auto& d = report("E0413", ids.where,
                   fmt::format("the axes of the index `{}` cannot be aligned with those of `{}`",
                               show(ids.what.axes), show(x.axes)),
                   fmt::format("every axis but `{}` is the same in both", show(x.axes[place])));
  explain_sizes(d, x.axes, own);
  return false;
}

type checker::gather(const builtin& what, matched& m) {
  auto& x = *m.slots[0];
  auto& ids = *m.slots[1];
  if (!need(x, is_tensor(x.what), "E0503", "a tensor")) return {};
  const auto place = one_axis(*m.slots.back(), x.what);
  if (!place) return {};
  const auto over = x.what.axes[*place];
  crossing(m.slots.back()->where, what.name, over);
  auto want = ids.what;
  want.known = refinement::index;
  want.bound = over;
  if (!need(ids, is_tensor(ids.what), "E0505", "an `Index` tensor")) return {};
  auto fit = fits(ids.what, want);
  if (fit == misfit::element) fit = misfit::bound;
  if (fit != misfit::none) {
    report_misfit(fit, ids.what, want, ids.where, "E0403", "the index");
    return {};
  }
  // Whole slices are added where one axis of indices says.
  const bool slices = what.name == "scatter_add" && ids.what.axes.size() == 1;
  if (what.name != "index_select" && !slices && !picks_in_place(x.what, *place, ids)) return {};
  if (what.name == "scatter_add") {
    auto values = plain(x.what);
    if (slices)
      values.axes[*place] = ids.what.axes[0];
    else
      values.axes = ids.what.axes;
    auto& given = *m.slots[2];
    if (const auto differs = fits(given.what, values); differs != misfit::none) {
      report_misfit(differs, given.what, values, given.where, "E0403", "what is added");
      return {};
    }
    return plain(x.what);
  }
  auto out = x.what;
  const bool whole = what.name == "index_select" && !bound_by(out, over);
  if (out.known == refinement::prob && !whole) out.known = refinement::unit;
  if (what.name == "gather") {
    out.axes = ids.what.axes;
    return out;
  }
  const auto at = out.axes.begin() + static_cast<std::ptrdiff_t>(*place);
  const auto next = out.axes.erase(at);
  out.axes.insert(next, ids.what.axes.begin(), ids.what.axes.end());
  return out;
}

// -- convolution and pooling ---------------------------------------------------

std::optional<size_form> checker::size_argument(call_argument* one, int64_t otherwise) {
  if (one == nullptr) return size_form{otherwise};
  const auto& what = type_of(*one);
  if (!need(*one, is(what, base_type::integer), "E0403", "an int")) return std::nullopt;
  if (what.value) return what.value;
  return size_form::of(new_symbol(std::string{text(one->where)}, one->where));
}

// The axes that are slid over: those named, or the last ones.
std::optional<std::vector<size_t>> checker::spatial(const call_argument* over, type& x,
                                                    size_t count) {
  if (over != nullptr) return axes_named(*over, x);
  std::vector<size_t> places;
  for (size_t i = 0; i < count; ++i) places.push_back(x.axes.size() - count + i);
  return places;
}

std::optional<size_form> checker::out_size(const size_form& n, const size_form& k,
                                           const size_form& pad, const size_form& stride,
                                           span where) {
  const auto span_size = n + pad + pad - k;
  const bool symbolic = !span_size.number() || !stride.number();
  const auto steps =
    symbolic ? divided(span_size, stride, where, text(where)) : divide(span_size, stride);
  if (!steps && symbolic) return std::nullopt;
  const auto number = steps ? steps->number() : std::nullopt;
  if (!steps || (number && *number < 0)) {
    report("E0301", where,
           fmt::format("the windows do not cover the axis exactly: ({} + 2*{} - {}) / {}", show(n),
                       show(pad), show(k), show(stride)),
           steps ? "the window is larger than the axis" : "not a whole number");
    return std::nullopt;
  }
  return *steps + size_form{1};
}

type checker::convolution(const builtin& what, call_site& site, matched& m) {
  auto& x = *m.slots[0];
  auto& w = *m.slots[1];
  if (!need_float(x) || !need_float(w)) return {};
  const size_t count = what.name == "conv1d" ? 1 : 2;
  if (!need(x, x.what.axes.size() >= count + 1, "E0403",
            fmt::format("a tensor of {} axes or more", count + 1)))
    return {};
  if (!need(w, w.what.axes.size() == count + 2, "E0403",
            fmt::format("a tensor of {} axes", count + 2)))
    return {};
  const auto places = spatial(m.slots[2], x.what, count);
  if (!places) return {};
  if (places->size() != count) {
    report("E0405", m.slots[2]->where, fmt::format("`{}` slides over {} axes", what.name, count),
           "another number of axes");
    return {};
  }
  const auto stride = size_argument(m.slots[3], 1);
  const auto pad = size_argument(m.slots[4], 0);
  const auto groups = size_argument(m.slots[5], 1);
  if (!stride || !pad || !groups) return {};
  const auto first = *std::min_element(places->begin(), places->end());
  if (first == 0) {
    report("E0405", m.slots[2] != nullptr ? m.slots[2]->where : x.where,
           "the axis before those slid over is the channels'", "there is none");
    return {};
  }
  const auto& channels = x.what.axes[first - 1];
  if (!(w.what.axes[1].size * *groups == channels.size)) {
    auto& d =
      report("E0402", w.where,
             fmt::format("the weight is for {} channels, but `{}` has {}",
                         show(w.what.axes[1].size * *groups), show(x.what), show(channels.size)),
             fmt::format("`{}`", show(w.what)));
    mark(d, x.where, fmt::format("`{}`", show(x.what)));
    explain_sizes(d, x.what.axes, w.what.axes);
    return {};
  }
  if (!common_element(x.what, w.what, w.where)) return {};
  auto out = plain(x.what);
  out.axes[first - 1] = w.what.axes[0];
  for (size_t i = 0; i < count; ++i) {
    auto& one = out.axes[(*places)[i]];
    crossing(m.slots[2] != nullptr ? m.slots[2]->where : site.where, what.name, one);
    const auto size = out_size(one.size, w.what.axes[2 + i].size, *pad, *stride, site.where);
    if (!size) return {};
    one.resize(*size);
  }
  return out;
}

type checker::pooling(const builtin& what, call_site& site, matched& m) {
  auto& x = *m.slots[0];
  if (!need_float(x)) return {};
  const bool up = what.name == "upsample";
  const auto count = std::min<size_t>(2, x.what.axes.size());
  const auto places = spatial(m.slots[1], x.what, count);
  if (!places) return {};
  const auto size = size_argument(m.slots[2], 2);
  if (!size) return {};
  auto out = plain(x.what);
  if (what.name == "max_pool") out.known = x.what.known;
  if (out.known == refinement::prob) out.known = refinement::unit;
  if (up) {
    for (const auto place : *places) out.axes[place].resize(out.axes[place].size * *size);
    return out;
  }
  const auto stride = m.slots[3] != nullptr ? size_argument(m.slots[3], 1) : size;
  const auto pad = size_argument(m.slots[4], 0);
  if (!stride || !pad) return {};
  for (const auto place : *places) {
    crossing(m.slots[1] != nullptr ? m.slots[1]->where : site.where, what.name, out.axes[place]);
    const auto n = out_size(out.axes[place].size, *size, *pad, *stride, site.where);
    if (!n) return {};
    out.axes[place].resize(*n);
  }
  return out;
}

} // namespace shapescript
