#include "shapescript/lsp/calls.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "shapescript/lower/hover_facts.hpp"
#include "shapescript/lsp/cursor.hpp"
#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

namespace {

using k = token_kind;

callee forward_of(const view& of, const type& what) {
  callee out;
  if (!is(what, base_type::model)) return out;
  const auto& methods = of.all().models[what.declaration].methods;
  const auto place = methods.find("forward");
  if (place == methods.end()) return out;
  out.function = place->second;
  out.method = true;
  return out;
}

callee inner_callee(const view& of, size_t last) {
  callee out;
  const auto name = of.at(of.file().program.tokens[last].where);
  for (const auto& one : names_inside(of, type_until(of, last - 2))) {
    if (one.name != name) continue;
    if (one.kind == name_kind::member) return forward_of(of, one.what);
    out.function = one.function;
    out.model = one.model;
    out.method = one.kind == name_kind::method;
  }
  return out;
}

callee named_callee(const view& of, size_t last) {
  const auto where = of.file().program.tokens[last].where;
  const auto name = of.at(where);
  for (const auto* one : names_at(of, where.begin)) {
    const bool variable = one->kind == name_kind::local || one->kind == name_kind::parameter;
    if (variable && one->name == name) return forward_of(of, type_until(of, last));
  }
  callee out;
  const auto place = of.file().names.find(name);
  if (place == of.file().names.end()) {
    out.known = find_builtin(name);
  } else if (place->second.kind == entity::function) {
    out.function = place->second.index;
  } else if (place->second.kind == entity::model) {
    out.model = place->second.index;
  }
  return out;
}

// `Lin[3 4](`, `zeros[n](`, `m.blocks[0](`
callee indexed_callee(const view& of, size_t last) {
  const auto open = opening_of(of, last);
  if (!open || *open == 0) return {};
  auto out = callee_at(of, *open - 1);
  out.brackets = true;
  if (out.model != no_index || (out.known != nullptr && forms_of(*out.known).front().brackets))
    return out;
  if (out.known != nullptr)
    for (const auto& one : forms_of(*out.known))
      if (one.brackets) return out;
  return forward_of(of, type_until(of, last));
}

// `eval(f)(`, `checkpoint(f)(`
callee wrapped_callee(const view& of, size_t last) {
  const auto open = opening_of(of, last);
  if (!open || *open == 0 || *open + 1 >= last) return {};
  const auto outer = callee_at(of, *open - 1);
  if (outer.known == nullptr || outer.known->how != rule::wrap) return {};
  return callee_at(of, last - 1);
}

} // namespace

callee callee_at(const view& of, size_t last) {
  const auto& all = of.file().program.tokens;
  switch (all[last].kind) {
    case k::name:
      if (last >= 2 && all[last - 1].kind == k::dot) return inner_callee(of, last);
      return named_callee(of, last);
    case k::close_bracket:
      return indexed_callee(of, last);
    case k::close_paren:
      return wrapped_callee(of, last);
    default:
      return {};
  }
}

// -- the call around -----------------------------------------------------------

namespace {

bool ends_line(k kind) {
  return kind == k::newline || kind == k::indent || kind == k::dedent || kind == k::end;
}

// Reads the arguments between a parenthesis and a place.
void read_arguments(const view& of, size_t open, size_t end, call_around& out) {
  const auto& all = of.file().program.tokens;
  size_t depth = 0;
  for (size_t i = open + 1; i < end; ++i) {
    const auto kind = all[i].kind;
    if (kind == k::open_paren || kind == k::open_bracket) ++depth;
    if ((kind == k::close_paren || kind == k::close_bracket) && depth > 0) --depth;
    if (depth > 0) continue;
    if (kind == k::comma) {
      if (out.argument++ == 0) out.first = i - 1;
      if (!out.named.empty()) out.given.push_back(out.named);
      out.named = {};
    } else if (kind == k::assign && all[i - 1].kind == k::name) {
      out.named = of.at(all[i - 1].where);
    } else if (kind == k::colon || kind == k::arrow) {
      if (kind == k::colon && out.argument == 0) out.first = i - 1;
      out.patterns = true;
    }
  }
}

} // namespace

std::optional<call_around> call_at(const view& of, uint32_t offset) {
  const auto& all = of.file().program.tokens;
  const auto last = token_before(of, offset);
  if (!last) return std::nullopt;
  size_t depth = 0;
  for (size_t i = *last + 1; i-- > 0;) {
    const auto kind = all[i].kind;
    if (ends_line(kind)) return std::nullopt;
    if (kind == k::close_paren || kind == k::close_bracket) ++depth;
    if (kind != k::open_paren && kind != k::open_bracket) continue;
    if (depth > 0) {
      --depth;
      continue;
    }
    const bool follows = i > 0
                         && (all[i - 1].kind == k::name || all[i - 1].kind == k::close_bracket
                             || all[i - 1].kind == k::close_paren);
    if (kind == k::open_bracket || !follows) continue; // a list, an index or a group inside
    call_around out;
    out.callee = i - 1;
    const auto first = begin_of(of, i - 1);
    if (first > 0 && all[first - 1].kind == k::kw_fn) return std::nullopt; // it is declared
    out.piped = first > 0 && all[first - 1].kind == k::pipe;
    read_arguments(of, i, *last + 1, out);
    return out;
  }
  return std::nullopt;
}

// -- signatures ----------------------------------------------------------------

namespace {

call_signature of_form(const builtin& what, const builtin_form& form) {
  call_signature out;
  out.label = form.text;
  out.documentation = documentation_of(what.name);
  for (const auto& one : form.parameters) {
    call_parameter p;
    p.text = one.text;
    p.name = one.slot.name;
    p.required = !one.slot.optional && !one.slot.variadic && !one.slot.name.empty();
    p.by_name = one.slot.by_name;
    p.is_mut = one.slot.is_mut;
    p.axes = one.slot.axes;
    p.variadic = one.slot.variadic;
    out.parameters.push_back(std::move(p));
  }
  return out;
}

// The name that the first argument is, if it is nothing else.
std::string_view first_name(const view& of, const call_around& call) {
  const auto& all = of.file().program.tokens;
  if (!call.first || *call.first != call.callee + 2 || all[*call.first].kind != k::name) return {};
  return of.at(all[*call.first].where);
}

const entity* named(const view& of, std::string_view name, entity::kind_t kind) {
  const auto place = of.file().names.find(name);
  const bool found = place != of.file().names.end() && place->second.kind == kind;
  return found ? &place->second : nullptr;
}

// `value_and_grad(loss, ...)` takes what `loss` does, `dataset(Digit, ...)` its fields.
void fill_in(const view& of, const builtin& what, const call_around& call, call_signature& out) {
  const auto name = first_name(of, call);
  if (name.empty()) return;
  std::vector<call_parameter> rest;
  if (what.how == rule::gradient) {
    const auto* found = named(of, name, entity::function);
    if (found == nullptr) return;
    const auto& f = of.all().functions[found->index];
    const auto& text = of.all().modules[f.module]->text;
    for (size_t i = 0; i < f.decl->parameters.size(); ++i) {
      call_parameter p;
      p.text = text.text(f.decl->parameters[i].where);
      p.required = f.decl->parameters[i].initial == expr_id::none;
      if (i < f.parameters.size()) p.what = f.parameters[i].what;
      rest.push_back(std::move(p));
    }
  } else if (what.how == rule::dataset) {
    const auto* found = named(of, name, entity::record);
    if (found == nullptr) return;
    const auto& record = of.all().records[found->index];
    for (const auto& field : record.decl->fields) {
      call_parameter p;
      p.name = of.all().modules[record.module]->text.text(field.name);
      p.text = p.name + "=";
      p.by_name = true;
      rest.push_back(std::move(p));
    }
  } else {
    return;
  }
  out.parameters.resize(1);
  out.label = fmt::format("{}({}", what.name, out.parameters[0].text);
  for (auto& one : rest) {
    out.label += ", " + one.text;
    out.parameters.push_back(std::move(one));
  }
  out.label += ")";
}

} // namespace

type first_type(const view& of, const call_around& call) {
  if (call.piped) {
    const auto begin = begin_of(of, call.callee);
    return begin < 2 ? type{} : type_until(of, begin - 2);
  }
  if (!call.first) return {};
  if (of.file().program.tokens[*call.first].kind == k::string) return scalar_of(base_type::text);
  return type_until(of, *call.first);
}

namespace {

std::vector<call_signature> of_builtin(const view& of, const callee& what,
                                       const call_around& call) {
  const auto forms = forms_of(*what.known);
  const auto fits = [&](const builtin_form& one) { return one.brackets == what.brackets; };
  const bool any = std::any_of(forms.begin(), forms.end(), fits);
  std::vector<call_signature> out;
  for (const auto& one : forms)
    if (!any || fits(one)) out.push_back(of_form(*what.known, one));
  if (out.size() == 1) {
    fill_in(of, *what.known, call, out[0]);
    return out;
  }
  const auto given = first_type(of, call);
  const bool stream = is(given, base_type::dataset) || is(given, base_type::batches);
  const bool second = what.known->name == "log" ? is(given, base_type::text) : stream;
  if (second && !call.patterns) std::swap(out[0], out[1]);
  return out;
}

call_signature of_function(const view& of, const callee& what) {
  const auto& f = of.all().functions[what.function];
  const auto& text = of.all().modules[f.module]->text;
  call_signature out;
  out.label = header_of(of, f);
  for (size_t i = 0; i < f.decl->parameters.size(); ++i) {
    const auto& one = f.decl->parameters[i];
    call_parameter p;
    p.text = text.text(one.where);
    p.name = text.text(one.name);
    p.required = one.initial == expr_id::none;
    p.is_mut = !(one.mut == span{});
    if (i < f.parameters.size()) p.what = f.parameters[i].what;
    out.parameters.push_back(std::move(p));
  }
  if (f.name_at != no_index) out.documentation = comment_of(of.all(), of.all().names[f.name_at]);
  const bool self = !out.parameters.empty() && out.parameters[0].name == "self";
  out.before = what.method && self ? 1 : 0;
  std::vector<std::string> open;
  for (const auto one : f.only_in_result)
    open.push_back(fmt::format("`{}=`", of.all().symbols[one].name));
  if (open.empty()) return out;
  if (!out.documentation.empty()) out.documentation += "\n\n";
  out.documentation += fmt::format("The axes of its result alone are given by {}.", listed(open));
  return out;
}

call_signature of_model(const view& of, const callee& what) {
  const auto& model = of.all().models[what.model];
  std::string sizes;
  for (const auto one : model.dims)
    sizes += (sizes.empty() ? "" : " ") + of.all().symbols[one].name;
  call_signature out;
  out.label = std::string{model.name} + (sizes.empty() ? "" : "[" + sizes + "]") + "(seed=?)";
  out.documentation = "Makes the model: its params are drawn from the seed, each by its own path.";
  call_parameter seed;
  seed.text = "seed=?";
  seed.name = "seed";
  seed.required = false;
  out.parameters.push_back(std::move(seed));
  return out;
}

} // namespace

std::vector<call_signature> signatures_of(const view& of, const call_around& call) {
  const auto what = callee_at(of, call.callee);
  if (what.known != nullptr) return of_builtin(of, what, call);
  if (what.function != no_index) return {of_function(of, what)};
  if (what.model != no_index) return {of_model(of, what)};
  return {};
}

std::optional<size_t> parameter_of(const call_signature& signature, const call_around& call) {
  const auto& all = signature.parameters;
  if (!call.named.empty()) {
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i].name == call.named) return i;
    for (size_t i = 0; i < all.size(); ++i) // one whose name the call chooses
      if (all[i].name.empty() && !all[i].variadic && all[i].text.find('=') != std::string::npos)
        return i;
    return std::nullopt;
  }
  const bool by_patterns = all.size() > 1 && all[1].text.find("->") != std::string::npos;
  if (by_patterns) return call.patterns || call.piped ? 1 : 0;
  const auto is_given = [&](size_t i) {
    return std::find(call.given.begin(), call.given.end(), all[i].name) != call.given.end();
  };
  // By position, past what is given by name only.
  auto position = call.argument - call.given.size() + (call.piped ? 1 : 0);
  auto at = signature.before;
  for (; at < all.size(); ++at) {
    if (all[at].by_name) continue;
    if (position == 0 || all[at].variadic) break;
    --position;
  }
  if (at < all.size() && !is_given(at) && (all[at].required || all[at].variadic)) return at;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].by_name && all[i].required && !is_given(i)) return i;
  if (at < all.size()) return at;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].by_name && !is_given(i)) return i;
  return std::nullopt;
}

} // namespace shapescript::lsp
