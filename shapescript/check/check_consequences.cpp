#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "shapescript/check/checker.hpp"

namespace shapescript {

namespace {

bool begins_with(const diagnostic& d, std::string_view family) {
  return std::string_view{d.code}.starts_with(family);
}

// Sizes, dtypes and refinements that do not agree.
bool of_types(const diagnostic& d) {
  return begins_with(d, "E04") || begins_with(d, "E05") || d.code == "E0204";
}

bool of_names(const diagnostic& d) {
  return d.code == "E0201" || d.code == "E0204" || d.code == "E0607";
}

// What may be wrong with the head of a function although it is reported in its body.
bool doubts_head(const diagnostic& d) {
  return of_types(d) || begins_with(d, "E02") || d.code == "E0605" || d.code == "E0701";
}

// What may be wrong with the head of a function although it is reported at a call: how many
// arguments it takes, and which are `mut`. Shapes at a call are a mistake of their own.
bool of_call(const diagnostic& d) {
  return begins_with(d, "E030") || begins_with(d, "E060") || begins_with(d, "E070");
}

} // namespace

std::vector<diagnostic> checker::without_consequences() {
  module_ = 0;
  const auto& misplaced = mod().program.misplaced;
  std::vector<size_t> order(out_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto begin_of = [&](size_t i) { return out_[i].primary().where.begin; };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t x, size_t y) { return begin_of(x) < begin_of(y); });
  // Functions whose body does not agree with their head, whichever of the two is wrong.
  std::set<uint32_t> in_doubt;
  for (size_t i = 0; i < out_.size(); ++i)
    if (doubts_head(out_[i]) && contexts_[i].callee == no_index)
      in_doubt.insert(contexts_[i].function);
  in_doubt.erase(no_index);
  std::set<uint32_t> places;
  for (const auto& one : mod().program.diagnostics) places.insert(one.primary().where.begin);
  // Of one function, one code and one declaration.
  std::set<std::tuple<uint32_t, std::string, uint32_t>> origins;
  std::set<std::string> members; // what E0204 said
  const auto inside = [&](const std::vector<span>& all, uint32_t at) {
    return std::any_of(all.begin(), all.end(),
                       [at](span x) { return x.begin <= at && at < x.end; });
  };
  // A function without its head: its body is read as the end of the one before.
  const auto& unreachable = mod().program.unreachable;
  bool head_gone = false;
  for (size_t i = 0; i < out_.size() && !unreachable.empty(); ++i)
    head_gone |= out_[i].level == severity::error && inside(unreachable, begin_of(i));
  bool said = false;
  std::vector<diagnostic> kept = std::move(modules_[0]->program.diagnostics);
  for (const auto i : order) {
    const auto& d = out_[i];
    const auto begin = begin_of(i);
    if (d.level == severity::error) {
      if (inside(misplaced, begin) || !places.insert(begin).second) continue;
      if (head_gone && (inside(unreachable, begin) || of_names(d)) && std::exchange(said, true))
        continue;
      // A member that is missing in a declaration is one mistake, however often it is used.
      if (d.code == "E0204" && !members.insert(d.message).second) continue;
      const auto& about = contexts_[i];
      const bool of_head = about.callee != about.function && in_doubt.contains(about.callee);
      if (of_head && of_call(d)) continue;
      const auto key = [&](span x) { return std::tuple{about.function, d.code, x.begin}; };
      const auto seen = [&](span x) { return origins.contains(key(x)); };
      if (of_types(d) && std::any_of(about.origins.begin(), about.origins.end(), seen)) continue;
      if (of_types(d))
        for (const auto x : about.origins) origins.insert(key(x));
    }
    kept.push_back(std::move(out_[i]));
  }
  return kept;
}

} // namespace shapescript
