#include "shapescript/check.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/nearest.hpp"
#include "shapescript/checker.hpp"

namespace shapescript {

bool checked::has_errors() const noexcept {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const diagnostic& d) { return d.level == severity::error; });
}

checked check(const source& text, const program_loader& load) {
  return checker{text, load}.run();
}

checker::checker(const source& text, const program_loader& load) : load_(load) {
  load_module(text);
}

checked checker::run() {
  add_batch_norm();
  // Importing grows the list.
  for (uint32_t m = 0; m < modules_.size(); ++m)
    for (const auto& decl : modules_[m]->program.program.imports)
      if (!decl.python) import_file(m, decl);
  for (uint32_t m = 0; m < modules_.size(); ++m) collect_names(m);
  resolve_dims();
  resolve_records();
  resolve_models();
  for (uint32_t f = 0; f < functions_.size(); ++f) resolve_function(f);
  check_devices();
  check_initialisers();
  for (uint32_t f = 0; f < functions_.size(); ++f) check_body(f);
  place_functions();
  checked result;
  result.diagnostics = std::move(modules_[0]->program.diagnostics);
  for (auto& one : out_) result.diagnostics.push_back(std::move(one));
  sort_by_place(result.diagnostics);
  if (result.diagnostics.size() > reports_max) result.diagnostics.resize(reports_max);
  return result;
}

// -- reports -------------------------------------------------------------------

diagnostic& checker::report(const char* code, span where, std::string message, std::string label) {
  diagnostic d;
  d.code = code;
  d.level = code[0] == 'W' ? severity::warning : severity::error;
  d.message = std::move(message);
  d.labels.push_back({where, std::move(label), true});
  if (d.level == severity::error) has_errors_here_ = true;
  // What is wrong in an imported file is that file's own report; warnings would mislead where
  // parts of the program could not be read.
  const bool hide = module_ != 0 || (d.level == severity::warning && lenient());
  if (hide) {
    hidden_ = std::move(d);
    return hidden_;
  }
  out_.push_back(std::move(d));
  return out_.back();
}

void checker::mark(diagnostic& d, span where, std::string text) {
  if (where == span{}) return;
  d.labels.push_back({where, std::move(text), false});
}

diagnostic& checker::last_report() {
  return module_ != 0 || out_.empty() ? hidden_ : out_.back();
}

// Marks where the value that stands at `where` was declared, if it is a variable or a field of one.
void checker::origin(diagnostic& d, span where) {
  const auto written = text(where);
  const auto dot = written.find('.');
  const auto* found = locals_.find(written.substr(0, dot));
  if (found == nullptr) return;
  const auto& state = *found;
  span place = state.assigned;
  auto what = state.what;
  if (dot != written.npos) {
    const auto name = written.substr(dot + 1);
    place = {};
    if (is(what, base_type::record) && records_[what.declaration].module == module_) {
      const auto& record = records_[what.declaration];
      for (size_t i = 0; i < record.fields.size(); ++i) {
        if (text(record.decl->fields[i].name) != name) continue;
        place = record.decl->fields[i].name;
        what = record.fields[i];
      }
    } else if (is(what, base_type::model) && models_[what.declaration].module == module_) {
      for (const auto& one : models_[what.declaration].members) {
        if (one.name != name) continue;
        place = one.where;
        what = one.what;
      }
    }
  }
  if (place == span{} || is_poison(what)) return;
  for (const auto& one : d.labels)
    if (one.where.begin < place.end && place.begin < one.where.end) return;
  mark(d, place, fmt::format("`{}` is `{}`", text(place), show(what)));
}

// Says for every named axis of the types what its size is, and where a symbolic one begins.
void checker::explain_sizes(diagnostic& d, const std::vector<axis>& x, const std::vector<axis>& y) {
  std::set<std::string> said;
  for (const auto* axes : {&x, &y}) {
    for (const auto& one : *axes) {
      if (one.name.empty() || !said.insert(one.name).second) continue;
      const auto number = one.size.number();
      if (number && one.name != std::to_string(*number)) {
        d.notes.push_back(fmt::format("`{}` is {}", one.name, *number));
      } else if (const auto lone = one.size.lone(); lone && symbols_[*lone].name != one.name) {
        d.notes.push_back(
          fmt::format("`{}` is another name for `{}`", one.name, symbols_[*lone].name));
      }
    }
  }
}

void checker::suggest(diagnostic& d, span where, std::string_view name,
                      const std::vector<std::string_view>& known) {
  const auto best = moxzi::nearest(name, known);
  if (!best) return;
  d.help.push_back(fmt::format("did you mean `{}`?", *best));
  d.fixes.push_back({where, std::string{*best}});
}

// -- text ----------------------------------------------------------------------

std::string checker::show(const size_form& size) const {
  return size.print([this](symbol one) { return symbols_[one].name; });
}

std::string checker::show(const axis& one) const {
  return one.name.empty() ? show(one.size) : one.name;
}

std::string checker::show(const std::vector<axis>& axes) const {
  std::string out = "[";
  for (const auto& one : axes) {
    if (out.size() > 1) out += ' ';
    out += show(one);
  }
  return out + "]";
}

namespace {

std::string_view refinement_name(refinement known) {
  switch (known) {
    case refinement::nonneg:
      return "NonNeg";
    case refinement::pos:
      return "Pos";
    case refinement::unit:
      return "Unit";
    case refinement::prob:
      return "Prob";
    case refinement::index:
      return "Index";
    default:
      return "";
  }
}

} // namespace

std::string checker::show_tensor(const type& what) const {
  auto out = show(what.axes);
  if (what.known == refinement::index)
    return what.literal ? out + " i64" : out + " Index[" + show(what.bound) + "]";
  if (what.element != dtype::f32) out += " " + std::string{name_of(what.element)};
  if (what.known == refinement::prob) return out + " Prob[" + show(what.bound) + "]";
  const auto known = refinement_name(what.known);
  return known.empty() ? out : out + " " + std::string{known};
}

std::string checker::show(const type& what) const {
  const auto with_dims = [&](std::string name) {
    if (what.dims.empty()) return name;
    std::string dims;
    for (size_t i = 0; i < what.dims.size(); ++i)
      dims += (dims.empty() ? "" : " ") + show(dim_of(what, i));
    return name + "[" + dims + "]";
  };
  const auto declared = [&] { return std::string{models_[what.declaration].name}; };
  const auto record = [&] {
    const auto& r = records_[what.declaration];
    return std::string{modules_[r.module]->text.text(r.decl->name)};
  };
  switch (what.base) {
    case base_type::none:
      return "nothing";
    case base_type::integer:
      return "int";
    case base_type::real:
      return "float";
    case base_type::boolean:
      return "bool";
    case base_type::text:
      return "str";
    case base_type::tensor:
      return show_tensor(what);
    case base_type::record:
      return (what.axes.empty() ? "" : show(what.axes) + " ") + record();
    case base_type::model:
      return with_dims(declared());
    case base_type::gradient:
      return "Grad[" + with_dims(declared()) + "]";
    case base_type::optimizer:
      return what.name + "[" + with_dims(declared()) + "]";
    case base_type::dataset:
      return "Dataset[" + record() + "]";
    case base_type::batches:
      return "Batches[" + record() + "]";
    case base_type::generator:
      return "Rng";
    case base_type::function:
      return "a function";
    case base_type::tuple: {
      std::string out = "(";
      for (const auto& one : what.parts) out += (out.size() > 1 ? ", " : "") + show(one);
      return out + ")";
    }
    case base_type::module:
      return "a module";
    case base_type::python:
      return "a Python value";
    case base_type::range:
      return "a range";
    case base_type::layers:
      return "a list of " + show(what.parts.at(0));
    case base_type::declared_type:
      return "a type";
    case base_type::initializer:
      return "an initialiser";
    case base_type::poison:
      break;
  }
  return "?";
}

} // namespace shapescript
