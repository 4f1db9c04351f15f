#pragma once

#include <string>
#include <vector>

namespace shapescript {

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

/// Writes answers to stdout and reports to stderr. Gives what the program ends with: 0; 1 if the
/// program has errors; 2 if the command line is wrong or the file cannot be read.
int run_cost(const cost_command& command, bool color);
int run_hover(const hover_command& command, bool color);

} // namespace shapescript
