#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "shapescript/report/diagnostic.hpp"

namespace shapescript::testing {

inline std::string golden_folder() {
  return MOXZI_SOURCE_DIR "/tests/golden/shapescript";
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The programs that say what they expect, sorted by name.
inline std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> all;
  for (const auto* folder : {"", "/sound", "/mistakes"})
    for (const auto& entry : std::filesystem::directory_iterator{golden_folder() + folder})
      if (entry.path().extension() == ".ss") all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

/// `E0110 @5:1; W0201 @7:5`
inline std::string summary(const std::vector<diagnostic>& all, const source& text) {
  std::string out;
  for (const auto& one : all) {
    const auto at = text.position_of(one.primary().where.begin);
    if (!out.empty()) out += "; ";
    out += fmt::format("{} @{}:{}", one.code, at.line, at.column);
  }
  return out;
}

} // namespace shapescript::testing
