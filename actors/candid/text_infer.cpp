#include <algorithm>
#include <map>

#include "actors/candid/subtype.hpp"
#include "actors/candid/text_value.hpp"
#include "base/limits.hpp"

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
      if (!blob_.is_entry()) blob_ = types_.blob();
      out = blob_;
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
      if (!service_.is_entry()) {
        service_ = types_.declare();
        if (!types_.set_service(service_, {})) return false;
      }
      out = service_;
      return true;
    case form::func:
      if (!func_.is_entry()) {
        func_ = types_.declare();
        types_.set_func(func_, {}, {}, 0);
      }
      out = func_;
      return true;
    case form::annotated:
      out = from.type;
      return true;
  }
  return false;
}

bool text_inference::infer_vec(const text_value& from, type_ref& out) {
  shown_types all;
  for (uint32_t i = 0; i < from.items.size(); ++i) {
    type_ref next;
    if (!infer(from.items[i], next)) return false;
    if (all.empty() || all.back().type != next) all.push_back({next, i});
  }
  why_not_ = "the elements are of different types";
  culprit_ = 0;
  type_ref element;
  if (!join(std::move(all), element)) {
    reason = why_not_ + ": say which is meant, as in (… : vec t)";
    offset = from.items[culprit_].offset;
    return false;
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

// -- one type for all elements ------------------------------------------------

bool text_inference::spend(size_t n) {
  if (n > steps_) {
    why_not_ = "the types of the elements cost more to compare than a text of this size may";
    return false;
  }
  steps_ -= n;
  return true;
}

bool text_inference::differ(const shown& from) {
  culprit_ = from.element;
  return false;
}

/// Each type once, where it comes first; `empty` has no values.
void text_inference::keep_different(shown_types& all) const {
  const auto by_type = [](const shown& x, const shown& y) {
    return std::pair{x.type.raw(), x.element} < std::pair{y.type.raw(), y.element};
  };
  const auto by_element = [](const shown& x, const shown& y) { return x.element < y.element; };
  const auto same = [](const shown& x, const shown& y) { return x.type == y.type; };
  std::erase_if(all, [this](const shown& s) { return types_.kind_of(s.type) == kind::empty; });
  std::sort(all.begin(), all.end(), by_type);
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  std::stable_sort(all.begin(), all.end(), by_element);
}

/// A type at which values of all of these are read without loss. All are looked at together, so
/// that the cost does not grow with the square of their number.
bool text_inference::join(shown_types all, type_ref& out) {
  if (!spend(all.size())) return false;
  keep_different(all);
  const auto kind_at = [this](const shown& s) { return types_.kind_of(s.type); };
  auto form = kind::null;
  const bool is_opt =
    std::any_of(all.begin(), all.end(), [&](const shown& s) { return kind_at(s) == kind::opt; });
  if (is_opt) { // the absent ones go with any
    form = kind::opt;
    std::erase_if(all, [&](const shown& s) {
      return kind_at(s) == kind::null || kind_at(s) == kind::reserved;
    });
  } else if (!all.empty()) {
    form = kind_at(all.front());
  }
  if (all.size() < 2) {
    out = all.empty() ? type_ref{kind::empty} : all.front().type;
    return true;
  }
  const bool is_composite =
    form == kind::opt || form == kind::vec || form == kind::record || form == kind::variant;
  return is_composite ? join_composite(all, form, out) : join_bounded(all, out);
}

bool text_inference::is_above(type_ref super, type_ref sub) {
  using answer = subtype_checker::answer;
  subtype_checker checker{types_, types_, subtype_checker::opt_rule::lossless};
  return checker.check(sub, super, steps_) == answer::yes;
}

/// One of the types, at which the others are read as well.
bool text_inference::join_bounded(const shown_types& all, type_ref& out) {
  out = all.front().type;
  for (const auto& s : all) {
    if (!spend(1)) return false;
    if (is_above(out, s.type)) continue;
    if (!is_above(s.type, out)) return differ(s);
    out = s.type;
  }
  return true;
}

bool text_inference::join_composite(const shown_types& all, kind form, type_ref& out) {
  // What comes from annotations may be recursive: it is noted before its parts are looked at. All
  // other types are trees, as deep as the text.
  const bool may_recur = std::all_of(all.begin(), all.end(), [this](const shown& s) {
    return !s.type.is_entry() || s.type.index() < annotated_;
  });
  std::vector<int32_t> key;
  if (may_recur) {
    for (const auto& s : all) key.push_back(s.type.raw());
    std::sort(key.begin(), key.end());
    if (const auto known = joining_.find(key); known != joining_.end()) {
      out = known->second;
      return true;
    }
    if (join_bounded(all, out)) {
      joining_.emplace(std::move(key), out);
      return true;
    }
  }
  if (depth_ >= limits::candid_depth_max) {
    why_not_ = fmt::format("the types of the elements nest deeper than {}", depth_);
    return differ(all.front());
  }
  const auto made = types_.declare();
  if (form == kind::opt) types_.set_opt(made, kind::empty); // so that it counts as one already
  if (may_recur) joining_.emplace(std::move(key), made);
  out = made;
  ++depth_;
  const bool ok = [&] {
    if (form == kind::record || form == kind::variant) return join_fields(all, form, made);
    shown_types contents;
    for (const auto& s : all) {
      const auto is_bare = types_.kind_of(s.type) != form;
      if (is_bare && form != kind::opt) return differ(s);
      contents.push_back({is_bare ? s.type : types_.element(s.type), s.element});
    }
    type_ref element;
    if (!join(std::move(contents), element)) return false;
    form == kind::opt ? types_.set_opt(made, element) : types_.set_vec(made, element);
    return true;
  }();
  --depth_;
  return ok;
}

/// A field or tag of one id, in all of the types.
struct text_inference::column {
  field_spec spec;
  shown_types types;
  size_t seen = 0;                ///< the type after the last one that has it
  const shown* without = nullptr; ///< the first that shows that some lack it
};

bool text_inference::gather(const shown_types& all, std::vector<column>& columns) {
  std::map<uint32_t, size_t> places;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto type = all[i].type;
    if (types_.kind_of(type) != types_.kind_of(all.front().type)) return differ(all[i]);
    const auto count = types_.fields(type).size();
    if (!spend(2 * count)) return false;
    for (size_t j = 0; j < count; ++j) {
      const auto& f = types_.declared(type, j);
      const auto [at, is_new] = places.emplace(f.id, columns.size());
      if (is_new) {
        columns.push_back({f.name == field::no_name ? field_spec{f.id, f.type}
                                                    : field_spec{types_.name_of(f), f.type}});
      }
      auto& c = columns[at->second];
      if (c.seen != i && c.without == nullptr) c.without = is_new ? &all[i] : &all[c.seen];
      c.seen = i + 1;
      if (c.types.empty() || c.types.back().type != f.type) {
        c.types.push_back({f.type, all[i].element});
      }
    }
  }
  for (auto& c : columns) {
    if (c.seen != all.size() && c.without == nullptr) c.without = &all[c.seen];
  }
  return true;
}

/// A variant gets the tags of all. A record may lack what is null where it is missing.
bool text_inference::join_fields(const shown_types& all, kind form, type_ref made) {
  std::vector<column> columns;
  if (!gather(all, columns)) return false;
  std::vector<field_spec> specs;
  for (auto& c : columns) {
    if (!join(std::move(c.types), c.spec.type)) return false;
    if (form == kind::record && c.without != nullptr && !types_.is_nullable(c.spec.type)) {
      return differ(*c.without);
    }
    specs.push_back(std::move(c.spec));
  }
  const auto done = form == kind::record ? types_.set_record(made, std::move(specs))
                                         : types_.set_variant(made, std::move(specs));
  return done.has_value();
}

} // namespace moxzi::candid
