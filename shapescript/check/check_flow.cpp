#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

// -- branches ------------------------------------------------------------------

void checker::condition(expr_id id) {
  wanted_ = "bool";
  const auto what = expression(id);
  if (is_poison(what) || is(what, base_type::boolean)) return;
  report_condition(id, what,
                   fmt::format("a condition is a host bool, but this is `{}`", show(what)));
}

// That a tensor decides is one mistake in a device function and another in a controller function.
void checker::report_condition(expr_id id, const type& what, std::string message,
                               std::string help) {
  const auto& node = t().at(id);
  auto d = make("E0506", node.where, std::move(message), fmt::format("`{}`", show(what)));
  if (!help.empty()) d.help.push_back(std::move(help));
  if (is(what, base_type::integer))
    d.help.push_back(fmt::format("compare it, as in `{} != 0`", text(node.where)));
  if (!is_tensor(what) || !what.axes.empty() || function_ == no_index) {
    auto& said = deliver(std::move(d));
    if (is_tensor(what)) explain_condition(said, false, {});
    return;
  }
  has_errors_here_ = true;
  if (trials_ > 0) return;
  late_report late{late_report::condition, function_, std::move(d), node.where, {}, false};
  const auto look = [&](expr_id operand) {
    if (operand == expr_id::none) return;
    const auto& one = t().at(operand);
    if (one.kind != expr_kind::name && one.kind != expr_kind::call && one.kind != expr_kind::member)
      return;
    const auto* found = one.kind == expr_kind::name ? locals_.find(text(one.name)) : nullptr;
    late.follows |= is_widened(operand);
    if (late.number.empty() && (found == nullptr || is_tensor(found->what)))
      late.number = text(one.where);
  };
  if (node.kind == expr_kind::binary) {
    look(node.left);
    look(node.right);
  } else {
    look(id);
  }
  late_.push_back(std::move(late));
}

void checker::explain_condition(diagnostic& d, bool controller, const std::string& number) {
  if (controller) {
    d.help.push_back(
      number.empty() ? "fetch the number that decides, by `float(...)`"
                     : fmt::format("`float({})` is a host number, which can be compared", number));
    return;
  }
  d.notes.push_back("a tensor's values are not known while the program is put together, so that "
                    "each device function stays one fixed graph");
  d.help.push_back("choose between values with `where(condition, a, b)`");
}

// A host number and a tensor without axes of the same variable: a tensor on the devices.
std::optional<type> checker::widened(const type& x, const type& y) const {
  const auto& number = is_tensor(x) ? y : x;
  const auto& tensor = is_tensor(x) ? x : y;
  if (!is_scalar(number) || !is_tensor(tensor) || !tensor.axes.empty()) return std::nullopt;
  auto out = as_tensor(number);
  const bool bools = out.element == dtype::boolean || tensor.element == dtype::boolean;
  const bool takes = out.literal && !bools && (is_float(tensor.element) || !is_float(out.element));
  if (out.element != tensor.element && !takes) return std::nullopt;
  out.element = tensor.element;
  out = join_known(out, tensor);
  out.literal = false;
  out.numbers.reset();
  if (is_float(out.element) && out.known == refinement::index) out.known = refinement::none;
  out.crossed = tensor.crossed;
  return out;
}

// A variable that should have stayed a number in a controller function: work with it is no mistake
// of its own.
bool checker::is_widened(expr_id id) const {
  if (id == expr_id::none || t().at(id).kind != expr_kind::name) return false;
  const auto* found = locals_.find(text(t().at(id).name));
  return found != nullptr && local_infos_[found->local].widened;
}

// A number that becomes a tensor: a mistake if the function turns out to be the controller's.
void checker::report_widened(std::string_view name, const local_state& before, const type& after,
                             span value, span assigned) {
  if (trials_ > 0 || function_ == no_index) return;
  local_infos_[before.local].widened = true;
  const auto from = show(before.what);
  const auto to = show(after);
  auto d = make("E1003", assigned, fmt::format("`{}` is `{}` and becomes `{}`", name, from, to),
                fmt::format("`{}`", to));
  mark(d, before.assigned, fmt::format("`{}`", from));
  d.notes.push_back("a controller function computes with host numbers alone");
  const bool known = !(value == span{});
  late_.push_back({late_report::widened,
                   function_,
                   std::move(d),
                   {assigned.begin, known ? value.end : assigned.end},
                   known ? std::string{text(value)} : std::string{},
                   false});
}

// Two states of one variable, at the ends of two paths.
local_state checker::join(std::string_view name, const local_state& x, const local_state& y,
                          bool report_types) {
  auto out = x;
  out.maybe |= y.maybe;
  out.places.insert(out.places.end(), y.places.begin(), y.places.end());
  std::sort(out.places.begin(), out.places.end());
  out.places.erase(std::unique(out.places.begin(), out.places.end()), out.places.end());
  const bool second_later = y.assigned.begin > x.assigned.begin;
  const auto& later = second_later ? y : x;
  const auto& first = second_later ? x : y;
  if (same(x.what, y.what)) {
    out.what = is_poison(x.what) || is_poison(y.what) ? type{} : join_known(x.what, y.what);
    out.what.crossed.insert(out.what.crossed.end(), y.what.crossed.begin(), y.what.crossed.end());
    return out;
  }
  if (auto both = widened(x.what, y.what)) {
    if (report_types) report_widened(name, first, later.what, {}, later.assigned);
    out.what = std::move(*both);
    return out;
  }
  if (report_types) {
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

bool checker::run_while(const stmt& node) {
  const auto& one = node.branches[0];
  const auto& written = t().at(one.condition);
  const bool forever =
    written.kind == expr_kind::boolean && written.operation == token_kind::kw_true;
  const auto nothing = [] {};
  settle(node, one.body, nothing);
  condition(one.condition);
  return follow_rounds(node, one.body, nothing, !forever);
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
  if (is(what, base_type::integer))
    d.help.push_back(fmt::format("count with `0..{}`", text(node.where)));
  return {};
}

void checker::run_for(const stmt& node) {
  const auto& over = t().at(node.values[0]);
  wanted_.clear();
  const auto looped = expression(node.values[0]);
  const auto item = element_of(looped, over);
  const auto places =
    is(looped, base_type::layers) ? places_of_each(node.values[0]) : std::vector<place>{};
  std::vector<type> items{item};
  if (is(item, base_type::tuple)) items = item.parts;
  if (node.names.size() != items.size()) {
    if (!is_poison(item))
      report("E0417", node.names.front(),
             fmt::format("{} names for {} value", node.names.size(), items.size()),
             "each round gives one value");
    items.assign(node.names.size(), type{});
  }
  const auto begin_round = [&] {
    for (size_t i = 0; i < node.names.size(); ++i) {
      const auto name = text(node.names[i]);
      const auto local = static_cast<uint32_t>(local_infos_.size());
      local_infos_.push_back({name, node.names[i], false, true, true, true, 0});
      local_infos_.back().name_at =
        new_name(name_kind::local, name, node.names[i], items[i], function_);
      local_infos_.back().root = new_root();
      locals_.set(name, {local, items[i], false, node.names[i], places});
    }
  };
  settle(node, node.body, begin_round);
  follow_rounds(node, node.body, begin_round, true);
}

} // namespace shapescript
