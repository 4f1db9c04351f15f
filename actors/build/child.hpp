#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace moxzi::actors {

/// What a child process left behind.
struct child_outcome {
  int status = 0;     ///< exit code; 128 + the signal if one ended it
  std::string output; ///< stdout and stderr together, cut at the limit
};

/// Runs `argv[0]` (looked for on the PATH) without a shell and with an empty stdin, and waits for
/// it. Keeps at most `output_bytes_max` of what it prints. Fails if it cannot be started.
result<child_outcome> run_child(const std::vector<std::string>& argv, size_t output_bytes_max);

} // namespace moxzi::actors
