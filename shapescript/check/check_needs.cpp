#include <algorithm>
#include <deque>
#include <numeric>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

namespace {

/// Needs are followed through calls of calls as far as this.
constexpr size_t needs_max = 10'000;
/// And models through their layers.
constexpr size_t models_deep_max = 1'000;

// No value of its symbols makes it whole: `(2*n+1)/2`.
bool never_whole(const size_form& size) {
  const auto under = size.under().number();
  if (!under) return false;
  int64_t common = *under;
  int64_t rest = 0;
  for (const auto& term : size.over().terms()) {
    if (term.symbols.empty())
      rest = term.factor;
    else
      common = std::gcd(common, term.factor);
  }
  return rest % common != 0;
}

} // namespace

// -- what is needed ------------------------------------------------------------

// The quotient of two sizes. If it depends on symbols, it must be exact wherever they are known.
std::optional<size_form> checker::divided(const size_form& x, const size_form& y, span where,
                                          std::string_view what) {
  auto size = quotient(x, y);
  const bool whole = size && !size->is_quotient();
  const bool may_be = size && !size->inexact() && !never_whole(*size) && needs_ != nullptr;
  if (!whole && !may_be) {
    const auto shown = [this](const size_form& one) {
      const bool sum = one.is_quotient() || one.over().terms().size() > 1;
      return sum ? "(" + show(one) + ")" : show(one);
    };
    report("E0301", where, fmt::format("`{}` is not exact: {} / {}", what, shown(x), shown(y)),
           "a size is a whole number");
    return std::nullopt;
  }
  const bool again = !whole && !needs_->empty() && needs_->back().kind == size_need::exact
                     && needs_->back().size == *size;
  if (!whole && !again)
    needs_->push_back({size_need::exact, *size, module_, where, std::string{what}});
  return size;
}

// Without a minus no size is below 1.
void checker::need_positive(const size_form& size, span where) {
  const auto terms = size.over().terms();
  const bool falls =
    std::any_of(terms.begin(), terms.end(), [](const auto& term) { return term.factor < 0; });
  if (!falls || size.number() || size.too_large() || needs_ == nullptr) return;
  needs_->push_back({size_need::positive, size, module_, where, std::string{text(where)}});
}

bool checker::fails(const size_need& need, const size_form& size) const {
  if (need.kind == size_need::exact) return size.inexact();
  const auto number = size.number();
  return number && *number < 1;
}

diagnostic& checker::report_need(const size_need& need, const symbol_sizes& sizes, span where,
                                 std::string_view owner) {
  const auto of = [&](symbol one) { return sizes.at(one); };
  const auto [over, under] = need.size.parts();
  const bool exact = need.kind == size_need::exact;
  auto& d = exact ? report("E0301", where,
                           fmt::format("`{}` of `{}` is not exact: {} / {}", need.what, owner,
                                       show(over.replace(of)), show(under.replace(of))))
                  : report("E0302", where,
                           fmt::format("`{}` of `{}` is {}, and a size is at least 1", need.what,
                                       owner, show(need.size.replace(of))));
  if (need.module == module_)
    mark(d, need.where, exact ? "a size is a whole number" : "a size is at least 1");
  return d;
}

// -- models --------------------------------------------------------------------

void checker::check_needs() {
  hand_to_models();
  for (const auto& use : model_uses_) check_model_use(use);
  spread_needs();
}

// What a method needs of the sizes of its model alone, the model needs.
void checker::hand_to_models() {
  for (auto& f : functions_) {
    if (f.owner == no_index) continue;
    auto& model = models_[f.owner];
    const auto of_model = [&](const size_need& need) {
      const auto symbols = need.size.symbols();
      return std::all_of(symbols.begin(), symbols.end(), [&](symbol one) {
        return std::find(model.dims.begin(), model.dims.end(), one) != model.dims.end();
      });
    };
    const auto first = std::stable_partition(f.needs.begin(), f.needs.end(),
                                             [&](const auto& need) { return !of_model(need); });
    model.needs.insert(model.needs.end(), first, f.needs.end());
    f.needs.erase(first, f.needs.end());
  }
}

namespace {

/// A model in what is used, with its sizes there and as the used model's symbols give them.
struct inner_model {
  type what;
  type formal;
};

} // namespace

// What the sizes of a model and of its layers become where it is used.
void checker::check_model_use(const model_place& use) {
  module_ = use.module;
  const auto& outer = models_[use.what.declaration];
  auto formal = use.what;
  for (size_t i = 0; i < outer.dims.size() && i < formal.dims.size(); ++i)
    formal.dims[i] = size_form::of(outer.dims[i]);
  std::vector<inner_model> open{{use.what, formal}};
  for (size_t next = 0; next < open.size() && next < models_deep_max; ++next) {
    const auto here = open[next];
    const auto& model = models_[here.what.declaration];
    symbol_map map, formal_map;
    symbol_sizes sizes;
    for (size_t i = 0; i < model.dims.size() && i < here.what.dims.size(); ++i) {
      map[model.dims[i]] = dim_of(here.what, i);
      formal_map[model.dims[i]] = dim_of(here.formal, i);
      sizes.emplace(model.dims[i], here.what.dims[i]);
    }
    for (const auto& need : model.needs) {
      const auto of_model = need.size.symbols();
      if (!std::all_of(of_model.begin(), of_model.end(),
                       [&](symbol one) { return map.contains(one); }))
        continue;
      const auto size = need.size.replace([&](symbol one) { return sizes.at(one); });
      if (!fails(need, size)) {
        if (use.maker != no_index && !size.number())
          functions_[use.maker].needs.push_back(
            {need.kind, size, need.module, need.where, need.what});
        continue;
      }
      // The size of the use that it comes from.
      const auto from = need.size.replace([&](symbol one) { return formal_map.at(one).size; });
      const auto symbols = from.symbols();
      size_t at = 0;
      for (size_t i = outer.dims.size(); i-- > 0;)
        if (std::find(symbols.begin(), symbols.end(), outer.dims[i]) != symbols.end()) at = i;
      if (!reported_sizes_.insert(show(use.what)).second) return;
      auto& d = report_need(need, sizes, at < use.places.size() ? use.places[at] : use.places[0],
                            show(here.what));
      d.labels[0].text =
        fmt::format("`{}` is {}", symbols_[outer.dims[at]].name, show(use.what.dims[at]));
      return;
    }
    for (const auto& member : model.members) {
      const auto& inner = is(member.what, base_type::layers) ? member.what.parts[0] : member.what;
      if (!is(inner, base_type::model)) continue;
      open.push_back({replace(inner, map), replace(inner, formal_map)});
    }
  }
}

// -- functions -----------------------------------------------------------------

// A call that gives the function that needs something, or one that leads to it, a wrong size.
void checker::report_call(const call_edge& edge, const size_need& need, uint32_t owner) {
  const auto first = need.size.symbols().front();
  const auto place = edge.given.find(first);
  const auto& f = functions_[owner];
  auto& d = report_need(need, edge.sizes, place == edge.given.end() ? edge.where : place->second,
                        modules_[f.module]->text.text(f.decl->name));
  d.labels[0].text =
    fmt::format("`{}` is {} here", symbols_[first].name, show(edge.sizes.at(first)));
}

// Each need goes to the calls of its function: there its symbols are known, or the caller's.
void checker::spread_needs() {
  struct caller {
    uint32_t function;
    size_t edge;
    bool said = false;
  };
  struct open_need {
    uint32_t function; ///< whose symbols are in it
    uint32_t owner;    ///< where it was written
    size_need need;
  };
  std::vector<std::vector<caller>> callers(functions_.size());
  std::deque<open_need> open;
  for (uint32_t i = 0; i < functions_.size(); ++i) {
    const auto& f = functions_[i];
    for (size_t k = 0; k < f.calls.size(); ++k)
      if (!f.calls[k].sizes.empty()) callers[f.calls[k].callee].push_back({i, k});
    for (const auto& need : f.needs) open.push_back({i, i, need});
  }
  for (size_t steps = 0; !open.empty() && steps < needs_max; ++steps) {
    const auto here = std::move(open.front());
    open.pop_front();
    const auto symbols = here.need.size.symbols();
    for (auto& by : callers[here.function]) {
      auto& f = functions_[by.function];
      const auto& edge = f.calls[by.edge];
      const auto known = [&](symbol one) { return edge.sizes.contains(one); };
      if (by.said || !std::all_of(symbols.begin(), symbols.end(), known)) continue;
      auto next = here.need;
      next.size = next.size.replace([&](symbol one) { return edge.sizes.at(one); });
      module_ = f.module;
      by.said = fails(here.need, next.size);
      if (by.said) report_call(edge, here.need, here.owner);
      const auto same = [&](const size_need& one) {
        return one.kind == next.kind && one.size == next.size;
      };
      if (by.said || next.size.number() || next.size.too_large()
          || std::any_of(f.needs.begin(), f.needs.end(), same))
        continue;
      f.needs.push_back(next);
      open.push_back({by.function, here.owner, std::move(next)});
    }
  }
}

} // namespace shapescript
