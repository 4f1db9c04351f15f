#pragma once

#include <optional>

#include "actors/daemon/daemon.hpp"

namespace moxzi::actors {

/// Reads the command line of `moxzid`. Returns the exit code to end with, or nothing when the
/// daemon should run with `out`.
std::optional<int> read_daemon_options(int argc, char** argv, daemon_options& out);

} // namespace moxzi::actors
