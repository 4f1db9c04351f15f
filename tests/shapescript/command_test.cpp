// The program itself: what it prints where, and what it ends with.

#include <algorithm>
#include <cstdio>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/shapescript/support.hpp"

using shapescript::testing::golden_folder;
using shapescript::testing::read_file;

namespace {

struct ended {
  int status;
  std::string out;
};

// Runs `shapescript ARGUMENTS`, with what the redirection lets through.
ended run(const std::string& arguments) {
  const auto command =
    fmt::format("cd {} && {}/shapescript {}", golden_folder(), MOXZI_BIN_DIR, arguments);
  FILE* pipe = popen(command.c_str(), "r");
  ended result{-1, {}};
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    result.out.append(buffer, n);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

} // namespace

TEST(command, a_right_program_gives_nothing_and_zero) {
  const auto r = run("check chapter/train.ss 2>&1");
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.out, "");
}

TEST(command, reports_go_to_stderr_and_give_one) {
  const auto r = run("check chapter/split_python.ss 2>/dev/null");
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(r.out, "");
  const auto text = run("check chapter/split_python.ss 2>&1").out;
  EXPECT_NE(text.find("error[E1901]"), text.npos);
  EXPECT_EQ(text.find('\x1b'), text.npos) << "a pipe has no colours";
  EXPECT_NE(run("check --color chapter/split_python.ss 2>&1").out.find('\x1b'), text.npos);
}

TEST(command, warnings_fail_only_when_they_are_denied) {
  EXPECT_EQ(run("check warn_result_not_used.ss 2>/dev/null").status, 0);
  EXPECT_EQ(run("check --deny-warnings warn_result_not_used.ss 2>/dev/null").status, 1);
}

TEST(command, a_blank_line_parts_the_reports_of_two_files) {
  const auto r = run("check warn_result_not_used.ss err_lex_number_suffix.ss 2>&1").out;
  EXPECT_NE(r.find("explain W0601`.\n\nerror[E0105]"), r.npos) << r;
}

TEST(command, json_is_one_object_a_line) {
  const auto r = run("check --format json err_lex_number_suffix.ss warn_result_not_used.ss 2>&1");
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 2);
  EXPECT_TRUE(r.out.starts_with("{\"code\":\"E0105\"")) << r.out;
}

TEST(command, wrong_use_gives_two_and_names_what_was_meant) {
  EXPECT_EQ(run("check missing.ss 2>&1").status, 2);
  EXPECT_EQ(run("2>/dev/null").status, 2);
  const auto flag = run("check --formt json a.ss 2>&1");
  EXPECT_EQ(flag.status, 2);
  EXPECT_NE(flag.out.find("did you mean '--format'?"), flag.out.npos) << flag.out;
  const auto command = run("chekc a.ss 2>&1");
  EXPECT_EQ(command.status, 2);
  EXPECT_NE(command.out.find("did you mean 'check'?"), command.out.npos) << command.out;
  const auto code = run("explain E9999 2>&1");
  EXPECT_EQ(code.status, 2);
  EXPECT_NE(code.out.find("the nearest are E1904, E1902 and E1901"), code.out.npos) << code.out;
  const auto near = run("explain E0207 2>&1");
  EXPECT_NE(near.out.find("the nearest are E0208, E0205 and E0209"), near.out.npos) << near.out;
  EXPECT_NE(run("explain what 2>&1").out.find("a code reads like E0408"), code.out.npos);
}

TEST(command, explanations_version_and_help_go_to_stdout) {
  const auto page = run("explain e0408 2>/dev/null");
  EXPECT_EQ(page.status, 0);
  EXPECT_TRUE(page.out.starts_with("# E0408: ")) << page.out;
  EXPECT_EQ(run("--version 2>/dev/null").out.substr(0, 12), "shapescript ");
  EXPECT_NE(run("check --help 2>/dev/null").out.find("--deny-warnings"), std::string::npos);
}

TEST(command, an_imported_pipe_is_refused_at_once) {
  const auto folder =
    std::filesystem::temp_directory_path() / fmt::format("shapescript_pipe_{}", getpid());
  std::filesystem::create_directory(folder);
  ASSERT_EQ(mkfifo((folder / "pipe.ss").c_str(), 0600), 0);
  std::ofstream{folder / "a.ss"} << "import pipe\n";
  const auto done = run(fmt::format("check {} 2>&1", (folder / "a.ss").string()));
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.out.find("pipe.ss: is no file"), std::string::npos) << done.out;
  std::filesystem::remove_all(folder);
}

TEST(command, fmt_changes_a_file_once) {
  const auto path =
    std::filesystem::temp_directory_path() / fmt::format("shapescript_fmt_{}.ss", getpid());
  std::ofstream{path} << "fn  f(x:[n])->[n]:\n  return x\n";
  EXPECT_EQ(run(fmt::format("fmt --check {}", path.string())).status, 1);
  EXPECT_EQ(read_file(path), "fn  f(x:[n])->[n]:\n  return x\n");
  EXPECT_EQ(run(fmt::format("fmt {}", path.string())).status, 0);
  EXPECT_EQ(read_file(path), "fn f(x: [n]) -> [n]:\n    return x\n");
  EXPECT_EQ(run(fmt::format("fmt --check {}", path.string())).status, 0);
  EXPECT_EQ(run("fmt err_parse_missing_type.ss 2>/dev/null").status, 1);
  std::filesystem::remove(path);
}
