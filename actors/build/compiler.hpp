#pragma once

#include <string>
#include <vector>

#include "actors/build/builder.hpp"
#include "base/result.hpp"

namespace moxzi::actors {

/// The options with what the project adds to them: the local packages of `mops.toml`, and the
/// other actors of the manifest.
result<build_options> with_project(build_options options);

/// Runs the compiler over `options.file`, which is not repeated among `arguments`; those come
/// before it and `rest` behind. Returns what it printed; if it refuses, that is the error.
result<std::string> run_compiler(const build_options& options, const toolchain& tools,
                                 const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& rest = {});

} // namespace moxzi::actors
