#include "shapescript/lower/hover_facts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "shapescript/lower/cost.hpp"

namespace shapescript {

namespace {

bool within(span inner, span outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

std::string count_of_devices(size_t count) {
  return count == 1 ? "1 device" : fmt::format("the {} devices", count);
}

int64_t bytes_of(dtype element) {
  switch (element) {
    case dtype::f64:
    case dtype::i64:
      return 8;
    case dtype::f32:
    case dtype::i32:
      return 4;
    case dtype::f16:
    case dtype::bf16:
    case dtype::i16:
      return 2;
    default:
      return 1;
  }
}

// Values and bytes; nothing where a size is open.
struct amount {
  int64_t values = 0;
  int64_t bytes = 0;
};

std::optional<amount> amount_of(const type& tensor, const auto& size_of) {
  if (!is_tensor(tensor)) return std::nullopt;
  amount out{1, 0};
  for (const auto& one : tensor.axes) {
    const auto size = size_of(one.size).number();
    if (!size || __builtin_mul_overflow(out.values, *size, &out.values)) return std::nullopt;
  }
  if (__builtin_mul_overflow(out.values, bytes_of(tensor.element), &out.bytes)) return std::nullopt;
  return out;
}

// The params of a model of these sizes, those of its layers too.
std::optional<amount> params_of(const typed_tree& program, const type& model, int depth = 0) {
  constexpr int depth_max = 64; // layers of layers
  if (!is(model, base_type::model) || depth > depth_max) return std::nullopt;
  const auto& info = program.models[model.declaration];
  const auto size_of = [&](const size_form& size) {
    return size.replace([&](symbol one) {
      const auto place = std::find(info.dims.begin(), info.dims.end(), one);
      const auto i = static_cast<size_t>(place - info.dims.begin());
      return i < model.dims.size() ? model.dims[i] : size_form::of(one);
    });
  };
  amount all;
  for (const auto& one : info.members) {
    if (one.kind == member_kind::buffer) continue;
    const bool list = is(one.what, base_type::layers);
    auto inner = list ? one.what.parts.at(0) : one.what;
    std::optional<amount> part;
    if (one.kind == member_kind::param) {
      part = amount_of(inner, size_of);
    } else {
      for (auto& size : inner.dims) size = size_of(size);
      part = params_of(program, inner, depth + 1);
    }
    const auto count = !list ? 1 : one.count ? size_of(*one.count).number() : std::nullopt;
    if (!part || !count || *count < 0) return std::nullopt;
    if (__builtin_mul_overflow(part->values, *count, &part->values)
        || __builtin_mul_overflow(part->bytes, *count, &part->bytes)
        || __builtin_add_overflow(all.values, part->values, &all.values)
        || __builtin_add_overflow(all.bytes, part->bytes, &all.bytes))
      return std::nullopt;
  }
  return all;
}

std::string show(const amount& what) {
  return fmt::format("{} value{}, {} bytes", grouped(what.values), what.values == 1 ? "" : "s",
                     grouped(what.bytes));
}

class fact_finder {
public:
  fact_finder(const typed_tree& program, const name_info& what)
      : program_(program), what_(what), in_(*program.modules[what.module]) {
    // nop
  }

  std::vector<std::string> run() {
    switch (what_.kind) {
      case name_kind::dim:
        of_dim();
        break;
      case name_kind::axis:
        of_axis();
        break;
      case name_kind::record:
        of_record();
        break;
      case name_kind::field:
        for (const auto& one : program_.records)
          if (one.module == what_.module && holds(one.names))
            say("a field of `data {}`", in_.text.text(one.decl->name));
        break;
      case name_kind::model:
        for (uint32_t i = 1; i < program_.models.size(); ++i)
          if (program_.models[i].module == what_.module
              && program_.models[i].decl->name == what_.declared)
            of_model(i);
        break;
      case name_kind::member:
        of_member();
        break;
      case name_kind::method:
        if (what_.owner < program_.models.size())
          say("a method of `model {}`", program_.models[what_.owner].name);
        break;
      case name_kind::function:
        of_function();
        break;
      case name_kind::python:
        say("a Python module; its functions run in the controller");
        break;
      case name_kind::file:
        of_file();
        return std::move(out_);
      default:
        return std::move(out_);
    }
    if (what_.module != 0 && what_.kind != name_kind::axis)
      say("declared in {}, line {}", in_.text.name(), in_.text.line_of(what_.declared.begin));
    return std::move(out_);
  }

private:
  template <class... Parts>
  void say(fmt::format_string<Parts...> form, Parts&&... parts) {
    out_.push_back(fmt::format(form, std::forward<Parts>(parts)...));
  }

  uint32_t index() const {
    return static_cast<uint32_t>(&what_ - program_.names.data());
  }

  bool holds(const std::vector<uint32_t>& names) const {
    return std::find(names.begin(), names.end(), index()) != names.end();
  }

  // The sizes that a dim is made of.
  void sizes_in(dim_id id, std::vector<std::string>& out) const {
    if (id == dim_id::none) return;
    const auto& node = in_.program.program.at(id);
    if (node.kind == dim_expr::binary) {
      sizes_in(node.left, out);
      sizes_in(node.right, out);
    }
    if (node.kind != dim_expr::name) return;
    const auto* use = program_.use_at(what_.module, node.word.begin);
    if (use == nullptr) return;
    const auto& value = program_.names[use->name].what.value;
    const auto number = value ? value->number() : std::nullopt;
    if (!number) return;
    auto said = fmt::format("`{}` is {}", in_.text.text(node.where), *number);
    if (std::find(out.begin(), out.end(), said) == out.end()) out.push_back(std::move(said));
  }

  void of_dim() {
    for (const auto& one : program_.dims) {
      if (one.module != what_.module || !(one.decl->name == what_.declared)) continue;
      std::vector<std::string> parts;
      sizes_in(one.decl->value, parts);
      if (!parts.empty()) say("{}", listed(parts));
      const auto& split = program_.devices.split;
      const auto count = static_cast<int64_t>(program_.devices.count);
      if (one.known && count > 1
          && std::find(split.begin(), split.end(), what_.name) != split.end())
        say("split over {}, {} on each", count_of_devices(program_.devices.count),
            one.value / count);
    }
  }

  const function_info* function_of_axis() const {
    for (const auto& f : program_.functions) {
      if (f.module != what_.module) continue;
      const auto size = f.scope.find(what_.name);
      const auto lone = size == f.scope.end() ? std::nullopt : size->second.lone();
      if (lone && program_.symbols[*lone].name_at == index()) return &f;
    }
    return what_.owner < program_.functions.size() ? &program_.functions[what_.owner] : nullptr;
  }

  void of_axis() {
    for (const auto& model : program_.models)
      if (model.decl != nullptr && model.module == what_.module)
        for (const auto one : model.decl->dims)
          if (one == what_.declared)
            return say("a size of `model {0}`, which a use such as `{0}[...]` gives", model.name);
    const auto* around = function_of_axis();
    if (around == nullptr) return;
    const auto& f = *around;
    const auto size = f.scope.find(what_.name);
    const auto lone = size == f.scope.end() ? std::nullopt : size->second.lone();
    const bool own = lone && program_.symbols[*lone].name == what_.name;
    if (size != f.scope.end() && !own)
      return say("{} `{}`", lone ? "another name for the axis" : "an axis of size",
                 program_.show(size->second));
    const bool batch = own && program_.symbols[*lone].batch;
    if (batch && program_.devices.count > 1)
      say("an axis of examples, split over {}", count_of_devices(program_.devices.count));
    else
      say("{}", batch ? "an axis of examples" : "an axis of any size");
    if (f.module != what_.module) return;
    for (const auto& one : f.decl->parameters)
      if (within(what_.declared, one.where))
        return say("first named by `{}`", in_.text.text(one.where));
    if (own
        && std::find(f.only_in_result.begin(), f.only_in_result.end(), *lone)
             != f.only_in_result.end())
      say("only in the result: a call gives it by name, `{}=`", what_.name);
  }

  void of_record() {
    for (const auto& one : program_.records) {
      if (one.module != what_.module || !(one.decl->name == what_.declared)) continue;
      std::vector<std::string> fields;
      for (size_t i = 0; i < one.fields.size(); ++i)
        fields.push_back(fmt::format("`{}: {}`", in_.text.text(one.decl->fields[i].name),
                                     program_.show(one.fields[i])));
      if (!fields.empty()) say("{}", listed(fields));
    }
  }

  void of_model(uint32_t index) {
    auto one = scalar_of(base_type::model);
    one.declaration = index;
    if (!program_.models[index].dims.empty()) return;
    if (const auto all = params_of(program_, one); all && all->values > 0)
      say("{} of params", show(*all));
  }

  void of_member() {
    if (what_.owner >= program_.models.size()) return;
    const auto& model = program_.models[what_.owner];
    for (const auto& one : model.members) {
      if (one.name_at != index()) continue;
      constexpr std::string_view words[] = {"param", "buffer", "layer"};
      const auto word = words[static_cast<size_t>(one.kind)];
      const auto count = one.count ? one.count->number() : std::nullopt;
      if (is(one.what, base_type::layers) && count)
        say("a list of {} layers of `model {}`", *count, model.name);
      else if (is(one.what, base_type::layers))
        say("a list of layers of `model {}`", model.name);
      else
        say("a {} of `model {}`", word, model.name);
      const auto same = [](const size_form& size) { return size; };
      if (one.kind == member_kind::param) {
        if (const auto all = amount_of(one.what, same)) say("{}", show(*all));
      } else if (is(one.what, base_type::model)) {
        if (const auto all = params_of(program_, one.what); all && all->values > 0)
          say("{} of params", show(*all));
      }
    }
  }

  void of_function() {
    for (const auto& f : program_.functions) {
      if (f.module != what_.module || !(f.decl->name == what_.declared) || !f.decl->is_extern)
        continue;
      auto python = in_.text.text(f.decl->python);
      if (python.size() < 2) continue;
      python = python.substr(1, python.size() - 2);
      say("Python's `{}`, which each device's worker calls on its own examples", python);
    }
  }

  void of_file() {
    const auto& names = in_.names;
    const auto place = names.find(what_.name);
    if (place == names.end() || place->second.index >= program_.modules.size()) return;
    const auto& other = *program_.modules[place->second.index];
    std::vector<std::string> declared;
    constexpr size_t shown_max = 12;
    for (const auto& [name, one] : other.names) {
      if (declared.size() == shown_max) {
        declared.emplace_back("more");
        break;
      }
      declared.push_back(fmt::format("`{}`", name));
    }
    if (declared.empty())
      say("{}", other.text.name());
    else
      say("{} declares {}", other.text.name(), listed(declared));
  }

  const typed_tree& program_;
  const name_info& what_;
  const module_info& in_;
  std::vector<std::string> out_;
};

std::string_view trimmed(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == line.npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// A comment's text without its sign.
std::string_view said_by(std::string_view comment) {
  comment.remove_prefix(std::min<size_t>(1, comment.size()));
  return trimmed(comment);
}

} // namespace

std::string listed(const std::vector<std::string>& all) {
  std::string out;
  for (size_t i = 0; i < all.size(); ++i)
    out += (i == 0 ? "" : i + 1 == all.size() ? " and " : ", ") + all[i];
  return out;
}

std::vector<std::string> facts_of(const typed_tree& program, const name_info& what) {
  return fact_finder{program, what}.run();
}

std::vector<std::string> device_facts(const typed_tree& program, span word) {
  std::vector<std::string> out;
  const auto& own = *program.modules[0];
  const auto& lines = own.program.program.devices;
  if (lines.empty()) return out;
  const auto& line = lines[0];
  const auto& devices = program.devices;
  if (line.where.begin == word.begin || line.kind == word) {
    if (devices.count > 1) {
      std::vector<std::string> each;
      constexpr size_t shown_max = 16;
      for (const auto one : line.indices)
        if (each.size() < shown_max)
          each.push_back(fmt::format("`{}:{}`", devices.kind, own.text.text(one)));
      out.push_back(
        fmt::format("{} devices, a worker process each: {}", devices.count, fmt::join(each, ", ")));
    } else {
      out.emplace_back("one device");
    }
  }
  for (const auto& option : line.options)
    if (within(word, option.where) && devices.count == 1)
      out.emplace_back("without effect on one device");
    else if (within(word, option.where) && own.text.text(option.word) == "shard")
      out.push_back(fmt::format("each of the {} devices keeps 1/{}", devices.count, devices.count));
  return out;
}

std::string comment_of(const typed_tree& program, const name_info& what) {
  const auto& in = *program.modules[what.module];
  const auto line = in.text.line_of(what.declared.begin);
  std::vector<std::string_view> above;
  std::string_view beside;
  const auto& comments = in.program.comments;
  auto next = line;
  for (auto i = comments.rbegin(); i != comments.rend(); ++i) {
    const auto at = in.text.line_of(i->where.begin);
    if (at == line && !i->alone) beside = said_by(in.text.text(i->where));
    if (at >= line || !i->alone) continue;
    if (at + 1 != next) break;
    above.push_back(said_by(in.text.text(i->where)));
    next = at;
  }
  std::string out;
  for (auto i = above.rbegin(); i != above.rend(); ++i) {
    if (!out.empty()) out += '\n';
    out += *i;
  }
  return out.empty() ? std::string{beside} : out;
}

} // namespace shapescript
