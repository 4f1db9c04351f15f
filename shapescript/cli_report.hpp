#pragma once

#include <string>
#include <vector>

namespace shapescript {

/// What the program ends with.
enum exit_status : int {
  exit_ok = 0,
  exit_refused = 1, ///< a program has errors, or is not formatted
  exit_usage = 2,   ///< the command line is wrong, or a file cannot be read
};

/// The command line of `cost`.
struct cost_command {
  std::string file;
  std::string format = "text";
  std::vector<std::string> sizes;  ///< `NAME=N`
  std::vector<std::string> values; ///< `NAME=VALUE`
};

/// The command line of `hover`.
struct hover_command {
  std::string place; ///< FILE:LINE or FILE:LINE:COL
  std::string format = "text";
  std::vector<std::string> sizes;
  std::vector<std::string> values;
};

/// Writes answers to stdout and reports to stderr. Gives an `exit_status`.
int run_cost(const cost_command& command, bool color);
int run_hover(const hover_command& command, bool color);

} // namespace shapescript
