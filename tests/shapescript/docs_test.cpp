// The pages under docs/shapescript/: what they show is what the program does.

#include <cstdlib>

#include <gtest/gtest.h>

#include "shapescript/check/builtin_docs.hpp"
#include "shapescript/check/check.hpp"
#include "shapescript/report/render.hpp"
#include "tests/shapescript/support.hpp"

using namespace shapescript;
using shapescript::testing::read_file;

namespace {

const std::string folder = MOXZI_SOURCE_DIR "/docs/shapescript";

std::string builtins_page() {
  std::string out =
    "# Builtin functions\n\n"
    "A `?` marks what may be left out, a `=` what is given by its name only. `over=` names an "
    "axis, "
    "or\nseveral: `over=(h, w)`. `P -> Q` are patterns of axes; a function with brackets makes a "
    "tensor of the\naxes in them, as `zeros[b D]`. Words in capitals stand for names that the call "
    "chooses.\n\n"
    "| call | what it gives |\n|---|---|\n";
  for (const auto name : builtin_names()) {
    std::string forms;
    for (const auto& one : forms_of(*find_builtin(name)))
      forms += fmt::format("{}`{}`", forms.empty() ? "" : "<br>", one.text);
    out += fmt::format("| {} | {} |\n", forms, documentation_of(name));
  }
  return out;
}

} // namespace

TEST(docs, every_wrong_program_gives_the_report_below_it) {
  size_t count = 0;
  const std::string open = "```shapescript wrong\n";
  const std::string shown = "```\n\n```text\n";
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
    if (entry.is_directory()) continue;
    const auto page = read_file(entry.path());
    for (auto at = page.find(open); at != page.npos; at = page.find(open, at)) {
      at += open.size();
      const auto end = page.find("```", at);
      ASSERT_EQ(page.substr(end, shown.size()), shown) << entry.path() << ": no report is shown";
      const auto begin = end + shown.size();
      const source program{"model.ss", page.substr(at, end - at)};
      EXPECT_EQ(render_text(check(program).diagnostics, program, false),
                page.substr(begin, page.find("```", begin) - begin))
        << entry.path();
      ++count;
    }
  }
  EXPECT_GE(count, 20u);
}

TEST(docs, every_code_stands_on_the_page_of_its_family) {
  std::string pages;
  for (const auto& entry : std::filesystem::directory_iterator{folder + "/errors"})
    pages += read_file(entry.path());
  for (const auto& [code, title] : all_codes())
    EXPECT_NE(pages.find(fmt::format("| [{}](../../../shapescript/explain/{}.md) | {} |", code,
                                     code, title)),
              pages.npos)
      << code << ": " << title;
}

TEST(docs, the_page_of_builtins_is_that_of_the_table) {
  const auto path = folder + "/builtins.md";
  if (std::getenv("MOXZI_UPDATE_GOLDEN") != nullptr) std::ofstream{path} << builtins_page();
  EXPECT_EQ(read_file(path), builtins_page());
}
