#include "actors/build/mops_file.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "actors/build/files.hpp"

namespace fs = std::filesystem;

namespace moxzi::actors {

namespace {

using std::string_view;

constexpr size_t mops_bytes_max = 1u << 20;
constexpr size_t packages_max = 256;

string_view trimmed(string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Up to a `#` that stands outside quotes.
string_view without_comment(string_view line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quote != 0) {
      if (line[i] == '\\' && quote == '"')
        ++i;
      else if (line[i] == quote)
        quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#') {
      return line.substr(0, i);
    }
  }
  return line;
}

// `"text"` or `'text'`, without its quotes; nothing if it is no plain string.
std::optional<string_view> unquoted(string_view text) {
  if (text.size() < 2 || (text.front() != '"' && text.front() != '\'')) return std::nullopt;
  if (text.back() != text.front()) return std::nullopt;
  auto inside = text.substr(1, text.size() - 2);
  if (inside.find_first_of("\"\\") != string_view::npos) return std::nullopt;
  return inside;
}

// The `mops.toml` of a source's project; empty: there is none.
fs::path find_mops(const fs::path& source) {
  std::error_code ec;
  auto folder = fs::absolute(source, ec).lexically_normal().parent_path();
  for (;;) {
    auto file = folder / "mops.toml";
    if (is_file(file.string())) return file;
    if (folder == folder.parent_path()) return {};
    folder = folder.parent_path();
  }
}

} // namespace

bool is_local_path(string_view value) noexcept {
  return value.starts_with("./") || value.starts_with("../") || value.starts_with("/");
}

result<std::vector<mops_dependency>> read_mops(string_view text, string_view path) {
  std::vector<mops_dependency> out;
  bool is_ours = false;
  size_t number = 0;
  while (!text.empty()) {
    auto end = std::min(text.find('\n'), text.size());
    auto line = trimmed(without_comment(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty()) continue;
    if (line.front() == '[') {
      is_ours = line == "[dependencies]" || line == "[packages]";
      continue;
    }
    if (!is_ours) continue;
    auto equals = line.find('=');
    auto key = trimmed(line.substr(0, equals));
    auto value = equals == string_view::npos ? std::optional<string_view>{}
                                             : unquoted(trimmed(line.substr(equals + 1)));
    if (auto name = unquoted(key)) key = *name;
    if (key.empty() || !value)
      return fail(base_errc::malformed,
                  "{}:{}: a dependency is NAME = \"VERSION\" or NAME = \"./PATH\"", path, number);
    out.push_back({std::string{key}, std::string{*value}});
  }
  return out;
}

result<std::vector<package_folder>> local_packages(const std::string& source) {
  std::vector<package_folder> out;
  std::vector<fs::path> files;
  if (auto first = find_mops(source); !first.empty()) files.push_back(std::move(first));
  for (size_t i = 0; i < files.size(); ++i) {
    const auto file = files[i];
    auto text = read_file(file.string(), mops_bytes_max);
    if (!text) return text.error();
    auto all = read_mops(*text, file.string());
    if (!all) return all.error();
    for (const auto& [name, value] : *all) {
      const bool is_known =
        std::any_of(out.begin(), out.end(), [&](const auto& one) { return one.first == name; });
      if (!is_local_path(value) || is_known) continue;
      const auto folder = (file.parent_path() / value).lexically_normal();
      std::error_code ec;
      if (!fs::is_directory(folder, ec))
        return fail(base_errc::io, "{}: package '{}': there is no folder {}", file.string(), name,
                    folder.string());
      const auto inside = folder / "src";
      out.emplace_back(name, fs::is_directory(inside, ec) ? inside.string() : folder.string());
      if (out.size() > packages_max)
        return fail(base_errc::over_limit, "{}: more than {} packages", file.string(),
                    packages_max);
      if (auto own = folder / "mops.toml"; is_file(own.string())) files.push_back(own);
    }
  }
  return out;
}

} // namespace moxzi::actors
