#include <algorithm>

#include "shapescript/lower/costing.hpp"

namespace shapescript {

size_choice::size_choice(const typed_tree& program, const cost_options& options)
    : program_(program), options_(options),
      otherwise_(batches_of_program().value_or(batch_default)) {
  // nop
}

int64_t size_choice::size_of(symbol one) {
  return choose(one).size;
}

size_choice::choice size_choice::choose(symbol one) {
  if (const auto found = chosen_.find(one); found != chosen_.end()) return found->second;
  const auto& info = program_.symbols[one];
  choice out{otherwise_, false};
  if (const auto asked = options_.sizes.find(info.name); asked != options_.sizes.end())
    out = {asked->second, true};
  else if (open_.insert(one).second) {
    // The axis of a loop over batches is declared where the loop says what it is over.
    const auto loop = info.batch ? batches_in(info.module, info.declared) : std::nullopt;
    out = loop ? choice{*loop, true} : of_calls(one);
    open_.erase(one);
  }
  return chosen_[one] = out;
}

// What the calls of its function give, the largest if they differ.
size_choice::choice size_choice::of_calls(symbol one) {
  choice out{otherwise_, false};
  for (const auto& f : program_.functions)
    for (const auto& call : f.calls)
      for (const auto& [theirs, ours] : call.sizes) {
        if (theirs != one) continue;
        const auto here = evaluate(ours);
        if (!here.known || here.size < 1) continue;
        if (!out.known || here.size > out.size) out = here;
      }
  return out;
}

size_choice::choice size_choice::evaluate(const size_form& size) {
  bool known = true;
  const auto number = size
                        .replace([&](symbol one) -> size_form {
                          const auto part = choose(one);
                          known = known && part.known;
                          return part.size;
                        })
                        .number();
  return {number.value_or(0), known && number};
}

// Of the axes that nothing gives, the least sizes that leave no rest where they are divided.
void size_choice::fit(const std::vector<size_need>& needs) {
  constexpr int64_t tries_max = 4096;
  std::set<symbol> free;
  for (const auto& need : needs)
    for (const auto one : need.size.symbols())
      if (!choose(one).known) free.insert(one);
  if (free.empty()) return;
  for (auto size = otherwise_; size < otherwise_ + tries_max; ++size) {
    for (const auto one : free) chosen_[one] = {size, false};
    const bool fits = std::all_of(needs.begin(), needs.end(), [&](const size_need& need) {
      const auto number =
        need.size.replace([&](symbol one) -> size_form { return choose(one).size; }).number();
      return number && (need.kind == size_need::exact || *number >= 1);
    });
    if (fits) return;
  }
  for (const auto one : free) chosen_[one] = {otherwise_, false};
}

// -- batches(n) ----------------------------------------------------------------

namespace {

// The number in each `batches(n)` within a span, in the order of the program.
std::vector<int64_t> batch_sizes(const typed_tree& program, uint32_t module, span where) {
  std::vector<int64_t> out;
  const auto& file = *program.modules[module];
  const auto& tree = file.program.program;
  for (const auto& node : tree.exprs) {
    if (node.where.begin < where.begin || node.where.end > where.end) continue;
    if (node.kind != expr_kind::call || tree.at(node.left).kind != expr_kind::name) continue;
    if (file.text.text(tree.at(node.left).name) != "batches") continue;
    for (const auto& one : node.arguments) {
      const auto& what = program.type_of(module, one.value);
      if (!is(what, base_type::integer) || !what.value) continue;
      if (const auto number = what.value->number()) out.push_back(*number);
    }
  }
  return out;
}

std::optional<int64_t> only(const std::vector<int64_t>& all) {
  const bool same =
    !all.empty() && std::all_of(all.begin(), all.end(), [&](auto n) { return n == all[0]; });
  return same ? std::optional{all[0]} : std::nullopt;
}

} // namespace

std::optional<int64_t> size_choice::batches_in(uint32_t module, span where) const {
  const auto here = batch_sizes(program_, module, where);
  if (!here.empty()) return here.back();
  return batches_of_name(module, program_.modules[module]->text.text(where));
}

// `training = rows |> batches(64)`, wherever it stands in the file, if all give one size.
std::optional<int64_t> size_choice::batches_of_name(uint32_t module, std::string_view name) const {
  std::vector<int64_t> all;
  const auto& file = *program_.modules[module];
  const auto& tree = file.program.program;
  for (const auto& node : tree.stmts) {
    if (node.kind != stmt_kind::assign || node.targets.size() != 1 || node.values.size() != 1)
      continue;
    if (file.text.text(tree.at(node.targets[0]).where) != name) continue;
    const auto here = batch_sizes(program_, module, tree.at(node.values[0]).where);
    all.insert(all.end(), here.begin(), here.end());
  }
  return only(all);
}

std::optional<int64_t> size_choice::batches_of_program() const {
  const auto end = static_cast<uint32_t>(program_.modules[0]->text.text().size());
  return only(batch_sizes(program_, 0, {0, end}));
}

} // namespace shapescript
