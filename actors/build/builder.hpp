#pragma once

#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace moxzi::actors {

enum class build_errc : int {
  bad_source = 1,   ///< no such file, or one that cannot be an actor's source
  refused = 2,      ///< the compiler found errors
  no_compiler = 3,  ///< node or the compiler is not there
  incompatible = 4, ///< an upgrade would lose stable variables
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

/// An actor that a source may import: `import Other "canister:other"`.
struct known_canister {
  std::string name;
  std::string id;  ///< a principal's text
  std::string did; ///< its interface
};

struct build_options {
  std::string file;                                          ///< FILE.mo, as the user wrote it
  std::optional<std::string> out_dir;                        ///< beside the source
  std::optional<std::string> name;                           ///< the file's stem
  std::vector<std::pair<std::string, std::string>> packages; ///< name and folder
  std::vector<known_canister> canisters;
  std::optional<std::string> manifest = "actors.json"; ///< nothing: left alone
  std::vector<std::string> compiler_flags;             ///< passed on as they are
  std::string error_format = "plain"; ///< of diagnostics: `plain`, `human` or `json`
  bool public_metadata = false;       ///< anyone may read what the compiler writes about the actor
  bool keeps_names = true;            ///< of functions, for the texts of traps
  bool force = false;                 ///< also if the stable variables do not fit the last build's
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
/// a whole, and none if the compiler refuses, or if the actor's stable variables do not fit those
/// that the NAME.most of the last build tells of. The error's message is the compiler's, line by
/// line. Packages are those of the options, then the local ones of `mops.toml`; the actors of the
/// manifest can be imported.
result<build_outcome> build_actor(const build_options& options, const toolchain& tools);

/// Checks an actor's types. Returns the compiler's warnings; its errors are the error's message.
result<std::string> check_actor(const build_options& options, const toolchain& tools);

/// The Candid interface of an actor, as text.
result<std::string> interface_of_actor(const build_options& options, const toolchain& tools);

/// Can an actor with the stable variables of `new_most` take over from one with those of
/// `old_most`? Both are files; the error says why not.
result<void> check_upgrade(const std::string& old_most, const std::string& new_most,
                           const toolchain& tools);

} // namespace moxzi::actors

template <>
struct std::is_error_code_enum<moxzi::actors::build_errc> : std::true_type {};
