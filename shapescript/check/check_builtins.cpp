#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

void checker::device_work(span where, std::string_view what, std::string_view number) {
  if (function_ == no_index) return;
  auto& f = functions_[function_];
  if (!(f.device_site == span{}) && f.device_site.begin <= where.begin) return;
  f.device_site = where;
  f.device_what = what;
  f.device_number = number;
}

void checker::host_work(span where, std::string_view what) {
  if (function_ == no_index) return;
  auto& f = functions_[function_];
  if (!(f.host_site == span{}) && f.host_site.begin <= where.begin) return;
  f.host_site = where;
  f.host_what = what;
}

void checker::crossing(span where, std::string_view operation, const axis& over,
                       std::string label) {
  if (function_ == no_index || over.size.number()) return;
  auto& all = functions_[function_].questions;
  const auto place = static_cast<uint32_t>(all.size());
  all.push_back({split_question::crossing,
                 where,
                 {},
                 std::string{operation},
                 {over},
                 std::move(label),
                 crossed_});
  crossed_ = {place};
}

// -- arguments -----------------------------------------------------------------

bool checker::need(call_argument& one, bool fine, const char* code, std::string_view wanted) {
  if (is_poison(type_of(one))) return false;
  if (fine) return true;
  report(code, one.where, fmt::format("{} is needed, but this is {}", wanted, quote(one.what)),
         quote(one.what));
  origin(last_report(), one.where);
  return false;
}

bool checker::need_float(call_argument& one) {
  const auto& what = type_of(one);
  const bool number = what.literal && is_tensor(what) && what.element != dtype::boolean;
  return need(one, is_float_tensor(what) || number, "E0503", "a float tensor");
}

bool checker::need_bool(call_argument& one) {
  const auto& what = type_of(one);
  return need(one, is_tensor(what) && what.element == dtype::boolean, "E0504", "a bool tensor");
}

bool checker::need_number(call_argument* one) {
  if (one == nullptr) return true;
  const auto& what = type_of(*one);
  const bool scalar = is_number(what) || (is_tensor(what) && what.axes.empty());
  return need(*one, scalar, "E0403", "a number");
}

bool checker::says_true(const call_argument* one) const {
  return one != nullptr && one->value != expr_id::none
         && t().at(one->value).operation == token_kind::kw_true;
}

// `over=A` or `over=(A, B)`.
std::vector<checker::axis_word> checker::axis_words(const call_argument& one) {
  std::vector<axis_word> words;
  if (one.value == expr_id::none) return words;
  const auto& node = t().at(one.value);
  std::vector<expr_id> items = node.items;
  if (node.kind != expr_kind::tuple && node.kind != expr_kind::list) items = {one.value};
  for (const auto id : items) {
    const auto& item = t().at(id);
    std::optional<size_form> size;
    if (in_file(item)) {
      size = size_in_file(t().at(item.left).name, item.name);
      if (!size) return {};
    } else if (item.kind != expr_kind::name) {
      report("E0405", item.where, "an axis is named here, never numbered",
             "not the name of an axis");
      return {};
    }
    words.push_back(
      {text(item.name), item.kind == expr_kind::member ? item.where : item.name, size});
  }
  return words;
}

// The axis that a word means: the one of this name, or the only one without a name that has the
// size which the word stands for; that one is called so from here on.
std::optional<size_t> checker::axis_called(const axis_word& name, std::vector<axis>& axes) {
  const auto word = name.name;
  const auto named = find_axis(axes, word);
  const auto size = named ? std::nullopt : name.size ? name.size : size_known_as(word);
  const auto found = size ? find_axis(axes, axis{std::string{word}, *size}) : named;
  if (found) {
    if (size) axes[*found] = {std::string{word}, *size};
    if (!name.size) use_axis(name.where, scope_);
    return found;
  }
  std::vector<std::string_view> known;
  for (const auto& one : axes) known.push_back(one.name);
  auto& d = report("E0405", name.where, fmt::format("`{}` has no axis `{}`", show(axes), word),
                   "no such axis");
  suggest(d, name.where, word, known);
  if (!size) return std::nullopt;
  const auto alike = std::count_if(axes.begin(), axes.end(), [&](const axis& one) {
    return one.name.empty() && one.size == *size;
  });
  if (alike > 1) {
    d.notes.push_back(fmt::format("several axes without names have the size of `{}`", word));
    d.help.push_back("`rearrange` gives axes names");
  }
  return std::nullopt;
}

std::optional<std::vector<size_t>> checker::axes_named(const call_argument& one, type& value) {
  std::vector<size_t> places;
  const auto words = axis_words(one);
  if (words.empty()) return std::nullopt;
  for (const auto& word : words) {
    const auto found = axis_called(word, value.axes);
    if (!found) return std::nullopt;
    if (std::find(places.begin(), places.end(), *found) != places.end()) {
      report("E0414", word.where, fmt::format("`{}` is named twice", word.name), "the second time");
      return std::nullopt;
    }
    places.push_back(*found);
  }
  return places;
}

std::optional<size_t> checker::one_axis(const call_argument& one, type& value) {
  const auto places = axes_named(one, value);
  if (!places) return std::nullopt;
  if (places->size() == 1) return places->front();
  report("E0405", one.where, "one axis is named here", "several axes");
  return std::nullopt;
}

// -- the call ------------------------------------------------------------------

type checker::call_builtin(const builtin& what, call_site& site) {
  const bool takes_patterns = what.how == rule::pattern || what.how == rule::repeat;
  if (site.patterns != pattern_id::none) {
    if (takes_patterns) return call_pattern(what, site);
    report("E0602", site.callee, fmt::format("`{}` takes no patterns", what.name),
           "not one of `rearrange split merge repeat reduce einsum`");
    return {};
  }
  if (what.how == rule::pattern) {
    for (auto& one : site.arguments) type_of(one);
    auto& d = report("E0603", site.callee, fmt::format("`{}` needs patterns", what.name),
                     "an argument is missing");
    d.help.push_back(fmt::format("as in `{}(x: a b -> b a)`", what.name));
    return {};
  }
  const bool logs =
    what.name == "log" && !site.arguments.empty()
    && (is(type_of(site.arguments[0]), base_type::text)
        || (!(site.arguments[0].name == span{}) && text(site.arguments[0].name) != "x"));
  if (logs && !(site.arguments[0].name == span{}) && text(site.arguments[0].name) != "path") {
    for (auto& one : site.arguments) type_of(one);
    auto& d = report("E0603", site.callee, "`log` needs the path of its file", "a path is missing");
    d.help.push_back("as in `log(\"run.jsonl\", step=1)`");
    return {};
  }
  if (logs) {
    for (auto& one : site.arguments) type_of(one);
    host_work(site.where, "`log`");
    return scalar_of(base_type::none);
  }
  const auto slots = slots_of(what);
  const bool free_names = what.how == rule::padded || what.how == rule::dataset
                          || what.how == rule::expand || what.how == rule::gradient
                          || what.how == rule::source;
  auto m = match(slots, site, free_names, std::string{what.name});
  bool ok = m.ok;
  bool tensors = false;
  for (auto& one : site.arguments) {
    size_t place = 0;
    while (place < m.slots.size() && m.slots[place] != &one) ++place;
    const bool names_axes =
      place < slots.size() && (slots[place].axes || (what.how == rule::transpose && place > 0));
    if (names_axes) continue;
    ok &= !is_poison(type_of(one));
    // What is differentiated takes the rest of the arguments, and may change them.
    const auto name = place < slots.size() ? slots[place].name : "values";
    const bool changes =
      what.how == rule::gradient || (place < slots.size() && slots[place].is_mut);
    if (m.ok && !changes) check_mut({name, {}, {}, false, false}, one);
    tensors |= is_tensor(type_of(one)) || is(one.what, base_type::model)
               || is(one.what, base_type::gradient);
  }
  // An `assert` about a tensor is no host work: it is reported for that.
  const bool on_tensor = what.name == "assert" && tensors;
  if (what.at == work::host && !on_tensor) host_work(site.where, fmt::format("`{}`", what.name));
  // Functions of numbers are host arithmetic.
  if (what.at == work::device && (tensors || what.how == rule::gradient))
    device_work(site.where, fmt::format("`{}`", what.name));
  if (!m.ok) return {};
  if (!ok && what.how != rule::print && what.how != rule::stage) return {};
  const auto before = out_.size();
  auto out = call_rule(what, site, m);
  if (is_poison(out) && out_.size() > before) mark_operands(out_[before], site);
  // What was written is no longer what it is.
  if (is_tensor(out)) {
    out.value.reset();
    out.numbers.reset();
  }
  return out;
}

type checker::call_rule(const builtin& what, call_site& site, matched& m) {
  if (what.how <= rule::one_hot || (what.how >= rule::reduction && what.how <= rule::outer)
      || what.how == rule::dot || what.how == rule::attention)
    return tensor_rule(what, site, m);
  if (what.how <= rule::initialise) return shape_rule(what, site, m);
  if (what.how <= rule::schedule) return training_rule(what, site, m);
  return host_rule(what, site, m);
}

type checker::tensor_rule(const builtin& what, call_site& site, matched& m) {
  switch (what.how) {
    case rule::unary:
    case rule::predicate:
      return unary_function(what, m);
    case rule::scale: {
      auto& x = *m.slots[0];
      const auto& k = type_of(*m.slots[1]);
      if (!need(x, is_tensor(x.what) || is_scalar(x.what), "E0503", "a tensor")) return {};
      if (!need_number(m.slots[1])) return {};
      return elementwise(token_kind::times, x.what, k, site.where, site.callee, m.slots[1]->where);
    }
    case rule::binary:
      return binary_function(what, site, m);
    case rule::clamp:
      return clamp(m);
    case rule::where:
      return where_rule(site, m);
    case rule::masked_fill:
      return masked_fill(site, m);
    case rule::one_hot:
      return one_hot(m);
    case rule::reduction:
      return reduction(what, m);
    case rule::keep_axis:
    case rule::softmax:
      return softmax(what, m);
    case rule::affine_norm:
      return affine_norm(what, m);
    case rule::batch_norm:
      return batch_norm(m);
    case rule::cross_entropy:
      return cross_entropy(m);
    case rule::loss:
      return loss(what, site, m);
    case rule::matmul:
      return matmul(m.slots[0]->what, m.slots[1]->what, site.where, site.callee, m.slots[0]->where,
                    m.slots[1]->where);
    case rule::attention:
      return attention(site, m);
    case rule::outer:
    case rule::dot:
      return vector_product(what, site, m);
    default:
      return {};
  }
}

type checker::binary_function(const builtin& what, call_site& site, matched& m) {
  auto& a = *m.slots[0];
  auto& b = *m.slots[1];
  for (auto* one : {&a, &b})
    if (!need(*one, is_tensor(one->what) || is_number(one->what), "E0503", "a tensor")) return {};
  if (is_number(a.what) && is_number(b.what)) return scalar_of(base_type::real);
  auto out = elementwise(token_kind::power, a.what, b.what, site.where, site.callee, b.where);
  if (what.name != "pow" && !is_poison(out))
    out.known = join_known(as_tensor(a.what), as_tensor(b.what)).known;
  if (out.known == refinement::index || out.known == refinement::prob) out.known = refinement::none;
  return out;
}

type checker::clamp(matched& m) {
  auto& x = *m.slots[0];
  if (!need(x, is_tensor(x.what) && x.what.element != dtype::boolean, "E0503", "a tensor"))
    return {};
  if (!need_number(m.slots[1]) || !need_number(m.slots[2])) return {};
  auto out = x.what;
  out.known = m.slots[1] != nullptr && known_pos(m.slots[1]->what)      ? refinement::pos
              : m.slots[1] != nullptr && known_nonneg(m.slots[1]->what) ? refinement::nonneg
                                                                        : refinement::none;
  return out;
}

// `outer` and `dot` of two tensors with one axis each.
type checker::vector_product(const builtin& what, call_site& site, matched& m) {
  for (size_t i : {0, 1})
    if (!need_float(*m.slots[i])) return {};
  const auto& a = m.slots[0]->what;
  const auto& b = m.slots[1]->what;
  const auto element = common_element(a, b, m.slots[1]->where);
  if (!element) return {};
  for (size_t i : {0, 1})
    if (!need(*m.slots[i], m.slots[i]->what.axes.size() == 1, "E0403", "a tensor of one axis"))
      return {};
  if (what.how == rule::outer) {
    // Every example meets every other.
    if (a.axes[0].size == b.axes[0].size) crossing(site.where, "outer", a.axes[0]);
    return tensor_of({a.axes[0], b.axes[0]}, *element);
  }
  if (a.axes[0].size == b.axes[0].size) return tensor_of({}, *element);
  auto& d = report("E0402", m.slots[1]->where, "`dot` needs the same axis twice",
                   fmt::format("`{}`", show(b)));
  mark(d, m.slots[0]->where, fmt::format("`{}`", show(a)));
  explain_sizes(d, a.axes, b.axes);
  return {};
}

type checker::unary_function(const builtin& what, matched& m) {
  auto& x = *m.slots[0];
  for (size_t i = 1; i < m.slots.size(); ++i)
    if (what.name == "gelu" ? !need_flag(m.slots[i]) : !need_number(m.slots[i])) return {};
  if (is_number(x.what)) {
    const bool whole =
      (what.name == "abs" || what.name == "neg" || what.name == "sign" || what.name == "square")
      && is(x.what, base_type::integer);
    auto out = scalar_of(whole ? base_type::integer : base_type::real);
    out.known = what.result;
    if (what.name == "sqrt" && known_nonneg(x.what))
      out.known = known_pos(x.what) ? refinement::pos : refinement::nonneg;
    return out;
  }
  const bool any_number = what.name == "abs" || what.name == "neg" || what.name == "sign"
                          || what.name == "square" || what.name == "relu";
  const bool tensor = is_tensor(x.what) && x.what.element != dtype::boolean;
  if (any_number ? !need(x, tensor, "E0503", "a float tensor") : !need_float(x)) return {};
  auto out = x.what;
  out.literal = false;
  out.known = what.result;
  if (what.how == rule::predicate) out.element = dtype::boolean;
  if (!is_float(out.element) && what.how != rule::predicate && x.what.literal && !any_number)
    out.element = dtype::f32;
  if (what.name == "sqrt" && known_nonneg(x.what))
    out.known = known_pos(x.what) ? refinement::pos : refinement::nonneg;
  return out;
}

type checker::reduction(const builtin& what, matched& m) {
  auto& x = *m.slots[0];
  const auto name = what.name;
  if (name == "any" || name == "all" || name == "count") {
    if (!need_bool(x)) return {};
  } else if (name == "sum" || name == "max" || name == "min" || name == "prod" || name == "argmax"
             || name == "argmin") {
    if (!need(x, is_tensor(x.what) && x.what.element != dtype::boolean, "E0503", "a float tensor"))
      return {};
  } else if (!need_float(x)) {
    return {};
  }
  if ((name == "var" || name == "std") && m.slots[2] != nullptr) {
    const auto& by = type_of(*m.slots[2]);
    if (!need(*m.slots[2], is(by, base_type::integer), "E0403", "an int")) return {};
    const auto number = by.value ? by.value->number() : std::nullopt;
    if (number && *number != 0 && *number != 1) {
      report("E0403", m.slots[2]->where, fmt::format("the correction is 0 or 1, not {}", *number),
             "another correction");
      return {};
    }
  }
  const bool picks = name == "argmax" || name == "argmin";
  auto out = x.what;
  out.literal = false;
  out.value.reset();
  axis reduced;
  if (m.slots[1] != nullptr) {
    const auto places = axes_named(*m.slots[1], x.what);
    if (!places) return {};
    if (picks && places->size() != 1) {
      report("E0405", m.slots[1]->where, "one axis is named here", "several axes");
      return {};
    }
    std::set<size_t> gone(places->begin(), places->end());
    out.axes.clear();
    for (size_t i = 0; i < x.what.axes.size(); ++i) {
      if (!gone.contains(i))
        out.axes.push_back(x.what.axes[i]);
      else
        reduced = x.what.axes[i];
    }
  } else {
    out.axes.clear();
  }
  if (picks) {
    crossing(m.slots[1]->where, name, reduced);
    out.element = dtype::i64;
    out.known = refinement::index;
    out.bound = reduced;
    return out;
  }
  if (name == "count") out.element = dtype::i64;
  const bool keeps = name == "sum" || name == "mean" || name == "max" || name == "min";
  if (out.known == refinement::index && (name == "max" || name == "min")) return out;
  out.known = keeps ? known_reduced(name, x.what) : what.result;
  return out;
}

type checker::softmax(const builtin& what, matched& m) {
  auto& x = *m.slots[0];
  const bool any = what.how == rule::keep_axis;
  if (any ? !need(x, is_tensor(x.what), "E0503", "a tensor") : !need_float(x)) return {};
  const auto place = one_axis(*m.slots[1], x.what);
  if (!place) return {};
  const auto over = x.what.axes[*place];
  crossing(m.slots[1]->where, what.name, over);
  auto out = x.what;
  out.literal = false;
  if (what.how == rule::softmax) {
    out.known = what.result;
    out.bound = over;
  } else if (what.name == "cumsum") {
    out.known = known_nonneg(out) && is_float(out.element) ? refinement::nonneg : refinement::none;
  } else if (out.known == refinement::prob && what.name == "sort" && !bound_by(out, over)) {
    out.known = refinement::unit; // `flip` and `roll` move whole slices
  }
  if (what.name == "roll"
      && !need(*m.slots[2], is(type_of(*m.slots[2]), base_type::integer), "E0403", "an int"))
    return {};
  return out;
}

} // namespace shapescript
