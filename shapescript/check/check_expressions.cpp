#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

namespace {

// The questions that a value depends on, few of them: so many suffice to see what follows from
// what.
void add_crossed(std::vector<uint32_t>& to, const std::vector<uint32_t>& from) {
  constexpr size_t crossed_max = 16;
  for (const auto one : from)
    if (to.size() < crossed_max && std::find(to.begin(), to.end(), one) == to.end())
      to.push_back(one);
}

} // namespace

// What stands leftmost is evaluated first, and found here by what it is a part of.
type checker::expression(expr_id id) {
  const bool typed = std::exchange(typed_cast_, false);
  const bool argument = std::exchange(next_is_argument_, false);
  const auto wanted = std::exchange(wanted_, {});
  if (done_ && done_->first == id) {
    auto what = std::exchange(done_, std::nullopt)->second;
    add_crossed(crossed_, what.crossed);
    return what;
  }
  if (id == expr_id::none || full()) return {};
  const auto chain = left_chain(t(), id);
  type what;
  for (auto i = chain.size(); i-- > 0;) {
    const bool whole = i == 0;
    const auto parent = whole ? expr_kind::error : t().at(chain[i - 1]).kind;
    is_argument_ = whole ? argument : parent == expr_kind::pipe;
    what = one_expression(chain[i], whole ? typed : parent == expr_kind::cast,
                          whole ? wanted : std::string{});
    done_.reset();
    if (!whole) done_.emplace(chain[i], what);
  }
  return what;
}

type checker::one_expression(expr_id id, bool typed, const std::string& wanted) {
  const auto& node = t().at(id);
  const auto around = std::exchange(crossed_, {});
  auto what = evaluate(node, id);
  if (is(what, base_type::python) && node.kind != expr_kind::member && !typed) {
    report_python(node, what, wanted);
    what = {};
  }
  add_crossed(what.crossed, crossed_);
  crossed_ = around;
  add_crossed(crossed_, what.crossed);
  if (!is_poison(what)) keep_type(id, what);
  return what;
}

void checker::report_python(const expr& node, const type& what, const std::string& wanted) {
  auto& d = report("E1401", node.where,
                   fmt::format("the type of what `{}` returns is not known", what.name),
                   "a Python call without `as`");
  // Without a hint from the place, what is given to it may be like what it gives.
  const auto as = !wanted.empty() ? wanted : what.parts.empty() ? "float" : show(what.parts[0]);
  d.help.push_back(
    fmt::format("say what it is, as in `... as {}`; it is checked when the program runs", as));
}

type checker::evaluate(const expr& node, expr_id id) {
  switch (node.kind) {
    case expr_kind::error:
      has_errors_here_ = true;
      return {};
    case expr_kind::name:
      return name(node);
    case expr_kind::integer:
    case expr_kind::decimal:
    case expr_kind::string:
    case expr_kind::boolean:
      return literal(node);
    case expr_kind::list:
      return list(node);
    case expr_kind::tuple: {
      auto out = scalar_of(base_type::tuple);
      for (const auto one : node.items) out.parts.push_back(expression(one));
      return out;
    }
    case expr_kind::member:
      return member(node);
    case expr_kind::call:
      return call(node, id);
    case expr_kind::index:
      return index(node);
    case expr_kind::unary:
      return unary(node);
    case expr_kind::binary:
      return binary(node);
    case expr_kind::range:
      return range(node);
    case expr_kind::pipe:
      return pipe(node);
    case expr_kind::cast:
      return cast(node);
  }
  return {};
}

// -- literals ------------------------------------------------------------------

type checker::literal(const expr& node) {
  type out;
  switch (node.kind) {
    case expr_kind::boolean:
      return scalar_of(base_type::boolean);
    case expr_kind::string:
      return scalar_of(base_type::text);
    case expr_kind::integer: {
      out = scalar_of(base_type::integer);
      std::string digits;
      for (const char c : text(node.name))
        if (c != '_') digits += c;
      int64_t value = 0;
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size()) return {};
      out.value = size_form{value};
      out.known = value == 0 ? refinement::unit : refinement::pos;
      break;
    }
    default: {
      out = scalar_of(base_type::real);
      std::string digits;
      for (const char c : text(node.name))
        if (c != '_') digits += c;
      double value = 0;
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (read.ec == std::errc::invalid_argument) return {};
      out.numbers = {value, value};
      out.known = value <= 1 ? refinement::unit : refinement::pos;
      break;
    }
  }
  out.literal = true;
  return out;
}

// `[[1.0, 2.0], [3.0, 4.0]]`: a tensor whose axes have no names.
type checker::list(const expr& node) {
  std::vector<type> items;
  bool bad = false;
  for (const auto id : node.items) {
    items.push_back(expression(id));
    bad |= is_poison(items.back());
  }
  if (bad) return {};
  if (items.empty()) {
    report("E0415", node.where, "an empty list has no shape", "no values");
    return {};
  }
  type out;
  int64_t largest = 0;
  bool counts = true; // whole numbers from 0
  for (size_t i = 0; i < items.size(); ++i) {
    auto& one = items[i];
    if (!is_scalar(one) && !is_tensor(one)) {
      report("E0415", t().at(node.items[i]).where,
             fmt::format("a list holds numbers or tensors, not `{}`", show(one)), "not a number");
      return {};
    }
    int64_t below = -1;
    if (is(one, base_type::integer) && one.value)
      below = one.value->number().value_or(-1) >= 0 ? *one.value->number() + 1 : -1;
    else if (one.known == refinement::index)
      below = one.bound.size.number().value_or(-1);
    if (below >= 0)
      largest = std::max(largest, below);
    else
      counts = false;
    auto tensor = as_tensor(one);
    if (i == 0) {
      out = tensor;
      continue;
    }
    if (!same_sizes(out.axes, tensor.axes)) {
      auto& d =
        report("E0415", t().at(node.items[i]).where, "the parts of a list have the same shape",
               fmt::format("`{}`", show(tensor.axes)));
      mark(d, t().at(node.items[0]).where, fmt::format("`{}`", show(out.axes)));
      return {};
    }
    if ((out.element == dtype::boolean) != (tensor.element == dtype::boolean)) {
      auto& d = report("E0501", t().at(node.items[i]).where,
                       "the parts of a list are all numbers or all bools", quote(one));
      mark(d, t().at(node.items[0]).where, quote(items[0]));
      return {};
    }
    if (is_float(tensor.element)) out.element = tensor.element;
    out = join_known(out, tensor);
  }
  out.literal = std::all_of(items.begin(), items.end(), [](const type& x) { return x.literal; });
  if (counts && !is_float(out.element)) {
    out.known = refinement::index;
    out.bound = {"", size_form{largest}};
  } else if (out.known == refinement::index) {
    out.known = refinement::none;
  }
  out.axes.insert(out.axes.begin(), axis{"", size_form{static_cast<int64_t>(items.size())}});
  return out;
}

// -- members -------------------------------------------------------------------

type checker::member(const expr& node) {
  return member_of(node, expression(node.left));
}

type checker::member_of(const expr& node, const type& base) {
  const auto word = text(node.name);
  if (is_poison(base)) return {};
  if (is(base, base_type::record)) {
    const auto& record = records_[base.declaration];
    const auto& names = *modules_[record.module];
    std::vector<std::string_view> known;
    for (size_t i = 0; i < record.fields.size(); ++i) {
      known.push_back(names.text.text(record.decl->fields[i].name));
      if (known.back() != word) continue;
      use(i < record.names.size() ? record.names[i] : no_index, node.name);
      auto out = record.fields[i];
      if (!is_poison(out)) out.axes.insert(out.axes.begin(), base.axes.begin(), base.axes.end());
      return out;
    }
    if (record.decl->broken || names.doubtful.contains(word)) return {};
    auto& d = report("E0204", node.name, fmt::format("`{}` has no field `{}`", show(base), word),
                     "no such field");
    explain_members(d, base);
    suggest(d, node.name, word, known);
    return {};
  }
  if (is(base, base_type::model) || is(base, base_type::gradient))
    return member_of_model(node, base);
  if (is(base, base_type::module)) {
    if (base.declaration == no_index) {
      auto out = scalar_of(base_type::python);
      out.name = base.name + "." + std::string{word};
      return out;
    }
    const auto& other = *modules_[base.declaration];
    const auto found = other.names.find(word);
    if (found != other.names.end()) use(found->second.name, node.name);
    if (found != other.names.end() && found->second.kind == entity::function)
      return function_value(found->second.index);
    if (found != other.names.end() && found->second.kind == entity::dim) {
      auto out = scalar_of(base_type::integer);
      if (!dims_[found->second.index].known) return {};
      out.value = size_form{dims_[found->second.index].value};
      out.known = refinement::pos;
      return out;
    }
    if (found != other.names.end()
        && (found->second.kind == entity::model || found->second.kind == entity::record)) {
      auto out = scalar_of(base_type::declared_type);
      out.declaration = found->second.index;
      out.name = found->second.kind == entity::record ? "data" : "model";
      return out;
    }
    if (other.program.nameless || other.doubtful.contains(word)) return {};
    std::vector<std::string_view> known;
    for (const auto& [name, what] : other.names) known.push_back(name);
    auto& d = report("E0204", node.name, fmt::format("`{}` declares no `{}`", base.name, word),
                     "not in that file");
    if (!known.empty())
      d.notes.push_back(fmt::format("`{}` declares {}", base.name, list_names(known)));
    suggest(d, node.name, word, known);
    return {};
  }
  if (is(base, base_type::python)) {
    auto out = base;
    out.name += "." + std::string{word};
    return out;
  }
  auto& d = report("E0204", node.name, fmt::format("`{}` has no field `{}`", show(base), word),
                   "no such field");
  if (is_tensor(base)) habit_of_member(d, node);
  origin(d, t().at(node.left).where);
  return {};
}

type checker::member_of_model(const expr& node, const type& base) {
  const auto& model = models_[base.declaration];
  const auto word = text(node.name);
  symbol_map map;
  for (size_t i = 0; i < model.dims.size() && i < base.dims.size(); ++i)
    map[model.dims[i]] = dim_of(base, i);
  std::vector<std::string_view> known;
  bool buffer = false; // a gradient is of what is trained
  for (const auto& one : model.members) {
    known.push_back(one.name);
    if (is(base, base_type::gradient) && one.kind == member_kind::buffer) {
      known.pop_back();
      if (one.name == word) buffer = true;
    }
    if (one.name != word || buffer) continue;
    use(one.name_at, node.name);
    auto out = replace(one.what, map);
    if (is(base, base_type::gradient) && is(out, base_type::model)) out.base = base_type::gradient;
    if (is(base, base_type::gradient)) out = plain(out);
    return out;
  }
  for (const auto& [name, method] : model.methods) {
    known.push_back(name);
    if (name == word) use(functions_[method].name_at, node.name);
    if (name == word) return function_value(method);
  }
  if (unread(model) || modules_[model.module]->doubtful.contains(word)) return {};
  auto& d = report("E0204", node.name, fmt::format("`{}` has no `{}`", show(base), word),
                   buffer ? "a buffer has no gradient" : "no such parameter, layer or method");
  explain_members(d, base);
  suggest(d, node.name, word, known);
  return {};
}

// -- unary, cast, range, pipe --------------------------------------------------

type checker::unary(const expr& node) {
  if (node.operation != token_kind::bang)
    wanted_ = node.operation == token_kind::kw_not ? "bool" : "float";
  auto what = expression(node.right);
  if (is_poison(what)) return {};
  const auto where = t().at(node.right).where;
  if (node.operation == token_kind::kw_not) {
    if (is(what, base_type::boolean)) return what;
    report_condition(node.right, what, fmt::format("`not` takes a host bool, not {}", quote(what)),
                     is_tensor(what) ? "a mask is negated by `!`" : "");
    return {};
  }
  if (node.operation == token_kind::bang) {
    if (is_tensor(what) && what.element == dtype::boolean) {
      device_work(node.where, "`!` of a tensor");
      return what;
    }
    auto& d = report("E0504", where, fmt::format("`!` negates a bool tensor, not `{}`", show(what)),
                     quote(what));
    if (is(what, base_type::boolean)) d.help.push_back("a host bool is negated by `not`");
    return {};
  }
  const bool tensor = is_tensor(what) && what.element != dtype::boolean;
  if (is_number(what) || tensor) {
    if (tensor && !what.literal) device_work(node.where, "arithmetic on tensors");
    if (what.value) what.value = size_form{0} - *what.value;
    if (what.numbers) what.numbers = {-what.numbers->high, -what.numbers->low};
    what.known = refinement::none;
    return what;
  }
  report("E0503", where, fmt::format("`-` takes a number or a tensor, not {}", quote(what)),
         quote(what));
  return {};
}

type checker::cast(const expr& node) {
  typed_cast_ = true;
  const auto from = expression(node.left);
  typed_cast_ = false;
  const auto& written = t().at(node.type);
  // `x as bf16` and `x as NonNeg` keep the shape.
  const auto word = written.kind == type_expr::named ? text(written.name) : std::string_view{};
  const bool keeps_shape = dtype_named(word) || word == "NonNeg" || word == "Pos" || word == "Unit"
                           || word == "Index" || word == "Prob";
  if (keeps_shape && is_poison(from)) return {};
  if (keeps_shape && is_tensor(from)) {
    element_name element{written.name, written.where, {}, {}, written.file};
    for (const auto& one : written.arguments)
      if (one.dim != dim_id::none) element.dims.push_back(one.dim);
    auto out = plain(from);
    out.known = refinement::none;
    out.literal = false;
    if (!apply_element(element, out, *scope_, true)) return {};
    device_work(node.where, "a cast of a tensor");
    return out;
  }
  size_scope none;
  const auto to = resolve(node.type, scope_ != nullptr ? *scope_ : none, true);
  if (is_poison(from) || is_poison(to) || is(from, base_type::python)) return to;
  const bool numbers = is_scalar(from) && is_scalar(to);
  const bool tensors = is_tensor(to) && (is_tensor(from) || is_scalar(from));
  if (numbers) return to;
  if (tensors && same_sizes(as_tensor(from).axes, to.axes)) {
    if (is_tensor(from)) device_work(node.where, "a cast of a tensor");
    return to;
  }
  if (!tensors && same(from, to)) return to;
  auto& d =
    report("E0508", written.where, fmt::format("`{}` cannot become `{}`", show(from), show(to)),
           tensors ? "a cast keeps the shape" : "another kind of value");
  mark(d, t().at(node.left).where, fmt::format("`{}`", show(from)));
  explain_sizes(d, from.axes, to.axes);
  return {};
}

type checker::range(const expr& node) {
  for (const auto id : {node.left, node.right}) {
    if (id == expr_id::none) {
      report("E0110", node.where, "a range has two ends here", "as in `0..n`");
      return {};
    }
    wanted_ = "int";
    const auto what = expression(id);
    if (is_poison(what)) return {};
    if (!is(what, base_type::integer)) {
      auto& d = report(is_tensor(what) ? "E0506" : "E1002", t().at(id).where,
                       fmt::format("the ends of a range are ints, but this is `{}`", show(what)),
                       quote(what));
      if (is_tensor(what))
        d.notes.push_back("a tensor's values are not known while the program is put together");
      return {};
    }
  }
  return scalar_of(base_type::range);
}

type checker::pipe(const expr& node) {
  const auto& right = t().at(node.right);
  call_argument first;
  first.where = t().at(node.left).where;
  first.value = node.left;
  first.piped = true;
  next_is_argument_ = true;
  first.what = expression(node.left);
  first.typed = true;
  if (right.kind == expr_kind::call) return call_with(right, {first});
  if (right.kind == expr_kind::name || right.kind == expr_kind::member
      || right.kind == expr_kind::index) {
    call_site site{right.where, right.where, {first}, pattern_id::none};
    return dispatch(right, site);
  }
  if (is_poison(first.what)) return {};
  report("E0509", right.where, "the right of `|>` is a function or a call", "cannot be called");
  return {};
}

} // namespace shapescript
