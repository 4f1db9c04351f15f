#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "shapescript/lsp/beside.hpp"
#include "shapescript/lsp/features.hpp"
#include "shapescript/syntax/lexical.hpp"

namespace shapescript::lsp {

namespace {

bool is_name(std::string_view text) {
  if (text.empty() || is_digit(text.front())) return false;
  const auto fine = [](char c) { return is_letter(c) || is_digit(c); };
  return std::all_of(text.begin(), text.end(), fine) && word_kind(text) == token_kind::name;
}

std::variant<const name_use*, refusal> renamed_use(const view& of, const json::value& params) {
  const auto offset = offset_of(of, params);
  if (const auto* refused = std::get_if<refusal>(&offset)) return *refused;
  const auto* use = of.all().use_at(0, std::get<uint32_t>(offset));
  if (use == nullptr || of.at(use->where) != of.all().names[use->name].name)
    return refusal{request_failed, "there is no name of this program here"};
  if (of.all().names[use->name].declared == span{})
    return refusal{request_failed, "this name belongs to the language"};
  if (of.at(use->where) == "self")
    return refusal{request_failed, "`self` is what a method's first parameter is called"};
  return use;
}

std::string applied(const view& of, const std::vector<span>& places, std::string_view fresh) {
  std::string out;
  uint32_t at = 0;
  for (const auto where : places) {
    out += of.at({at, where.begin});
    out += fresh;
    at = where.end;
  }
  return out += of.at({at, static_cast<uint32_t>(of.text.text().size())});
}

size_t errors_in(const checked& what) {
  return static_cast<size_t>(
    std::count_if(what.diagnostics.begin(), what.diagnostics.end(),
                  [](const diagnostic& d) { return d.level == severity::error; }));
}

// What would be wrong afterwards that is right now; empty if nothing.
std::string harm_of(const view& of, const std::vector<span>& places, std::string_view old,
                    std::string_view fresh, const program_loader& load) {
  const auto after = analyze(source{path_of(of.uri), applied(of, places, fresh)}, load);
  if (errors_in(after) > errors_in(of.known)) {
    for (const auto& one : after.diagnostics)
      if (one.level == severity::error
          && std::none_of(of.known.diagnostics.begin(), of.known.diagnostics.end(),
                          [&](const diagnostic& d) { return d.message == one.message; }))
        return fmt::format("{}: {}", one.code, one.message);
    return "another error";
  }
  // Every place must still mean one and the same thing, and nothing else may have joined it.
  const auto shift = static_cast<int64_t>(fresh.size()) - static_cast<int64_t>(old.size());
  uint32_t meaning = no_index;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto begin = static_cast<uint32_t>(places[i].begin + shift * static_cast<int64_t>(i));
    const auto* use = after.program->use_at(0, begin);
    if (use == nullptr || use->where.begin != begin)
      return fmt::format("`{}` would mean something else", fresh);
    if (meaning == no_index) meaning = use->name;
    if (use->name != meaning) return fmt::format("`{}` would mean something else", fresh);
  }
  size_t own = 0;
  for (const auto& use : after.program->uses_of(meaning)) own += use.module == 0 ? 1 : 0;
  return own > places.size() ? fmt::format("another `{}` would be the same", fresh) : std::string{};
}

// The file, of those that know the file at `path`, whose unread parts the name may stand in.
std::string unreadable(const view& of, const std::string& name, const std::string& path) {
  for (const auto& other : of.open) {
    const auto& modules = other.all().modules;
    const auto is_it = [&](const auto& one) { return one->text.name() == path; };
    if (std::none_of(modules.begin(), modules.end(), is_it)) continue;
    for (const auto& one : modules)
      if (one->doubtful.contains(name)) return one->text.name();
  }
  return {};
}

} // namespace

outcome prepare_rename(const view& of, const json::value& params) {
  const auto found = renamed_use(of, params);
  if (const auto* refused = std::get_if<refusal>(&found)) return *refused;
  const auto* use = std::get<const name_use*>(found);
  return json::object{{"range", to_json(of.range_of(use->where))},
                      {"placeholder", of.at(use->where)}};
}

// A rename is tried before it is offered: the changed program must mean what it meant.
outcome rename(const view& of, const json::value& params) {
  const auto fresh = text_member(params, "newName");
  if (!fresh || !is_name(*fresh))
    return refusal{
      invalid_params,
      fmt::format("`{}` is no name: letters, digits and `_`, and no keyword", fresh.value_or(""))};
  const auto found = renamed_use(of, params);
  if (const auto* refused = std::get_if<refusal>(&found)) return *refused;
  const auto* use = std::get<const name_use*>(found);
  const auto& what = of.all().names[use->name];
  const std::string old = what.name;
  const auto path = of.all().modules[what.module]->text.name();
  const auto beside = files_with(of, old, path);
  auto all = of;
  all.open = beside.all;
  if (const auto where = unreadable(all, old, path); !where.empty())
    return refusal{request_failed,
                   fmt::format("`{}` can't be renamed: it also stands in a part of `{}` that can't "
                               "be read yet",
                               old, where)};
  std::map<const view*, std::vector<span>> by_file;
  for (const auto& one : rename_edits(all, use->name)) by_file[one.in].push_back(one.where);
  std::map<std::string, std::string> texts; // of the files as they will be
  for (auto& [in, places] : by_file) {
    std::sort(places.begin(), places.end(), [](span x, span y) { return x.begin < y.begin; });
    texts[path_of(in->uri)] = applied(*in, places, *fresh);
  }
  const auto load = [&](const std::string& file) -> moxzi::result<source> {
    if (const auto place = texts.find(file); place != texts.end())
      return source{file, place->second};
    if (of.around != nullptr) return of.around->load(file);
    return moxzi::fail(moxzi::base_errc::io, "{}: not read", file);
  };
  json::object changes;
  for (const auto& [in, places] : by_file) {
    if (*fresh != old) {
      const auto harm = harm_of(*in, places, old, *fresh, load);
      if (!harm.empty())
        return refusal{request_failed,
                       fmt::format("`{}` can't be renamed to `{}`: {}{}", old, *fresh, harm,
                                   in->uri == of.uri ? "" : " in " + path_of(in->uri))};
    }
    json::array list;
    for (const auto where : places)
      list.push_back(json::object{{"range", to_json(in->range_of(where))}, {"newText", *fresh}});
    changes[in->uri] = std::move(list);
  }
  return json::object{{"changes", std::move(changes)}};
}

} // namespace shapescript::lsp
