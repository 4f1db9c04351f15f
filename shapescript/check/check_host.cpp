#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

type checker::host_rule(const builtin& what, call_site& site, matched& m) {
  switch (what.how) {
    case rule::dataset:
      return dataset_rule(site, m);
    case rule::source:
      return source_rule(what, m);
    case rule::stage:
      return stage_rule(what, site, *m.slots[0]);
    case rule::print: {
      for (auto* one : m.rest) {
        if (is_poison(one->what)) continue;
        const bool shown = is_scalar(one->what) || is_tensor(one->what)
                           || is(one->what, base_type::text) || is(one->what, base_type::record)
                           || is(one->what, base_type::tuple) || is(one->what, base_type::model)
                           || is(one->what, base_type::gradient)
                           || is(one->what, base_type::optimizer);
        if (!need(*one, shown, "E0403", "something to print")) break;
      }
      for (size_t i : {1, 2})
        if (m.slots[i] != nullptr)
          need(*m.slots[i], is(m.slots[i]->what, base_type::text), "E0403", "a str");
      return scalar_of(base_type::none);
    }
    case rule::convert: {
      auto& x = *m.slots[0];
      const bool text_out = what.name == "str";
      if (is_tensor(x.what)) host_work(site.where, fmt::format("`{}` of a tensor", what.name));
      const bool fine = text_out || is_scalar(x.what) || is(x.what, base_type::text)
                        || (is_tensor(x.what) && x.what.axes.empty());
      if (!need(x, fine, "E0403", "a number or a str")) return {};
      auto out = scalar_of(text_out               ? base_type::text
                           : what.name == "float" ? base_type::real
                                                  : base_type::integer);
      return out;
    }
    default:
      return host_function(what, m);
  }
}

type checker::host_function(const builtin& what, matched& m) {
  auto& first = m.slots.empty() ? hidden_argument_ : *m.slots[0];
  const auto needs = [&](base_type base, std::string_view wanted) {
    return need(first, is(first.what, base), "E0403", wanted);
  };
  if (what.name == "assert") {
    if (!is(first.what, base_type::boolean))
      report_condition(
        first.value, first.what,
        fmt::format("a condition is a host bool, but this is {}", quote(first.what)));
    need_text(m.slots[1]);
    return scalar_of(base_type::none);
  }
  if (what.name == "env") return needs(base_type::text, "a str") ? first.what : type{};
  if (what.name == "last") {
    if (!needs(base_type::integer, "an int")) return {};
    const auto number = first.what.value ? first.what.value->number() : std::nullopt;
    if (!number || *number >= 1) return plain(first.what);
    report("E0416", first.where, "the last one is `last(1)`", "below 1");
    return {};
  }
  if (what.name == "len") {
    const bool fine = is(first.what, base_type::dataset) || is(first.what, base_type::batches)
                      || is(first.what, base_type::layers);
    return need(first, fine, "E0403", "a dataset") ? scalar_of(base_type::integer) : type{};
  }
  if (what.name == "load") {
    if (!needs(base_type::model, "a model")) return {};
    check_mut({"m", {}, {}, true, false}, first);
    need(*m.slots[1], is(m.slots[1]->what, base_type::text), "E0403", "a path");
  }
  if (what.name == "save" && needs(base_type::model, "a model"))
    need(*m.slots[1], is(m.slots[1]->what, base_type::text), "E0403", "a path");
  if (what.name == "save_checkpoint" && needs(base_type::text, "a path"))
    if (need(*m.slots[1], is(m.slots[1]->what, base_type::model), "E0403", "a model")
        && m.slots[3] != nullptr)
      need(*m.slots[3], is(type_of(*m.slots[3]), base_type::integer), "E0403", "an int");
  if (what.name == "progress") return first.what;
  if (what.name == "range")
    return needs(base_type::integer, "an int") ? scalar_of(base_type::range) : type{};
  if (what.name == "time") return scalar_of(base_type::real);
  if (what.name == "seed") needs(base_type::integer, "an int");
  return scalar_of(base_type::none);
}

// -- datasets ------------------------------------------------------------------

uint32_t checker::record_argument(call_argument& one) {
  const auto& what = type_of(one);
  if (is_poison(what)) return no_index;
  if (is(what, base_type::declared_type) && what.name == "data") return what.declaration;
  report("E0903", one.where, fmt::format("`{}` is no record", text(one.where)),
         "not declared with `data`");
  return no_index;
}

// `dataset(Rec, field=rows, ...)`: each field's rows stand along a first axis.
type checker::dataset_rule(call_site& site, matched& m) {
  const auto index = record_argument(*m.slots[0]);
  if (index == no_index) return {};
  const auto& record = records_[index];
  const auto& names = modules_[record.module]->text;
  std::set<std::string_view> given;
  std::vector<std::string_view> known;
  for (const auto& field : record.decl->fields) known.push_back(names.text(field.name));
  std::optional<axis> rows;
  span rows_where;
  for (auto* one : m.rest) {
    const auto word = text(one->name);
    const auto place = std::find(known.begin(), known.end(), word);
    if (place == known.end() && record.decl->broken) continue;
    if (place == known.end()) {
      auto& d = report("E0602", one->name,
                       fmt::format("`{}` has no field `{}`", text(m.slots[0]->where), word),
                       "no such field");
      d.notes.push_back(fmt::format("`{}` has {}", text(m.slots[0]->where), list_names(known)));
      suggest(d, one->name, word, known);
      return {};
    }
    given.insert(word);
    const auto field = static_cast<size_t>(place - known.begin());
    if (field < record.names.size()) use(record.names[field], one->name);
    auto want = record.fields[static_cast<size_t>(place - known.begin())];
    const auto have = as_tensor(type_of(*one));
    if (is_poison(want) || is_poison(have)) continue;
    const axis first = is_tensor(have) && !have.axes.empty() ? have.axes[0] : axis{};
    want.axes.insert(want.axes.begin(), first);
    report_misfit(fits(have, want), have, want, one->where, "E0403",
                  fmt::format("what `{}` takes", word));
    if (rows && !have.axes.empty() && !(rows->size == first.size)) {
      auto& d = report("E0415", one->where,
                       fmt::format("`{}` has {} rows, and the field before {}", word,
                                   show(first.size), show(rows->size)),
                       fmt::format("`{}`", show(have)));
      mark(d, rows_where, fmt::format("{} rows", show(rows->size)));
      return {};
    }
    if (!have.axes.empty()) {
      rows = first;
      rows_where = one->where;
    }
  }
  for (const auto name : known) {
    if (given.contains(name) || record.decl->broken) continue;
    report("E0603", site.callee, fmt::format("`dataset` needs the rows of `{}`", name),
           fmt::format("`{}=` is missing", name));
    return {};
  }
  auto out = scalar_of(base_type::dataset);
  out.declaration = index;
  return out;
}

type checker::source_rule(const builtin& what, matched& m) {
  if (m.slots.size() < 2 || m.slots[1] == nullptr) return {}; // its shape is known when it is read
  const auto index = record_argument(*m.slots[1]);
  if (index == no_index) return {};
  auto& from = *m.slots[0];
  if (what.name != "from_fn") {
    if (!need_text(&from, "a path")) return {};
  } else {
    const bool calls = is(from.what, base_type::python) || is(from.what, base_type::function);
    if (!need(from, calls, "E0403", "a function")) return {};
  }
  auto out = scalar_of(base_type::dataset);
  out.declaration = index;
  return out;
}

// `last="pad"`: what becomes of the batch that is not full.
bool checker::known_last(const call_argument& one) {
  if (one.value == expr_id::none || t().at(one.value).kind != expr_kind::string) return true;
  const auto written = text(one.where);
  static const std::vector<std::string_view> known{"\"pad\"", "\"drop\"", "\"keep\""};
  if (std::find(known.begin(), known.end(), written) != known.end()) return true;
  auto& d = report("E0602", one.where, fmt::format("`batches` knows no last batch {}", written),
                   "known are `pad`, `drop` and `keep`");
  suggest(d, one.where, written, known);
  return false;
}

type checker::stage_rule(const builtin& what, call_site& site, call_argument& data) {
  const auto& given = type_of(data);
  if (is_poison(given)) return {};
  if (is(given, base_type::batches)) {
    auto& d = report("E0904", site.where,
                     fmt::format("`{}` follows `batches`, which ends the chain", what.name),
                     "after the batches are made");
    mark(d, data.where, "`batches` is in here");
    d.help.push_back(what.name == "batches" ? "leave one of them out"
                                            : fmt::format("put `{}` before `batches`", what.name));
    return {};
  }
  if (!need(data, is(given, base_type::dataset), "E0903", "a dataset")) return {};
  for (auto& one : site.arguments) {
    if (&one == &data || what.name == "map" || is_poison(type_of(one))) continue;
    const bool word = !(one.name == span{}) && text(one.name) == "last";
    if (word ? !need(one, is(one.what, base_type::text), "E0403", "a str")
             : !need(one, is(one.what, base_type::integer), "E0403", "an int"))
      return {};
    if (what.name == "batches" && word && !known_last(one)) return {};
    const int64_t number = one.what.value ? one.what.value->number().value_or(1) : 1;
    if (what.name == "batches" && !word && number < 1) {
      report("E0302", one.where, fmt::format("a batch has at least 1 example, not {}", number),
             "below 1");
      return {};
    }
  }
  auto out = given;
  if (what.name == "batches") out.base = base_type::batches;
  return out;
}

} // namespace shapescript
