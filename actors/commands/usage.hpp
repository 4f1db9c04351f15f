#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace moxzi::actors {

/// `moxzi 0.1.0`, for `--version`.
std::string version_text(const std::string& program);

/// Prepares a program before its options are added: `--version`, `--help`, and unknown words kept
/// aside so that `parse_command_line` can name what was probably meant.
void prepare_program(CLI::App& program);

/// Parses the command line and runs the callbacks of the options and subcommands on it.
///
/// Returns the exit code to end with, or nothing when the program should go on: `--help` and
/// `--version` print to stdout and give 0; an unknown option or subcommand, a missing or malformed
/// value is printed to stderr, with the nearest known name, and gives `exit_usage`.
std::optional<int> parse_command_line(CLI::App& program, int argc, const char* const* argv);

} // namespace moxzi::actors
