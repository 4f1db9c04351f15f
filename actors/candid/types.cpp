#include "actors/candid/types.hpp"

#include <algorithm>
#include <numeric>

#include "actors/candid/encode.hpp"
#include "actors/candid/errc.hpp"
#include "base/assert.hpp"

namespace moxzi::candid {

std::string_view keyword(kind k) noexcept {
  switch (k) {
    case kind::null:
      return "null";
    case kind::boolean:
      return "bool";
    case kind::nat:
      return "nat";
    case kind::integer:
      return "int";
    case kind::nat8:
      return "nat8";
    case kind::nat16:
      return "nat16";
    case kind::nat32:
      return "nat32";
    case kind::nat64:
      return "nat64";
    case kind::int8:
      return "int8";
    case kind::int16:
      return "int16";
    case kind::int32:
      return "int32";
    case kind::int64:
      return "int64";
    case kind::float32:
      return "float32";
    case kind::float64:
      return "float64";
    case kind::text:
      return "text";
    case kind::reserved:
      return "reserved";
    case kind::empty:
      return "empty";
    case kind::opt:
      return "opt";
    case kind::vec:
      return "vec";
    case kind::record:
      return "record";
    case kind::variant:
      return "variant";
    case kind::func:
      return "func";
    case kind::service:
      return "service";
    case kind::principal:
      return "principal";
    case kind::future:
      return "future";
  }
  return "unknown";
}

// -- reading ------------------------------------------------------------------

const field* type_table::find(type_ref type, uint32_t id) const noexcept {
  const auto all = fields(type);
  const auto at = std::lower_bound(all.begin(), all.end(), id,
                                   [](const field& f, uint32_t wanted) { return f.id < wanted; });
  return at != all.end() && at->id == id ? &*at : nullptr;
}

std::string type_table::label_of(const field& f) const {
  return f.name == field::no_name ? std::to_string(f.id) : names_[f.name];
}

std::string_view type_table::type_name(type_ref type) const noexcept {
  if (!type.is_entry()) return {};
  const auto at = entry_names_.find(type.index());
  return at == entry_names_.end() ? std::string_view{} : definitions_[at->second].first;
}

std::string_view type_table::parameter_name(type_ref func, size_t i) const noexcept {
  const auto at = tuple_names_.find(entries_[func.index()].first + static_cast<uint32_t>(i));
  return at == tuple_names_.end() ? std::string_view{} : at->second;
}

const type_ref* type_table::lookup(std::string_view name) const noexcept {
  const auto at = definition_index_.find(name);
  return at == definition_index_.end() ? nullptr : &definitions_[at->second].second;
}

bool type_table::is_tuple(type_ref type) const noexcept {
  if (kind_of(type) != kind::record) return false;
  const auto all = fields(type);
  return !all.empty() && all.back().id == all.size() - 1
         && std::all_of(all.begin(), all.end(),
                        [](const field& f) { return f.name == field::no_name; });
}

// -- building -----------------------------------------------------------------

type_ref type_table::declare() {
  entries_.emplace_back();
  return type_ref::entry(static_cast<uint32_t>(entries_.size() - 1));
}

void type_table::set_opt(type_ref entry, type_ref element) {
  auto& e = entries_[entry.index()];
  e.form = kind::opt;
  e.element = element;
}

void type_table::set_vec(type_ref entry, type_ref element) {
  auto& e = entries_[entry.index()];
  e.form = kind::vec;
  e.element = element;
}

result<void> type_table::set_fields(type_ref entry, kind form, std::vector<field_spec> fields) {
  std::vector<uint32_t> order(fields.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&fields](uint32_t x, uint32_t y) { return fields[x].id < fields[y].id; });
  for (size_t i = 1; i < order.size(); ++i) {
    const auto& one = fields[order[i - 1]];
    const auto& other = fields[order[i]];
    if (one.id != other.id) continue;
    if (one.has_name && other.has_name && one.name != other.name) {
      return fail(candid_errc::syntax, "fields '{}' and '{}' have the same id {}", one.name,
                  other.name, one.id);
    }
    if (one.has_name == other.has_name) {
      return fail(candid_errc::syntax, "field {} twice",
                  one.has_name ? fmt::format("'{}'", one.name) : std::to_string(one.id));
    }
    return fail(candid_errc::syntax, "field '{}' has the same id as field {}",
                one.has_name ? one.name : other.name, one.id);
  }
  auto& e = entries_[entry.index()];
  e.form = form;
  e.first = static_cast<uint32_t>(fields_.size());
  e.count = static_cast<uint32_t>(fields.size());
  for (const auto index : order) {
    auto& spec = fields[index];
    field f{.id = spec.id, .type = spec.type};
    if (spec.has_name) {
      f.name = static_cast<uint32_t>(names_.size());
      names_.push_back(std::move(spec.name));
    }
    fields_.push_back(f);
  }
  for (uint32_t i = 0; i < order.size(); ++i) fields_[e.first + order[i]].declared = i;
  return {};
}

result<void> type_table::set_record(type_ref entry, std::vector<field_spec> fields) {
  return set_fields(entry, kind::record, std::move(fields));
}

result<void> type_table::set_variant(type_ref entry, std::vector<field_spec> tags) {
  return set_fields(entry, kind::variant, std::move(tags));
}

void type_table::set_func(type_ref entry, std::span<const type_ref> arguments,
                          std::span<const type_ref> results, uint8_t annotations) {
  auto& e = entries_[entry.index()];
  e.form = kind::func;
  e.annotations = annotations;
  e.first = static_cast<uint32_t>(tuples_.size());
  e.count = static_cast<uint32_t>(arguments.size());
  e.results = static_cast<uint32_t>(results.size());
  tuples_.insert(tuples_.end(), arguments.begin(), arguments.end());
  tuples_.insert(tuples_.end(), results.begin(), results.end());
}

void type_table::name_parameter(type_ref func, size_t i, std::string name) {
  tuple_names_[entries_[func.index()].first + static_cast<uint32_t>(i)] = std::move(name);
}

result<void> type_table::set_service(type_ref entry, std::vector<method> methods) {
  for (uint32_t i = 0; i < methods.size(); ++i) methods[i].declared = i;
  std::sort(methods.begin(), methods.end(),
            [](const method& x, const method& y) { return x.name < y.name; });
  for (size_t i = 1; i < methods.size(); ++i) {
    if (methods[i - 1].name == methods[i].name) {
      return fail(candid_errc::syntax, "method '{}' is declared twice", methods[i].name);
    }
  }
  auto& e = entries_[entry.index()];
  e.form = kind::service;
  e.first = static_cast<uint32_t>(methods_.size());
  e.count = static_cast<uint32_t>(methods.size());
  std::vector<uint32_t> order(methods.size());
  for (uint32_t i = 0; i < methods.size(); ++i) order[methods[i].declared] = i;
  for (uint32_t i = 0; i < methods.size(); ++i) methods[i].declared = order[i];
  for (auto& m : methods) methods_.push_back(std::move(m));
  return {};
}

void type_table::set_future(type_ref entry) {
  entries_[entry.index()].form = kind::future;
}

result<void> type_table::define(std::string_view name, type_ref type) {
  const auto index = static_cast<uint32_t>(definitions_.size());
  if (!definition_index_.emplace(name, index).second) {
    return fail(candid_errc::syntax, "type '{}' is defined twice", name);
  }
  definitions_.emplace_back(name, type);
  if (type.is_entry()) entry_names_.emplace(type.index(), index);
  return {};
}

type_ref type_table::opt(type_ref element) {
  const auto entry = declare();
  set_opt(entry, element);
  return entry;
}

type_ref type_table::vec(type_ref element) {
  const auto entry = declare();
  set_vec(entry, element);
  return entry;
}

type_ref type_table::record(std::vector<field_spec> fields) {
  const auto entry = declare();
  const auto made = set_record(entry, std::move(fields));
  moxzi_assert(made.has_value());
  return entry;
}

type_ref type_table::variant(std::vector<field_spec> tags) {
  const auto entry = declare();
  const auto made = set_variant(entry, std::move(tags));
  moxzi_assert(made.has_value());
  return entry;
}

void type_table::substitute(std::span<const type_ref> targets) {
  const auto replace = [targets](type_ref& type) {
    if (type.is_entry() && type.index() < targets.size()) type = targets[type.index()];
  };
  for (auto& e : entries_) replace(e.element);
  for (auto& f : fields_) replace(f.type);
  for (auto& t : tuples_) replace(t);
  for (auto& m : methods_) replace(m.type);
  entry_names_.clear();
  for (uint32_t i = 0; i < definitions_.size(); ++i) {
    auto& type = definitions_[i].second;
    replace(type);
    if (type.is_entry()) entry_names_.emplace(type.index(), i);
  }
}

tuple_type make_tuple_type(std::shared_ptr<const type_table> types, std::vector<type_ref> items) {
  tuple_type made{.types = std::move(types), .items = std::move(items), .header = {}};
  made.header = encode_header(*made.types, made.items);
  return made;
}

} // namespace moxzi::candid
