#pragma once

#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace moxzi::actors {

enum class build_errc : int {
  bad_source = 1,  ///< no such file, or one that cannot be an actor's source
  refused = 2,     ///< the compiler found errors
  no_compiler = 3, ///< node or the compiler is not there
};

const std::error_category& build_category() noexcept;

inline std::error_code make_error_code(build_errc code) noexcept {
  return {static_cast<int>(code), build_category()};
}

/// Where the compiler is. `main` finds out and hands it down.
struct toolchain {
  std::string node = "node";
  std::string script; ///< actors/build/compile.js
  std::string npm;    ///< the folder with node_modules
  std::string cache;  ///< folder for `build_cache`; empty: none
};

struct build_options {
  std::string file;                                          ///< FILE.mo, as the user wrote it
  std::optional<std::string> out_dir;                        ///< beside the source
  std::optional<std::string> name;                           ///< the file's stem
  std::vector<std::pair<std::string, std::string>> packages; ///< name and folder
  std::optional<std::string> manifest = "actors.json";       ///< nothing: left alone
};

struct build_outcome {
  std::string name;
  std::string wasm; ///< paths of what was written
  std::string did;
  std::string most;
  std::string warnings; ///< the compiler's, line by line; empty if it had none
  bool from_cache = false;
};

/// Compiles one actor, or takes the result of the same compilation from the cache; writes
/// NAME.wasm, NAME.did and NAME.most, and lists the actor in the manifest. Each file is replaced as
/// a whole, and none if the compiler refuses. The error's message is the compiler's, line by line.
result<build_outcome> build_actor(const build_options& options, const toolchain& tools);

} // namespace moxzi::actors

template <>
struct std::is_error_code_enum<moxzi::actors::build_errc> : std::true_type {};
