#pragma once

#include "actors/build/builder.hpp"

namespace moxzi::actors {

/// Finds the compiler and the cache's folder: from the environment (MOXZI_DEPS, XDG_CACHE_HOME,
/// HOME), from where this program lies, else from where it was built.
toolchain find_tools();

} // namespace moxzi::actors
