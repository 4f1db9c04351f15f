#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/build/builder.hpp"
#include "base/bytes.hpp"
#include "base/digest.hpp"
#include "base/result.hpp"

namespace moxzi::actors {

/// What a compilation gave.
struct build_outputs {
  byte_string wasm;
  byte_string did;
  byte_string most;
  std::string warnings;
  bool operator==(const build_outputs&) const = default;
};

/// Remembers compilations between runs, in a folder of one file an entry.
///
/// An entry lies under a hash of everything but what was imported (the actor's source, the flags,
/// the compiler's version) and lists that: `SHA256 PATH` for each file that was read, `- PATH` for
/// each that was looked for and absent, `@ PRINCIPAL NAME` for each actor. It counts while that is
/// still so. A broken entry is none.
///
/// Nothing here fails a build: a cache that cannot be read or written is an empty one.
class build_cache {
public:
  /// Keeps at most `entries_max` entries, the last used ones. An empty folder name: no cache.
  build_cache(std::string folder, size_t entries_max);

  /// `base` is the folder that relative paths of `deps` start from; `canisters` are the actors that
  /// can be imported.
  std::optional<build_outputs> find(const sha256_hash& key, const std::string& base,
                                    const std::vector<known_canister>& canisters = {}) const;

  void store(const sha256_hash& key, const std::string& deps, const build_outputs& outputs) const;

private:
  std::string path_of(const sha256_hash& key) const;
  void evict() const;

  std::string folder_;
  size_t entries_max_;
};

/// True if every file and actor of a `deps` list is as it was.
bool still_holds(std::string_view deps, const std::string& base,
                 const std::vector<known_canister>& canisters = {});

} // namespace moxzi::actors
