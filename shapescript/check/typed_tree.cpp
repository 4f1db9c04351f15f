#include "shapescript/check/typed_tree.hpp"

#include <algorithm>

namespace shapescript {

axis dim_of(const type& model, size_t i) {
  return axis_written(i < model.dim_names.size() ? model.dim_names[i] : std::string{},
                      model.dims[i]);
}

const type& typed_tree::type_of(uint32_t module, expr_id id) const noexcept {
  static const type unknown;
  if (id == expr_id::none) return unknown;
  const auto& types = modules[module]->types;
  const auto place = static_cast<uint32_t>(id);
  return place < types.size() ? types[place] : unknown;
}

const name_use* typed_tree::use_at(uint32_t module, uint32_t offset) const noexcept {
  auto after = std::upper_bound(uses.begin(), uses.end(), std::pair{module, offset},
                                [](const std::pair<uint32_t, uint32_t>& at, const name_use& one) {
                                  return at < std::pair{one.module, one.where.begin};
                                });
  if (after == uses.begin()) return nullptr;
  const auto& one = *--after;
  return one.module == module && offset <= one.where.end ? &one : nullptr;
}

std::vector<name_use> typed_tree::uses_of(uint32_t name) const {
  std::vector<name_use> all;
  for (const auto& one : uses)
    if (one.name == name) all.push_back(one);
  std::stable_partition(all.begin(), all.end(), [](const name_use& one) { return one.declares; });
  return all;
}

// -- text ----------------------------------------------------------------------

std::string typed_tree::show(const size_form& size) const {
  return size.print([this](symbol one) { return symbols[one].name; });
}

std::string typed_tree::show(const size_sum& sum) const {
  return sum.print([this](symbol one) { return symbols[one].name; });
}

std::string typed_tree::show(const axis& one) const {
  if (one.name.empty()) return one.written.empty() ? show(one.size) : one.written;
  return one.resized ? one.name + "=" + show(one.size) : one.name;
}

std::string typed_tree::show(const std::vector<axis>& axes) const {
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

std::string typed_tree::show_tensor(const type& what) const {
  auto out = show(what.axes);
  if (what.known == refinement::index)
    return what.literal ? out + " i64" : out + " Index[" + show(what.bound) + "]";
  if (what.element != dtype::f32) out += " " + std::string{name_of(what.element)};
  if (what.known == refinement::prob) return out + " Prob[" + show(what.bound) + "]";
  const auto known = refinement_name(what.known);
  return known.empty() ? out : out + " " + std::string{known};
}

std::string typed_tree::show(const type& what) const {
  const auto with_dims = [&](std::string name) {
    if (what.dims.empty()) return name;
    std::string dims;
    for (size_t i = 0; i < what.dims.size(); ++i)
      dims += (dims.empty() ? "" : " ") + show(dim_of(what, i));
    return name + "[" + dims + "]";
  };
  const auto declared = [&] { return std::string{models[what.declaration].name}; };
  const auto record = [&] {
    const auto& r = records[what.declaration];
    return std::string{modules[r.module]->text.text(r.decl->name)};
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
