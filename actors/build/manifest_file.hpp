#pragma once

#include <string>

#include "actors/manifest.hpp"

namespace moxzi::actors {

/// Reads the manifest at `path` and looks whether the files it names are there. In the answer, the
/// paths of the actors' files have the manifest's folder in front.
result<manifest> read_manifest(const std::string& path);

/// Adds `entry` to the manifest at `path`, or updates it, atomically; makes the file if there is
/// none. The paths of `entry` are relative to the working directory; they are written relative to
/// the manifest's folder.
result<void> update_manifest(const std::string& path, manifest_actor entry);

} // namespace moxzi::actors
