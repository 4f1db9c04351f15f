#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "actors/wasm/engine.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::actors {

/// Remembers the machine code of modules between runs, in a folder that only this user may write
/// (what lies there is run as it is). A cache that is missing, foreign, broken or full of other
/// versions costs a compilation, nothing else.
class module_cache {
public:
  /// Keeps at most `entries_max` modules, the last used ones. An empty folder name: no cache.
  module_cache(std::string folder, size_t entries_max);

  /// The module, from the cache or compiled now.
  result<std::shared_ptr<const compiled_module>> get(byte_view wasm, wasm_engine& engine) const;

private:
  std::string path_of(byte_view wasm) const;
  bool is_private() const;
  void store(const std::string& path, const compiled_module& module) const;
  void evict() const;

  std::string folder_;
  size_t entries_max_;
};

} // namespace moxzi::actors
