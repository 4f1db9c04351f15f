#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "shapescript/syntax/token.hpp"
#include "tests/shapescript/support.hpp"

using namespace shapescript;
using shapescript::testing::summary;

namespace {

std::string kinds(const std::string& text) {
  const source s{"a.ss", text};
  std::string out;
  for (const auto& one : lex(s).tokens) {
    if (!out.empty()) out += ' ';
    const auto spelled = s.text(one.where);
    if (one.kind == token_kind::newline)
      out += "NL";
    else if (one.kind == token_kind::indent)
      out += "IN";
    else if (one.kind == token_kind::dedent)
      out += "OUT";
    else if (one.kind == token_kind::end)
      out += "END";
    else if (one.kind == token_kind::bad)
      out += "BAD";
    else
      out += spelled;
  }
  return out;
}

std::string faults(const std::string& text) {
  const source s{"a.ss", text};
  return summary(lex(s).diagnostics, s);
}

} // namespace

TEST(lexer, a_colon_opens_a_block_and_blank_lines_and_comments_do_not_matter) {
  EXPECT_EQ(kinds("fn f():\n\n  # note\n    pass\n# end\n\nfn g():\n  pass"),
            "fn f ( ) : NL IN pass NL OUT fn g ( ) : NL IN pass NL OUT END");
}

TEST(lexer, a_devices_line_opens_a_block_without_a_colon) {
  EXPECT_EQ(kinds("devices cpu[0 1]\n    shard params\n"),
            "devices cpu [ 0 1 ] NL IN shard params NL OUT END");
}

TEST(lexer, lines_in_brackets_and_lines_that_begin_with_a_pipe_are_joined) {
  EXPECT_EQ(kinds("y = f(\nx,\n    )\n    |> g\nz = 1"), "y = f ( x , ) |> g NL z = 1 NL END");
}

TEST(lexer, a_range_is_not_a_decimal) {
  EXPECT_EQ(kinds("0..3 1.5e3 3e-4 1_000 2E2 ..."), "0 .. 3 1.5e3 3e-4 1_000 2E2 ... NL END");
}

TEST(lexer, line_ends_and_a_byte_order_mark_change_nothing) {
  EXPECT_EQ(kinds("\xEF\xBB\xBF"
                  "fn f():\r\n    pass\r\n"),
            "fn f ( ) : NL IN pass NL OUT END");
  EXPECT_EQ(faults("\xEF\xBB\xBF$\n"), "E0101 @1:1");
}

TEST(lexer, each_lexical_mistake_has_its_code_and_place) {
  EXPECT_EQ(faults("x = 1 $ 2"), "E0101 @1:7");
  EXPECT_EQ(faults("fn f():\n\tpass"), "E0102 @2:1");
  EXPECT_EQ(faults("x\n  y"), "E0103 @2:3");
  EXPECT_EQ(faults("f:\n    y\n  z\n  z"), "E0103 @3:3");
  EXPECT_EQ(faults("x = \"abc\ny"), "E0104 @1:5");
  EXPECT_EQ(faults("x = 3px"), "E0105 @1:5");
  EXPECT_EQ(faults("x = 1234567890123456789"), "E0106 @1:5");
  EXPECT_EQ(faults("x = \"a\\q\""), "E0107 @1:7");
  EXPECT_EQ(faults("x = f(1"), "E0112 @1:6");
  EXPECT_EQ(faults("x = \"\\n\\t\\\\\\\"\\{\\u{1F600}\""), "");
}

TEST(lexer, an_open_bracket_ends_where_a_statement_begins) {
  EXPECT_EQ(faults("y = f(1\nreturn y\n"), "E0112 @1:6");
  EXPECT_EQ(faults("fn f(x: [n]\nfn g():\n"), "E0112 @1:5");
  EXPECT_EQ(faults("y = f(1\nz = 2\n"), "E0112 @1:6");
  EXPECT_EQ(faults("y = f([1, 2)\nz = 2\n"), "E0112 @1:7");
  EXPECT_EQ(faults("y = f(\n    a=1,\n    b=2)\n"), "");
}

TEST(lexer, bytes_that_are_no_text_are_reported_once) {
  EXPECT_EQ(faults(std::string{"x = \xFF\xFE 1"}), "E0101 @1:5");
  EXPECT_EQ(faults(std::string{"# caf\xE9 \xE9"}), "E0101 @1:6");
  EXPECT_EQ(faults(std::string{"x\0y", 3}), "E0101 @1:2");
}

TEST(lexer, tokens_of_any_text_are_in_order_and_end_once) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    const source s{"a.ss", text};
    const auto out = lex(s);
    uint32_t at = 0;
    int open = 0;
    for (const auto& one : out.tokens) {
      if (one.kind == token_kind::indent) ++open;
      if (one.kind == token_kind::dedent) --open;
      RC_ASSERT(open >= 0);
      if (one.kind == token_kind::indent || one.kind == token_kind::dedent
          || one.kind == token_kind::newline)
        continue;
      RC_ASSERT(one.where.begin >= at);
      RC_ASSERT(one.where.end <= text.size());
      at = one.where.end;
    }
    RC_ASSERT(open == 0);
    RC_ASSERT(out.tokens.back().kind == token_kind::end);
  }));
}
