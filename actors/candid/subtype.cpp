#include "actors/candid/subtype.hpp"

#include <algorithm>

#include "actors/candid/errc.hpp"

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

namespace {

/// Argument or result, in a member's number.
constexpr size_t result_bit = size_t{1} << 29;

} // namespace

// -- the pairs ----------------------------------------------------------------

size_t subtype_checker::place_of(const pair& wanted) const noexcept {
  const auto sub = static_cast<uint32_t>(wanted.sub.raw());
  const auto super = static_cast<uint32_t>(wanted.super.raw());
  auto hash = (uint64_t{sub} << 32 | super) * 2 + wanted.flipped;
  hash = (hash ^ hash >> 31) * 0x9E3779B97F4A7C15;
  auto at = static_cast<size_t>(hash >> 32) & (table_.size() - 1);
  for (; table_[at] != 0; at = (at + 1) & (table_.size() - 1)) {
    const auto& p = pairs_[table_[at] - 1];
    if (p.sub == wanted.sub && p.super == wanted.super && p.flipped == wanted.flipped) break;
  }
  return at;
}

void subtype_checker::grow() {
  table_.assign(table_.empty() ? 32 : 2 * table_.size(), 0);
  for (uint32_t i = 0; i < pairs_.size(); ++i) table_[place_of(pairs_[i])] = i + 1;
}

// What came last lies in no other's way, so it may leave the table without a mark.
void subtype_checker::forget(size_t kept) {
  while (pairs_.size() > kept) {
    table_[place_of(pairs_.back())] = 0;
    pairs_.pop_back();
  }
}

bool subtype_checker::spend(size_t n) {
  if (n > steps_left_ || n > *steps_) {
    over_limit_ = true;
    return false;
  }
  steps_left_ -= n;
  *steps_ -= n;
  return true;
}

bool subtype_checker::push(const question& q, bool flipped, uint32_t parent, size_t member) {
  const bool is_first = pairs_.size() == first_;
  const auto wanted = q.high.kind_of(q.super);
  if (!is_first) { // settled without a pair, in the common cases
    if (!q.sub.is_entry() && q.sub == q.super) return true;
    if (q.low.kind_of(q.sub) == kind::empty) return true;
    if (wanted == kind::reserved && rule_ != opt_rule::lossless) return true;
    if (wanted == kind::opt && rule_ == opt_rule::lenient) return true;
  }
  pair made{flipped ? q.super : q.sub, flipped ? q.sub : q.super, parent, 0, flipped, 0};
  made.member = static_cast<uint32_t>(member) & 0x3FFFFFFF;
  if (2 * (pairs_.size() + 1) > table_.size()) grow();
  const auto place = place_of(made);
  // A survey counts primitive types that do not fit at each place where they meet.
  if (found_ != nullptr && !is_first && !q.sub.is_entry() && !q.super.is_entry()) {
    if (q.sub == type_ref{kind::nat} && q.super == type_ref{kind::integer}) return true;
    if (has_first_ || table_[place] != 0) {
      ++found_->places;
      return true;
    }
  }
  if (table_[place] != 0) {
    if (pairs_[table_[place] - 1].refuted == 0) return true;
    reason_.clear(); // found again when somebody asks
    return false;
  }
  if (pairs_.size() >= pairs_max) {
    over_limit_ = true;
    return false;
  }
  pairs_.push_back(made);
  table_[place] = static_cast<uint32_t>(pairs_.size());
  return true;
}

// -- asking -------------------------------------------------------------------

// All rules are conjunctions (an `opt` above is decided at once), so the answer is no exactly if
// some pair reachable from the first fails by itself, and a yes holds for all pairs on the way.
subtype_checker::answer subtype_checker::run(type_ref sub, type_ref super, size_t& steps) {
  asked_sub_ = sub;
  asked_super_ = super;
  steps_ = &steps;
  over_limit_ = false;
  first_ = static_cast<uint32_t>(pairs_.size());
  bool fits = push({sub_, super_, sub, super}, false, first_, 0);
  for (auto at = first_; fits && at < pairs_.size(); ++at) fits = spend(1) && visit(at);
  if (fits) return answer::yes;
  return over_limit_ ? answer::over_limit : answer::no;
}

subtype_checker::answer subtype_checker::check(type_ref sub, type_ref super, size_t& steps) {
  const auto outcome = run(sub, super, steps);
  if (outcome == answer::yes) return outcome;
  forget(first_);
  if (outcome == answer::no && pairs_.size() < pairs_max) {
    const pair refuted{sub, super, first_, 0, 0, 1};
    const auto place = place_of(refuted);
    if (table_[place] == 0) {
      pairs_.push_back(refuted);
      table_[place] = static_cast<uint32_t>(pairs_.size());
    }
  }
  return outcome;
}

subtype_checker::answer subtype_checker::compare(type_ref sub, type_ref super) {
  auto steps = steps_max;
  return check(sub, super, steps);
}

std::string subtype_checker::explain() const {
  subtype_checker again{sub_, super_, rule_};
  auto steps = steps_max;
  if (again.run(asked_sub_, asked_super_, steps) != answer::no) return "the types differ";
  auto text = again.describe();
  return text.starts_with(": ") ? text.substr(2) : text; // of a function
}

std::string subtype_checker::describe() const {
  std::vector<uint32_t> way;
  for (auto at = failed_; at != first_; at = pairs_[at].parent) way.push_back(at);
  const auto path =
    path_text(way.size(), [&](size_t i) { return label(pairs_[way[way.size() - 1 - i]]); });
  return path.empty() ? reason_ : path + ": " + reason_;
}

subtype_checker::findings subtype_checker::survey(type_ref sub, type_ref super) {
  findings found;
  found_ = &found;
  has_first_ = false;
  auto steps = steps_max;
  steps_ = &steps;
  asked_sub_ = sub;
  asked_super_ = super;
  const bool are_services =
    sub_.kind_of(sub) == kind::service && super_.kind_of(super) == kind::service;
  if (!are_services) {
    look_through({sub_, super_, sub, super}, {});
  } else {
    const auto given = sub_.methods(sub);
    const auto wanted = super_.methods(super);
    for (const auto& place : wanted) {
      const auto& m = wanted[place.declared];
      const auto same =
        std::lower_bound(given.begin(), given.end(), m.name,
                         [](const method& one, std::string_view name) { return one.name < name; });
      if (same == given.end() || same->name != m.name) {
        if (!has_first_) found.first = fmt::format("method '{}' is missing", m.name);
        has_first_ = true;
        ++found.places;
      } else {
        look_through({sub_, super_, same->type, m.type}, m.name);
      }
      if (found.over_limit) break;
    }
  }
  found_ = nullptr;
  return found;
}

void subtype_checker::look_through(const question& q, std::string_view method) {
  const bool had_first = has_first_;
  over_limit_ = false;
  first_ = static_cast<uint32_t>(pairs_.size());
  bool goes_on = push(q, false, first_, 0);
  for (auto at = first_; goes_on && at < pairs_.size(); ++at) goes_on = spend(1) && visit(at);
  if (!goes_on) found_->over_limit = over_limit_;
  if (had_first || !has_first_) return;
  const auto text = describe();
  if (method.empty()) {
    found_->first = text;
  } else {
    found_->first = fmt::format(".{}{}{}", method, text.starts_with(": ") ? "" : ": ", text);
  }
}

std::string subtype_checker::label(const pair& p) const {
  const auto q = question_of(pairs_[p.parent]);
  if (q.high.kind_of(q.super) == kind::opt) return "?";
  switch (q.low.kind_of(q.sub)) {
    case kind::vec:
      return "[]";
    case kind::record:
      return "." + q.high.label_of(q.high.fields(q.super)[p.member]);
    case kind::variant:
      return "." + q.low.label_of(q.low.fields(q.sub)[p.member]);
    case kind::func:
      return (p.member & result_bit) != 0 ? fmt::format(": result[{}]", p.member - result_bit)
                                          : fmt::format(": argument[{}]", p.member);
    default:
      return "." + q.high.methods(q.super)[p.member].name;
  }
}

/// In a survey only takes note; the reason is put into words for the first place alone.
template <class Reason>
bool subtype_checker::refuse(uint32_t at, Reason reason) {
  if (found_ != nullptr) {
    ++found_->places;
    if (has_first_) return true;
    has_first_ = true;
  }
  failed_ = at;
  reason_ = reason();
  return found_ != nullptr;
}

// -- one pair -----------------------------------------------------------------

subtype_checker::question subtype_checker::question_of(const pair& p) const noexcept {
  if (p.flipped != 0) return {super_, sub_, p.super, p.sub};
  return {sub_, super_, p.sub, p.super};
}

bool subtype_checker::visit(uint32_t at) {
  const auto q = question_of(pairs_[at]);
  const bool flipped = pairs_[at].flipped != 0;
  if (&q.low == &q.high && q.sub == q.super) return true;
  const auto form = q.low.kind_of(q.sub);
  const auto wanted = q.high.kind_of(q.super);
  if (form == kind::empty) return true;
  if (wanted == kind::reserved) {
    return rule_ != opt_rule::lossless || form == kind::null || form == kind::reserved
           || refuse(at,
                     [&] { return fmt::format("{} would be dropped", short_text(q.low, q.sub)); });
  }
  if (wanted == kind::opt) return rule_ == opt_rule::lenient || visit_opt(q, at);
  if (form == wanted && form != kind::future) {
    switch (form) {
      case kind::vec:
        return push({q.low, q.high, q.low.element(q.sub), q.high.element(q.super)}, flipped, at, 0);
      case kind::record:
        return visit_record(q, at);
      case kind::variant:
        return visit_variant(q, at);
      case kind::func:
        return visit_func(q, at);
      case kind::service:
        return visit_service(q, at);
      default:
        return true;
    }
  }
  if (form == kind::nat && wanted == kind::integer) return true;
  if (form == kind::service && wanted == kind::principal) return true;
  return refuse(at, [&] {
    return fmt::format("{} is no {}", short_text(q.low, q.sub), short_text(q.high, q.super));
  });
}

bool subtype_checker::visit_opt(const question& q, uint32_t at) {
  const auto form = q.low.kind_of(q.sub);
  if (form == kind::null || form == kind::reserved) return true;
  const auto content = form == kind::opt ? q.low.element(q.sub) : q.sub;
  if (form != kind::opt) {
    // A value without `opt` goes into all of them, so there must be an innermost one.
    auto inner = q.super;
    for (size_t i = 0; q.high.kind_of(inner) == kind::opt; ++i, inner = q.high.element(inner)) {
      if (!spend(1)) return false;
      if (i <= q.high.size()) continue;
      return refuse(at, [&] {
        return fmt::format("{} cannot be read at {}, an opt without end", short_text(q.low, q.sub),
                           short_text(q.high, q.super));
      });
    }
  }
  return push({q.low, q.high, content, q.high.element(q.super)}, pairs_[at].flipped != 0, at, 0);
}

// A record must give what is wanted; unless nothing may be lost, it may give more.
bool subtype_checker::visit_record(const question& q, uint32_t at) {
  const auto all = q.high.fields(q.super);
  if (!spend(all.size())) return false;
  if (rule_ == opt_rule::lossless) {
    const auto given = q.low.fields(q.sub);
    if (!spend(given.size())) return false;
    for (const auto& f : given) {
      if (q.high.find(q.super, f.id) != nullptr) continue;
      if (!refuse(at,
                  [&] { return fmt::format("field '{}' would be dropped", q.low.label_of(f)); }))
        return false;
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& wanted = all[i];
    const auto* given = q.low.find(q.sub, wanted.id);
    if (given == nullptr) {
      if (q.high.is_nullable(wanted.type)) continue;
      if (refuse(at, [&] {
            return fmt::format("field '{}' is missing and not opt", q.high.label_of(wanted));
          })) {
        continue;
      }
      return false;
    }
    if (!push({q.low, q.high, given->type, wanted.type}, pairs_[at].flipped != 0, at, i)) {
      return false;
    }
  }
  return true;
}

// A variant may not be what is unknown.
bool subtype_checker::visit_variant(const question& q, uint32_t at) {
  const auto all = q.low.fields(q.sub);
  if (!spend(all.size())) return false;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto* wanted = q.high.find(q.super, all[i].id);
    if (wanted == nullptr) {
      if (refuse(at, [&] { return fmt::format("tag '{}' is unknown", q.low.label_of(all[i])); }))
        continue;
      return false;
    }
    if (!push({q.low, q.high, all[i].type, wanted->type}, pairs_[at].flipped != 0, at, i)) {
      return false;
    }
  }
  return true;
}

namespace {

/// The annotations of a function, for a sentence.
std::string annotations_text(uint8_t set) {
  std::string text;
  if ((set & annotation::query) != 0) text += " query";
  if ((set & annotation::composite_query) != 0) text += " composite_query";
  if ((set & annotation::oneway) != 0) text += " oneway";
  return text.empty() ? "no annotation" : text.substr(1);
}

} // namespace

bool subtype_checker::visit_func(const question& q, uint32_t at) {
  const auto given = q.low.annotations(q.sub);
  const auto wanted = q.high.annotations(q.super);
  if (given != wanted && !refuse(at, [&] {
        return fmt::format("the annotations differ: {} instead of {}", annotations_text(given),
                           annotations_text(wanted));
      })) {
    return false;
  }
  const bool flipped = pairs_[at].flipped != 0;
  const auto tuple = [&](const type_table& low, const type_table& high,
                         std::span<const type_ref> sub, std::span<const type_ref> super,
                         bool is_result) {
    if (!spend(super.size())) return false;
    for (size_t i = 0; i < super.size(); ++i) {
      const auto member = i + (is_result ? result_bit : 0);
      if (i < sub.size()) {
        if (!push({low, high, sub[i], super[i]}, is_result ? flipped : !flipped, at, member))
          return false;
      } else if (!high.is_nullable(super[i])) {
        const auto* what = is_result ? "result" : "argument";
        if (!refuse(at, [&] { return fmt::format("{}[{}] is missing and not opt", what, i); }))
          return false;
      }
    }
    return true;
  };
  return tuple(q.high, q.low, q.high.arguments(q.super), q.low.arguments(q.sub), false)
         && tuple(q.low, q.high, q.low.results(q.sub), q.high.results(q.super), true);
}

bool subtype_checker::visit_service(const question& q, uint32_t at) {
  const auto given = q.low.methods(q.sub);
  const auto wanted = q.high.methods(q.super);
  if (!spend(given.size() + wanted.size())) return false;
  auto next = given.begin();
  for (size_t i = 0; i < wanted.size(); ++i) {
    constexpr size_t bytes_per_step = 64;
    if (!spend(wanted[i].name.size() / bytes_per_step)) return false;
    while (next != given.end() && next->name < wanted[i].name) ++next;
    if (next == given.end() || next->name != wanted[i].name) {
      if (refuse(at, [&] { return fmt::format("method '{}' is missing", wanted[i].name); }))
        continue;
      return false;
    }
    if (!push({q.low, q.high, next->type, wanted[i].type}, pairs_[at].flipped != 0, at, i)) {
      return false;
    }
  }
  return true;
}

} // namespace moxzi::candid
