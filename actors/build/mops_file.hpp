#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

/// `mops.toml`, the package manager's file, as far as it concerns what lies on this disk.
namespace moxzi::actors {

/// A package's name and the folder its `mo:` imports start from.
using package_folder = std::pair<std::string, std::string>;

/// One dependency of a `mops.toml`: `name = "value"` below `[dependencies]`.
struct mops_dependency {
  std::string name;
  std::string value; ///< a version, an address, or a local path
  bool operator==(const mops_dependency&) const = default;
};

/// Reads the text of a `mops.toml`; other tables than `[dependencies]` are passed over. Fails with
/// line and reason. Pure.
result<std::vector<mops_dependency>> read_mops(std::string_view text, std::string_view path);

/// True if a dependency's value is a path: `./lib`, `../lib`, `/lib`.
bool is_local_path(std::string_view value) noexcept;

/// The packages on this disk that the project of `source` depends on: those of the nearest
/// `mops.toml` in its folder or above, and of theirs. None without such a file. A package's sources
/// are in its `src` folder, else in the package's own. Where two files give a name, the nearer one
/// counts.
result<std::vector<package_folder>> local_packages(const std::string& source);

} // namespace moxzi::actors
