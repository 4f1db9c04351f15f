#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

// A builtin that takes axes in brackets: `zeros[b D]`, `causal[n m]`.
bool checker::index_name(const expr& base) const {
  if (base.kind != expr_kind::name) return false;
  const auto word = text(base.name);
  return !locals_.contains(word) && find(word) == nullptr && makes_tensors(word);
}

bool checker::makes_tensors(std::string_view word) {
  static const std::set<std::string_view> names{"zeros",     "ones",   "full",    "arange",
                                                "linspace",  "normal", "uniform", "randint",
                                                "bernoulli", "causal", "window",  "eye"};
  return names.contains(word);
}

// `lib.D`, where `lib` is a file that is imported.
bool checker::in_file(const expr& node) const {
  if (node.kind != expr_kind::member || t().at(node.left).kind != expr_kind::name) return false;
  const auto word = text(t().at(node.left).name);
  const auto* found = find(word);
  return !locals_.contains(word) && found != nullptr && found->kind == entity::file;
}

// `n/2+1` where a size is written: a whole number, and no float as in other arithmetic.
std::optional<size_form> checker::size_quotient(expr_id id) {
  std::vector<expr_id> chain;
  auto first = id;
  for (; t().at(first).kind == expr_kind::binary; first = t().at(first).left)
    chain.push_back(first);
  auto size = size_operand(first);
  for (auto i = chain.size(); i-- > 0;) {
    const auto& node = t().at(chain[i]);
    const auto right = size_quotient(node.right);
    if (!size || !right) return std::nullopt;
    switch (node.operation) {
      case token_kind::plus:
        size = *size + *right;
        break;
      case token_kind::minus:
        size = *size - *right;
        break;
      case token_kind::times:
        size = *size * *right;
        break;
      case token_kind::divide:
        size = divided(*size, *right, node.where, text(node.where));
        break;
      default:
        report("E0403", node.where, fmt::format("{} makes no size", describe(node.operation)),
               "sizes are added, subtracted, multiplied and divided");
        return std::nullopt;
    }
    auto what = scalar_of(base_type::integer);
    what.value = size;
    if (size) keep_type(chain[i], what);
  }
  return size;
}

// A size, or a host int: some size that is not known here.
std::optional<size_form> checker::size_operand(expr_id id) {
  const auto& node = t().at(id);
  if (in_file(node)) return size_in_file(t().at(node.left).name, node.name);
  const auto what = expression(id);
  if (is_poison(what)) return std::nullopt;
  if (is(what, base_type::integer))
    return what.value ? *what.value
                      : size_form::of(new_symbol(std::string{text(node.where)}, node.where));
  report("E0403", node.where, fmt::format("a size is an int, but this is {}", quote(what)),
         quote(what));
  return std::nullopt;
}

// A size written as an expression: a number, an axis of this function, or arithmetic of them.
std::optional<size_form> checker::size_from(expr_id id) {
  const auto& node = t().at(id);
  if (node.kind == expr_kind::name && scope_ != nullptr) {
    const auto word = text(node.name);
    const bool capital = word.front() >= 'A' && word.front() <= 'Z';
    if (!locals_.contains(word) && (capital || size_known_as(word)))
      return size_of_name(node.name, *scope_, false);
  }
  auto size = divides(t(), id) ? size_quotient(id) : size_operand(id);
  const auto number = size ? size->number() : std::nullopt;
  if (!number || *number >= 1) return size;
  report("E0302", node.where, fmt::format("a size is at least 1, and this is {}", *number),
         "below 1");
  return std::nullopt;
}

std::optional<std::vector<axis>> checker::axes_in_brackets(const expr& node) {
  std::vector<axis> axes;
  for (const auto& one : node.arguments) {
    const auto size = size_from(one.value);
    if (!size) return std::nullopt;
    const auto& written = t().at(one.value);
    const bool number = written.kind == expr_kind::integer;
    axes.push_back(axis_written(number ? std::string{} : axis_name(text(written.where)), *size));
  }
  return axes;
}

// Given straight as an argument it is no work of the function's own.
type checker::construct(const expr& node) {
  if (!is_argument_) device_work(node.where, "making a tensor");
  const auto word = text(t().at(node.left).name);
  const auto axes = axes_in_brackets(node);
  if (!axes) return {};
  auto out = tensor_of(*axes);
  if (word == "causal" || word == "window" || word == "eye") {
    out.element = dtype::boolean;
    if (axes->size() != 2) {
      report("E0406", node.where, fmt::format("`{}` has two axes", word), "as in `causal[n m]`");
      return {};
    }
  } else if (word == "zeros" || word == "ones") {
    out.known = word == "ones" ? refinement::pos : refinement::unit;
  } else if ((word == "arange" || word == "linspace") && axes->size() != 1) {
    report("E0406", node.where, fmt::format("`{}` has one axis", word),
           fmt::format("as in `{}[n]`", word));
    return {};
  } else if (word == "arange") {
    out.element = dtype::i64;
    out.known = refinement::index;
    out.bound = axes->front();
  } else if (word == "randint") {
    out.element = dtype::i64;
  } else if (word == "bernoulli") {
    out.element = dtype::boolean;
  }
  return out;
}

type checker::index(const expr& node) {
  const auto& base_node = t().at(node.left);
  if (index_name(base_node)) return construct_alone(node);
  if (node.arguments.empty()) {
    const auto end = node.where.end;
    report("E0110", {end - 1, end}, "expected an index, found `]`", "expected an index");
    return {};
  }
  if (base_node.kind == expr_kind::name) name_is_ = name_place::indexed;
  const auto base = expression(node.left);
  name_is_ = name_place::value;
  if (is_poison(base)) {
    for (const auto& one : node.arguments) {
      if (node.axes) break;
      const auto& item = t().at(one.value);
      if (item.kind != expr_kind::range) {
        expression(one.value);
        continue;
      }
      expression(item.left);
      expression(item.right);
    }
    return {};
  }
  if (is(base, base_type::declared_type) && base.name == "model") {
    auto out = base;
    return out;
  }
  if (is(base, base_type::layers)) {
    const auto what = expression(node.arguments[0].value);
    if (!is_poison(what) && !is(what, base_type::integer))
      report("E0403", node.arguments[0].where,
             fmt::format("a list is indexed by an int, not {}", quote(what)), quote(what));
    const auto number = what.value ? what.value->number() : std::nullopt;
    const auto count = base.value ? base.value->number() : std::nullopt;
    if (number && *number < 0)
      report("E0416", node.arguments[0].where, "an index is 0 or more", "negative");
    else if (number && count && *number >= *count)
      report("E0416", node.arguments[0].where,
             fmt::format("index {} is past the end of `{}`", *number, text(base_node.where)),
             fmt::format("it has {} layer{}", *count, *count == 1 ? "" : "s"));
    return base.parts[0];
  }
  if (is_tensor(base) || (is(base, base_type::record) && !base.axes.empty())) {
    device_work(node.where, "indexing a tensor");
    return index_tensor(node, base);
  }
  report("E0509", base_node.where, fmt::format("{} cannot be indexed", quote(base)),
         "not a tensor or a list");
  return {};
}

// `x[0..4]`: replaces the axis by the part of it.
bool checker::index_range(const expr& item, axis& over) {
  size_form ends[2] = {size_form{0}, over.size};
  for (const int side : {0, 1}) {
    const auto id = side == 0 ? item.left : item.right;
    if (id == expr_id::none) continue;
    const auto& node = t().at(id);
    type what;
    if (divides(t(), id)) {
      what.value = size_quotient(id);
      if (what.value) what.base = base_type::integer;
    } else {
      what = expression(id);
    }
    if (is_poison(what)) return false;
    const auto number = what.value ? what.value->number() : std::nullopt;
    if (!what.value) {
      report("E0416", node.where, "the size of this range is not known",
             "its ends are numbers or dims");
      return false;
    }
    if (number && *number < 0) {
      report("E0416", node.where, "an index is 0 or more", "negative");
      return false;
    }
    const auto size = over.size.number();
    if (number && size && *number > *size) {
      report("E0416", node.where, fmt::format("{} is past the end of `{}`", *number, show(over)),
             fmt::format("its size is {}", *size));
      return false;
    }
    ends[side] = *what.value;
  }
  over.resize(ends[1] - ends[0]);
  const auto number = over.size.number();
  if (!number || *number >= 1) return true;
  report("E0416", item.where, "this range is empty", fmt::format("of size {}", *number));
  return false;
}

// The number in `last(2)`.
std::optional<int64_t> checker::from_end(const expr& item) const {
  const bool calls = item.kind == expr_kind::call && t().at(item.left).kind == expr_kind::name
                     && text(t().at(item.left).name) == "last" && item.arguments.size() == 1;
  if (!calls || t().at(item.arguments[0].value).kind != expr_kind::integer) return std::nullopt;
  int64_t number = 0;
  const auto digits = text(t().at(item.arguments[0].value).where);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// One item of an index; `place` is the axis it is about. An axis that goes is marked by size 0.
bool checker::index_one(const expr& node, const argument& one, std::vector<axis>& axes,
                        size_t& place, std::vector<axis>& gathered) {
  const auto& item = t().at(one.value);
  if (!(one.name == span{})) {
    const auto found = axis_called({text(one.name), one.name, {}}, axes);
    if (!found) return false;
    place = *found;
  } else if (place >= axes.size()) {
    report("E0416", one.where,
           fmt::format("`{}` has {} ax{}s", text(t().at(node.left).where), axes.size(),
                       axes.size() == 1 ? "i" : "e"),
           "one index too many");
    return false;
  }
  auto& over = axes[place++];
  crossing(node.where, "indexing", over);
  if (item.kind == expr_kind::range) return index_range(item, over);
  const auto what = expression(one.value);
  if (is_poison(what)) return false;
  const auto size = over.size.number();
  if (is(what, base_type::integer)) {
    const auto number = what.value ? what.value->number() : std::nullopt;
    if (number && *number < 0) {
      auto& d = report("E0416", item.where, "an index is 0 or more", "negative");
      d.help.push_back("the last one is `last(1)`");
      return false;
    }
    if (number && size && *number >= *size) {
      report("E0416", item.where,
             fmt::format("index {} is past the end of `{}`", *number, show(over)),
             fmt::format("its size is {}", *size));
      return false;
    }
    if (const auto back = from_end(item); back && size && *back > *size) {
      report("E0416", item.where,
             fmt::format("`last({})` is before the begin of `{}`", *back, show(over)),
             fmt::format("its size is {}", *size));
      return false;
    }
    over.size = size_form{0};
    return true;
  }
  if (is_tensor(what) && !is_float(what.element) && what.element != dtype::boolean) {
    const auto bound = what.bound.size.number();
    const bool within = what.known == refinement::index
                        && (what.bound.size == over.size || (bound && size && *bound <= *size));
    if (!within) {
      auto& d =
        report("E0505", item.where,
               fmt::format("`{}` is no index of the axis `{}`", show(what), show(over)),
               what.known == refinement::index ? fmt::format("it may be up to {}", show(what.bound))
                                               : "its bound is not known");
      explain_sizes(d, {over}, {what.bound});
      d.help.push_back(fmt::format("if it is one all the same, say so: `... as {} Index[{}]`",
                                   show(what.axes), show(over)));
      return false;
    }
    gathered = what.axes;
    over.size = size_form{0};
    return true;
  }
  report("E0505", item.where,
         fmt::format("an index is an int or an `Index` tensor, not {}", quote(what)), quote(what));
  return false;
}

type checker::index_tensor(const expr& node, const type& base) {
  auto axes = base.axes;
  size_t place = 0;
  std::vector<axis> gathered;
  bool ok = true;
  size_t at = 0;
  if (node.axes) {
    report("E0110", node.where, "an index is separated by commas", "as in `x[i, j]`");
    return {};
  }
  for (const auto& one : node.arguments) {
    std::vector<axis> here;
    const auto before = place;
    ok &= index_one(node, one, axes, place, here);
    if (!here.empty()) {
      gathered = here;
      at = one.name == span{} ? before : place - 1;
    }
  }
  if (!ok) return {};
  auto out = base;
  if (out.known == refinement::prob) {
    const auto along = find_axis(base.axes, base.bound);
    if (!along || !(axes[*along].size == base.axes[*along].size)) out.known = refinement::unit;
  }
  out.axes.clear();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!gathered.empty() && i == at)
      out.axes.insert(out.axes.end(), gathered.begin(), gathered.end());
    const auto number = axes[i].size.number();
    if (!number || *number != 0) out.axes.push_back(axes[i]);
  }
  return out;
}

} // namespace shapescript
