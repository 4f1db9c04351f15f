#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

// Where what a report speaks of comes from: the declaration of a variable, field, function or
// result, and the place that gave a name its size.

namespace {

bool overlaps(const diagnostic& d, span where) {
  return std::any_of(d.labels.begin(), d.labels.end(), [&](const label& one) {
    return one.where.begin < where.end && where.begin < one.where.end;
  });
}

// A size in a sentence: 12, or `3*n` with its quotes.
std::string in_sentence(const std::string& size) {
  const bool number = !size.empty() && size.find_first_not_of("0123456789") == size.npos;
  return number ? size : "`" + size + "`";
}

} // namespace

// `a`, `b` and `c`; a long list ends with how many more there are.
std::string list_names(const std::vector<std::string_view>& names) {
  constexpr size_t listed_max = 12;
  const auto shown = names.size() > listed_max ? listed_max - 1 : names.size();
  std::string out;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
    out += fmt::format("`{}`", names[i]);
  }
  if (shown < names.size()) out += fmt::format(" and {} others", names.size() - shown);
  return out;
}

// -- declarations --------------------------------------------------------------

// Follows `m.blocks[0].w` from a variable of the function through fields and members.
std::optional<declared_place> checker::declared_at(span where) const {
  auto rest = text(where);
  const auto next = [&rest]() {
    const auto name = rest.substr(0, rest.find_first_of(".["));
    rest.remove_prefix(name.size());
    while (rest.starts_with("[")) {
      const auto end = rest.find(']');
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    if (rest.starts_with(".")) rest.remove_prefix(1);
    return name;
  };
  const auto* found = locals_.find(next());
  if (found == nullptr) return std::nullopt;
  declared_place out{module_, found->assigned, found->what, {}, type_id::none};
  if (function_ != no_index && local_infos_[found->local].parameter)
    for (const auto& p : functions_[function_].decl->parameters)
      if (p.name == out.where) out.written = p.type;
  while (!rest.empty()) {
    if (is(out.what, base_type::layers)) out.what = type{out.what.parts.at(0)};
    const auto name = next();
    const bool record = is(out.what, base_type::record);
    if (!record && !is(out.what, base_type::model) && !is(out.what, base_type::gradient))
      return std::nullopt;
    const auto of = out.what;
    out.what = {};
    if (record) {
      const auto& owner = records_[of.declaration];
      for (size_t i = 0; i < owner.fields.size(); ++i) {
        const auto& field = owner.decl->fields[i];
        if (modules_[owner.module]->text.text(field.name) != name) continue;
        out = {owner.module, field.name, owner.fields[i], of.axes, field.type};
      }
    } else {
      const auto& owner = models_[of.declaration];
      for (size_t i = 0; owner.decl != nullptr && i < owner.members.size(); ++i) {
        if (owner.members[i].name != name) continue;
        out = {owner.module, owner.members[i].where, owner.members[i].what, {}, type_id::none};
        if (i < owner.decl->members.size()) out.written = owner.decl->members[i].type;
      }
      // A method is its model's.
      if (is_poison(out.what) && rest.empty() && owner.methods.contains(name)) out.what = of;
    }
    if (is_poison(out.what)) return std::nullopt;
  }
  return out;
}

// Marks where what stands at `where` was declared, if it is a variable or a field of one.
bool checker::origin(diagnostic& d, span where) {
  const auto found = declared_at(where);
  if (!found || found->module != module_ || is_poison(found->what)) return false;
  if (found->where == span{}) return true;
  points_to(d, found->where);
  if (overlaps(d, found->where)) return true;
  auto label = fmt::format("`{}` is `{}`", text(found->where), show(found->what));
  if (!found->rows.empty()) label += fmt::format(" in each of the `{}` records", show(found->rows));
  mark(d, found->where, std::move(label));
  return true;
}

// Marks what an operand is: where it was declared, or the operand itself.
void checker::mark_operand(diagnostic& d, span where, const type& what) {
  if (origin(d, where) || where == span{} || is_poison(what) || overlaps(d, where)) return;
  mark(d, where, fmt::format("`{}`", show(what)));
}

// Marks the tensors that a builtin with patterns or axes was given.
void checker::mark_operands(diagnostic& d, const call_site& site) {
  const auto is_about_shapes = d.code.starts_with("E04") || d.code == "E0301" || d.code == "E0501";
  if (!is_about_shapes) return;
  if (site.patterns == pattern_id::none) {
    for (const auto& one : site.arguments)
      if (one.typed && (is_tensor(one.what) || is(one.what, base_type::record)))
        mark_operand(d, one.where, one.what);
    return;
  }
  // The operand whose pattern is wrong; that of a pipeline is the first.
  const auto& call = t().at(site.patterns);
  const auto at = d.primary().where;
  size_t place = 0;
  while (place < call.sources.size()
         && (at.begin < call.sources[place].where.begin || call.sources[place].where.end < at.end))
    ++place;
  if (place == call.sources.size()) return;
  for (const auto& one : site.arguments)
    if (one.piped && place-- == 0) return mark_operand(d, one.where, one.what);
  if (place < call.operands.size()) origin(d, t().at(call.operands[place]).where);
}

// What can be given to a function of the program, and where it says so.
void checker::explain_function(diagnostic& d, const function_info& f, size_t first) {
  if (f.module == module_)
    mark(d, f.decl->name, fmt::format("`{}` is declared here", text(f.decl->name)));
  std::vector<std::string_view> names;
  for (size_t i = first; i < f.parameters.size(); ++i) names.push_back(f.parameters[i].name);
  const auto name = modules_[f.module]->text.text(f.decl->name);
  d.notes.push_back(names.empty() ? fmt::format("`{}` takes no arguments", name)
                                  : fmt::format("`{}` takes {}", name, list_names(names)));
}

// Marks the declared type of a result that the value at hand does not have.
void checker::mark_result(diagnostic* d, size_t part) {
  if (d == nullptr || function_ == no_index) return;
  const auto& f = functions_[function_];
  const auto& results = f.decl->results;
  if (results.empty()) return;
  const bool of_tuple = part != no_part && part < results.size();
  const auto& wanted = of_tuple && is(f.result, base_type::tuple) ? f.result.parts[part] : f.result;
  span where = t().at(results[of_tuple ? part : 0]).where;
  if (!of_tuple) where.end = t().at(results.back()).where.end;
  mark(*d, where, fmt::format("expected `{}` because of this result type", show(wanted)));
}

// Marks a declared record or model, and says what it has.
void checker::explain_members(diagnostic& d, const type& of) {
  std::vector<std::string_view> names;
  uint32_t module = module_;
  span where;
  std::string_view owner;
  if (is(of, base_type::record)) {
    const auto& record = records_[of.declaration];
    module = record.module;
    where = record.decl->name;
    owner = modules_[module]->text.text(where);
    for (const auto& field : record.decl->fields)
      names.push_back(modules_[module]->text.text(field.name));
  } else {
    const auto& model = models_[of.declaration];
    module = model.module;
    if (model.decl != nullptr) where = model.decl->name;
    owner = model.name;
    for (const auto& one : model.members) names.push_back(one.name);
    if (is(of, base_type::model))
      for (const auto& [name, method] : model.methods) names.push_back(name);
  }
  if (module == module_) mark(d, where, fmt::format("`{}` is declared here", owner));
  d.notes.push_back(names.empty() ? fmt::format("`{}` is empty", owner)
                                  : fmt::format("`{}` has {}", owner, list_names(names)));
}

// A name that stands for something, but not here.
bool checker::explain_unknown(diagnostic& d, span where) {
  const auto word = text(where);
  for (const auto& one : local_infos_)
    if (one.name == word && one.loop_variable) {
      mark(d, one.declared, fmt::format("`{}` is known in this loop alone", word));
      return true;
    }
  if (function_ != no_index && functions_[function_].owner != no_index) {
    const auto& owner = models_[functions_[function_].owner];
    const bool member = owner.methods.contains(word)
                        || std::any_of(owner.members.begin(), owner.members.end(),
                                       [&](const member_info& one) { return one.name == word; });
    if (member) {
      d.help.push_back(
        fmt::format("`{0}` is a member of `{1}`: write `self.{0}`", word, owner.name));
      d.fixes.push_back({{where.begin, where.begin}, "self."});
      return true;
    }
  }
  for (const auto& one : models_)
    if (one.module == module_ && one.methods.contains(word)) {
      d.help.push_back(
        fmt::format("`{0}` is a method of `{1}`, and called as `m.{0}(...)`", word, one.name));
      return true;
    }
  return false;
}

// -- sizes ---------------------------------------------------------------------

// Says what can be done about axes that the longer operand has not.
void checker::explain_strangers(diagnostic& d, const std::vector<axis>& longer,
                                const std::vector<axis>& shorter) {
  bool renamed = false;
  bool strange = false;
  for (const auto& one : shorter) {
    if (one.name.empty() || find_axis(longer, one.name)) continue;
    const bool same = std::any_of(longer.begin(), longer.end(),
                                  [&](const axis& other) { return other.size == one.size; });
    renamed |= same;
    if (same || !one.size.number()) continue;
    strange = true;
    d.notes.push_back(fmt::format("no axis of `{}` has the size of `{}`", show(longer), show(one)));
  }
  if (strange) return;
  d.help.push_back("for all pairs, write an `einsum`");
  if (renamed || longer.size() > shorter.size())
    d.help.push_back("for the same axis under two names, `rearrange` one of them");
}

void note_fixed(call_site& site, const symbol_map& map, span where) {
  for (const auto& [one, size] : map) site.given.emplace(one, where);
}

// The type as it is at the call, but for the sizes that the argument at `where` fixed itself: they
// keep the names of the declaration.
type checker::wanted_type(const type& declared, const symbol_map& map, const call_site& site,
                          span where) const {
  symbol_map before;
  for (const auto& [one, size] : map)
    if (const auto place = site.given.find(one);
        place == site.given.end() || !(place->second == where))
      before.emplace(one, size);
  return replace(declared, before);
}

// Where the size of a model's own is written, for the model that is called.
span checker::size_of_callee(const call_site& site, symbol size) const {
  const auto found = declared_at(site.callee);
  if (!found || found->module != module_) return {};
  const auto& what = is(found->what, base_type::layers) ? found->what.parts.at(0) : found->what;
  if (!is(what, base_type::model)) return {};
  const auto& dims = models_[what.declaration].dims;
  const auto at = static_cast<size_t>(std::find(dims.begin(), dims.end(), size) - dims.begin());
  if (at == dims.size()) return {};
  if (found->written == type_id::none) return found->where;
  const auto& written = t().at(found->written);
  if (at >= written.arguments.size() || written.arguments[at].dim == dim_id::none)
    return found->where;
  return t().at(written.arguments[at].dim).where;
}

// Marks what fixed the sizes of a parameter's type: the argument or the layer that came before.
void checker::mark_fixed(diagnostic& d, const function_info& f, const type& declared,
                         const symbol_map& map, const call_site& site, span given) {
  std::vector<std::pair<span, std::string>> places;
  const auto say = [&](symbol one) {
    const auto fixed = site.given.find(one);
    const auto size = map.find(one);
    if (fixed == site.given.end() || size == map.end() || fixed->second == given) return;
    const auto where = fixed->second == site.callee ? size_of_callee(site, one) : fixed->second;
    if (where == span{}) return;
    const auto& name = symbols_[one].name;
    const auto value = show(size->second.size);
    const auto of = value == name
                      ? fmt::format(" of `{}`", modules_[f.module]->text.text(f.decl->name))
                      : std::string{};
    auto text = fmt::format("`{}`{} is {}", name, of, in_sentence(value));
    const auto same =
      std::find_if(places.begin(), places.end(), [&](const auto& x) { return x.first == where; });
    if (same == places.end())
      places.emplace_back(where, std::move(text));
    else if (same->second.find(text) == std::string::npos)
      same->second += (same->second.find(" and ") == std::string::npos ? " and " : ", ") + text;
  };
  const auto see = [&](const size_form& size) {
    for (const auto one : size.symbols()) say(one);
  };
  for (const auto& one : declared.axes) see(one.size);
  for (const auto& one : declared.dims) see(one);
  if (declared.known == refinement::index) see(declared.bound.size);
  for (auto& [where, text] : places)
    if (!overlaps(d, where)) mark(d, where, text + " here");
}

} // namespace shapescript
