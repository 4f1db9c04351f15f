#include "actors/candid/did_files.hpp"

#include <filesystem>

#include "base/assert.hpp"

namespace moxzi::candid {

size_t did_files::add(std::string path, std::string text) {
  files_.push_back({.path = std::move(path), .text = std::move(text)});
  return files_.size() - 1;
}

std::optional<size_t> did_files::find(std::string_view path) const {
  for (size_t i = 0; i < files_.size(); ++i) {
    if (!path.empty() && files_[i].path == path) return i;
  }
  return std::nullopt;
}

size_t did_files::index_of(std::string_view text) const {
  size_t at = 0;
  while (at < files_.size() && files_[at].text.data() != text.data()) ++at;
  moxzi_assert(at < files_.size(), "a text of no file");
  return at;
}

std::string did_files::resolved(size_t importer, std::string_view path) const {
  const auto folder = std::filesystem::path{files_[importer].path}.parent_path();
  return (folder / path).lexically_normal().string();
}

error did_files::in_file(size_t index, error what) const {
  if (index > 0) what.message = files_[index].path + ":" + what.message;
  return what;
}

std::string did_files::cycle(size_t first) const {
  std::string text;
  for (auto i = first; i < files_.size(); ++i) {
    if (files_[i].is_open) text += files_[i].path + " -> ";
  }
  return text + files_[first].path;
}

std::vector<std::vector<bool>> did_files::visible() const {
  std::vector<std::vector<bool>> all;
  for (size_t from = 0; from < files_.size(); ++from) {
    auto& seen = all.emplace_back(files_.size());
    std::vector<size_t> next{from};
    seen[from] = true;
    while (!next.empty()) {
      const auto at = next.back();
      next.pop_back();
      for (const auto to : files_[at].imports) {
        if (!seen[to]) next.push_back(to);
        seen[to] = true;
      }
    }
  }
  return all;
}

std::vector<did_files::part> did_files::services_of(size_t index) const {
  std::vector<part> all;
  std::vector<bool> seen(files_.size());
  std::vector<part> next{{index, index, 0}};
  seen[index] = true;
  for (size_t i = 0; i < next.size(); ++i) {
    const auto at = next[i];
    if (files_[at.file].service) all.push_back(at);
    for (const auto& import : files_[at.file].service_imports) {
      if (!seen[import.file]) next.push_back({import.file, at.file, import.offset});
      seen[import.file] = true;
    }
  }
  return all;
}

} // namespace moxzi::candid
