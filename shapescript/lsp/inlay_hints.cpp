#include <algorithm>
#include <map>

#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

namespace {

bool worth_showing(const type& what) {
  switch (what.base) {
    case base_type::tensor:
    case base_type::record:
    case base_type::model:
    case base_type::gradient:
    case base_type::optimizer:
    case base_type::dataset:
    case base_type::batches:
      return true;
    default:
      return false;
  }
}

} // namespace

// The type of each variable where it gets its first value, and of what each stage of a pipeline
// over several lines gives.
outcome inlay_hints(const view& of, const json::value& params) {
  const auto* wanted = member(params, "range");
  const auto range = wanted == nullptr ? std::nullopt : read_range(*wanted);
  if (!range) return refusal{invalid_params, "`range` is not two places"};
  const auto begin = of.text.offset_of(range->start, of.unit);
  const auto end = of.text.offset_of(range->end, of.unit);
  std::map<uint32_t, std::string> hints; // by place
  for (const auto& use : of.all().uses) {
    if (use.module != 0 || use.where.begin < begin || use.where.end > end || !use.declares)
      continue;
    const auto& name = of.all().names[use.name];
    if (name.kind == name_kind::local && worth_showing(name.what))
      hints[use.where.end] = ": " + of.all().show(name.what);
  }
  for (const auto& one : of.program().stmts) // what is written needs no hint
    if (one.kind == stmt_kind::assign && one.type != type_id::none)
      for (const auto target : one.targets) hints.erase(of.program().at(target).where.end);
  const auto& exprs = of.program().exprs;
  for (size_t i = 0; i < exprs.size(); ++i) {
    if (exprs[i].kind != expr_kind::pipe) continue;
    const auto where = exprs[i].where;
    if (where.begin < begin || where.end > end) continue;
    // A stage that is alone on its line is where the eye looks for it.
    const auto left = of.program().at(exprs[i].left).where;
    if (of.file().text.line_of(left.end) == of.file().text.line_of(exprs[i].name.begin)) continue;
    const auto& given = of.all().type_of(0, exprs[i].left);
    const auto& what = of.all().type_of(0, static_cast<expr_id>(i));
    if (worth_showing(given)) hints.try_emplace(left.end, of.all().show(given));
    if (worth_showing(what)) hints.try_emplace(where.end, of.all().show(what));
  }
  json::array out;
  for (const auto& [at, text] : hints)
    out.push_back(json::object{{"position", to_json(of.text.place_of(at, of.unit))},
                               {"label", text},
                               {"kind", 1},
                               {"paddingLeft", text.front() != ':'}});
  return json::value(std::move(out));
}

} // namespace shapescript::lsp
