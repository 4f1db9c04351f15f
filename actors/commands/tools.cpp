#include "actors/commands/tools.hpp"

#include <cstdlib>
#include <filesystem>

#include "actors/build/files.hpp"

namespace fs = std::filesystem;

namespace moxzi::actors {

namespace {

std::string variable(const char* name) {
  const auto* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The checkout this program lies in (<checkout>/build/<preset>/bin/moxzi), or was built in.
fs::path checkout() {
  std::error_code ec;
  auto self = fs::read_symlink("/proc/self/exe", ec);
  auto root = self.parent_path().parent_path().parent_path().parent_path();
  if (!ec && is_file((root / "actors/build/compile.js").string())) return root;
  return MOXZI_SOURCE_DIR;
}

std::string cache_folder() {
  if (auto cache = variable("XDG_CACHE_HOME"); !cache.empty() && cache.front() == '/')
    return cache + "/moxzi/build";
  if (auto home = variable("HOME"); !home.empty()) return home + "/.cache/moxzi/build";
  return "";
}

} // namespace

toolchain find_tools() {
  auto root = checkout();
  toolchain out;
  out.script = (root / "actors/build/compile.js").string();
  out.cache = cache_folder();
  fs::path deps{variable("MOXZI_DEPS")};
  if (deps.empty())
    deps = fs::exists(root / ".deps/npm") ? root / ".deps" : fs::path{MOXZI_DEPS_DIR};
  out.npm = (deps / "npm").string();
  return out;
}

} // namespace moxzi::actors
