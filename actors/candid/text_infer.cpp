#include <map>

#include "actors/candid/subtype.hpp"
#include "actors/candid/text_value.hpp"

namespace moxzi::candid {

using form = text_value::form;

bool text_inference::infer(const text_value& from, type_ref& out) {
  switch (from.what) {
    case form::null:
      out = kind::null;
      return true;
    case form::boolean:
      out = kind::boolean;
      return true;
    case form::number:
      out = from.is_float() ? kind::float64 : kind::integer;
      return true;
    case form::text:
      out = kind::text;
      return true;
    case form::blob:
      out = types_.blob();
      return true;
    case form::opt: {
      type_ref element;
      if (!infer(from.items.front(), element)) return false;
      out = types_.opt(element);
      return true;
    }
    case form::vec:
      return infer_vec(from, out);
    case form::record:
    case form::variant:
      return infer_fields(from, out);
    case form::principal:
      out = kind::principal;
      return true;
    case form::service:
      out = types_.declare();
      return types_.set_service(out, {}).has_value();
    case form::func:
      out = types_.declare();
      types_.set_func(out, {}, {}, 0);
      return true;
    case form::annotated:
      out = from.type;
      return true;
  }
  return false;
}

bool text_inference::infer_vec(const text_value& from, type_ref& out) {
  type_ref element = kind::empty;
  for (const auto& item : from.items) {
    type_ref next;
    if (!infer(item, next)) return false;
    if (!join(element, next, 0, element)) {
      reason = "the elements are of different types: say which is meant, as in (… : vec t)";
      offset = item.offset;
      return false;
    }
  }
  out = types_.vec(element);
  return true;
}

bool text_inference::infer_fields(const text_value& from, type_ref& out) {
  std::vector<field_spec> fields;
  for (size_t i = 0; i < from.items.size(); ++i) {
    type_ref type;
    if (!infer(from.items[i], type)) return false;
    const auto& label = from.labels[i];
    if (label.has_name) {
      fields.emplace_back(label.name, type);
    } else {
      fields.emplace_back(label.id, type);
    }
  }
  out = from.what == form::record ? types_.record(std::move(fields))
                                  : types_.variant(std::move(fields));
  return true;
}

/// A type that both are read at without loss.
bool text_inference::join(type_ref x, type_ref y, int depth, type_ref& out) {
  if (x == y) {
    out = x;
    return true;
  }
  constexpr int depth_max = 64;
  if (depth > depth_max || !spend(1)) return false;
  using answer = subtype_checker::answer;
  subtype_checker checker{types_, types_, subtype_checker::opt_rule::lossless};
  if (checker.check(x, y, steps_) == answer::yes) {
    out = y;
    return true;
  }
  if (checker.check(y, x, steps_) == answer::yes) {
    out = x;
    return true;
  }
  const auto both = types_.kind_of(x);
  if (both != types_.kind_of(y)) return false;
  if (both == kind::variant) return join_variants(x, y, depth, out);
  if (both != kind::opt && both != kind::vec) return false;
  type_ref element;
  if (!join(types_.element(x), types_.element(y), depth + 1, element)) return false;
  out = both == kind::opt ? types_.opt(element) : types_.vec(element);
  return true;
}

bool text_inference::join_variants(type_ref x, type_ref y, int depth, type_ref& out) {
  std::map<uint32_t, field_spec> tags;
  for (const auto from : {x, y}) {
    constexpr size_t steps_per_tag = 16; // each is copied
    if (!spend(types_.fields(from).size() * steps_per_tag)) return false;
    // Joining payloads adds to the table: hold no view into it.
    const std::vector<field> given{types_.fields(from).begin(), types_.fields(from).end()};
    for (const auto& f : given) {
      const auto spec =
        f.name == field::no_name ? field_spec{f.id, f.type} : field_spec{types_.name_of(f), f.type};
      const auto [at, added] = tags.emplace(f.id, spec);
      if (!added && !join(at->second.type, f.type, depth + 1, at->second.type)) return false;
    }
  }
  std::vector<field_spec> all;
  for (auto& [id, spec] : tags) all.push_back(std::move(spec));
  out = types_.variant(std::move(all));
  return true;
}

} // namespace moxzi::candid
