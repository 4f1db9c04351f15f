#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"
#include "shapescript/syntax/lexical.hpp"

namespace shapescript {

namespace {

std::optional<int64_t> parse_integer(std::string_view text) {
  std::string digits;
  for (const char c : text)
    if (c >= '0' && c <= '9')
      digits += c;
    else if (c != '_')
      return std::nullopt;
  constexpr size_t digits_max = 18; // more are reported where they are read
  if (digits.size() > digits_max) return std::nullopt;
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

} // namespace

// What an axis is called by its size as written: `3*D` for `3 * lib.D`.
std::string axis_name(std::string_view written) {
  std::string out;
  for (const char c : written) {
    if (c == '.')
      while (!out.empty() && (is_letter(out.back()) || is_digit(out.back()))) out.pop_back();
    else if (c != ' ' && c != '\n' && c != '\r')
      out += c;
  }
  return out;
}

// -- sizes ---------------------------------------------------------------------

symbol checker::new_symbol(std::string name, span declared) {
  symbols_.push_back({std::move(name), module_, declared, false});
  return static_cast<symbol>(symbols_.size() - 1);
}

// What a word stands for as a size of this function or a dim, if it does.
std::optional<size_form> checker::size_known_as(std::string_view word) const {
  if (scope_ != nullptr)
    if (const auto found = scope_->find(word); found != scope_->end()) return found->second;
  const auto* found = find(word);
  if (found != nullptr && found->kind == entity::dim && dims_[found->index].known)
    return size_form{dims_[found->index].value};
  return std::nullopt;
}

std::optional<size_form> checker::size_of_name(span where, size_scope& scope, bool fresh) {
  const auto name = text(where);
  if (const auto found = scope.find(name); found != scope.end()) {
    use_axis(where, &scope);
    return found->second;
  }
  if (const auto* found = find(name); found != nullptr && found->kind == entity::dim) {
    const auto& dim = dims_[found->index];
    use(found->name, where);
    if (!dim.known) return std::nullopt;
    return size_form{dim.value};
  }
  const bool lower = name.front() == '_' || (name.front() >= 'a' && name.front() <= 'z');
  if (lower && fresh) {
    const auto size = size_form::of(new_symbol(std::string{name}, where));
    scope.emplace(name, size);
    use_axis(where, &scope);
    return size;
  }
  if (doubtful(name) || full() || !first_time(name)) return std::nullopt;
  std::vector<std::string_view> known;
  for (const auto& [other, what] : mod().names)
    if (what.kind == entity::dim) known.push_back(other);
  for (const auto& [other, size] : scope) known.push_back(other);
  auto& d = report("E0205", where, fmt::format("no dim is called `{}`", name),
                   lower ? "not a size known here" : "a capitalised axis must be a declared dim");
  suggest(d, where, name, known);
  if (!lower) d.notes.push_back("an axis of any size begins with a lower-case letter");
  return std::nullopt;
}

// `lib.D`: a dim of a file that is imported.
std::optional<size_form> checker::size_in_file(span file, span name) {
  const auto* found = find_type(file, name);
  if (found != nullptr && found->kind == entity::dim) {
    const auto& dim = dims_[found->index];
    return dim.known ? std::optional{size_form{dim.value}} : std::nullopt;
  }
  const auto* other = find(text(file));
  const bool is_file = other != nullptr && other->kind == entity::file;
  if (is_file
      && (other->index == no_index || modules_[other->index]->doubtful.contains(text(name))))
    return std::nullopt; // reported at the import
  const span both{file.begin, name.end};
  if (doubtful(text(file)) || full() || !first_time(text(both))) return std::nullopt;
  auto& d =
    report("E0205", is_file ? name : both, fmt::format("no dim is called `{}`", text(both)),
           is_file ? "no dim of that file" : fmt::format("`{}` is no imported file", text(file)));
  if (!is_file) return std::nullopt;
  std::vector<std::string_view> known;
  for (const auto& [word, what] : modules_[other->index]->names)
    if (what.kind == entity::dim) known.push_back(word);
  suggest(d, name, text(name), known);
  return std::nullopt;
}

std::optional<size_form> checker::combine(const dim_expr& node, const size_form& x,
                                          const size_form& y) {
  switch (node.operation) {
    case token_kind::plus:
      return x + y;
    case token_kind::minus:
      return x - y;
    case token_kind::times:
      return x * y;
    default:
      break;
  }
  return divided(x, y, node.where, text(node.where));
}

std::optional<size_form> checker::resolve_size(dim_id id, size_scope& scope, bool fresh) {
  const auto& node = t().at(id);
  switch (node.kind) {
    case dim_expr::integer: {
      const auto value = parse_integer(text(node.where));
      if (!value) return std::nullopt;
      return size_form{*value};
    }
    case dim_expr::name:
      if (!(node.file == span{})) return size_in_file(node.file, node.word);
      return size_of_name(node.where, scope, fresh);
    case dim_expr::binary: {
      // A long sum is no deep one: its operands from the left.
      std::vector<dim_id> chain;
      auto first = id;
      for (; t().at(first).kind == dim_expr::binary; first = t().at(first).left)
        chain.push_back(first);
      auto size = resolve_size(first, scope, fresh);
      for (auto i = chain.size(); i-- > 0;) {
        const auto right = resolve_size(t().at(chain[i]).right, scope, fresh);
        size = size && right ? combine(t().at(chain[i]), *size, *right) : std::nullopt;
      }
      return size;
    }
    default:
      return std::nullopt;
  }
}

axis checker::resolve_axis(dim_id id, size_scope& scope, bool fresh, bool& ok) {
  const auto& node = t().at(id);
  axis one;
  const auto size = resolve_size(id, scope, fresh);
  if (!size) {
    ok = false;
    return one;
  }
  one.size = *size;
  const auto number = size->number();
  if ((number && *number < 1) || size->too_large()) {
    report("E0302", node.where,
           fmt::format("size `{}` is {}", text(node.where),
                       number ? std::to_string(*number) : std::string{"too large"}),
           number ? "a size is at least 1" : "too large to be compared");
    ok = false;
  }
  if (ok) need_positive(*size, node.where);
  if (node.kind != dim_expr::integer) one = axis_written(axis_name(text(node.where)), one.size);
  return one;
}

// -- types ---------------------------------------------------------------------

type checker::resolve(type_id id, size_scope& scope, bool fresh) {
  if (id == type_id::none || full()) return {};
  const auto& node = t().at(id);
  switch (node.kind) {
    case type_expr::tensor:
      return resolve_tensor(node, scope, fresh);
    case type_expr::named:
      return resolve_named(node, scope, fresh);
    case type_expr::function: {
      auto out = scalar_of(base_type::function);
      out.declaration = no_index;
      for (const auto one : node.parameters) out.parts.push_back(resolve(one, scope, fresh));
      out.parts.push_back(resolve(node.result, scope, fresh));
      return out;
    }
    default:
      return {};
  }
}

type checker::resolve_tensor(const type_expr& node, size_scope& scope, bool fresh) {
  auto out = tensor_of({});
  bool ok = true;
  for (const auto id : node.axes) out.axes.push_back(resolve_axis(id, scope, fresh, ok));
  for (const auto& element : node.elements) {
    if (!follows(node, element) || !apply_element(element, out, scope, fresh)) {
      ok = false;
      break;
    }
    if (is(out, base_type::record) && &element != &node.elements.back()) {
      report("E0202", node.elements.back().where, "nothing can follow a record in a type",
             "not expected here");
      ok = false;
      break;
    }
  }
  return ok ? out : type{};
}

namespace {

bool is_refinement(std::string_view name) {
  return name == "NonNeg" || name == "Pos" || name == "Unit" || name == "Prob" || name == "Index";
}

} // namespace

// Whether the word may stand where it does: a dtype, then a refinement of floats, or one record.
bool checker::follows(const type_expr& node, const element_name& element) {
  const auto name = text(element.name);
  const bool own = element.file == span{};
  const bool is_dtype = own && dtype_named(name).has_value();
  const bool sized = own && (name == "Prob" || name == "Index");
  const bool known = is_dtype || (own && is_refinement(name)) || find(name) != nullptr;
  if (known && !sized && !(element.brackets == span{})) {
    auto& d =
      report("E0202", element.where, fmt::format("`{}` takes no size", name), "not expected here");
    d.help.push_back("if another type begins here, a comma is missing before it");
    d.fixes.push_back({{element.name.end, element.name.end}, ","});
    return false;
  }
  if (&element == &node.elements.front()) return true;
  const auto first = text(node.elements.front().name);
  const auto before = dtype_named(first);
  const auto wrong = [&](std::string message) {
    report("E0202", element.where, std::move(message), "not expected here");
    return false;
  };
  if (!known) return true;
  if (is_dtype && before) return wrong(fmt::format("the dtype is `{}` already", first));
  if (is_dtype && is_refinement(first)) {
    wrong("a dtype stands before what is known of it");
    auto& d = last_report();
    const span both{node.elements.front().where.begin, element.where.end};
    d.help.push_back(fmt::format("write `{} {}`", name, text(node.elements.front().where)));
    d.fixes.push_back({both, fmt::format("{} {}", name, text(node.elements.front().where))});
    return false;
  }
  if (is_refinement(first))
    return wrong(fmt::format("a type has one refinement, here `{}`", first));
  if (before && is_refinement(name) && (name == "Index") == is_float(*before))
    return wrong(fmt::format("`{}` is of {}, and `{}` is none", name,
                             name == "Index" ? "an integer dtype" : "a float dtype", first));
  return true;
}

bool checker::apply_element(const element_name& element, type& out, size_scope& scope, bool fresh) {
  const auto name = text(element.name);
  const bool own = element.file == span{};
  if (const auto dt = dtype_named(name); dt && own) {
    out.element = *dt;
    return true;
  }
  const auto one_dim = [&]() -> bool {
    if (element.dims.size() != 1) {
      report("E0202", element.where, fmt::format("`{}` takes one size", name), "as in `Index[C]`");
      return false;
    }
    bool ok = true;
    out.bound = resolve_axis(element.dims[0], scope, fresh, ok);
    return ok;
  };
  if (own && (name == "NonNeg" || name == "Pos" || name == "Unit")) {
    out.known = name == "NonNeg" ? refinement::nonneg
                : name == "Pos"  ? refinement::pos
                                 : refinement::unit;
    return true;
  }
  if (own && name == "Prob") {
    out.known = refinement::prob;
    return one_dim();
  }
  if (own && name == "Index") {
    out.known = refinement::index;
    out.element = dtype::i64;
    return one_dim();
  }
  const auto* found = find_type(element.file, element.name);
  if (found != nullptr && found->kind == entity::record) {
    out.base = base_type::record;
    out.declaration = found->index;
    use(found->name, element.name);
    return true;
  }
  if (found != nullptr) {
    report("E0903", element.name, fmt::format("a batch holds records, and `{}` is none", name),
           "not declared with `data`");
    return false;
  }
  if (doubtful(name) || !first_time(name)) return false;
  std::vector<std::string_view> known;
  for (const auto& [other, what] : mod().names)
    if (what.kind == entity::record) known.push_back(other);
  known.insert(known.end(), {"f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "bool",
                             "NonNeg", "Pos", "Unit", "Prob", "Index"});
  auto& d = report("E0202", element.name, fmt::format("unknown element type `{}`", name),
                   "neither a dtype, a refinement nor a record");
  if (!habit_of_element(d, element.name)) suggest(d, element.name, name, known);
  return false;
}

// The name of a type, in this file or in one that it imports.
const entity* checker::find_type(span file, span name) {
  if (file == span{}) {
    use_entity(name);
    return find(text(name));
  }
  use_entity(file);
  const auto* found = find(text(file));
  if (found == nullptr || found->kind != entity::file || found->index == no_index) return nullptr;
  const auto& names = modules_[found->index]->names;
  const auto place = names.find(text(name));
  if (place == names.end()) return nullptr;
  use(place->second.name, name);
  return &place->second;
}

namespace {

bool is_generic(std::string_view name) {
  return name == "AdamW" || name == "Adam" || name == "Sgd" || name == "Lion" || name == "Grad"
         || name == "Dataset" || name == "Batches";
}

} // namespace

type checker::resolve_named(const type_expr& node, size_scope& scope, bool fresh) {
  const auto name = text(node.name);
  static const std::map<std::string_view, base_type> simple{{"int", base_type::integer},
                                                            {"float", base_type::real},
                                                            {"bool", base_type::boolean},
                                                            {"str", base_type::text},
                                                            {"Rng", base_type::generator}};
  const bool own = node.file == span{};
  if (const auto found = simple.find(name); own && found != simple.end() && !node.has_arguments)
    return scalar_of(found->second);
  if (own && is_generic(name)) return resolve_generic(node, scope, fresh);
  if (own && name == "BatchNorm") return model_use(0, node, scope, fresh);
  const auto* found = find_type(node.file, node.name);
  if (found != nullptr && found->kind == entity::model)
    return model_use(found->index, node, scope, fresh);
  if (found != nullptr && found->kind == entity::record && !node.has_arguments) {
    auto out = scalar_of(base_type::record);
    out.declaration = found->index;
    return out;
  }
  if (doubtful(name) || !first_time(name)) return {};
  // The file's own names first, and of all those that can stand here.
  std::vector<std::string_view> known;
  const auto* file = own ? nullptr : find(text(node.file));
  const bool elsewhere = file != nullptr && file->kind == entity::file && file->index != no_index;
  for (const auto& [other, what] : elsewhere ? modules_[file->index]->names : mod().names)
    if (what.kind == entity::model
        || (what.kind == entity::record && !node.has_arguments && !of_layer_))
      known.push_back(other);
  static const std::vector<std::string_view> lone{"int", "float", "bool", "str", "Rng"};
  static const std::vector<std::string_view> generic{"AdamW", "Adam",    "Sgd",    "Lion",
                                                     "Grad",  "Dataset", "Batches"};
  const auto& builtin = node.has_arguments ? generic : lone;
  if (!of_layer_ && !elsewhere) known.insert(known.end(), builtin.begin(), builtin.end());
  if (node.has_arguments && !elsewhere) known.push_back("BatchNorm");
  auto& d = report("E0202", node.name,
                   simple.contains(name) ? fmt::format("`{}` takes no sizes", name)
                                         : fmt::format("unknown type `{}`", name),
                   simple.contains(name) ? "a single value"
                   : dtype_named(name)   ? "a dtype follows the axes, as in `[n] bf16`"
                                         : "no type has this name");
  if (!habit_of_type(d, node)) suggest(d, node.name, name, known);
  return {};
}

// `AdamW[Mlp]`, `Dataset[Digit]` and their like.
type checker::resolve_generic(const type_expr& node, size_scope& scope, bool fresh) {
  const auto name = std::string{text(node.name)};
  const bool of_record = name == "Dataset" || name == "Batches";
  if (node.arguments.size() != 1) {
    report(of_record ? "E0903" : "E0202", node.where,
           fmt::format("`{}` is of one {}", name, of_record ? "record" : "model"),
           fmt::format("as in `{}[{}]`", name, of_record ? "Digit" : "Mlp"));
    return {};
  }
  const auto& argument = node.arguments[0];
  span where;
  type inner;
  if (argument.type != type_id::none) {
    where = t().at(argument.type).where;
    inner = resolve(argument.type, scope, fresh);
    if (is_poison(inner)) return {};
  } else {
    const auto& lone_name = t().at(argument.dim);
    where = lone_name.where;
    type_expr lone;
    lone.file = lone_name.file;
    lone.name = lone_name.kind == dim_expr::name ? lone_name.word : where;
    lone.where = where;
    const auto* found = find_type(lone.file, lone.name);
    if (found != nullptr && found->kind == entity::record) {
      inner = scalar_of(base_type::record);
      inner.declaration = found->index;
    } else if (found != nullptr && found->kind == entity::model) {
      inner = model_use(found->index, lone, scope, fresh);
      if (is_poison(inner)) return {};
    } else if (found == nullptr && lone_name.kind == dim_expr::name) {
      if (text(where) == "BatchNorm") return {};
      inner = resolve_named(lone, scope, fresh);
      if (is_poison(inner)) return {};
    }
  }
  if (of_record != is(inner, base_type::record) || (!of_record && !is(inner, base_type::model))) {
    report(of_record ? "E0903" : "E0202", where,
           fmt::format("`{}` is of a {}, and `{}` is none", name, of_record ? "record" : "model",
                       text(where)),
           of_record ? "not declared with `data`" : "not declared with `model`");
    return {};
  }
  auto out = inner;
  out.base = name == "Dataset"   ? base_type::dataset
             : name == "Batches" ? base_type::batches
             : name == "Grad"    ? base_type::gradient
                                 : base_type::optimizer;
  out.name = name;
  return out;
}

// A model's name in a type, with its sizes or those of the scope.
type checker::model_use(uint32_t index, const type_expr& node, size_scope& scope, bool fresh) {
  const auto& model = models_[index];
  auto out = scalar_of(base_type::model);
  out.declaration = index;
  if (node.arguments.empty()) {
    for (const auto one : model.dims) {
      const auto& name = symbols_[one].name;
      const auto* found = find(name);
      if (const auto here = scope.find(name); here != scope.end()) {
        out.dims.push_back(here->second);
        out.dim_names.push_back(name);
      } else if (found != nullptr && found->kind == entity::dim) {
        if (!dims_[found->index].known) return {};
        out.dims.push_back(size_form{dims_[found->index].value});
        out.dim_names.push_back(name);
      } else {
        auto& d =
          report("E0205", node.where, fmt::format("`{}` needs a size for `{}`", model.name, name),
                 "its sizes are not given");
        d.help.push_back(
          fmt::format("write it as `{}[...]`, or declare `dim {} = ...`", model.name, name));
        return {};
      }
    }
    if (!out.dims.empty()) model_uses_.push_back({module_, {node.where}, out});
    return out;
  }
  std::vector<span> places;
  for (const auto& one : node.arguments) {
    if (one.dim == dim_id::none) {
      report("E0202", node.where, fmt::format("`{}` takes sizes", model.name), "not a size");
      return {};
    }
    bool ok = true;
    auto size = resolve_axis(one.dim, scope, fresh, ok);
    if (!ok) return {};
    out.dims.push_back(std::move(size.size));
    out.dim_names.push_back(size.text());
    places.push_back(t().at(one.dim).where);
  }
  if (out.dims.size() == model.dims.size()) {
    model_uses_.push_back({module_, std::move(places), out});
    return out;
  }
  report("E0202", node.where,
         fmt::format("`{}` takes {} sizes, and {} are given", model.name, model.dims.size(),
                     out.dims.size()),
         "another number of sizes");
  return {};
}

} // namespace shapescript
