#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/align.hpp"
#include "shapescript/check/checker.hpp"
#include "shapescript/syntax/lexical.hpp"

namespace shapescript {

namespace {

// What is known of the result of arithmetic.
refinement known_after(token_kind operation, const type& x, const type& y) {
  switch (operation) {
    case token_kind::plus:
      if (!known_nonneg(x) || !known_nonneg(y)) return refinement::none;
      return known_pos(x) || known_pos(y) ? refinement::pos : refinement::nonneg;
    case token_kind::times:
      if (known_unit(x) && known_unit(y)) return refinement::unit;
      if (!known_nonneg(x) || !known_nonneg(y)) return refinement::none;
      return known_pos(x) && known_pos(y) ? refinement::pos : refinement::nonneg;
    case token_kind::divide:
      if (!known_nonneg(x) || !known_pos(y)) return refinement::none;
      return known_pos(x) ? refinement::pos : refinement::nonneg;
    case token_kind::minus: {
      const auto one = x.value ? x.value->number() : std::nullopt;
      const bool from_one =
        (one && *one == 1) || (x.numbers && x.numbers->low == 1 && x.numbers->high == 1);
      return from_one && known_unit(y) ? refinement::unit : refinement::none;
    }
    case token_kind::power: {
      const auto exponent = y.value ? y.value->number() : std::nullopt;
      if (exponent && *exponent >= 0 && *exponent % 2 == 0) return refinement::nonneg;
      if (known_pos(x)) return refinement::pos;
      return known_nonneg(x) && known_nonneg(y) ? refinement::nonneg : refinement::none;
    }
    default:
      return refinement::none;
  }
}

} // namespace

// A host number as the tensor without axes that it is in device work.
type checker::as_tensor(const type& what) const {
  if (!is_scalar(what)) return what;
  auto out = tensor_of({}, is(what, base_type::integer)   ? dtype::i64
                           : is(what, base_type::boolean) ? dtype::boolean
                                                          : dtype::f32);
  out.known = what.known;
  out.literal = what.literal || is(what, base_type::integer);
  out.value = what.value;
  out.numbers = what.numbers;
  if (is(what, base_type::integer) && what.value) {
    const auto number = what.value->number();
    if (number && *number >= 0) {
      out.known = refinement::index;
      out.bound = {"", size_form{*number + 1}};
    }
  }
  return out;
}

type checker::binary(const expr& node) {
  const bool logical = node.operation == token_kind::kw_and || node.operation == token_kind::kw_or;
  wanted_ = logical ? "bool" : "float";
  const auto x = expression(node.left);
  if (logical || is_scalar(x) || is(x, base_type::text)) wanted_ = logical ? "bool" : show(x);
  const auto y = expression(node.right);
  if (is_poison(x) || is_poison(y)) return {};
  const auto right = t().at(node.right).where;
  const auto left = t().at(node.left).where;
  if (logical) return logic(node, x, y);
  if (node.operation == token_kind::matmul) {
    device_work(node.where, "`@`");
    return matmul(x, y, node.where, node.name, left, right);
  }
  if (is_tensor(x) || is_tensor(y)) {
    for (const auto& [one, where] : {std::pair{&x, left}, std::pair{&y, right}}) {
      if (is_tensor(*one) || is_scalar(*one)) continue;
      report(
        "E0503", where,
        fmt::format("{} takes tensors and numbers, not {}", describe(node.operation), quote(*one)),
        quote(*one));
      return {};
    }
    // What the controller may compute with after it was fetched.
    const bool lone = (is_scalar(x) || x.axes.empty()) && (is_scalar(y) || y.axes.empty());
    const auto number = !lone ? std::string_view{} : text(is_tensor(x) ? left : right);
    if (!is_widened(node.left) && !is_widened(node.right))
      device_work(node.where, "arithmetic on tensors", number);
    return elementwise(node.operation, x, y, node.where, node.name, right);
  }
  return host_arithmetic(node, x, y);
}

type checker::logic(const expr& node, const type& x, const type& y) {
  for (const auto& [one, id] : {std::pair{&x, node.left}, std::pair{&y, node.right}}) {
    if (is(*one, base_type::boolean)) continue;
    report_condition(
      id, *one, fmt::format("{} takes host bools, not {}", describe(node.operation), quote(*one)));
    return {};
  }
  return x;
}

type checker::host_arithmetic(const expr& node, const type& x, const type& y) {
  const bool numbers = is_number(x) && is_number(y);
  if (is_comparison(node.operation)) {
    const bool equality =
      node.operation == token_kind::equal || node.operation == token_kind::not_equal;
    const bool texts = is(x, base_type::text) && is(y, base_type::text);
    if (numbers || texts || (equality && x.base == y.base && is_scalar(x)))
      return scalar_of(base_type::boolean);
  } else if (numbers) {
    const bool whole = is(x, base_type::integer) && is(y, base_type::integer)
                       && node.operation != token_kind::divide;
    auto out = scalar_of(whole ? base_type::integer : base_type::real);
    out.literal = x.literal && y.literal;
    out.known = known_after(node.operation, x, y);
    if (whole && x.value && y.value) {
      if (node.operation == token_kind::plus) out.value = *x.value + *y.value;
      if (node.operation == token_kind::minus) out.value = *x.value - *y.value;
      if (node.operation == token_kind::times) out.value = *x.value * *y.value;
    }
    return out;
  } else if (node.operation == token_kind::plus && is(x, base_type::text)
             && is(y, base_type::text)) {
    return x;
  }
  const bool left_wrong = !is_number(x);
  auto& d =
    report("E0501", t().at(node.right).where,
           fmt::format("{} does not take {} and {}", describe(node.operation), quote(x), quote(y)),
           quote(y));
  mark(d, t().at(node.left).where, quote(x));
  if (left_wrong && is(x, base_type::text)) d.help.push_back("a value becomes text by `str(x)`");
  return {};
}

// -- elementwise ---------------------------------------------------------------

std::optional<dtype> checker::common_element(const type& x, const type& y, span right) {
  if (x.element == y.element) return x.element;
  const bool bools = x.element == dtype::boolean || y.element == dtype::boolean;
  if (!bools) {
    // A number takes the dtype of the tensor it meets, as far as it can.
    if (y.literal && (is_float(x.element) || !is_float(y.element))) return x.element;
    if (x.literal && (is_float(y.element) || !is_float(x.element))) return y.element;
  }
  auto& d =
    report("E0501", right, fmt::format("`{}` and `{}` have different dtypes", show(x), show(y)),
           fmt::format("{}, the other is {}", name_of(y.element), name_of(x.element)));
  d.help.push_back(fmt::format("cast one of them, as in `... as {}`", name_of(x.element)));
  return std::nullopt;
}

// The axes of an elementwise operation: one operand's are a subsequence of the other's.
std::optional<std::vector<axis>> checker::align(const type& x, const type& y, span operation_at,
                                                span right) {
  const auto [x_text, y_text] = show_both(tensor_of(x.axes), tensor_of(y.axes));
  const bool first_longer = x.axes.size() >= y.axes.size();
  const auto& longer = first_longer ? x.axes : y.axes;
  const auto& shorter = first_longer ? y.axes : x.axes;
  const auto unequal = [&](const axis& a, const axis& b) {
    auto& d = report("E0401", right,
                     fmt::format("`{}` and `{}` have different sizes along {}", x_text, y_text,
                                 a.name.empty() || a.name != b.name
                                   ? fmt::format("`{}` and `{}`", show(a), show(b))
                                   : fmt::format("`{}`", a.name)),
                     quote(y));
    d.notes.push_back(fmt::format("{} is not {}", show(a.size), show(b.size)));
    explain_sizes(d, x.axes, y.axes);
    return std::nullopt;
  };
  const auto how = align_axes(longer, shorter);
  if (how.complete) return join_axes(how, longer, shorter);
  if (how.unequal) {
    const auto [i, j] = *how.unequal;
    return unequal(x.axes[first_longer ? i : j], y.axes[first_longer ? j : i]);
  }
  if (x.axes.size() == y.axes.size()) {
    for (size_t k = 0; k < x.axes.size(); ++k) {
      const auto& a = x.axes[k];
      const auto& b = y.axes[k];
      if (a.size == b.size && (a.name == b.name || a.name.empty() || b.name.empty())) continue;
      const auto p = a.size.number();
      const auto q = b.size.number();
      if ((p && q && *p != *q) || (a.name == b.name && !(a.size == b.size))) return unequal(a, b);
      break;
    }
  }
  auto& d = report("E0413", operation_at,
                   fmt::format("the axes of `{}` and `{}` cannot be aligned", x_text, y_text),
                   "neither has all axes of the other, in order");
  mark(d, right, quote(y));
  if (how.nameless)
    d.notes.push_back(fmt::format("`{}` has no name, and counted from the right its place is that "
                                  "of `{}`, which has another size",
                                  show(shorter[how.nameless->second]),
                                  show(longer[how.nameless->first])));
  explain_sizes(d, x.axes, y.axes);
  explain_strangers(d, longer, shorter);
  return std::nullopt;
}

type checker::elementwise(token_kind operation, const type& first, const type& second, span where,
                          span operation_at, span right) {
  const auto x = as_tensor(first);
  const auto y = as_tensor(second);
  const auto axes = align(x, y, operation_at, right);
  const auto element = axes ? common_element(x, y, right) : std::nullopt;
  if (!element) {
    span left{where.begin, std::max(where.begin, operation_at.begin)};
    const auto blank = [this](uint32_t at) {
      return std::string_view{" \n\r("}.find(text({at, at + 1})) != std::string_view::npos;
    };
    while (left.end > left.begin && blank(left.end - 1)) --left.end;
    while (left.begin < left.end && blank(left.begin)) ++left.begin;
    mark_operand(last_report(), left, first);
    mark_operand(last_report(), right, second);
    return {};
  }
  auto out = tensor_of(*axes, *element);
  if (is_comparison(operation)) {
    out.element = dtype::boolean;
    return out;
  }
  if (*element == dtype::boolean) {
    auto& d = report("E0503", operation_at,
                     fmt::format("{} does not take bool tensors", describe(operation)),
                     "arithmetic needs numbers");
    d.help.push_back("cast them, as in `x as f32`");
    return {};
  }
  if (operation == token_kind::divide && !is_float(*element)) {
    report("E0503", operation_at, "`/` divides float tensors",
           fmt::format("of {}", name_of(*element)));
    return {};
  }
  out.literal = x.literal && y.literal;
  if (is_float(*element)) out.known = known_after(operation, first, second);
  return out;
}

// -- matrix product ------------------------------------------------------------

type checker::matmul(const type& x, const type& y, span where, span operation_at, span left,
                     span right) {
  for (const auto& [one, at] : {std::pair{&x, left}, std::pair{&y, right}}) {
    if (is_poison(*one)) return {};
    if (is_float_tensor(*one) && !one->axes.empty()) continue;
    report("E0503", at, fmt::format("`@` multiplies float tensors with axes, not {}", quote(*one)),
           quote(*one));
    return {};
  }
  const auto& inner = x.axes.back();
  const size_t place = y.axes.size() == 1 ? 0 : y.axes.size() - 2;
  if (!(inner.size == y.axes[place].size)) {
    auto& d = report("E0402", right,
                     fmt::format("`@` needs the same inner axes: `{}` ends in `{}`, `{}` begins "
                                 "with `{}`",
                                 show(x.axes), show(inner), show(y.axes), show(y.axes[place])),
                     quote(y));
    mark(d, left, quote(x));
    origin(d, left);
    origin(d, right);
    explain_sizes(d, x.axes, y.axes);
    return {};
  }
  const auto element = common_element(x, y, right);
  if (!element) return {};
  auto a = x;
  a.axes.pop_back();
  if (y.axes.size() > 2) {
    // Further leading axes go with x's by name.
    type leading_x = x, leading_y = y;
    leading_x.axes.resize(x.axes.size() >= 2 ? x.axes.size() - 2 : 0);
    leading_y.axes.resize(place);
    const auto leading = align(leading_x, leading_y, operation_at, right);
    if (!leading) return {};
    std::vector<axis> axes = *leading;
    if (x.axes.size() >= 2) axes.push_back(x.axes[x.axes.size() - 2]);
    a.axes = std::move(axes);
  }
  auto out = tensor_of(a.axes, *element);
  if (y.axes.size() > 1) {
    const auto& last = y.axes.back();
    // An axis of the examples on both sides: every example meets every other.
    for (const auto& one : out.axes)
      if (one.size == last.size) crossing(where, "@", one);
    out.axes.push_back(last);
  }
  return out;
}

} // namespace shapescript
