#pragma once

#include <string>
#include <vector>

#include "actors/build/builder.hpp"

namespace CLI {
class App;
}

namespace moxzi::actors {

/// What `build`, `check` and `did` have in common: the source, its packages, the manifest.
struct source_options {
  build_options options;
  std::vector<std::string> packages; ///< name, folder, name, folder, …
  std::string manifest = "actors.json";
  bool no_manifest = false;

  /// Adds the options to a subcommand. `this` outlives the parsing.
  void add_to(CLI::App& app, const std::string& about_manifest);
  /// What was asked for, once parsed.
  build_options take();
};

} // namespace moxzi::actors
