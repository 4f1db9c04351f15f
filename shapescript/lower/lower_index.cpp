#include <set>

#include "shapescript/lower/lowering.hpp"

namespace shapescript {

bool lowering::index_name(const expr& base) const {
  if (base.kind != expr_kind::name) return false;
  const auto word = text(base.name);
  if (frame_->locals.contains(word) || program_.modules[frame_->module]->names.contains(word))
    return false;
  const auto* what = find_builtin(word);
  return what != nullptr && (what->how == rule::construct || what->how == rule::initialise);
}

// Where a size is written quotients are whole numbers.
int64_t lowering::size_at(expr_id id) {
  std::vector<expr_id> chain;
  if (divides(t(), id))
    for (; t().at(id).kind == expr_kind::binary; id = t().at(id).left) chain.push_back(id);
  const auto first = expression(id);
  if (first.at != no_register || first.base != base_type::integer)
    fail(t().at(id).where, "this size is known only when the program runs");
  auto size = first.integer;
  for (auto i = chain.size(); i-- > 0 && !failed();) {
    const auto& node = t().at(chain[i]);
    const auto right = size_at(node.right);
    if (failed()) break;
    if (node.operation != token_kind::divide) {
      const auto all = whole_of(node.operation, size, right);
      if (!all) fail(node.where, "this number does not fit 64 bits");
      size = all.value_or(1);
    } else if (right == 0 || size % right != 0) {
      fail(node.where, fmt::format("`{}` is not exact: {} / {}", text(node.where), size, right));
    } else {
      size /= right;
    }
  }
  return size;
}

namespace {

// What happens to one axis of an indexed value.
struct picked_axis {
  enum kind_t : uint8_t { all, one, some, gathered } kind = all;
  int64_t from = 0;
  int64_t count = 0;
  reg ids = no_register;
};

} // namespace

value lowering::index(const expr& node, const type& known) {
  if (index_name(t().at(node.left))) {
    std::vector<lowered_argument> none;
    return construct(node, none, known);
  }
  auto base = expression(node.left);
  if (failed()) return {};
  if (base.base == base_type::layers) {
    const auto place = size_at(node.arguments[0].value);
    if (place < 0 || place >= base.count)
      fail(node.where, fmt::format("there are {} layers, and {} is asked for", base.count, place));
    value out = base.parts[0];
    out.text = fmt::format("{}.{}", base.text, place);
    return out;
  }
  const auto& axes = type_of(node.left).axes;
  const bool record = base.base == base_type::record;
  const auto sizes = sizes_of(axes);
  if (!sizes) {
    fail(node.where, "the sizes of this are not known here");
    return {};
  }
  std::vector<picked_axis> picked(axes.size());
  size_t place = 0;
  for (const auto& one : node.arguments) {
    if (!(one.name == span{})) place = axis_called(text(one.name), axes).value_or(0);
    auto& axis = picked[place];
    const auto size = (*sizes)[place++];
    const auto& item = t().at(one.value);
    if (item.kind == expr_kind::range) {
      axis.kind = picked_axis::some;
      axis.from = item.left == expr_id::none ? 0 : size_at(item.left);
      axis.count = (item.right == expr_id::none ? size : size_at(item.right)) - axis.from;
      continue;
    }
    const bool from_end = item.kind == expr_kind::call && t().at(item.left).kind == expr_kind::name
                          && text(t().at(item.left).name) == "last";
    if (from_end) {
      axis.kind = picked_axis::one;
      axis.from = size - size_at(item.arguments.at(0).value);
      continue;
    }
    const auto what = expression(one.value);
    if (what.base == base_type::integer && what.at == no_register) {
      axis.kind = picked_axis::one;
      axis.from = what.integer;
    } else {
      axis.kind = picked_axis::gathered;
      axis.ids = tensor(what);
    }
  }
  if (!record)
    return as_value(pick(base.at, picked.size(), [&](size_t i, reg x) {
      return pick_axis(x, i, picked[i].kind, picked[i].from, picked[i].count, picked[i].ids);
    }));
  for (auto& field : base.parts)
    field = as_value(pick(field.at, picked.size(), [&](size_t i, reg x) {
      return pick_axis(x, i, picked[i].kind, picked[i].from, picked[i].count, picked[i].ids);
    }));
  return base;
}

// From the last axis to the first, so that places stay what they are.
reg lowering::pick(reg x, size_t axes, const std::function<reg(size_t, reg)>& one) {
  for (auto i = axes; i-- > 0;) x = one(i, x);
  return x;
}

reg lowering::pick_axis(reg x, size_t place, int how, int64_t from, int64_t count, reg ids) {
  const auto dim = static_cast<int64_t>(place);
  switch (how) {
    case picked_axis::one:
      return emit(op::select, {x}, {dim, from});
    case picked_axis::some:
      return emit(op::narrow, {x}, {dim, from, count});
    case picked_axis::gathered:
      break;
    default:
      return x;
  }
  if (failed()) return x;
  if (place == 0 && dims(x).rank() == 2 && moxzi::device::is_float(kind(x)))
    return emit(op::embedding, {x, ids});
  const auto& sizes = dims(x);
  std::vector<int64_t> to(sizes.sizes().begin(), sizes.sizes().begin() + dim);
  to.insert(to.end(), dims(ids).sizes().begin(), dims(ids).sizes().end());
  to.insert(to.end(), sizes.sizes().begin() + dim + 1, sizes.sizes().end());
  const auto flat = reshape(ids, {dims(ids).elements()});
  return reshape(emit(op::index_select, {x, flat}, {dim}), to);
}

// `zeros[b D]`, `causal[n m]`, `full[n](0.5)`: the brackets hold the sizes.
value lowering::construct(const expr& node, std::vector<lowered_argument>& arguments,
                          const type& known) {
  using moxzi::device::dtype;
  const auto word = text(t().at(node.left).name);
  std::vector<int64_t> sizes;
  std::vector<uint32_t> shape;
  for (const auto& one : node.arguments) {
    sizes.push_back(size_at(one.value));
    shape.push_back(static_cast<uint32_t>(sizes.back()));
  }
  if (failed()) return {};
  (void)known;
  const auto slots = slots_of(*find_builtin(word));
  std::map<std::string_view, lowered_argument*> given;
  size_t next = 0;
  for (auto& one : arguments) {
    if (!(one.name == span{}))
      given[text(one.name)] = &one;
    else if (next < slots.size())
      given[slots[next++].name] = &one;
  }
  const auto number_named = [&](std::string_view name, double otherwise) {
    const auto found = given.find(name);
    return found == given.end() ? otherwise : number(found->second, otherwise);
  };
  const auto random = [&](attribute how) {
    return emit(op::random, {}, {shape, std::move(how), {}});
  };
  const auto scaled = [&](reg x, double by, double plus) {
    if (by != 1) x = emit(op::mul_scalar, {x}, {by});
    return plus != 0 ? emit(op::add_scalar, {x}, {plus}) : x;
  };
  if (word == "zeros") return as_value(constant(0, dtype::f32, sizes));
  if (word == "ones") return as_value(constant(1, dtype::f32, sizes));
  if (word == "full") return as_value(constant(number_named("v", 0), dtype::f32, sizes));
  if (word == "arange") return as_value(emit(op::arange, {}, {int64_t{0}, sizes[0], {}, {}}));
  if (word == "causal")
    return as_value(emit(op::tril, {constant(1, dtype::boolean, sizes)}, {int64_t{0}}));
  if (word == "window") {
    const auto w = static_cast<int64_t>(number_named("w", 1));
    const auto low = emit(op::tril, {constant(1, dtype::boolean, sizes)}, {w - 1});
    return as_value(emit(op::triu, {low}, {1 - w}));
  }
  if (word == "eye") {
    // A unit matrix, cut or with zeros, is the corner of a larger one.
    const auto side = std::max(sizes.at(0), sizes.back());
    auto x = emit(op::eye, {}, {side, {}});
    if (sizes.at(0) < side) x = emit(op::narrow, {x}, {int64_t{0}, int64_t{0}, sizes[0]});
    if (sizes.back() < side) x = emit(op::narrow, {x}, {int64_t{1}, int64_t{0}, sizes.back()});
    return as_value(cast(x, dtype::boolean));
  }
  if (word == "linspace") {
    const auto lo = number_named("lo", 0);
    const auto hi = number_named("hi", 1);
    const auto n = sizes.at(0);
    const auto ids = cast(emit(op::arange, {}, {int64_t{0}, n, {}, {}}), dtype::f32);
    return as_value(scaled(ids, n > 1 ? (hi - lo) / static_cast<double>(n - 1) : 0, lo));
  }
  if (word == "normal")
    return as_value(scaled(random(int64_t{1}), number_named("std", 1), number_named("mean", 0)));
  if (word == "bernoulli") return as_value(cast(random(number_named("p", 0.5)), dtype::boolean));
  const auto lo = number_named("lo", 0);
  const auto hi = number_named("hi", 1);
  const auto between = scaled(random(int64_t{0}), hi - lo, lo);
  if (word == "uniform") return as_value(between);
  if (word == "randint") return as_value(cast(emit(op::floor, {between}), dtype::i64));
  fail(node.where, fmt::format("`{}` has no axes", word));
  return {};
}

} // namespace shapescript
