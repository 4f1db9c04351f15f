#include "shapescript/lower/lower_slots.hpp"

#include <cmath>

namespace shapescript {

// -- arguments -----------------------------------------------------------------

value& lowering::argument(lowered_argument& one) {
  if (!one.ready) {
    one.what = expression(one.id);
    one.ready = true;
  }
  return one.what;
}

const type& lowering::type_of(lowered_argument& one) {
  return one.known != nullptr ? *one.known : type_of(one.id);
}

reg lowering::register_of(lowered_argument& one, std::optional<moxzi::device::dtype> type) {
  return tensor(argument(one), type);
}

double lowering::number(lowered_argument* one, double otherwise) {
  if (one == nullptr) return otherwise;
  const auto& what = argument(*one);
  if (what.at != no_register && !failed())
    fail(where_, "a number here must be known before the program runs");
  return what.base == base_type::integer ? static_cast<double>(what.integer) : what.real;
}

attribute lowering::optional_number(lowered_argument* one) {
  attribute out;
  if (one != nullptr) out.emplace<double>(number(one, 0));
  return out;
}

int64_t lowering::whole(lowered_argument* one, int64_t otherwise) {
  if (one == nullptr) return otherwise;
  const auto& what = argument(*one);
  if (what.at == no_register && what.base == base_type::integer) return what.integer;
  return truncated(number(one, 0));
}

// The whole part, as Python's int() takes it.
int64_t lowering::truncated(double number) {
  constexpr double limit = 9.2233720368547e18;
  if (number > -limit && number < limit) return static_cast<int64_t>(number);
  fail(where_, "this number does not fit 64 bits");
  return 0;
}

bool lowering::flag(lowered_argument* one, bool otherwise) {
  return one == nullptr ? otherwise : argument(*one).flag;
}

// The positions of the axes that `over=` names.
std::vector<uint32_t> lowering::places(lowered_argument& over, const type& of) {
  std::vector<uint32_t> out;
  const auto& node = t().at(over.id);
  auto items = node.items;
  if (node.kind != expr_kind::tuple && node.kind != expr_kind::list) items = {over.id};
  for (const auto id : items) {
    const auto& item = t().at(id);
    const auto other = item.kind == expr_kind::member
                         ? std::optional{size_form{expression(id).integer}}
                         : std::nullopt;
    const auto found = axis_called(text(item.name), of.axes, other);
    if (!found) fail(t().at(id).where, "no such axis");
    out.push_back(static_cast<uint32_t>(found.value_or(0)));
  }
  return out;
}

value lowering::call_builtin(const builtin& what, const expr* site,
                             std::vector<lowered_argument>& arguments, const type& known,
                             span where) {
  const auto before = where_;
  where_ = where;
  if (site != nullptr && site->patterns != pattern_id::none) {
    auto out = call_pattern(what.name, *site, arguments);
    where_ = before;
    return out;
  }
  const auto slots = slots_of(what);
  call_slots m;
  m.all.resize(slots.size(), nullptr);
  m.where = where;
  size_t next = 0;
  for (auto& one : arguments) {
    if (one.name == span{}) {
      while (next < slots.size() && slots[next].by_name) ++next;
      if (next < slots.size() && !slots[next].variadic)
        m.all[next++] = &one;
      else
        m.rest.push_back(&one);
      continue;
    }
    size_t place = 0;
    while (place < slots.size() && slots[place].name != text(one.name)) ++place;
    if (place < slots.size())
      m.all[place] = &one;
    else
      m.rest.push_back(&one);
  }
  value out;
  if (what.how <= rule::one_hot || (what.how >= rule::reduction && what.how <= rule::outer)
      || what.how == rule::dot || what.how == rule::attention)
    out = tensor_builtin(what, m, known);
  else if (what.how <= rule::initialise)
    out = shape_builtin(what, m, known);
  else if (what.how <= rule::schedule)
    out = training_builtin(what, m, known);
  else
    out = host_function(what, m);
  where_ = before;
  return out;
}

value lowering::tensor_builtin(const builtin& what, call_slots& m, const type& known) {
  switch (what.how) {
    case rule::unary:
    case rule::predicate:
      return unary_builtin(what, m);
    case rule::scale:
      return arithmetic(token_kind::times, argument(*m.all[0]), type_of(*m.all[0]),
                        argument(*m.all[1]), type_of(*m.all[1]), known, m.where);
    case rule::binary:
      return binary_builtin(what, m, known);
    case rule::clamp:
      return as_value(emit(op::clamp, {register_of(*m.all[0])},
                           {optional_number(m.all[1]), optional_number(m.all[2])}));
    case rule::where:
    case rule::masked_fill:
    case rule::one_hot:
      return masked(what, m, known);
    case rule::reduction:
      return reduction(what, m);
    case rule::keep_axis:
    case rule::softmax:
    case rule::affine_norm:
      return normalised(what, m);
    case rule::batch_norm:
      return batch_norm(m);
    case rule::cross_entropy:
      return cross_entropy(what, m, known);
    case rule::loss:
      return loss(what, m, known);
    case rule::matmul:
      return matmul(argument(*m.all[0]), type_of(*m.all[0]), argument(*m.all[1]),
                    type_of(*m.all[1]), known);
    case rule::attention:
      return attention(m, known);
    case rule::outer: {
      const auto element = lowered_dtype(known.element);
      const auto a = emit(op::unsqueeze, {register_of(*m.all[0], element)}, {int64_t{1}});
      return as_value(emit(op::mul, {a, register_of(*m.all[1], element)}));
    }
    case rule::dot: {
      const auto element = lowered_dtype(known.element);
      const auto a = register_of(*m.all[0], element);
      const auto product = emit(op::mul, {a, register_of(*m.all[1], element)});
      return as_value(emit(op::sum, {product}, {{}, {}}));
    }
    default:
      fail(m.where, fmt::format("no device does `{}`", what.name));
      return {};
  }
}

value lowering::binary_builtin(const builtin& what, call_slots& m, const type& known) {
  if (!is_tensor(known) && argument(*m.all[0]).at == no_register
      && argument(*m.all[1]).at == no_register) {
    const auto a = number(m.all[0], 0);
    const auto b = number(m.all[1], 0);
    value out;
    out.base = base_type::real;
    out.real = what.name == "pow"       ? std::pow(a, b)
               : what.name == "maximum" ? std::max(a, b)
                                        : std::min(a, b);
    return out;
  }
  if (what.name == "pow")
    return arithmetic(token_kind::power, argument(*m.all[0]), type_of(*m.all[0]),
                      argument(*m.all[1]), type_of(*m.all[1]), known, m.where);
  const auto element = lowered_dtype(known.element);
  const auto a = aligned(register_of(*m.all[0], element), type_of(*m.all[0]).axes, known.axes);
  const auto b = aligned(register_of(*m.all[1], element), type_of(*m.all[1]).axes, known.axes);
  return as_value(emit(what.name == "maximum" ? op::maximum : op::minimum, {a, b}));
}

// -- element by element --------------------------------------------------------

namespace {

std::optional<double> host_unary(std::string_view name, double x) {
  if (name == "abs") return std::abs(x);
  if (name == "neg") return -x;
  if (name == "exp") return std::exp(x);
  if (name == "expm1") return std::expm1(x);
  if (name == "log") return std::log(x);
  if (name == "log1p") return std::log1p(x);
  if (name == "sqrt") return std::sqrt(x);
  if (name == "rsqrt") return 1 / std::sqrt(x);
  if (name == "square") return x * x;
  if (name == "sin") return std::sin(x);
  if (name == "cos") return std::cos(x);
  if (name == "tanh") return std::tanh(x);
  if (name == "sigmoid") return 1 / (1 + std::exp(-x));
  if (name == "relu") return std::max(x, 0.0);
  if (name == "erf") return std::erf(x);
  if (name == "floor") return std::floor(x);
  if (name == "ceil") return std::ceil(x);
  if (name == "round") return std::nearbyint(x);
  if (name == "sign") return x > 0 ? 1 : x < 0 ? -1 : 0;
  if (name == "softplus") return std::log1p(std::exp(x));
  if (name == "silu") return x / (1 + std::exp(-x));
  if (name == "gelu") return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
  return std::nullopt;
}

std::optional<op> device_unary(std::string_view name) {
  static const std::map<std::string_view, op> known{
    {"abs", op::abs},     {"neg", op::neg},           {"sign", op::sign},       {"exp", op::exp},
    {"expm1", op::expm1}, {"log", op::log},           {"log1p", op::log1p},     {"sqrt", op::sqrt},
    {"rsqrt", op::rsqrt}, {"square", op::square},     {"sin", op::sin},         {"cos", op::cos},
    {"tanh", op::tanh},   {"erf", op::erf},           {"floor", op::floor},     {"ceil", op::ceil},
    {"round", op::round}, {"relu", op::relu},         {"sigmoid", op::sigmoid}, {"silu", op::silu},
    {"gelu", op::gelu},   {"softplus", op::softplus}, {"isnan", op::is_nan}};
  const auto found = known.find(name);
  return found == known.end() ? std::nullopt : std::optional{found->second};
}

} // namespace

value lowering::unary_builtin(const builtin& what, call_slots& m) {
  const auto x = argument(*m.all[0]);
  if (failed()) return {};
  if (x.at == no_register && x.base != base_type::tensor) {
    const auto result = host_unary(what.name, number(m.all[0], 0));
    if (!result) fail(m.where, fmt::format("`{}` of a number is not known here", what.name));
    value out;
    const bool whole =
      x.base == base_type::integer
      && (what.name == "abs" || what.name == "neg" || what.name == "sign" || what.name == "square");
    out.base = whole ? base_type::integer : base_type::real;
    out.real = result.value_or(0);
    if (whole) out.integer = truncated(out.real);
    return out;
  }
  auto at = tensor(x);
  const bool real = moxzi::device::is_float(kind(at));
  if (!real && what.name == "square") return as_value(emit(op::mul, {at, at}));
  if (!real && type_of(*m.all[0]).literal) at = cast(at, moxzi::device::dtype::f32);
  if (!real && kind(at) != moxzi::device::dtype::f32) {
    // The few functions of whole numbers.
    const auto zero = constant(0, kind(at));
    if (what.name == "neg") return as_value(emit(op::sub, {zero, at}));
    if (what.name == "relu") return as_value(emit(op::maximum, {at, zero}));
    if (what.name == "abs") return as_value(emit(op::maximum, {at, emit(op::sub, {zero, at})}));
    if (what.name == "sign") {
      const auto one = constant(1, kind(at));
      const auto low = emit(op::sub, {zero, one});
      return as_value(emit(op::maximum, {low, emit(op::minimum, {at, one})}));
    }
  }
  if (what.name == "leaky_relu")
    return as_value(emit(op::leaky_relu, {at}, {number(m.all[1], 0.01)}));
  if (what.name == "elu") return as_value(emit(op::elu, {at}, {1.0}));
  if (what.name == "gelu" && flag(m.all[1], false)) return as_value(emit(op::gelu_tanh, {at}));
  if (what.name == "isinf") {
    const auto far = constant(INFINITY, kind(at));
    return as_value(emit(op::eq, {emit(op::abs, {at}), far}));
  }
  return as_value(emit(*device_unary(what.name), {at}));
}

// -- host functions ------------------------------------------------------------

value lowering::host_function(const builtin& what, call_slots& m) {
  value out;
  if (what.name == "range") {
    out.base = base_type::range;
    out.count = whole(m.all[0], 0);
    return out;
  }
  if (what.name == "len" && argument(*m.all[0]).base == base_type::layers) {
    out.base = base_type::integer;
    out.integer = argument(*m.all[0]).count;
    return out;
  }
  if (what.how == rule::convert && what.name != "str") {
    out.real = number(m.all[0], 0);
    out.base = what.name == "float" ? base_type::real : base_type::integer;
    if (out.base == base_type::integer) out.integer = truncated(out.real);
    return out;
  }
  fail(m.where, fmt::format("no device does `{}`", what.name));
  return out;
}

} // namespace shapescript
