#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>

#include "shapescript/lower/lowering.hpp"

namespace shapescript {

// What stands leftmost is evaluated first, and found here by what it is a part of.
value lowering::expression(expr_id id) {
  if (done_ && done_->first == id) return std::exchange(done_, std::nullopt)->second;
  if (id == expr_id::none || failed()) return {};
  const auto before = where_;
  const auto chain = left_chain(t(), id);
  if (++depth_ > lowered_depth_max)
    fail(t().at(id).where, "this is nested too deeply, calls included");
  value what;
  for (auto i = chain.size(); i-- > 0 && take_step();) {
    const auto& node = t().at(chain[i]);
    where_ = node.where;
    what = evaluate(node, chain[i]);
    expect(chain[i], type_of(chain[i]), what);
    note_value(chain[i], type_of(chain[i]), what);
    done_.reset();
    if (i > 0) done_.emplace(chain[i], what);
  }
  done_.reset();
  --depth_;
  where_ = before;
  return what;
}

value lowering::evaluate(const expr& node, expr_id id) {
  const auto& known = type_of(id);
  switch (node.kind) {
    case expr_kind::name:
      return name(node);
    case expr_kind::integer:
    case expr_kind::decimal:
    case expr_kind::string:
    case expr_kind::boolean:
      return literal(node);
    case expr_kind::list:
      return list(node, known);
    case expr_kind::tuple: {
      value out;
      out.base = base_type::tuple;
      for (const auto one : node.items) out.parts.push_back(expression(one));
      return out;
    }
    case expr_kind::member:
      return member(node);
    case expr_kind::call:
      return call(node, known);
    case expr_kind::index:
      return index(node, known);
    case expr_kind::unary:
      return unary(node);
    case expr_kind::binary:
      return binary(node, known);
    case expr_kind::range: {
      const auto from = expression(node.left);
      const auto to = expression(node.right);
      if (from.at != no_register || to.at != no_register)
        fail(node.where, "how often is known only when it runs");
      value out;
      out.base = base_type::range;
      out.integer = from.integer;
      out.count = to.integer;
      return out;
    }
    case expr_kind::pipe:
      return pipe(node, known);
    case expr_kind::cast:
      return cast_to(node, known);
    case expr_kind::error:
      break;
  }
  fail(node.where, "this cannot be read");
  return {};
}

// -- names ---------------------------------------------------------------------

namespace {

value whole_value(int64_t number) {
  value out;
  out.base = base_type::integer;
  out.integer = number;
  out.real = static_cast<double>(number);
  return out;
}

value real_value(double number) {
  value out;
  out.base = base_type::real;
  out.real = number;
  return out;
}

std::string without_underscores(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '_') out += c;
  return out;
}

std::optional<double> constant_named(std::string_view word) {
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "pi") return std::numbers::pi;
  if (word == "e") return std::numbers::e;
  return std::nullopt;
}

} // namespace

value lowering::name(const expr& node) {
  const auto word = text(node.name);
  if (const auto found = frame_->locals.find(word); found != frame_->locals.end())
    return found->second;
  value out;
  const auto& names = program_.modules[frame_->module]->names;
  if (const auto found = names.find(word); found != names.end()) {
    const auto& what = found->second;
    switch (what.kind) {
      case entity::dim:
        return whole_value(program_.dims[what.index].value);
      case entity::function:
        out.base = base_type::function;
        out.declaration = what.index;
        return out;
      case entity::file:
        out.base = base_type::module;
        out.declaration = what.index;
        return out;
      default:
        fail(node.where, fmt::format("`{}` is no value on a device", word));
        return out;
    }
  }
  if (const auto size = size_named(word)) return whole_value(*size);
  if (const auto number = constant_named(word)) return real_value(*number);
  if (find_builtin(word) != nullptr) {
    out.base = base_type::function;
    out.text = word;
    return out;
  }
  fail(node.where, fmt::format("the size `{}` is not known here", word));
  return out;
}

value lowering::literal(const expr& node) {
  value out;
  if (node.kind == expr_kind::boolean) {
    out.base = base_type::boolean;
    out.flag = node.operation == token_kind::kw_true;
    return out;
  }
  if (node.kind == expr_kind::string) {
    const auto quoted = text(node.where);
    out.base = base_type::text;
    out.text = quoted.substr(1, quoted.size() - 2);
    return out;
  }
  const auto digits = without_underscores(text(node.name));
  if (node.kind == expr_kind::integer) {
    int64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return whole_value(number);
  }
  double number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return real_value(number);
}

// `[[1.0, 2.0], [3.0, 4.0]]`: the parts, stacked.
value lowering::list(const expr& node, const type& known) {
  const auto element = lowered_dtype(known.element);
  std::vector<reg> parts;
  for (const auto one : node.items) parts.push_back(tensor(expression(one), element));
  if (failed()) return {};
  return as_value(emit(op::stack, std::move(parts), {int64_t{0}}));
}

// -- members -------------------------------------------------------------------

value lowering::member(const expr& node) {
  const auto base = expression(node.left);
  return failed() ? value{} : member_of(node, base);
}

value lowering::member_of(const expr& node, const value& base) {
  const auto word = text(node.name);
  value out;
  if (base.base == base_type::record) {
    const auto& record = program_.records[base.declaration];
    const auto& source = program_.modules[record.module]->text;
    for (size_t i = 0; i < base.parts.size(); ++i)
      if (source.text(record.decl->fields[i].name) == word) return base.parts[i];
  }
  if (base.base == base_type::module) {
    const auto& names = program_.modules[base.declaration]->names;
    const auto found = names.find(word);
    if (found != names.end() && found->second.kind == entity::function) {
      out.base = base_type::function;
      out.declaration = found->second.index;
      return out;
    }
    if (found != names.end() && found->second.kind == entity::dim)
      return whole_value(program_.dims[found->second.index].value);
  }
  if (base.base == base_type::model || base.base == base_type::gradient) {
    const auto& model = program_.models[base.declaration];
    for (const auto& one : model.members) {
      if (one.name != word) continue;
      const auto path = fmt::format("{}.{}", base.text, word);
      if (one.kind == member_kind::layer) return layer_of(one, base, path);
      if (base.base == base_type::gradient) {
        const auto found = base.gradients.find(path);
        if (found != base.gradients.end()) return as_value(found->second);
        break;
      }
      if (const auto found = written_.find(path); found != written_.end())
        return as_value(found->second);
      if (one.kind == member_kind::buffer) return as_value(emit(op::value, {}, {path}));
      const auto at = emit(op::param, {}, {path});
      readers_[path].push_back(at);
      if (const auto split = split_dim_of(one.what)) out_.split_dims.try_emplace(at, *split);
      return as_value(at);
    }
  }
  fail(node.where, fmt::format("`{}` is no value on a device", text(node.where)));
  return out;
}

std::optional<uint32_t> lowering::split_dim_of(const type& what) const {
  for (uint32_t i = 0; i < what.axes.size(); ++i)
    for (const auto& split : program_.devices.split)
      if (what.axes[i].name == split) return i;
  return std::nullopt;
}

// A layer, or a list of layers.
value lowering::layer_of(const member_info& one, const value& base, const std::string& path) {
  value layer;
  const bool several = is(one.what, base_type::layers);
  const auto& what = several ? one.what.parts[0] : one.what;
  layer.base = base.base;
  layer.declaration = what.declaration;
  layer.text = path;
  layer.gradients = base.gradients;
  auto before = std::exchange(frame_->sizes, model_sizes(base.declaration, base.dims));
  for (const auto& size : what.dims) layer.dims.push_back(number_of(size, where_));
  const auto count = several && one.count ? number_of(*one.count, where_) : 0;
  frame_->sizes = std::move(before);
  if (!several) return layer;
  value out;
  out.base = base_type::layers;
  out.text = path;
  out.count = count;
  out.parts.push_back(std::move(layer));
  return out;
}

// -- unary, cast, pipe ---------------------------------------------------------

value lowering::unary(const expr& node) {
  auto what = expression(node.right);
  if (failed()) return {};
  if (node.operation == token_kind::kw_not) {
    what.flag = !what.flag;
    return what;
  }
  if (node.operation == token_kind::bang) return as_value(emit(op::logical_not, {tensor(what)}));
  if (what.at == no_register && what.base != base_type::tensor) {
    if (__builtin_sub_overflow(int64_t{0}, what.integer, &what.integer))
      fail(node.where, "this number does not fit 64 bits");
    what.real = -what.real;
    return what;
  }
  const auto type = kind(what.at);
  if (moxzi::device::is_float(type)) {
    what.at = emit(op::neg, {what.at});
  } else {
    what.at = emit(op::sub, {constant(0, type), what.at});
  }
  return what;
}

value lowering::cast_to(const expr& node, const type& known) {
  auto what = expression(node.left);
  if (failed()) return {};
  if (is_tensor(known)) return as_value(tensor(what, lowered_dtype(known.element)));
  if (what.at != no_register) return what;
  const bool truth = what.base == base_type::boolean;
  if (is(known, base_type::integer)) {
    const auto real = truth ? (what.flag ? 1.0 : 0.0) : what.real;
    return whole_value(what.base == base_type::integer ? what.integer : truncated(real));
  }
  if (is(known, base_type::real)) return real_value(truth ? (what.flag ? 1 : 0) : what.real);
  return what;
}

value lowering::pipe(const expr& node, const type& known) {
  const auto& right = t().at(node.right);
  lowered_argument first;
  first.id = node.left;
  first.what = expression(node.left);
  first.ready = true;
  first.known = &type_of(node.left);
  if (failed()) return {};
  std::vector<lowered_argument> arguments{std::move(first)};
  where_ = right.where;
  if (right.kind == expr_kind::call) return call_with(right, std::move(arguments), known);
  return dispatch(right, nullptr, arguments, known);
}

// -- calls ---------------------------------------------------------------------

value lowering::call(const expr& node, const type& known) {
  return call_with(node, {}, known);
}

value lowering::call_with(const expr& node, std::vector<lowered_argument> arguments,
                          const type& known) {
  for (const auto& one : node.arguments) {
    lowered_argument next;
    next.id = one.value;
    next.name = one.name;
    arguments.push_back(std::move(next));
  }
  return dispatch(t().at(node.left), &node, arguments, known);
}

value lowering::dispatch(const expr& callee, const expr* site,
                         std::vector<lowered_argument>& arguments, const type& known) {
  const auto& names = program_.modules[frame_->module]->names;
  if (callee.kind == expr_kind::name) {
    const auto word = text(callee.name);
    if (!frame_->locals.contains(word) && !names.contains(word))
      if (const auto* what = find_builtin(word))
        return call_builtin(*what, site, arguments, known, where_);
  }
  if (callee.kind == expr_kind::index && index_name(t().at(callee.left)))
    return construct(callee, arguments, known);
  if (callee.kind == expr_kind::member) {
    const auto base = expression(callee.left);
    if (failed()) return {};
    if (base.base == base_type::model) {
      const auto& methods = program_.models[base.declaration].methods;
      if (const auto found = methods.find(text(callee.name)); found != methods.end())
        return call_function(found->second, arguments, &base);
    }
    return call_value(member_of(callee, base), site, arguments, known, callee.where);
  }
  const auto id = static_cast<expr_id>(&callee - t().exprs.data());
  return call_value(expression(id), site, arguments, known, callee.where);
}

value lowering::call_value(const value& callee, const expr* site,
                           std::vector<lowered_argument>& arguments, const type& known,
                           span where) {
  if (failed()) return {};
  if (callee.base == base_type::function) {
    if (callee.declaration == no_index)
      return call_builtin(*find_builtin(callee.text), site, arguments, known, where);
    auto out = call_function(callee.declaration, arguments, nullptr,
                             callee.evaluated ? std::optional{false} : std::nullopt);
    if (callee.remade && out.base == base_type::tensor && !failed())
      out.at = emit(op::recompute, {out.at});
    return out;
  }
  if (callee.base == base_type::model) {
    const auto& methods = program_.models[callee.declaration].methods;
    if (const auto found = methods.find("forward"); found != methods.end())
      return call_function(found->second, arguments, &callee);
  }
  fail(where, fmt::format("`{}` is called in the controller alone", text(where)));
  return {};
}

// -- host arithmetic -----------------------------------------------------------

value lowering::binary(const expr& node, const type& known) {
  const auto x = expression(node.left);
  // `and` and `or` look at their right side only if it matters.
  const bool logic = node.operation == token_kind::kw_and || node.operation == token_kind::kw_or;
  if (logic && x.flag == (node.operation == token_kind::kw_or)) return x;
  const auto y = expression(node.right);
  if (failed() || logic) return y;
  if (node.operation == token_kind::matmul)
    return matmul(x, type_of(node.left), y, type_of(node.right), known);
  if (is_tensor(known) || x.at != no_register || y.at != no_register)
    return arithmetic(node.operation, x, type_of(node.left), y, type_of(node.right), known,
                      node.where);
  return host_arithmetic(node.operation, x, y, node.where);
}

namespace {

template <class T>
std::optional<bool> compared(token_kind operation, const T& x, const T& y) {
  switch (operation) {
    case token_kind::equal:
      return x == y;
    case token_kind::not_equal:
      return x != y;
    case token_kind::less:
      return x < y;
    case token_kind::less_equal:
      return x <= y;
    case token_kind::greater:
      return x > y;
    case token_kind::greater_equal:
      return x >= y;
    default:
      return std::nullopt;
  }
}

double real_of(token_kind operation, double x, double y) {
  switch (operation) {
    case token_kind::plus:
      return x + y;
    case token_kind::minus:
      return x - y;
    case token_kind::times:
      return x * y;
    case token_kind::divide:
      return x / y;
    case token_kind::modulo:
      return x - y * std::floor(x / y);
    default:
      return std::pow(x, y);
  }
}

} // namespace

value lowering::host_arithmetic(token_kind operation, const value& x, const value& y, span where) {
  value truth;
  truth.base = base_type::boolean;
  if (x.base == base_type::text && y.base == base_type::text) {
    if (const auto result = compared(operation, x.text, y.text)) {
      truth.flag = *result;
      return truth;
    }
    value out = x;
    out.text += y.text;
    if (out.text.size() > lowered_text_max) fail(where, "this text is too long");
    return out;
  }
  if (x.base == base_type::boolean && y.base == base_type::boolean) {
    truth.flag = (x.flag == y.flag) == (operation == token_kind::equal);
    return truth;
  }
  const bool whole = x.base == base_type::integer && y.base == base_type::integer;
  const auto a = x.base == base_type::integer ? static_cast<double>(x.integer) : x.real;
  const auto b = y.base == base_type::integer ? static_cast<double>(y.integer) : y.real;
  const auto result = whole ? compared(operation, x.integer, y.integer) : compared(operation, a, b);
  if (result) {
    truth.flag = *result;
    return truth;
  }
  if (!whole || operation == token_kind::divide) return real_value(real_of(operation, a, b));
  if (const auto number = whole_of(operation, x.integer, y.integer)) return whole_value(*number);
  fail(where, operation == token_kind::modulo && y.integer == 0
                ? "this divides by 0"
                : "this number does not fit 64 bits");
  return {};
}

} // namespace shapescript
