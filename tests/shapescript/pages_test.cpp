// What the pages show of a terminal is what the program prints.

#include <cstdio>

#include <gtest/gtest.h>

#include "tests/shapescript/support.hpp"

using namespace shapescript::testing;

namespace {

std::string printed(const std::string& command) {
  const auto line = fmt::format("cd {}/chapter && export PATH={}:$PATH && ({}) 2>&1",
                                golden_folder(), MOXZI_BIN_DIR, command);
  FILE* pipe = popen(line.c_str(), "r");
  std::string out;
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) out.append(buffer, n);
  pclose(pipe);
  return out;
}

// A block with every command's output as it is.
std::string as_run(const std::string& block) {
  std::string out;
  size_t at = 0;
  while (at < block.size()) {
    const auto end = block.find('\n', at);
    const auto line = block.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("$ ")) out += line + "\n" + printed(line.substr(2));
  }
  return out;
}

} // namespace

TEST(pages, show_what_the_commands_print) {
  size_t count = 0;
  const std::string open = "```text\n$ ";
  for (const auto& entry :
       std::filesystem::directory_iterator{MOXZI_SOURCE_DIR "/docs/shapescript"}) {
    const auto page = read_file(entry.path());
    for (auto at = page.find(open); at != page.npos; at = page.find(open, at)) {
      at += open.size() - 2;
      const auto block = page.substr(at, page.find("```", at) - at);
      EXPECT_EQ(block, as_run(block)) << entry.path();
      ++count;
    }
  }
  EXPECT_GE(count, 4u);
}

TEST(commands, cost_and_hover_end_as_they_say) {
  const auto status = [](const std::string& command) {
    return printed("shapescript " + command + " >/dev/null 2>&1; echo $?");
  };
  EXPECT_EQ(status("cost train.ss"), "0\n");
  EXPECT_EQ(status("cost split_python.ss"), "1\n");
  EXPECT_EQ(status("cost missing.ss"), "2\n");
  EXPECT_EQ(status("cost train.ss --size b"), "2\n");
  EXPECT_EQ(status("cost train.ss --size b=0"), "2\n");
  // No axis or number of that name; D is a dim.
  EXPECT_EQ(status("cost train.ss --size q=3"), "2\n");
  EXPECT_EQ(status("cost train.ss --size D=3"), "2\n");
  EXPECT_EQ(status("cost train.ss --value q=3"), "2\n");
  EXPECT_EQ(status("hover train.ss:16 --size q=3"), "2\n");
  EXPECT_EQ(status("hover train.ss:1:1"), "0\n");
  EXPECT_EQ(status("cost train.ss --value times"), "2\n");
  EXPECT_EQ(status("hover train.ss:16"), "0\n");
  EXPECT_EQ(status("hover train.ss"), "2\n");
  EXPECT_EQ(status("hover train.ss:x:1"), "2\n");
  EXPECT_EQ(status("hover train.ss:900:1"), "2\n");
  EXPECT_EQ(status("hover split_python.ss:1:1"), "1\n");
  // Reports go to stderr, answers to stdout.
  EXPECT_EQ(printed("shapescript cost split_python.ss 2>/dev/null"), "");
  EXPECT_NE(printed("shapescript cost train.ss 2>/dev/null").find("813,056"), std::string::npos);
  EXPECT_EQ(printed("shapescript hover train.ss:2:1 --format json"), "null\n");
}
