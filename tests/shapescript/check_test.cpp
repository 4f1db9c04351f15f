#include "shapescript/check/check.hpp"

#include <map>
#include <regex>

#include <gtest/gtest.h>

#include "shapescript/report/explain.hpp"
#include "shapescript/report/render.hpp"
#include "shapescript/syntax/format.hpp"
#include "tests/shapescript/support.hpp"

using namespace shapescript;
using shapescript::testing::corpus;
using shapescript::testing::golden_folder;
using shapescript::testing::read_file;
using shapescript::testing::summary;

namespace {

source program(const std::string& path) {
  auto text = read_source(path);
  EXPECT_TRUE(text.has_value()) << path;
  return *text;
}

std::string faults(const source& text) {
  return summary(check(text).diagnostics, text);
}

std::string faults(const std::string& text) {
  return faults(source{"a.ss", text});
}

// What `# expect:` and `# warn:` say.
std::string expected(const std::string& text) {
  std::smatch found;
  std::string all;
  if (std::regex_search(text, found, std::regex{"# expect: (.+)"}) && found[1] != "ok")
    all = found[1];
  if (std::regex_search(text, found, std::regex{"# warn: (.+)"}))
    all += (all.empty() ? "" : "; ") + found[1].str();
  return all;
}

// The two programs of an explanation.
std::pair<std::string, std::string> examples(std::string_view page) {
  const std::string open = "```shapescript\n";
  const auto next = [&](size_t from) {
    const auto begin = page.find(open, from) + open.size();
    return std::pair{begin, page.find("```", begin)};
  };
  const auto [a, b] = next(0);
  const auto [c, d] = next(b + 3);
  return {std::string{page.substr(a, b - a)}, std::string{page.substr(c, d - c)}};
}

} // namespace

TEST(check, every_program_of_the_corpus_gives_what_it_expects) {
  const auto all = corpus();
  EXPECT_GE(all.size(), 140u);
  for (const auto& path : all) {
    const auto text = program(path.string());
    EXPECT_EQ(faults(text), expected(std::string{text.text()})) << path;
  }
}

TEST(check, the_chapters_programs_are_right) {
  for (const auto* name : {"train", "extern", "options", "exercise_1"})
    EXPECT_EQ(faults(program(golden_folder() + "/chapter/" + name + ".ss")), "") << name;
}

TEST(check, the_chapters_third_exercise_does_not_check) {
  EXPECT_EQ(faults(program(golden_folder() + "/chapter/exercise_3.ss")), "E1506 @2:11");
}

TEST(check, the_chapters_report_comes_out_character_for_character) {
  const source text{"split_python.ss", read_file(golden_folder() + "/chapter/split_python.ss")};
  EXPECT_EQ(render_text(check(text).diagnostics, text, false),
            read_file(golden_folder() + "/chapter/split_python.txt"));
}

TEST(check, one_device_may_call_python_on_a_batch) {
  auto text = read_file(golden_folder() + "/chapter/split_python.ss");
  text.replace(0, text.find('\n'), "devices cuda[0]");
  EXPECT_EQ(faults(text), "");
}

TEST(explain, each_code_has_a_page_whose_programs_do_what_it_says) {
  for (const auto& [code, title] : all_codes()) {
    const auto page = explanation(code);
    ASSERT_TRUE(page) << code;
    EXPECT_TRUE(page->starts_with(fmt::format("# {}: {}\n", code, title))) << code;
    const auto [fails, mended] = examples(*page);
    const source wrong{"a.ss", fails};
    const auto found = check(wrong).diagnostics;
    ASSERT_EQ(found.size(), 1u) << code << ": " << summary(found, wrong);
    EXPECT_EQ(found[0].code, code);
    EXPECT_EQ(faults(mended), "") << code;
  }
}

TEST(explain, each_code_has_a_golden_report) {
  const bool update = std::getenv("MOXZI_UPDATE_GOLDEN") != nullptr;
  for (const auto& [code, title] : all_codes()) {
    const auto page = explanation(code);
    ASSERT_TRUE(page) << code;
    const source text{fmt::format("{}.ss", code), examples(*page).first};
    const auto report = render_text(check(text).diagnostics, text, false);
    const auto path = fmt::format("{}/reports/{}.txt", golden_folder(), code);
    if (update) std::ofstream{path, std::ios::binary} << report;
    EXPECT_EQ(report, read_file(path)) << path << " (make golden)";
  }
}

TEST(explain, messages_begin_small_and_end_without_a_stop) {
  for (const auto& [code, title] : all_codes()) {
    const source text{"a.ss", examples(*explanation(code)).first};
    for (const auto& one : check(text).diagnostics) {
      EXPECT_FALSE(std::isupper(static_cast<unsigned char>(one.message.front()))) << one.message;
      EXPECT_NE(one.message.back(), '.') << one.message;
      EXPECT_FALSE(one.primary().text.empty()) << code;
    }
  }
}

TEST(check, a_machine_applicable_fix_mends_the_program) {
  size_t fixed = 0;
  for (const auto& [code, title] : all_codes()) {
    const auto wrong = examples(*explanation(code)).first;
    const source text{"a.ss", wrong};
    const auto found = check(text).diagnostics;
    if (found[0].fixes.empty()) continue;
    auto mended = wrong;
    for (const auto& one : found[0].fixes)
      mended.replace(one.where.begin, one.where.end - one.where.begin, one.text);
    // A suggested name is a guess: it may leave another mistake, but not this one.
    EXPECT_EQ(faults(mended).find(std::string{code}), std::string::npos) << code << "\n" << mended;
    ++fixed;
  }
  EXPECT_GE(fixed, 9u);
}

TEST(docs, every_program_in_the_pages_is_right_and_formatted) {
  size_t count = 0;
  const std::string open = "```shapescript\n";
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator{MOXZI_SOURCE_DIR "/docs/shapescript"}) {
    if (entry.is_directory()) continue;
    const auto page = read_file(entry.path());
    for (auto at = page.find(open); at != page.npos; at = page.find(open, at)) {
      at += open.size();
      const source text{"a.ss", page.substr(at, page.find("```", at) - at)};
      EXPECT_EQ(faults(text), "") << entry.path() << "\n" << text.text();
      EXPECT_EQ(shapescript::format(text, parse(text)), text.text());
      ++count;
    }
  }
  EXPECT_GE(count, 3u);
}

TEST(check, independent_mistakes_are_all_reported_and_each_once) {
  EXPECT_EQ(faults("dim D = 3\n\nfn f(x: [b D], y: [b 4]) -> [b]:\n    a = x + y\n"
                   "    c = reul(a)\n    return sum(c, over=D)\n\n"
                   "fn g(x: [n]) -> [m2]:\n    return softmax(x)\n\n"
                   "fn h(x: [n]) -> [n]:\n    z = f(x, x)\n    return z + undefined\n"),
            "E0401 @4:13; E0201 @5:9; E0603 @9:12; E0403 @12:11; E0201 @13:16");
}

TEST(check, a_syntax_error_does_not_bring_reports_about_what_it_hides) {
  EXPECT_EQ(faults("fn helper(x [n]) -> [n]:\n    return x\n\nfn f(x: [n]) -> [n]:\n"
                   "    y = helper(x)\n    return y\n"),
            "E0110 @1:13");
  EXPECT_EQ(
    faults("model M:\n    param w [3] = zeros()\n\nfn f(m: M) -> []:\n    return sum(m.w)\n"),
    "E0110 @2:13");
  EXPECT_EQ(faults("fn f(x: [n]) -> [n]:\n    y = x +\n    return y\n"), "E0110 @2:12");
}

TEST(check, a_missing_block_is_one_mistake) {
  EXPECT_EQ(faults("data R:\n    x: [3]\n\nfn f(d: Dataset[R]):\n"), "E0111 @5:1");
}

TEST(check, an_imported_file_gives_its_functions) {
  const program_loader load = [](const std::string& path) -> moxzi::result<source> {
    if (path == "lib/other.ss")
      return source{path, "dim K = 4\n\nmodel Fc[D H]:\n    param w: [D H] = zeros()\n"
                          "    fn forward(self, x: [b D]) -> [b H]:\n        return x @ self.w\n\n"
                          "fn twice(x: [n K]) -> [n K]:\n    return x * 2.0\n"};
    return moxzi::fail(moxzi::base_errc::io, "{}: no such file", path);
  };
  const auto run = [&](const std::string& text) {
    const source s{"lib/a.ss", text};
    return summary(check(s, load).diagnostics, s);
  };
  EXPECT_EQ(run("import other\n\nfn f(x: [b 4]) -> [b 4]:\n    return other.twice(x)\n"), "");
  EXPECT_EQ(run("import other\n\nfn f(x: [b 5]) -> [b 5]:\n    return other.twice(x)\n"),
            "E0403 @4:24");
  EXPECT_EQ(run("import other\n\nfn f(m: other.Fc[4 2], opt: AdamW[other.Fc[4 2]], x: [b 4]) -> "
                "[b 2]:\n    return m.forward(x)\n"),
            "");
  EXPECT_EQ(run("import other\n\nfn f(m: other.Fd[4 2]):\n    pass\n"), "E0202 @3:15");
  EXPECT_EQ(run("import other\n\nfn f(x: [b 4]) -> [b 4]:\n    return other.twic(x)\n"),
            "E0204 @4:18");
  EXPECT_EQ(run("import missing\n\nfn f(x: [b 4]) -> [b 4]:\n    return missing.f(x)\n"),
            "E0201 @1:8");
  EXPECT_EQ(faults("import other\n"), "E0201 @1:8");
}

// A dim of another file is a size wherever one stands; its axis is called by the dim's own name, as
// the other file's types call it.
TEST(check, a_dim_of_an_imported_file_is_a_size) {
  const std::map<std::string, std::string> files{
    {"lib.ss", "import deep\n\ndim D = 4\ndim E = 2*deep.K\n\ndata R:\n    x: [D]\n\n"
               "model Fc[A B]:\n    param w: [A B] = zeros()\n\n"
               "fn twice(x: [n D]) -> [n D]:\n    return x * 2.0\n"},
    {"deep.ss", "dim K = 3\n"},
    {"around.ss", "import a\n\ndim P = a.Q\n"}};
  const auto load = [&](const std::string& path) -> moxzi::result<source> {
    if (const auto found = files.find(path); found != files.end())
      return source{path, found->second};
    return moxzi::fail(moxzi::base_errc::io, "{}: no such file", path);
  };
  const auto run = [&](const std::string& text) {
    const source s{"a.ss", "import lib\n\n" + text};
    return summary(check(s, load).diagnostics, s);
  };
  EXPECT_EQ(run("fn f(x: [b lib.D]) -> [b 4]:\n    return lib.twice(x)\n"), "");
  EXPECT_EQ(run("fn f(x: [b lib.D]) -> [b 5]:\n    return x\n"), "E0404 @4:12");
  EXPECT_EQ(run("dim A = lib.D * lib.E\n\nfn f(x: [24]) -> [A]:\n    return x\n"), "");
  EXPECT_EQ(run("fn f(r: [b] lib.R, x: [b lib.D]) -> [b lib.D]:\n    return r.x + x\n"), "")
    << "the two axes have one name";
  EXPECT_EQ(run("fn f(x: [b lib.D]) -> [b]:\n    return sum(x, over=lib.D) + sum(x, over=D)\n"),
            "");
  EXPECT_EQ(run("fn f(x: [b 2*lib.D lib.E-1]) -> [b 8 5]:\n    return x\n"), "");
  EXPECT_EQ(run("fn f(x: [b] Index[lib.D]) -> [b 4]:\n    return one_hot(x, lib.D)\n"), "");
  EXPECT_EQ(run("fn f() -> [4 6]:\n    return zeros[lib.D lib.E]\n"), "");
  EXPECT_EQ(run("fn g(m: lib.Fc[lib.D 2]) -> [4 2]:\n    return m.w\n\n"
                "fn main():\n    m = lib.Fc[lib.D 2](seed=0)\n    print(g(m))\n"),
            "");
  EXPECT_EQ(run("fn f(d: Dataset[lib.R]):\n    print(len(d))\n"), "");
  EXPECT_EQ(run("model M:\n    param w: [lib.D 3] = zeros()\n"), "");
  EXPECT_EQ(run("fn f(x: [b lib.F]) -> [b]:\n    return sum(x, over=F)\n"), "E0205 @3:16");
  EXPECT_EQ(run("fn f(x: [b lib.R]) -> [b]:\n    return x\n"), "E0205 @3:16");
  EXPECT_EQ(run("fn f(x: [b lob.D]) -> []:\n    return sum(x)\n"), "E0205 @3:12");
  EXPECT_EQ(run("dim A = lib.F\n"), "E0205 @3:13");
  EXPECT_EQ(run("fn f(x: [b 3]) -> [b]:\n    return sum(x, over=lib.D)\n"), "E0405 @4:24");
  EXPECT_EQ(run("import around\n\ndim Q = around.P\n"), "E0303 @5:5");
}

TEST(check, what_is_wrong_in_an_imported_file_is_said_where_it_is_used) {
  const std::map<std::string, std::string> files{
    {"syntax.ss", "fn g(x: [n]) -> [n]\n    return x\n"},
    {"name.ss", "fn g(x: [n]) -> [n]:\n    return zork\n"},
    {"deep.ss", "import name\n\nfn g(x: [n]) -> [n]:\n    return x\n"},
    {"host.ss", "fn sq(x: [n]) -> [n]:\n    print(x)\n    return x\n"},
    {"mixes.ss", "fn sm(x: [n d]) -> [n d]:\n    return softmax(x, over=n)\n"},
    {"back.ss", "import a\n\nfn g(x: [n]) -> [n]:\n    return a.f(x)\n"}};
  const program_loader load = [&](const std::string& path) -> moxzi::result<source> {
    const auto found = files.find(path);
    if (found != files.end()) return source{path, found->second};
    return moxzi::fail(moxzi::base_errc::io, "{}: no such file", path);
  };
  const auto run = [&](const std::string& text) {
    const source s{"a.ss", text};
    return summary(check(s, load).diagnostics, s);
  };
  const std::string calls = "\n\nfn f(x: [n]) -> [n]:\n    return ";
  EXPECT_EQ(run("import syntax" + calls + "syntax.g(x)\n"), "E0110 @1:8");
  EXPECT_EQ(run("import name" + calls + "name.g(x)\n"), "E0201 @1:8");
  EXPECT_EQ(run("import deep" + calls + "deep.g(x)\n"), "E0201 @1:8");
  EXPECT_EQ(run("import back" + calls + "back.g(x)\n"), "E0607 @4:12");
  EXPECT_EQ(run("import a" + calls + "a.f(x)\n"), "E0607 @4:12");
  EXPECT_EQ(run("import host\n\nfn loss(x: [n]) -> []:\n    return sum(host.sq(x))\n\n"
                "fn f(x: [n]) -> [n]:\n    return grad(loss, x)\n"),
            "E1801 @4:16");
  EXPECT_EQ(run("devices cuda[0 1]\nimport mixes\n\ndata R:\n    x: [3]\n\n"
                "fn f(r: [b] R) -> [b 3]:\n    return mixes.sm(r.x)\n"),
            "E1902 @8:12");
}

TEST(check, an_axis_of_another_size_than_its_name_is_shown_with_it) {
  const auto message = [](const std::string& text) {
    const source s{"a.ss", text};
    const auto found = check(s).diagnostics;
    return found.empty() ? std::string{} : found[0].message;
  };
  EXPECT_EQ(message("dim D = 8\nfn f(x: [b D]) -> [b D]:\n    v, _i = topk(x, over=D, k=2)\n"
                    "    return v\n"),
            "the result of `f` is `[b D]`, but this is `[b D=2]`");
  EXPECT_EQ(message("fn f(x: [b n]) -> [b n]:\n    return pad(x, n=(1, 1))\n"),
            "the result of `f` is `[b n]`, but this is `[b n=n+2]`");
  EXPECT_EQ(message("fn f(x: [4 m]) -> []:\n    return x[2, 1, 0]\n"), "`x` has 2 axes");
}

TEST(check, a_cast_is_named_to_the_dtype_that_is_wanted) {
  const source s{"a.ss", "fn g(x: [n]) -> [n]:\n    return x\n\n"
                         "fn f(x: [n] f64) -> [n]:\n    return g(x)\n"};
  const auto found = check(s).diagnostics;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].help,
            std::vector<std::string>{"dtypes change only by a cast, as in `x as f32`"});
}

TEST(check, short_names_are_guessed_at_but_not_mended) {
  const source s{"a.ss", "fn f(x: [n]) -> [n]:\n    return exq(x)\n"};
  const auto found = check(s).diagnostics;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].help, std::vector<std::string>{"did you mean `exp`?"});
  EXPECT_TRUE(found[0].fixes.empty());
  const source gpu{"a.ss", "devices gpu[0]\n"};
  const auto kind = check(gpu).diagnostics;
  ASSERT_EQ(kind.size(), 1u);
  EXPECT_EQ(kind[0].fixes.at(0).text, "cuda");
}

TEST(check, a_summary_says_when_it_is_not_all) {
  std::string text = "fn f(x: [n 3], y: [n 4]):\n";
  for (int i = 0; i < 120; ++i) text += fmt::format("    a{0} = nowhere{0}\n", i);
  const source s{"a.ss", text};
  const auto report = render_text(check(s).diagnostics, s, false);
  EXPECT_TRUE(report.ends_with("100 errors; only the first 100 are given\n"));
}

TEST(check, a_program_cut_at_any_byte_gives_reports_and_no_more) {
  const auto text = read_file(golden_folder() + "/chapter/train.ss");
  ASSERT_FALSE(text.empty());
  for (size_t i = 0; i <= text.size(); ++i) {
    const source s{"a.ss", text.substr(0, i)};
    const auto found = check(s).diagnostics;
    EXPECT_LE(found.size(), 3u) << i << ": " << summary(found, s);
    render_text(found, s, true);
  }
}

TEST(check, chains_as_long_as_a_file_are_no_recursion) {
  std::string dims = "dim D0 = 1\n", models = "model M0:\n    pass\n",
              calls = "fn f0(x: [n]) -> [n]:\n    return x\n";
  for (int i = 1; i < 20'000; ++i) {
    dims = fmt::format("dim D{} = D{} + 1\n", i, i - 1) + dims;
    models += fmt::format("model M{}:\n    layer a: M{}\n", i, i - 1);
    calls += fmt::format("fn f{}(x: [n]) -> [n]:\n    return f{}(x)\n", i, i - 1);
  }
  EXPECT_EQ(faults(dims), "");
  EXPECT_EQ(faults(models), "");
  EXPECT_EQ(faults(calls), "");
}

TEST(check, long_chains_of_methods_take_no_longer_than_their_length) {
  std::string chain = "x";
  for (int i = 0; i < 90; ++i) chain += ".f(1)";
  EXPECT_EQ(faults("fn g(x: int) -> int:\n    return " + chain + "\n"), "E0204 @2:14");
  EXPECT_EQ(
    faults("import python m\n\nfn g() -> int:\n    return m" + chain.substr(1) + " as int\n"),
    "E1401 @4:12");
}
