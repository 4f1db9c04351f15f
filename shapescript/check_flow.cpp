#include <algorithm>

#include <fmt/format.h>

#include "shapescript/checker.hpp"

namespace shapescript {

// -- branches ------------------------------------------------------------------

void checker::condition(expr_id id) {
  const auto what = expression(id);
  if (is_poison(what) || is(what, base_type::boolean)) return;
  auto& d = report("E0506", t().at(id).where,
                   fmt::format("a condition is a host bool, but this is `{}`", show(what)),
                   fmt::format("`{}`", show(what)));
  if (is_tensor(what)) {
    d.notes.push_back("a tensor's values are not known while the program is put together, so that "
                      "each device function stays one fixed graph");
    d.help.push_back("choose between values with `where(condition, a, b)`");
  }
}

// Two states of one variable, at the ends of two paths.
local_state checker::join(std::string_view name, const local_state& x, const local_state& y,
                          bool report_types) {
  auto out = x;
  out.maybe |= y.maybe;
  if (same(x.what, y.what)) {
    out.what = is_poison(x.what) || is_poison(y.what) ? type{} : join_known(x.what, y.what);
    return out;
  }
  if (report_types) {
    const bool second_later = y.assigned.begin > x.assigned.begin;
    const auto& later = second_later ? y : x;
    const auto& first = second_later ? x : y;
    auto& d = report("E1003", later.assigned,
                     fmt::format("`{}` is `{}` here and `{}` on another path", name,
                                 show(later.what), show(first.what)),
                     fmt::format("`{}`", show(later.what)));
    mark(d, first.assigned, fmt::format("`{}`", show(first.what)));
    explain_sizes(d, first.what.axes, later.what.axes);
  }
  out.what = {};
  return out;
}

// Goes on after several paths from here, each with what it changed.
void checker::join_paths(const std::vector<path_changes>& paths, bool report_types) {
  std::set<std::string_view> changed;
  for (const auto& path : paths)
    for (const auto& [name, state] : path) changed.insert(name);
  for (const auto name : changed) {
    std::optional<local_state> out;
    bool missing = false;
    for (const auto& path : paths) {
      const auto found = path.find(name);
      const auto* state = found != path.end() ? &found->second : locals_.find(name);
      if (state == nullptr)
        missing = true;
      else
        out = out ? join(name, *out, *state, report_types) : *state;
    }
    out->maybe |= missing;
    locals_.set(name, std::move(*out));
  }
}

bool checker::run_if(const stmt& node) {
  std::vector<path_changes> paths;
  const auto follow = [&](const block& body) {
    locals_.begin_path();
    const bool reaches = run_block(body);
    auto changes = locals_.end_path();
    if (reaches) paths.push_back(std::move(changes));
  };
  for (const auto& one : node.branches) {
    condition(one.condition);
    follow(one.body);
  }
  if (node.has_else)
    follow(node.body);
  else
    paths.emplace_back();
  join_paths(paths, true);
  return !paths.empty();
}

// -- loops ---------------------------------------------------------------------

void checker::assigned_in(const block& body, std::set<std::string_view>& out) const {
  for (const auto id : body) {
    const auto& node = t().at(id);
    for (const auto target : node.targets)
      if (t().at(target).kind == expr_kind::name) out.insert(text(t().at(target).name));
    for (const auto& one : node.branches) assigned_in(one.body, out);
    assigned_in(node.body, out);
  }
}

// Where the function at hand assigns a name after the place.
span checker::assigned_later(std::string_view name, uint32_t place) const {
  if (function_ == no_index) return {};
  std::vector<const block*> open{&functions_[function_].decl->body};
  while (!open.empty()) {
    const auto& body = *open.back();
    open.pop_back();
    for (const auto id : body) {
      const auto& node = t().at(id);
      for (const auto target : node.targets) {
        const auto& left = t().at(target);
        if (left.kind == expr_kind::name && left.where.begin > place && text(left.name) == name)
          return left.name;
      }
      for (const auto& one : node.branches) open.push_back(&one.body);
      open.push_back(&node.body);
    }
  }
  return {};
}

// What a loop assigns has lost its refinement when a round begins.
void checker::forget_known(const block& body) {
  std::set<std::string_view> names;
  assigned_in(body, names);
  for (const auto name : names) {
    const auto* found = locals_.find(name);
    if (found == nullptr) continue;
    auto state = *found;
    state.what = plain(state.what);
    locals_.set(name, std::move(state));
  }
}

bool checker::run_while(const stmt& node) {
  const auto& one = node.branches[0];
  forget_known(one.body);
  condition(one.condition);
  const auto& written = t().at(one.condition);
  const bool forever =
    written.kind == expr_kind::boolean && written.operation == token_kind::kw_true;
  std::vector<path_changes> paths;
  ++loops_;
  loop_ends_.push_back({locals_.begin_path(), {}});
  run_block(one.body);
  auto round = locals_.end_path();
  if (!forever) {
    paths.emplace_back();
    paths.push_back(std::move(round));
  }
  for (auto& changes : loop_ends_.back().breaks) paths.push_back(std::move(changes));
  loop_ends_.pop_back();
  --loops_;
  join_paths(paths, false);
  return !paths.empty();
}

type checker::element_of(const type& what, const expr& node) {
  switch (what.base) {
    case base_type::poison:
      return {};
    case base_type::range:
      return scalar_of(base_type::integer);
    case base_type::layers:
      return what.parts[0];
    case base_type::batches: {
      auto out = scalar_of(base_type::record);
      out.declaration = what.declaration;
      const auto b = new_symbol("b", node.where);
      symbols_[b].batch = true;
      out.axes.push_back({"b", size_form::of(b)});
      host_work(node.where, "a loop over a dataset");
      return out;
    }
    case base_type::dataset: {
      auto out = scalar_of(base_type::record);
      out.declaration = what.declaration;
      host_work(node.where, "a loop over a dataset");
      return out;
    }
    default:
      break;
  }
  auto& d = report("E1002", node.where, fmt::format("`{}` is nothing to loop over", show(what)),
                   fmt::format("`{}`", show(what)));
  d.help.push_back("a loop is over `lo..hi`, a dataset or the layers of a model");
  return {};
}

void checker::run_for(const stmt& node) {
  const auto& over = t().at(node.values[0]);
  const auto item = element_of(expression(node.values[0]), over);
  std::vector<type> items{item};
  if (is(item, base_type::tuple)) items = item.parts;
  if (node.names.size() != items.size()) {
    if (!is_poison(item))
      report("E0417", node.names.front(),
             fmt::format("{} names for {} value", node.names.size(), items.size()),
             "each round gives one value");
    items.assign(node.names.size(), type{});
  }
  forget_known(node.body);
  ++loops_;
  loop_ends_.push_back({locals_.begin_path(), {}});
  for (size_t i = 0; i < node.names.size(); ++i) {
    const auto name = text(node.names[i]);
    local_infos_.push_back({name, node.names[i], false, true, true, true, 0});
    local_infos_.back().name_at =
      new_name(name_kind::local, name, node.names[i], items[i], function_);
    locals_.set(name, {uint32_t(local_infos_.size() - 1), items[i], false, node.names[i]});
  }
  run_block(node.body);
  std::vector<path_changes> paths{{}, locals_.end_path()};
  for (auto& changes : loop_ends_.back().breaks) paths.push_back(std::move(changes));
  // The loop's variables live in it.
  for (auto& path : paths)
    for (const auto where : node.names) path.erase(text(where));
  loop_ends_.pop_back();
  --loops_;
  join_paths(paths, false);
}

} // namespace shapescript
