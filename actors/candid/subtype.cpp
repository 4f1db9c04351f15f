#include "actors/candid/subtype.hpp"

#include <limits>

namespace moxzi::candid {

std::string short_text(const type_table& types, type_ref type) {
  const auto form = types.kind_of(type);
  if (const auto name = types.type_name(type); !name.empty()) return std::string{name};
  if (types.is_blob(type)) return "blob";
  switch (form) {
    case kind::opt:
    case kind::vec:
      return fmt::format("{} {}", keyword(form), keyword(types.kind_of(types.element(type))));
    default:
      return std::string{keyword(form)};
  }
}

uint64_t subtype_checker::key(const item& it) noexcept {
  return static_cast<uint64_t>(static_cast<uint32_t>(it.sub.raw())) << 32
         | static_cast<uint32_t>(it.super.raw());
}

// All rules are conjunctions (an `opt` above is decided at once), so the answer is no exactly if
// some pair reachable from the first fails by itself, and a yes holds for all pairs on the way.
subtype_checker::answer subtype_checker::check(type_ref sub, type_ref super, size_t& steps) {
  work_.clear();
  push(sub, super, false, 0, {});
  std::vector<std::pair<int, uint64_t>> assumed;
  const item root = work_.front();
  for (uint32_t at = 0; at < work_.size(); ++at) {
    const int direction = work_[at].flipped ? 1 : 0;
    const auto pair = key(work_[at]);
    const auto known = known_[direction].find(pair);
    if (known != known_[direction].end() && known->second) continue;
    if (steps == 0) {
      for (const auto& [side, k] : assumed) known_[side].erase(k);
      return answer::over_limit;
    }
    --steps;
    if ((known == known_[direction].end() || known->second) && visit(at)) {
      known_[direction].emplace(pair, true);
      assumed.emplace_back(direction, pair);
      continue;
    }
    for (const auto& [side, k] : assumed) known_[side].erase(k);
    known_[direction][pair] = false;
    known_[0][key(root)] = false;
    return answer::no;
  }
  return answer::yes;
}

bool subtype_checker::check(type_ref sub, type_ref super) {
  auto steps = std::numeric_limits<size_t>::max();
  return check(sub, super, steps) == answer::yes;
}

std::string subtype_checker::explain() const {
  std::string path;
  for (auto at = failed_; at != 0; at = work_[at].parent) path = work_[at].label + path;
  return path.empty() ? reason_ : path + ": " + reason_;
}

void subtype_checker::push(type_ref sub, type_ref super, bool flipped, uint32_t parent,
                           std::string label) {
  // Pairs of primitive types are settled here, without an entry, in the common case.
  if (!sub.is_entry() && sub == super && parent != 0) return;
  if (flipped) std::swap(sub, super);
  work_.push_back({sub, super, flipped, parent, std::move(label)});
}

bool subtype_checker::refuse(uint32_t at, std::string reason) {
  failed_ = at;
  reason_ = std::move(reason);
  return false;
}

bool subtype_checker::visit(uint32_t at) {
  const auto it = work_[at];
  const auto& low = lower(it);
  const auto& high = upper(it);
  const auto sub = it.flipped ? it.super : it.sub;
  const auto super = it.flipped ? it.sub : it.super;
  if (&low == &high && sub == super) return true;
  const auto form = low.kind_of(sub);
  const auto wanted = high.kind_of(super);
  if (wanted == kind::reserved || form == kind::empty) return true;
  if (wanted == kind::opt) return rule_ == opt_rule::lenient || visit_opt(it, at);
  if (form == wanted && form != kind::future) {
    switch (form) {
      case kind::vec:
        push(low.element(sub), high.element(super), it.flipped, at, "[]");
        return true;
      case kind::record:
        return visit_fields(it, at, true);
      case kind::variant:
        return visit_fields(it, at, false);
      case kind::func:
        return visit_func(it, at);
      case kind::service:
        return visit_service(it, at);
      default:
        return true;
    }
  }
  if (form == kind::nat && wanted == kind::integer) return true;
  if (form == kind::service && wanted == kind::principal) return true;
  return refuse(at, fmt::format("{} is no {}", short_text(low, sub), short_text(high, super)));
}

bool subtype_checker::visit_opt(const item& it, uint32_t at) {
  const auto& low = lower(it);
  const auto& high = upper(it);
  const auto sub = it.flipped ? it.super : it.sub;
  const auto super = it.flipped ? it.sub : it.super;
  const auto form = low.kind_of(sub);
  if (form == kind::null || form == kind::reserved) return true;
  const auto content = form == kind::opt ? low.element(sub) : sub;
  push(content, high.element(super), it.flipped, at, "?");
  return true;
}

bool subtype_checker::visit_fields(const item& it, uint32_t at, bool is_record) {
  const auto& low = lower(it);
  const auto& high = upper(it);
  const auto sub = it.flipped ? it.super : it.sub;
  const auto super = it.flipped ? it.sub : it.super;
  // A record must give what is wanted; a variant may not be what is unknown.
  if (is_record) {
    for (const auto& wanted : high.fields(super)) {
      const auto* given = low.find(sub, wanted.id);
      if (given != nullptr) {
        push(given->type, wanted.type, it.flipped, at, "." + high.label_of(wanted));
      } else if (!high.is_nullable(wanted.type)) {
        return refuse(at, fmt::format("field '{}' is missing and not opt", high.label_of(wanted)));
      }
    }
    return true;
  }
  for (const auto& given : low.fields(sub)) {
    const auto* wanted = high.find(super, given.id);
    if (wanted == nullptr) {
      return refuse(at, fmt::format("tag '{}' is unknown", low.label_of(given)));
    }
    push(given.type, wanted->type, it.flipped, at, "." + low.label_of(given));
  }
  return true;
}

bool subtype_checker::visit_tuple(std::span<const type_ref> sub, std::span<const type_ref> super,
                                  bool flipped, uint32_t at, const char* what) {
  const auto& high = flipped ? sub_ : super_;
  for (size_t i = 0; i < super.size(); ++i) {
    const auto label = fmt::format(": {}[{}]", what, i);
    if (i < sub.size()) {
      push(sub[i], super[i], flipped, at, label);
    } else if (!high.is_nullable(super[i])) {
      return refuse(at, fmt::format("{}[{}] is missing and not opt", what, i));
    }
  }
  return true;
}

bool subtype_checker::visit_func(const item& it, uint32_t at) {
  const auto& low = lower(it);
  const auto& high = upper(it);
  const auto sub = it.flipped ? it.super : it.sub;
  const auto super = it.flipped ? it.sub : it.super;
  if (low.annotations(sub) != high.annotations(super)) {
    return refuse(at, "the annotations (query, oneway, composite_query) differ");
  }
  return visit_tuple(high.arguments(super), low.arguments(sub), !it.flipped, at, "argument")
         && visit_tuple(low.results(sub), high.results(super), it.flipped, at, "result");
}

bool subtype_checker::visit_service(const item& it, uint32_t at) {
  const auto& low = lower(it);
  const auto& high = upper(it);
  const auto given = low.methods(it.flipped ? it.super : it.sub);
  const auto wanted = high.methods(it.flipped ? it.sub : it.super);
  auto next = given.begin();
  for (const auto& m : wanted) {
    while (next != given.end() && next->name < m.name) ++next;
    if (next == given.end() || next->name != m.name) {
      return refuse(at, fmt::format("method '{}' is missing", m.name));
    }
    push(next->type, m.type, it.flipped, at, "." + m.name);
  }
  return true;
}

} // namespace moxzi::candid
