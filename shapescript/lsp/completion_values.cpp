#include <algorithm>

#include <fmt/format.h>

#include "shapescript/lsp/calls.hpp"
#include "shapescript/lsp/completion.hpp"
#include "shapescript/lsp/cursor.hpp"
#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

namespace {

// What the call around a place takes there.
struct argument_place {
  std::optional<call_around> call;
  callee called;
  std::vector<call_signature> signatures;
  const call_parameter* parameter = nullptr;
};

argument_place argument_at(const completion_place& at) {
  argument_place out;
  out.call = call_at(at.of, at.begin);
  if (!out.call) return out;
  out.called = callee_at(at.of, out.call->callee);
  out.signatures = signatures_of(at.of, *out.call);
  if (out.signatures.empty()) return out;
  if (const auto i = parameter_of(out.signatures[0], *out.call))
    out.parameter = &out.signatures[0].parameters[*i];
  return out;
}

// -- arguments -----------------------------------------------------------------

// `over=`: the axes of the value itself first.
void axis_names(const completion_place& at, const argument_place& argument, completion_items& out) {
  std::vector<std::string> own;
  if (argument.call)
    for (const auto& one : first_type(at.of, *argument.call).axes) own.push_back(one.name);
  for (const auto* one : names_at(at.of, at.offset)) {
    const bool axis = one->kind == name_kind::axis;
    if (!axis && one->kind != name_kind::dim) continue;
    const bool of_value = std::find(own.begin(), own.end(), one->name) != own.end();
    out.name(*one, of_value ? 0 : axis ? 1 : 2);
  }
}

// `pad(x, n=(1, 1))`: the axes of the value are names too.
void chosen_names(const completion_place& at, const argument_place& argument,
                  completion_items& out) {
  const auto* call = argument.call ? &*argument.call : nullptr;
  if (call == nullptr || argument.signatures.empty()) return;
  const auto& parameters = argument.signatures[0].parameters;
  const auto takes = [](const call_parameter& one) { return one.text.starts_with("AXIS="); };
  if (std::none_of(parameters.begin(), parameters.end(), takes)) return;
  for (const auto& one : first_type(at.of, *call).axes)
    if (!one.name.empty())
      out.add({one.name + "=", item_kind::field, fmt::format("axis {}", one.name), {}, {}, {}, {}},
              0);
}

void named_arguments(const completion_place& at, const argument_place& argument,
                     completion_items& out) {
  if (!argument.call || !argument.call->named.empty()) return;
  const auto& given = argument.call->given;
  const auto position = argument.call->argument + (argument.call->piped ? 1 : 0);
  // Where a value is due by position, names come after the values.
  const auto* due = argument.parameter;
  const bool late = due != nullptr && due->required && !due->by_name;
  const bool assigned = at.end > at.begin && at.of.at({at.end, at.end + 1}) == "=";
  for (const auto& signature : argument.signatures) {
    for (size_t i = signature.before; i < signature.parameters.size(); ++i) {
      const auto& one = signature.parameters[i];
      const bool before = !one.by_name && i < signature.before + position;
      if (one.name.empty() || one.variadic || one.is_mut || before) continue;
      if (std::find(given.begin(), given.end(), one.name) != given.end()) continue;
      // What is usually given by position comes after the values that may stand there.
      const bool usual = one.by_name || !one.required;
      item named{one.name + "=", item_kind::field, one.text, {}, {}, {}, {}};
      if (assigned) named.insert = one.name;
      out.add(std::move(named), !usual ? 3 : late ? 2 : 0);
    }
  }
  chosen_names(at, argument, out);
  if (argument.called.function == no_index) return;
  const auto& f = at.of.all().functions[argument.called.function];
  for (const auto one : f.only_in_result) {
    const auto& name = at.of.all().symbols[one].name;
    out.add({name + "=", item_kind::field, fmt::format("axis {}", name), {}, {}, {}, {}}, 0);
  }
}

// Whether a variable may be what a mut parameter changes.
bool may_change(const call_parameter& parameter, const type& what) {
  if (!is_poison(parameter.what)) return parameter.what.base == what.base;
  return parameter.name == "opt" ? is(what, base_type::optimizer) : is(what, base_type::model);
}

void changed_arguments(const completion_place& at, const call_parameter& parameter,
                       completion_items& out) {
  for (const auto* one : names_at(at.of, at.offset)) {
    const bool variable = one->kind == name_kind::local || one->kind == name_kind::parameter;
    if (!variable || !may_change(parameter, one->what)) continue;
    out.add({"mut " + one->name, item_kind::variable, at.of.all().show(one->what), {}, {}, {}, {}},
            0);
  }
  out.word("mut", 1);
}

// Words in quotes that an argument takes.
std::vector<std::string_view> texts_for(const argument_place& argument) {
  if (argument.called.known == nullptr || argument.parameter == nullptr) return {};
  const auto function = argument.called.known->name;
  const auto& name = argument.parameter->name;
  if (function == "batches" && name == "last") return {"\"pad\"", "\"drop\"", "\"keep\""};
  if (function == "reduce" && name == "by")
    return {"\"sum\"", "\"mean\"", "\"max\"", "\"min\"", "\"prod\""};
  return {};
}

// A function is passed by its name alone.
bool takes_function(const argument_place& argument) {
  return argument.called.known != nullptr && argument.parameter != nullptr
         && argument.parameter->name == "f";
}

bool takes_record(const argument_place& argument) {
  return argument.called.known != nullptr && argument.parameter != nullptr
         && argument.parameter->name == "record";
}

// -- values --------------------------------------------------------------------

// Of a declaration's values little is known: numbers and dims.
bool in_declaration(const completion_place& at) {
  if (at.where.line.empty()) return false;
  const auto first = first_word(at.of, at.where.line.first);
  const bool in_model =
    at.where.headers.size() == 1 && first_word(at.of, at.where.headers.front()) == "model";
  return first == "fn" || first == "extern" || in_model;
}

void values(const completion_place& at, completion_items& out) {
  if (in_declaration(at)) {
    out.names({name_kind::dim}, 1);
    out.word("true", 6);
    out.word("false", 6);
    return out.words({word_role::constant}, 6);
  }
  out.names({name_kind::local, name_kind::parameter}, 1);
  out.names({name_kind::function, name_kind::model, name_kind::python, name_kind::file}, 2);
  out.names({name_kind::dim, name_kind::axis}, 3);
  for (const auto name : builtin_names()) out.builtin_function(*find_builtin(name), 5, true);
  if (at.where.what == wanted::statement) return;
  out.word("true", 6);
  out.word("false", 6);
  out.word("not", 6);
  out.words({word_role::constant}, 6);
}

bool has_forward(const view& of, const type& what) {
  return is(what, base_type::model)
         && of.all().models[what.declaration].methods.contains("forward");
}

// The value that a pipeline brings to the place.
type brought_to(const completion_place& at) {
  const auto last = at.where.line.end; // past the `|>`
  return last < at.where.line.first + 2 ? type{} : type_until(at.of, last - 2);
}

bool takes_first(const builtin& what, const type& brought) {
  if (what.how == rule::construct || what.how == rule::initialise || what.parameters.empty())
    return false;
  const bool of_stream = what.how == rule::stage || what.how == rule::repeat
                         || what.how == rule::map || what.name == "progress" || what.name == "len";
  if (is(brought, base_type::dataset) || is(brought, base_type::batches)) return of_stream;
  if (!is_tensor(brought)) return true;
  return what.at == work::device || what.how == rule::repeat || what.how == rule::print;
}

// Functions that take a value first; a bare name calls one that takes no more.
void stages(const completion_place& at, completion_items& out) {
  const auto brought = brought_to(at);
  const auto& functions = at.of.all().functions;
  for (const auto* one : names_at(at.of, at.offset)) {
    const bool variable = one->kind == name_kind::local || one->kind == name_kind::parameter;
    const bool callable = variable && has_forward(at.of, one->what);
    if (!callable && one->kind != name_kind::function && one->kind != name_kind::file) continue;
    const auto index = one->what.declaration;
    out.mentioned = one->kind == name_kind::function && index < functions.size()
                    && functions[index].parameters.size() < 2;
    out.name(*one, callable ? 0 : 1);
  }
  out.mentioned = false;
  for (const auto name : builtin_names()) {
    const auto& what = *find_builtin(name);
    if (!takes_first(what, brought)) continue;
    const auto slots = slots_of(what);
    const auto required =
      std::count_if(slots.begin(), slots.end(), [](const auto& one) { return !one.optional; });
    out.builtin_function(what, 2, required > 1 || what.how == rule::pattern);
  }
}

void initialisers(const completion_place& at, completion_items& out) {
  constexpr std::string_view all[][2] = {{"normal", "normal(std=${1:0.02})"},
                                         {"uniform", "uniform(${1:-0.1}, ${2:0.1})"},
                                         {"zeros", "zeros()"},
                                         {"ones", "ones()"},
                                         {"full", "full(${1:0.0})"},
                                         {"xavier", "xavier()"},
                                         {"kaiming", "kaiming()"},
                                         {"orthogonal", "orthogonal()"},
                                         {"eye", "eye()"}};
  (void)at;
  for (const auto& [name, snippet] : all) {
    const auto& what = *find_builtin(name);
    std::string detail;
    for (const auto& form : forms_of(what))
      if (!form.brackets) detail = form.text;
    out.add({std::string{name},
             item_kind::function,
             detail,
             {},
             {},
             std::string{snippet},
             fmt::format("builtin:{}", name)},
            0);
  }
}

// The axes of the value in front: `x[n=0]`.
void axes_of_indexed(const completion_place& at, completion_items& out) {
  if (!at.where.bracket || *at.where.bracket == 0) return;
  for (const auto& one : type_until(at.of, *at.where.bracket - 1).axes)
    if (!one.name.empty() && one.name.find_first_of("+-*/") == std::string::npos)
      out.add({one.name + "=", item_kind::field, fmt::format("axis {}", one.name), {}, {}, {}, {}},
              0);
}

void argument(const completion_place& at, completion_items& out) {
  const auto place = argument_at(at);
  const bool named = place.call && !place.call->named.empty();
  if (place.parameter != nullptr && place.parameter->axes && named)
    return axis_names(at, place, out);
  const auto texts = texts_for(place);
  for (const auto text : texts)
    out.add({std::string{text}, item_kind::value, {}, {}, {}, {}, {}}, 0);
  if (!texts.empty() && named) return;
  named_arguments(at, place, out);
  if (place.parameter != nullptr && place.parameter->is_mut && !named)
    changed_arguments(at, *place.parameter, out);
  if (takes_function(place)) {
    out.mentioned = true;
    out.names({name_kind::function, name_kind::python}, 0);
    out.mentioned = false;
  }
  if (takes_record(place)) out.names({name_kind::record}, 0);
  values(at, out);
}

} // namespace

bool names_axes(const view& of, uint32_t offset) {
  const auto call = call_at(of, offset);
  if (!call || call->named.empty()) return false;
  const auto all = signatures_of(of, *call);
  if (all.empty()) return call->named == "over";
  const auto i = parameter_of(all[0], *call);
  return i && all[0].parameters[*i].axes;
}

void complete_value(const completion_place& at, completion_items& out) {
  switch (at.where.what) {
    case wanted::stage:
      return stages(at, out);
    case wanted::initialiser:
      return initialisers(at, out);
    case wanted::changed:
      return out.names({name_kind::local, name_kind::parameter}, 0);
    case wanted::in:
      return out.word("in", 0);
    case wanted::operation:
      for (const auto* word : {"as", "and", "or"}) out.word(word, 0);
      return;
    case wanted::index:
      axes_of_indexed(at, out);
      return values(at, out);
    case wanted::argument:
      return argument(at, out);
    case wanted::value:
      if (at.where.bracket) return argument(at, out); // behind `name=`, or in a list
      return values(at, out);
    default:
      return values(at, out);
  }
}

// -- behind a dot --------------------------------------------------------------

void complete_inside(const completion_place& at, completion_items& out) {
  const auto dot = token_before(at.of, at.begin);
  if (!dot || *dot == 0) return;
  const auto what = at.where.what;
  const bool size = what == wanted::size;
  const bool type = at.where.in_type && !size;
  for (const auto& one : names_inside(at.of, type_until(at.of, *dot - 1))) {
    const bool fits = size   ? one.kind == name_kind::dim
                      : type ? one.kind == name_kind::model || one.kind == name_kind::record
                             : true;
    if (!fits) continue;
    out.mentioned = type;
    const auto* declared = one.declared == no_index ? nullptr : &at.of.all().names[one.declared];
    if (declared != nullptr) {
      // In a batch a field has the batch's axis too.
      const auto shown = is_poison(one.what) || one.function != no_index
                           ? std::string{}
                           : at.of.all().show(one.what);
      out.name(*declared, 0, shown);
    } else {
      out.add(
        {std::string{one.name}, kind_of(one.kind), at.of.all().show(one.what), {}, {}, {}, {}}, 0);
    }
  }
}

} // namespace shapescript::lsp
