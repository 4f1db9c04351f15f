#include "shapescript/syntax/format.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/shapescript/support.hpp"

using namespace shapescript;

namespace {

std::string formatted(const std::string& text) {
  const source s{"a.ss", text};
  return shapescript::format(s, parse(s)).value_or("(errors)");
}

// What must not change: the tokens and the comments.
std::string content(const std::string& text) {
  const source s{"a.ss", text};
  const auto out = lex(s);
  std::string all;
  for (const auto& one : out.tokens)
    all += fmt::format("{}:{} ", static_cast<int>(one.kind),
                       one.kind == token_kind::indent ? "" : s.text(one.where));
  for (const auto& one : out.comments) all += s.text(one.where);
  return all;
}

} // namespace

TEST(format, a_list_of_layers_keeps_its_spaces) {
  const source text{"a.ss", "model L:\n    pass\n\nmodel M:\n    layer a: 3*L\n"};
  EXPECT_EQ(shapescript::format(text, parse(text)).value_or(""),
            "model L:\n    pass\n\nmodel M:\n    layer a: 3 * L\n");
}

TEST(format, spaces_and_indentation_become_canonical) {
  EXPECT_EQ(formatted("fn  f ( x:[n ] ,k : float=2.0)->[n]:\n  y=x*k+- 1.0\n"
                      "  return g (y ,lr = 3e-4)[ 0 .. 4]|>h\n"),
            "fn f(x: [n], k: float = 2.0) -> [n]:\n    y = x * k + -1.0\n"
            "    return g(y, lr=3e-4)[0..4] |> h\n");
  EXPECT_EQ(formatted("fn f(x: [3 * D n - 1] Index[ C ]):\n    return x [ 0 ]\n"),
            "fn f(x: [3*D n-1] Index[C]):\n    return x[0]\n");
  EXPECT_EQ(formatted("fn f():\n    return split(x: z  (3 G E)->z G E)\n"),
            "fn f():\n    return split(x: z (3 G E) -> z G E)\n");
}

TEST(format, declarations_stand_apart_and_their_columns_together) {
  EXPECT_EQ(formatted("dim A = 1\ndim Long = 2\n\n\n\ndata R:\n    x: [A]\n    long: []\n"
                      "# about f\nfn f():\n    pass\nfn g():\n\n    pass\n"),
            "dim A    = 1\ndim Long = 2\n\ndata R:\n    x:    [A]\n    long: []\n\n"
            "# about f\nfn f():\n    pass\n\nfn g():\n    pass\n");
}

TEST(format, comments_stay_with_what_they_are_about) {
  EXPECT_EQ(formatted("fn f():\n  x = 1 # one\n  longer = 2     # two\n  # inside\n# outside\n"
                      "fn g():\n  pass\n  # last\n"),
            "fn f():\n    x = 1       # one\n    longer = 2  # two\n    # inside\n\n# outside\n"
            "fn g():\n    pass\n    # last\n");
}

TEST(format, a_program_with_syntax_errors_is_left_alone) {
  EXPECT_EQ(formatted("fn f(:\n    pass\n"), "(errors)");
}

TEST(format, formatting_the_corpus_keeps_its_content_and_twice_is_once) {
  size_t count = 0;
  for (const auto& path : shapescript::testing::corpus()) {
    const auto text = shapescript::testing::read_file(path);
    const auto once = formatted(text);
    if (once == "(errors)") continue;
    ++count;
    EXPECT_EQ(content(once), content(text)) << path;
    EXPECT_EQ(formatted(once), once) << path;
  }
  EXPECT_GT(count, 100u);
}

TEST(format, spaces_and_breaks_in_brackets_do_not_change_the_content) {
  const auto text =
    shapescript::testing::read_file(shapescript::testing::golden_folder() + "/chapter/train.ss");
  EXPECT_EQ(formatted(text), text);
  EXPECT_TRUE(rc::check([&text](const std::vector<uint16_t>& places) {
    std::string changed = text;
    for (const auto place : places) {
      const auto at = changed.find(place % 2 == 0 ? ' ' : ',', place % changed.size());
      if (at == changed.npos) continue;
      if (place % 2 == 0 && changed[at - 1] != '\n' && changed[at - 1] != ' ')
        changed.insert(at, " ");
      else if (place % 2 == 1)
        changed.insert(at + 1, "\n   # note\n  ");
    }
    const auto once = formatted(changed);
    if (once == "(errors)") return; // a comma outside brackets
    RC_ASSERT(content(once) == content(changed));
    RC_ASSERT(formatted(once) == once);
  }));
}
