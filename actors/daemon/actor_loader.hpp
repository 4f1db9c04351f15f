#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "actors/daemon/module_cache.hpp"
#include "actors/json_interface.hpp"
#include "actors/manifest.hpp"
#include "actors/principal.hpp"
#include "actors/wasm/engine.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::actors {

/// An actor of the manifest, read and compiled.
struct loaded_actor {
  std::string name;
  principal id;
  std::shared_ptr<const compiled_module> module;
  std::shared_ptr<const json_interface> json; ///< none: neither a .did nor a section of the module
  byte_string install_argument;               ///< Candid
  size_t methods = 0;                         ///< those a caller sees
};

/// Reads an entry's files and compiles its module, unless the cache has it. Errors name the actor
/// and the file.
result<loaded_actor> load_actor(const manifest_actor& entry, wasm_engine& engine,
                                const module_cache& cache);

} // namespace moxzi::actors
