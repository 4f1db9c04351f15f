#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

// -- records and models --------------------------------------------------------

void checker::add_batch_norm() {
  model_info bn{0, nullptr, "BatchNorm", {}, {}, {}, {}};
  bn.dims.push_back(new_symbol("D", {}));
  const axis d{"D", size_form::of(bn.dims[0])};
  bn.scope.emplace("D", d.size);
  for (const auto* name : {"gain", "bias"})
    bn.members.push_back({member_kind::param, name, {}, tensor_of({d})});
  for (const auto* name : {"mean", "var"})
    bn.members.push_back({member_kind::buffer, name, {}, tensor_of({d})});
  bn.members.push_back({member_kind::buffer, "count", {}, tensor_of({}, dtype::i64)});
  models_.push_back(std::move(bn));
}

void checker::resolve_records() {
  for (auto& record : records_) {
    module_ = record.module;
    size_scope scope;
    std::map<std::string_view, span> seen;
    for (const auto& field : record.decl->fields) {
      const auto name = text(field.name);
      const auto [place, fresh] = seen.emplace(name, field.name);
      if (!fresh) {
        auto& d = report("E0203", field.name, fmt::format("field `{}` is declared twice", name),
                         "declared again");
        mark(d, place->second, "first declared here");
      }
      auto what = resolve(field.type, scope, true);
      if (!is_poison(what) && !is_tensor(what)) {
        report("E0901", t().at(field.type).where,
               fmt::format("field `{}` is `{}`, and a record holds tensors", name, show(what)),
               "not a tensor");
        what = {};
      }
      const auto owner = static_cast<uint32_t>(&record - records_.data());
      record.names.push_back(new_name(name_kind::field, name, field.name, what, owner));
      record.fields.push_back(std::move(what));
    }
  }
}

void checker::resolve_models() {
  for (uint32_t i = 1; i < models_.size(); ++i) {
    auto& model = models_[i];
    module_ = model.module;
    for (const auto where : model.decl->dims) {
      const std::string name{text(where)};
      const auto one = new_symbol(name, where);
      symbols_[one].name_at =
        new_name(name_kind::axis, name, where, scalar_of(base_type::integer), i);
      if (!model.scope.emplace(name, size_form::of(one)).second) {
        report("E0203", where, fmt::format("`{}` is declared twice", name), "declared again");
        continue;
      }
      model.dims.push_back(one);
    }
  }
  for (uint32_t i = 1; i < models_.size(); ++i) resolve_model(i);
  check_model_cycles();
}

void checker::resolve_model(uint32_t index) {
  auto& model = models_[index];
  module_ = model.module;
  needs_ = &model.needs;
  std::map<std::string_view, span> seen;
  const auto add_name = [&](span where) {
    const auto [place, fresh] = seen.emplace(text(where), where);
    if (fresh) return;
    auto& d =
      report("E0203", where, fmt::format("`{}` is declared twice", text(where)), "declared again");
    mark(d, place->second, "first declared here");
  };
  for (const auto& member : model.decl->members) {
    add_name(member.name);
    resolve_member(model, member);
  }
  needs_ = nullptr;
  for (uint32_t f = 0; f < functions_.size(); ++f) {
    if (functions_[f].owner != index) continue;
    functions_[f].name_at = new_name(name_kind::method, text(functions_[f].decl->name),
                                     functions_[f].decl->name, {}, index);
    const auto name = text(functions_[f].decl->name);
    const auto twice = model.methods.find(name);
    if (twice != model.methods.end() && functions_[twice->second].decl->broken) {
      twice->second = f;
      continue;
    }
    add_name(functions_[f].decl->name);
    model.methods.emplace(text(functions_[f].decl->name), f);
  }
}

// Names that no dim explains would be sizes of any value, which a member cannot have.
void checker::need_fixed(const std::string& name, const model_info& owner, size_t first) {
  const auto& stranger = symbols_[first];
  auto& d = report("E0802", stranger.declared,
                   fmt::format("`{}` has the axis `{}` of no fixed size", name, stranger.name),
                   "not a dim");
  d.help.push_back(fmt::format("declare `dim {0} = ...`, or make it a size of the model: `model "
                               "{1}[{0}]:`",
                               stranger.name, owner.name));
}

void checker::resolve_member(model_info& owner, const model_member& member) {
  member_info out{member.kind, text(member.name), member.name, {}};
  const auto keep = [&] {
    const auto index = static_cast<uint32_t>(&owner - models_.data());
    out.name_at = new_name(name_kind::member, out.name, out.where, out.what, index);
    owner.members.push_back(std::move(out));
  };
  if (member.kind == member_kind::layer) {
    const auto first = symbols_.size();
    size_scope scope = owner.scope;
    if (member.count != dim_id::none) {
      bool ok = true;
      out.count = resolve_axis(member.count, scope, true, ok).size;
      if (!ok) out.count.reset();
    }
    of_layer_ = true;
    auto inner = resolve(member.type, scope, true);
    of_layer_ = false;
    if (scope.size() > owner.scope.size()) {
      need_fixed(std::string{out.name}, owner, first);
      inner = {};
    }
    if (!is_poison(inner) && !is(inner, base_type::model)) {
      report("E0202", t().at(member.type).where,
             fmt::format("layer `{}` is `{}`, and a layer is a model", out.name, show(inner)),
             "not declared with `model`");
      inner = {};
    }
    out.what = inner;
    if (member.count != dim_id::none) {
      out.what = scalar_of(is_poison(inner) ? base_type::poison : base_type::layers);
      out.what.parts.push_back(inner);
      out.what.value = out.count;
    }
    keep();
    return;
  }
  const auto first = symbols_.size();
  size_scope scope = owner.scope;
  out.what = resolve(member.type, scope, true);
  if (scope.size() > owner.scope.size()) {
    need_fixed(std::string{out.name}, owner, first);
    out.what = {};
  }
  if (!is_poison(out.what) && !is_tensor(out.what)) {
    report("E0202", t().at(member.type).where,
           fmt::format("`{}` is `{}`, and parameters are tensors", out.name, show(out.what)),
           "not a tensor type");
    out.what = {};
  }
  if (member.initial == expr_id::none && !member.broken) {
    const auto* kind = member.kind == member_kind::param ? "param" : "buffer";
    auto& d =
      report("E0801", member.name, fmt::format("{} `{}` has no initialiser", kind, out.name),
             "how does it begin?");
    d.help.push_back("add one, such as `= normal(std=0.02)` or `= zeros()`");
    const auto end = t().at(member.type).where.end;
    d.fixes.push_back({{end, end}, " = zeros()"});
  }
  keep();
}

void checker::check_model_cycles() {
  enum class state : uint8_t { fresh, open, done };
  std::vector<state> states(models_.size(), state::fresh);
  struct frame {
    uint32_t model;
    size_t next;
  };
  for (uint32_t first = 1; first < models_.size(); ++first) {
    std::vector<frame> open;
    if (states[first] == state::fresh) {
      open.push_back({first, 0});
      states[first] = state::open;
    }
    while (!open.empty()) {
      auto& [index, next] = open.back();
      auto& members = models_[index].members;
      if (next == members.size()) {
        states[index] = state::done;
        open.pop_back();
        continue;
      }
      const auto place = next++;
      auto& what = members[place].what;
      const auto& inner = is(what, base_type::layers) ? what.parts[0] : what;
      if (!is(inner, base_type::model)) continue;
      const auto target = inner.declaration;
      if (states[target] == state::open) {
        module_ = models_[index].module;
        const auto& decl = models_[index].decl->members[place];
        report("E0805", t().at(decl.type).where,
               fmt::format("`{}` contains itself", models_[target].name),
               index == target ? "a model of the same kind" : "this leads back to it");
        what = {};
      } else if (states[target] == state::fresh) {
        states[target] = state::open;
        open.push_back({target, 0});
      }
    }
  }
}

// Initialisers and defaults are expressions without locals.
void checker::check_initialisers() {
  for (uint32_t i = 1; i < models_.size(); ++i) {
    auto& model = models_[i];
    module_ = model.module;
    scope_ = &model.scope;
    function_ = no_index;
    locals_.clear();
    for (size_t k = 0; k < model.decl->members.size(); ++k) {
      const auto& member = model.decl->members[k];
      if (member.initial == expr_id::none) continue;
      const auto what = expression(member.initial);
      if (is_poison(what) || is_poison(model.members[k].what)) continue;
      check_initialiser(model.members[k], what, t().at(member.initial).where);
    }
  }
  scope_ = nullptr;
}

void checker::check_initialiser(const member_info& member, const type& what, span where) {
  const auto& want = member.what;
  const auto name = fmt::format("`{}`", member.name);
  if (!is(what, base_type::initializer)) {
    const auto fit = fits(what, want);
    if (fit == misfit::none) return;
    auto* d = report_misfit(fit, what, want, where, "E0404", name);
    mark(*d, member.where, fmt::format("`{}` is `{}`", member.name, show(want)));
    if (is_number(what) && fit == misfit::shape)
      last_report().help.push_back(
        fmt::format("one number fills a tensor by `full({})`", text(where)));
    return;
  }
  const auto* called = find_builtin(what.name);
  if (called == nullptr || !fills_params(*called)) {
    auto& d = report("E0404", where, fmt::format("`{}` is no initialiser", what.name),
                     "does not fill a tensor of any shape");
    d.help.push_back("known are `normal uniform zeros ones full xavier kaiming orthogonal eye`");
    return;
  }
  static const std::set<std::string_view> of_any_dtype{"zeros", "ones", "full", "eye"};
  if (!of_any_dtype.contains(what.name) && !is_float(want.element)) {
    report("E0503", where,
           fmt::format("`{}` fills float tensors, but {} is `{}`", what.name, name, show(want)),
           "gives floats");
    return;
  }
  auto have = tensor_of(want.axes, want.element, what.known);
  if (what.name == "eye" && is_tensor(want) && want.axes.size() != 2) {
    report("E0404", where, fmt::format("`eye` fills a matrix, but {} is `{}`", name, show(want)),
           "needs two axes");
    return;
  }
  have.value = what.value;
  have.numbers = what.numbers;
  if (what.literal && !is_float(want.element)) have.element = dtype::f32;
  const auto number = what.value ? what.value->number() : std::nullopt;
  if (want.known == refinement::index && number) {
    have.known = refinement::index;
    have.bound = *number == 0 ? want.bound : axis{"", size_form{*number + 1}};
  }
  report_misfit(fits(have, want), have, want, where, "E0404", name);
}

// -- signatures ----------------------------------------------------------------

void checker::resolve_function(uint32_t index) {
  auto& f = functions_[index];
  module_ = f.module;
  needs_ = &f.needs;
  if (f.owner != no_index) f.scope = models_[f.owner].scope;
  const auto first = static_cast<symbol>(symbols_.size());
  resolve_parameters(f);
  for (auto one = first; one < symbols_.size(); ++one) f.given.push_back(one);
  const auto& decl = *f.decl;
  f.result = scalar_of(base_type::none);
  if (decl.tuple_result) {
    f.result = scalar_of(base_type::tuple);
    for (const auto one : decl.results) f.result.parts.push_back(resolve(one, f.scope, true));
    // Of one part that cannot be read it is not known how many were meant.
    if (f.result.parts.size() == 1 && is_poison(f.result.parts[0])) f.result = {};
  } else if (!decl.results.empty()) {
    f.result = resolve(decl.results[0], f.scope, true);
  }
  if (decl.broken) f.result = {};
  for (auto one = first + f.given.size(); one < symbols_.size(); ++one)
    f.only_in_result.push_back(static_cast<symbol>(one));
  if (decl.is_extern && !check_extern(f)) {
    // Its calls are not blamed for what is wrong here.
    for (auto& p : f.parameters) p.what = {};
    f.result = {};
  }
  f.resolved = true;
  needs_ = nullptr;
}

void checker::resolve_parameters(function_info& f) {
  const auto& decl = *f.decl;
  std::map<std::string_view, span> seen;
  for (size_t i = 0; i < decl.parameters.size(); ++i) {
    const auto& p = decl.parameters[i];
    parameter_info out{text(p.name), p.name, {}, !(p.mut == span{}), p.initial != expr_id::none};
    const auto [place, fresh] = seen.emplace(out.name, p.name);
    if (!fresh) {
      auto& d = report("E0203", p.name, fmt::format("parameter `{}` is declared twice", out.name),
                       "declared again");
      mark(d, place->second, "first declared here");
    }
    const bool by_place = f.owner == no_index && text(decl.name) == "main";
    const bool behind = by_place && i > 0 && decl.parameters[i - 1].initial != expr_id::none;
    if (behind && p.initial == expr_id::none) {
      auto& d = report("E0604", p.name,
                       fmt::format("`{}` has no default, but `{}` before it has one", out.name,
                                   text(decl.parameters[i - 1].name)),
                       "could not be given by its place alone");
      d.help.push_back("put the parameters with defaults last");
    }
    if (p.type != type_id::none) {
      out.what = resolve(p.type, f.scope, true);
    } else if (f.owner != no_index && i == 0) {
      out.what = scalar_of(base_type::model);
      out.what.declaration = f.owner;
      for (const auto one : models_[f.owner].dims) {
        out.what.dims.push_back(size_form::of(one));
        out.what.dim_names.push_back(symbols_[one].name);
      }
    } else {
      report("E0110", p.name, "`self` is the first parameter of a method",
             "a type is missing here, as in `x: [n]`");
    }
    if (is(out.what, base_type::record)) {
      // A batch of records is split along its axis.
      for (const auto& one : out.what.axes)
        if (const auto lone = one.size.lone()) symbols_[*lone].batch = true;
    }
    out.name_at = new_name(name_kind::parameter, out.name, out.where, out.what,
                           static_cast<uint32_t>(&f - functions_.data()));
    f.parameters.push_back(std::move(out));
  }
  if (f.owner != no_index && !has_syntax_error(decl.where)
      && (decl.parameters.empty() || text(decl.parameters[0].name) != "self"))
    report("E0603", decl.name, fmt::format("method `{}` has no `self`", text(decl.name)),
           "its first parameter is `self` or `mut self`");
}

bool checker::check_extern(const function_info& f) {
  const auto quoted = text(f.decl->python);
  const auto path = quoted.size() < 2 ? quoted : quoted.substr(1, quoted.size() - 2);
  if (path.find('.') == path.npos || path.front() == '.' || path.back() == '.')
    report("E0110", f.decl->python, fmt::format("{} names no Python function", quoted),
           "expected \"module.function\"");
  std::optional<size_form> first;
  std::string first_name;
  span first_where;
  for (const auto& p : f.parameters) {
    if (!is_tensor(p.what)) continue;
    const bool begins = !p.what.axes.empty() && p.what.axes[0].size.lone().has_value();
    if (begins && !first) {
      first = p.what.axes[0].size;
      first_name = show(p.what.axes[0]);
      first_where = p.where;
    }
    if (begins && *first == p.what.axes[0].size) continue;
    auto& d =
      report("E1403", p.where,
             first ? fmt::format("`{}` does not begin with the axis `{}`", p.name, first_name)
                   : fmt::format("`{}` does not begin with a batch axis", p.name),
             fmt::format("it is `{}`", show(p.what)));
    mark(d, first_where, fmt::format("this one begins with `{}`", first_name));
    d.notes.push_back("an `extern fn` works on each example alone: all its tensors begin with the "
                      "same axis of examples");
    return false;
  }
  const auto check_result = [&](const type& what, type_id id) {
    if (is_poison(what) || !first) return true;
    if (is_tensor(what) && !what.axes.empty() && what.axes[0].size == *first) return true;
    auto& d = report("E1904", t().at(id).where,
                     fmt::format("the result of `{}` does not begin with its batch axis `{}`",
                                 text(f.decl->name), first_name),
                     fmt::format("`{}`", show(what)));
    mark(d, first_where, fmt::format("the examples are along `{}`", first_name));
    return false;
  };
  for (size_t i = 0; i < f.decl->results.size(); ++i) {
    if (f.decl->tuple_result && i >= f.result.parts.size()) break;
    const auto& what = f.decl->tuple_result ? f.result.parts[i] : f.result;
    if (!check_result(what, f.decl->results[i])) return false;
  }
  return true;
}

} // namespace shapescript
