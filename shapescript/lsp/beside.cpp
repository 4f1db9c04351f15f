#include "shapescript/lsp/beside.hpp"

#include <algorithm>
#include <set>

namespace shapescript::lsp {

namespace {

std::string folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string{path.substr(0, slash == path.npos ? 0 : slash)};
}

bool is_within(std::string_view folder, std::string_view root) {
  return folder.starts_with(root) && (folder.size() == root.size() || folder[root.size()] == '/');
}

std::vector<std::string> folders_from(const view& of, const std::string& path) {
  std::vector<std::string> out{folder_of(path)};
  for (const auto& root : of.around->roots) {
    if (root.empty() || !is_within(out[0], root)) continue;
    for (auto folder = out[0]; folder.size() > root.size();) {
      folder = folder_of(folder);
      if (std::find(out.begin(), out.end(), folder) == out.end()) out.push_back(folder);
    }
  }
  return out;
}

// The open files, and those of the folders whose text is wanted.
template <class Wanted>
files_beside read_beside(const view& of, const std::vector<std::string>& folders, Wanted wanted) {
  files_beside out;
  for (const auto& one : of.open) out.all.push_back(one);
  if (of.around == nullptr || !of.around->list_folder) return out;
  std::set<std::string> seen;
  for (const auto& one : of.open) seen.insert(path_of(one.uri));
  for (const auto& folder : folders) {
    for (const auto& file : of.around->list_folder(folder)) {
      const auto path = folder + "/" + file;
      if (!file.ends_with(".ss") || !seen.insert(path).second) continue;
      if (seen.size() > files_beside_max) return out;
      const auto text = of.around->load(path);
      if (!text || !wanted(path, text->text())) continue;
      out.read.push_back(
        {uri_of(path), document{std::string{text->text()}}, analyze(*text, of.around->load)});
      const auto& kept = out.read.back();
      out.all.push_back({kept.uri, kept.text, kept.known, of.unit, {}, of.around});
    }
  }
  return out;
}

} // namespace

files_beside files_with(const view& of, std::string_view name, const std::string& path) {
  return read_beside(of, folders_from(of, path),
                     [&](const std::string& file, std::string_view text) {
                       // A file that imports nothing writes no names but its own.
                       return text.find(name) != std::string_view::npos
                              && (file == path || text.find("import") != std::string_view::npos);
                     });
}

files_beside files_of_workspace(const view& of) {
  auto folders = of.around == nullptr ? std::vector<std::string>{} : of.around->roots;
  for (const auto& one : of.open) {
    auto folder = folder_of(path_of(one.uri));
    if (std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(std::move(folder));
  }
  return read_beside(of, folders, [](const auto&, const auto&) { return true; });
}

} // namespace shapescript::lsp
