#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "actors/manifest.hpp"
#include "actors/principal.hpp"
#include "actors/wasm/wasm_factory.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::actors {

/// An actor of the manifest, read and compiled.
struct loaded_actor {
  std::string name;
  principal id;
  prepared_code code;
  std::optional<std::string> did; ///< the manifest's, in place of the module's own
  byte_string install_argument;   ///< Candid
  size_t methods = 0;             ///< those a caller sees
};

/// Reads an entry's files and makes its code. Errors name the actor and the file.
result<loaded_actor> load_actor(const manifest_actor& entry, wasm_factory& factory);

} // namespace moxzi::actors
