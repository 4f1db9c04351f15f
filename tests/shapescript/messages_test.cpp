// What reports say beside their code and place: labels, notes, helps and fixes.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "shapescript/check/check.hpp"
#include "shapescript/report/render.hpp"
#include "tests/shapescript/support.hpp"

using namespace shapescript;
using shapescript::testing::golden_folder;
using shapescript::testing::read_file;

namespace {

std::vector<std::filesystem::path> programs() {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator{golden_folder() + "/messages"})
    if (entry.path().extension() == ".ss") all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

source program(const std::filesystem::path& path) {
  return source{path.filename().string(), read_file(path)};
}

std::vector<std::string> promises(const std::string& text) {
  constexpr std::string_view word = "# says: ";
  std::vector<std::string> all;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const auto begin = at + word.size();
    all.push_back(text.substr(begin, text.find('\n', begin) - begin));
  }
  return all;
}

} // namespace

TEST(explain, each_message_has_a_golden_report) {
  const bool update = std::getenv("MOXZI_UPDATE_GOLDEN") != nullptr;
  for (auto path : programs()) {
    const auto text = program(path);
    const auto report = render_text(check(text).diagnostics, text, false);
    path.replace_extension(".txt");
    if (update) std::ofstream{path, std::ios::binary} << report;
    EXPECT_EQ(report, read_file(path)) << path << " (make golden)";
  }
}

TEST(messages, a_program_is_told_what_it_says_it_is_told) {
  size_t checked = 0;
  for (const auto& path : programs()) {
    const auto text = program(path);
    const auto report = render_text(check(text).diagnostics, text, false);
    for (const auto& one : promises(std::string{text.text()})) {
      EXPECT_NE(report.find(one), report.npos) << path << ": " << one << '\n' << report;
      ++checked;
    }
  }
  EXPECT_GT(checked, 30u);
}

TEST(messages, a_fix_mends_its_program) {
  size_t mended = 0;
  for (const auto& path : programs()) {
    const auto text = program(path);
    auto fixed = std::string{text.text()};
    std::vector<fix> fixes;
    for (const auto& one : check(text).diagnostics)
      fixes.insert(fixes.end(), one.fixes.begin(), one.fixes.end());
    if (fixes.empty()) continue;
    std::sort(fixes.begin(), fixes.end(),
              [](const fix& x, const fix& y) { return x.where.begin > y.where.begin; });
    for (const auto& one : fixes)
      fixed.replace(one.where.begin, one.where.end - one.where.begin, one.text);
    const source after{path.filename().string(), fixed};
    // A mended name may show what else is wrong.
    const auto found = check(after).diagnostics;
    const auto same = std::any_of(found.begin(), found.end(), [&](const diagnostic& d) {
      return d.message == check(text).diagnostics.front().message;
    });
    EXPECT_FALSE(same) << path << '\n' << fixed;
    ++mended;
  }
  EXPECT_GE(mended, 7u);
}
