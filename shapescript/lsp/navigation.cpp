#include <algorithm>

#include "shapescript/lsp/beside.hpp"
#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

namespace {

// A name in all open files: what it is in each of them.
struct found_name {
  const view* in;
  uint32_t name;
};

std::string path_in(const view& of, uint32_t module) {
  return of.all().modules[module]->text.name();
}

// The same name as other open files know it.
std::vector<found_name> everywhere(const view& of, uint32_t name) {
  std::vector<found_name> out;
  const auto& what = of.all().names[name];
  const auto path = path_in(of, what.module);
  for (const auto& other : of.open) {
    const auto& names = other.all().names;
    for (uint32_t i = 0; i < names.size(); ++i) {
      if (names[i].declared == what.declared && names[i].name == what.name
          && names[i].kind == what.kind && path_in(other, names[i].module) == path)
        out.push_back({&other, i});
    }
  }
  return out;
}

// Where a name is written in the files that are open.
struct place_in_file {
  const view* in;
  name_use use;
};

std::vector<place_in_file> places_of(const view& of, uint32_t name) {
  std::vector<place_in_file> out;
  for (const auto& [in, index] : everywhere(of, name))
    for (const auto& use : in->all().uses_of(index))
      if (use.module == 0) out.push_back({in, use});
  return out;
}

std::variant<const name_use*, refusal> use_in(const view& of, const json::value& params) {
  const auto offset = offset_of(of, params);
  if (const auto* refused = std::get_if<refusal>(&offset)) return *refused;
  const auto* use = of.all().use_at(0, std::get<uint32_t>(offset));
  return use;
}

json::object location(const view& of, uint32_t module, span where) {
  if (module == 0) return {{"uri", of.uri}, {"range", to_json(of.range_of(where))}};
  const auto path = path_in(of, module);
  for (const auto& other : of.open)
    if (path_of(other.uri) == path)
      return {{"uri", other.uri}, {"range", to_json(other.range_of(where))}};
  const document text{std::string{of.all().modules[module]->text.text()}};
  const place_range range{text.place_of(where.begin, of.unit), text.place_of(where.end, of.unit)};
  return {{"uri", uri_of(path)}, {"range", to_json(range)}};
}

} // namespace

outcome definition(const view& of, const json::value& params) {
  const auto found = use_in(of, params);
  if (const auto* refused = std::get_if<refusal>(&found)) return *refused;
  const auto* use = std::get<const name_use*>(found);
  if (use == nullptr) return json::value(nullptr);
  const auto& what = of.all().names[use->name];
  if (what.declared == span{}) return json::value(nullptr);
  if (what.kind == name_kind::file) {
    // The name of a file leads into it.
    const auto& names = of.all().modules[what.module]->names;
    const auto place = names.find(what.name);
    if (place != names.end() && place->second.index < of.all().modules.size())
      return location(of, place->second.index, {0, 0});
  }
  return location(of, what.module, what.declared);
}

outcome references(const view& of, const json::value& params) {
  const auto found = use_in(of, params);
  if (const auto* refused = std::get_if<refusal>(&found)) return *refused;
  const auto* use = std::get<const name_use*>(found);
  if (use == nullptr) return json::value(nullptr);
  const auto* context = member(params, "context");
  const bool with_declaration = context != nullptr && flag_member(*context, "includeDeclaration");
  const auto& what = of.all().names[use->name];
  const auto beside = files_with(of, what.name, path_in(of, what.module));
  auto everywhere = of;
  everywhere.open = beside.all;
  json::array out;
  for (const auto& [in, place] : places_of(everywhere, use->name)) {
    if (place.declares && !with_declaration) continue;
    out.push_back(json::object{{"uri", in->uri}, {"range", to_json(in->range_of(place.where))}});
  }
  return json::value(std::move(out));
}

outcome highlights(const view& of, const json::value& params) {
  const auto found = use_in(of, params);
  if (const auto* refused = std::get_if<refusal>(&found)) return *refused;
  const auto* use = std::get<const name_use*>(found);
  if (use == nullptr) return json::value(nullptr);
  json::array out;
  for (const auto& one : of.all().uses_of(use->name)) {
    if (one.module != 0) continue;
    const int kind = one.writes || one.declares ? 3 : 2; // written, read
    out.push_back(json::object{{"range", to_json(of.range_of(one.where))}, {"kind", kind}});
  }
  return json::value(std::move(out));
}

std::vector<rename_edit> rename_edits(const view& of, uint32_t name) {
  const auto& what = of.all().names[name];
  std::vector<rename_edit> out;
  for (const auto& [in, place] : places_of(of, name)) {
    // Where the word differs the place is not the name's own: an import under another name.
    if (in->at(place.where) == what.name) out.push_back({in, place.where});
  }
  return out;
}

} // namespace shapescript::lsp
