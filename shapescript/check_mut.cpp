#include <algorithm>

#include <fmt/format.h>

#include "shapescript/checker.hpp"

namespace shapescript {

std::string_view checker::root_of(expr_id id) const {
  while (t().at(id).kind == expr_kind::member || t().at(id).kind == expr_kind::index)
    id = t().at(id).left;
  return t().at(id).kind == expr_kind::name ? text(t().at(id).name) : std::string_view{};
}

// `m.layer` for a variable and its fields; empty for any other expression.
std::string checker::path_of(expr_id id) const {
  if (id == expr_id::none) return {};
  std::string path;
  while (t().at(id).kind == expr_kind::member) {
    path = "." + std::string{text(t().at(id).name)} + path;
    id = t().at(id).left;
  }
  if (t().at(id).kind != expr_kind::name) return {};
  return std::string{text(t().at(id).name)} + path;
}

// A buffer is state of its model: only the methods that say `mut self` change it.
bool checker::changes_buffer(const type& base, std::string_view field,
                             std::string_view root) const {
  if (!is(base, base_type::model)) return false;
  const auto& members = models_[base.declaration].members;
  const auto place = std::find_if(members.begin(), members.end(),
                                  [&](const member_info& one) { return one.name == field; });
  if (place == members.end() || place->kind != member_kind::buffer) return false;
  const auto& f = functions_[function_];
  const bool method = f.owner != no_index && !f.parameters.empty() && f.parameters[0].is_mut;
  return !(method && root == "self");
}

void checker::report_buffer(span where) {
  auto& d =
    report("E0701", where, fmt::format("the buffer `{}` is changed outside its model", text(where)),
           "changed here");
  d.help.push_back("change it in a method of the model that takes `mut self`, and call that");
}

void checker::check_mut(const parameter_info& parameter, const call_argument& given) {
  const bool written = !(given.mut == span{});
  if (!parameter.is_mut) {
    if (!written) return;
    auto& d = report("E0701", given.where,
                     fmt::format("`{}` is passed as `mut`, but the parameter `{}` is not",
                                 text(given.where), parameter.name),
                     "not changed by the call");
    d.fixes.push_back({{given.mut.begin, given.where.begin}, ""});
    d.help.push_back("leave `mut` out");
    return;
  }
  if (is_poison(given.what)) return;
  if (!written) {
    auto& d =
      report("E0702", given.where, fmt::format("`{}` is changed by the call", text(given.where)),
             "say so with `mut`");
    d.help.push_back(fmt::format("write `mut {}`", text(given.where)));
    if (!given.piped) d.fixes.push_back({{given.where.begin, given.where.begin}, "mut "});
    return;
  }
  const auto root = path_of(given.value).empty() ? std::string_view{} : root_of(given.value);
  const auto* found = locals_.find(root);
  if (found == nullptr) {
    report("E0701", given.where, "only a variable can be passed as `mut`",
           "the change would be lost");
    return;
  }
  const auto& node = t().at(given.value);
  if (node.kind == expr_kind::member
      && changes_buffer(expression(node.left), text(node.name), root)) {
    report_buffer(given.where);
    return;
  }
  const auto& info = local_infos_[found->local];
  if (info.is_mut) return;
  auto& d =
    report("E0701", given.where,
           fmt::format("`{}` is passed as `mut`, but `{}` is not `mut`", text(given.where), root),
           "changed by the call");
  mark(d, info.declared, "declared without `mut`");
  d.help.push_back(fmt::format("declare it as `mut {}`", root));
  d.fixes.push_back({{info.declared.begin, info.declared.begin}, "mut "});
}

void checker::check_aliases(const call_site& site) {
  std::vector<std::pair<std::string, const call_argument*>> paths;
  for (const auto& one : site.arguments) {
    auto path = path_of(one.value);
    if (path.empty() || !locals_.contains(root_of(one.value))) continue;
    for (const auto& [other, first] : paths) {
      const bool any_mut = !(one.mut == span{}) || !(first->mut == span{});
      const bool overlap =
        path == other || path.starts_with(other + ".") || other.starts_with(path + ".");
      if (!any_mut || !overlap) continue;
      auto& d =
        report("E0703", one.where,
               fmt::format("`{}` is passed twice, and changed", text(one.where)), "passed again");
      mark(d, first->where, first->mut == span{} ? "passed here" : "passed as `mut` here");
      d.notes.push_back("what is passed as `mut` may not be seen under a second name");
      return;
    }
    paths.emplace_back(std::move(path), &one);
  }
}

} // namespace shapescript
