#include <algorithm>

#include "shapescript/check/checker.hpp"

// What is known of variables when a round of a loop begins: what was before the loop, as far as
// every round keeps it.

namespace shapescript {

// A round that is tried: afterwards all is as it was, and nothing was reported or recorded.
struct checker::trial {
  explicit trial(checker& what)
      : c(what), f(what.functions_[what.function_]), had_errors(c.has_errors_here_),
        unknown(c.unknown_here_), reported(c.reported_), names(c.local_names_), scope(*c.scope_),
        infos(c.local_infos_), roots(c.roots_.size()), symbols(c.symbols_.size()),
        bindings(c.bindings_.size()), device_roots(c.device_roots_.size()),
        model_uses(c.model_uses_.size()), calls(f.calls.size()), questions(f.questions.size()),
        needs(f.needs.size()), python_calls(f.python_calls.size()), host_site(f.host_site),
        device_site(f.device_site), host_what(f.host_what), device_what(f.device_what),
        device_number(f.device_number) {
    ++c.trials_;
  }

  ~trial() {
    --c.trials_;
    c.has_errors_here_ = had_errors;
    c.unknown_here_ = std::move(unknown);
    c.reported_ = std::move(reported);
    c.local_names_ = std::move(names);
    *c.scope_ = std::move(scope);
    c.local_infos_ = std::move(infos);
    c.roots_.resize(roots);
    c.symbols_.resize(symbols);
    c.bindings_.resize(bindings);
    c.device_roots_.resize(device_roots);
    c.model_uses_.resize(model_uses);
    f.calls.resize(calls);
    f.questions.resize(questions);
    f.needs.resize(needs);
    f.python_calls.resize(python_calls);
    f.host_site = host_site;
    f.device_site = device_site;
    f.host_what = std::move(host_what);
    f.device_what = std::move(device_what);
    f.device_number = std::move(device_number);
  }

  trial(const trial&) = delete;
  trial& operator=(const trial&) = delete;

  checker& c;
  function_info& f;
  bool had_errors;
  std::set<std::string_view> unknown;
  std::set<std::pair<uint32_t, std::string_view>> reported;
  std::map<std::string_view, uint32_t> names;
  size_scope scope;
  std::vector<local_info> infos;
  size_t roots, symbols, bindings, device_roots, model_uses, calls, questions, needs, python_calls;
  span host_site, device_site;
  std::string host_what, device_what, device_number;
};

namespace {

bool same_numbers(const std::optional<number_range>& x, const std::optional<number_range>& y) {
  return x.has_value() == y.has_value() && (!x || (x->low == y->low && x->high == y->high));
}

bool same_state(const local_state& x, const local_state& y) {
  const auto& a = x.what;
  const auto& b = y.what;
  const bool bound = a.known == refinement::index || a.known == refinement::prob;
  return a.base == b.base && a.element == b.element && a.known == b.known && a.literal == b.literal
         && same_numbers(a.numbers, b.numbers)
         && (!bound || (a.bound.size == b.bound.size && a.bound.name == b.bound.name))
         && x.places == y.places;
}

// Whether a round could leave less than this of a value.
bool may_lose(const type& what) {
  return is_scalar(what) || is_reference(what)
         || (is_tensor(what) && (what.known != refinement::none || what.literal));
}

bool is_refined(const type& what) {
  return !is_scalar(what) && may_lose(what);
}

void forget(type& what) {
  what.known = refinement::none;
  what.numbers.reset();
  what.value.reset();
}

} // namespace

// What a loop assigns, or passes as `mut`.
void checker::assigned_in(const block& body, std::set<std::string_view>& out) const {
  for (const auto id : body) {
    const auto& node = t().at(id);
    for (const auto value : node.values) changed_in(value, out);
    for (const auto& one : node.branches) changed_in(one.condition, out);
    for (const auto target : node.targets)
      if (t().at(target).kind == expr_kind::name) out.insert(text(t().at(target).name));
    for (const auto& one : node.branches) assigned_in(one.body, out);
    assigned_in(node.body, out);
  }
}

void checker::changed_in(expr_id id, std::set<std::string_view>& out) const {
  std::vector<expr_id> open{id};
  while (!open.empty()) {
    const auto next = open.back();
    open.pop_back();
    if (next == expr_id::none) continue;
    const auto& node = t().at(next);
    for (const auto& one : node.arguments) {
      const bool named = one.value != expr_id::none && t().at(one.value).kind == expr_kind::name;
      if (named && !(one.mut == span{})) out.insert(text(t().at(one.value).name));
      open.push_back(one.value);
    }
    open.insert(open.end(), {node.left, node.right});
    open.insert(open.end(), node.items.begin(), node.items.end());
    if (node.patterns == pattern_id::none) continue;
    const auto& operands = t().at(node.patterns).operands;
    open.insert(open.end(), operands.begin(), operands.end());
  }
}

void checker::leave_round(bool for_good) {
  auto& loop = loop_ends_.back();
  auto& paths = for_good ? loop.breaks : loop.continues;
  if (paths.size() < loop_paths_max)
    paths.push_back(locals_.changes_since(loop.path));
  else
    loop.more = true;
}

// The states at the ends of one round; nothing if there are too many.
std::optional<std::vector<path_changes>>
checker::try_round(const block& body, const std::function<void()>& begin_round) {
  const trial attempt{*this};
  ++loops_;
  loop_ends_.push_back({locals_.begin_path(), {}, {}, false});
  begin_round();
  const bool reaches = run_block(body);
  auto end = locals_.end_path();
  auto paths = std::move(loop_ends_.back().continues);
  const bool more = loop_ends_.back().more;
  if (reaches) paths.push_back(std::move(end));
  loop_ends_.pop_back();
  --loops_;
  if (more) return std::nullopt;
  // What was made in the round is gone.
  for (auto& path : paths)
    for (auto& [name, state] : path)
      std::erase_if(state.places, [&](const place& one) { return one.root >= attempt.roots; });
  return paths;
}

// Makes of the variables' states what every round can begin with.
void checker::settle(const stmt& node, const block& body,
                     const std::function<void()>& begin_round) {
  std::set<std::string_view> names;
  assigned_in(body, names);
  for (const auto own : node.names) names.erase(text(own));
  std::erase_if(names, [&](std::string_view name) {
    const auto* found = locals_.find(name);
    return found == nullptr || !may_lose(found->what);
  });
  const bool any_refined = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return is_refined(locals_.find(name)->what);
  });
  bool settled = names.empty();
  for (int i = 0; !settled && i < trial_rounds_max && trials_ < trials_deep_max; ++i) {
    const auto ends = try_round(body, begin_round);
    if (!ends) break;
    bool counts = !any_refined; // only numbers of the host changed
    settled = true;
    for (const auto name : names) {
      const auto before = *locals_.find(name);
      auto now = before;
      for (const auto& end : *ends) {
        const auto found = end.find(name);
        if (found == end.end() || is_poison(found->second.what)) continue;
        now = join(name, now, found->second, false);
        now.what.crossed = before.what.crossed;
      }
      now.maybe = before.maybe;
      if (is_poison(now.what) || same_state(before, now)) continue;
      settled = false;
      counts &= is_scalar(now.what);
      if (is_scalar(before.what) && is_tensor(now.what))
        report_widened(name, before, now.what, widenings_[name].first, widenings_[name].second);
      locals_.set(name, std::move(now));
    }
    if (!settled && counts) break;
  }
  if (!settled) forget_known(names);
}

void checker::forget_known(const std::set<std::string_view>& names) {
  for (const auto name : names) {
    const auto* found = locals_.find(name);
    if (found == nullptr) continue;
    auto state = *found;
    forget(state.what);
    locals_.set(name, std::move(state));
  }
}

// Follows one round for all of them, and goes on after the loop. Whether control gets there.
bool checker::follow_rounds(const stmt& node, const block& body,
                            const std::function<void()>& begin_round, bool ends) {
  std::vector<path_changes> paths;
  ++loops_;
  loop_ends_.push_back({locals_.begin_path(), {}, {}, false});
  begin_round();
  const bool reaches = run_block(body);
  auto end = locals_.end_path();
  auto& loop = loop_ends_.back();
  if (ends) {
    paths.emplace_back();
    if (reaches) paths.push_back(std::move(end));
    for (auto& one : loop.continues) paths.push_back(std::move(one));
  }
  for (auto& one : loop.breaks) paths.push_back(std::move(one));
  const bool more = loop.more;
  loop_ends_.pop_back();
  --loops_;
  // The loop's variables live in it.
  for (auto& path : paths)
    for (const auto own : node.names) path.erase(text(own));
  join_paths(paths, false);
  if (more) {
    std::set<std::string_view> names;
    assigned_in(body, names);
    forget_known(names);
  }
  return !paths.empty();
}

} // namespace shapescript
