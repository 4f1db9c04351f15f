#include "shapescript/report/render.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

using namespace shapescript;

namespace {

diagnostic fault(std::string message, std::vector<label> labels) {
  return {"E0401", severity::error, std::move(message), std::move(labels), {}, {}, {}};
}

} // namespace

TEST(render, the_layout_is_that_of_the_chapter) {
  const source s{"a.ss", "one\n    return far(near) as x\n"};
  auto d = fault("`near` is far", {{{19, 23}, "the argument", true}, {{15, 18}, "callee", false}});
  d.notes.push_back("a note");
  d.help.push_back("do this");
  EXPECT_EQ(render_text(d, s, false), "error[E0401]: `near` is far\n"
                                      " --> a.ss:2:16\n"
                                      "  |\n"
                                      "2 |     return far(near) as x\n"
                                      "  |            --- ^^^^ the argument\n"
                                      "  |            |\n"
                                      "  |            callee\n"
                                      "  |\n"
                                      "  = note: a note\n"
                                      "  = help: do this\n"
                                      "\n"
                                      "For more information about E0401, run `shapescript explain "
                                      "E0401`.\n");
}

TEST(render, several_labels_hang_from_bars_and_far_lines_are_left_out) {
  const source s{"a.ss", "a b c\n2\n3\n4\nx\ny\n"};
  const auto d = fault("m", {{{0, 1}, "first", false},
                             {{2, 3}, "second", false},
                             {{4, 5}, "third", false},
                             {{12, 13}, "here", true}});
  EXPECT_EQ(render_text(d, s, false), "error[E0401]: m\n"
                                      " --> a.ss:5:1\n"
                                      "  |\n"
                                      "1 | a b c\n"
                                      "  | - - - third\n"
                                      "  | | |\n"
                                      "  | | second\n"
                                      "  | first\n"
                                      "...\n"
                                      "5 | x\n"
                                      "  | ^ here\n"
                                      "\n"
                                      "For more information about E0401, run `shapescript explain "
                                      "E0401`.\n");
}

TEST(render, wide_characters_take_two_columns_and_tabs_four) {
  const source s{"a.ss", "\t形x\n"};
  const auto d = fault("m", {{{4, 5}, "here", true}});
  const auto out = render_text(d, s, false);
  EXPECT_NE(out.find(" --> a.ss:1:3\n"), out.npos);
  EXPECT_NE(out.find("1 |     形x\n  |       ^ here\n"), out.npos) << out;
}

TEST(render, a_label_over_several_lines_is_drawn_at_the_margin) {
  const source s{"a.ss", "  f(\n    x,\n  )\n"};
  EXPECT_EQ(render_text(fault("m", {{{2, 15}, "all", true}}), s, false),
            "error[E0401]: m\n"
            " --> a.ss:1:3\n"
            "  |\n"
            "1 | /   f(\n"
            "2 | |     x,\n"
            "3 | |   )\n"
            "  | |___^ all\n"
            "\nFor more information about E0401, run `shapescript explain E0401`.\n");
  const source t{"a.ss", "y = f(\n  x)\n"};
  const auto out =
    render_text(fault("m", {{{4, 11}, "all", true}, {{9, 10}, "x", false}}), t, false);
  EXPECT_NE(out.find("1 |   y = f(\n"
                     "  |  _____^\n"
                     "2 | |   x)\n"
                     "  | |   - x\n"
                     "  | |____^ all\n"),
            out.npos)
    << out;
}

TEST(render, of_a_long_line_the_part_around_the_label_is_shown) {
  const std::string text = std::string(5'000, 'a') + "X" + std::string(5'000, 'b');
  const auto out = render_text(fault("m", {{{5'000, 5'001}, "here", true}}), {"a.ss", text}, false);
  EXPECT_LT(out.size(), 600u);
  const auto line = out.find("1 | ...");
  ASSERT_NE(line, out.npos);
  const auto x = out.find('X', line) - line;
  const auto caret = out.find('^') - out.find("\n  |", line) - 1;
  EXPECT_EQ(x, caret) << out;
}

TEST(render, colors_are_rustcs) {
  const source s{"a.ss", "x\n"};
  const auto out = render_text(fault("m", {{{0, 1}, "here", true}}), s, true);
  EXPECT_NE(out.find("\x1b[1;31merror[E0401]\x1b[0m\x1b[1m: m\x1b[0m"), out.npos) << out;
  EXPECT_NE(out.find("\x1b[1;34m1 |\x1b[0m x"), out.npos) << out;
  EXPECT_NE(out.find("\x1b[1;31m^\x1b[0m"), out.npos) << out;
}

TEST(render, several_reports_end_in_a_summary) {
  const source s{"a.ss", "x\n"};
  auto warning = fault("w", {{{0, 1}, "", true}});
  warning.code = "W0201";
  warning.level = severity::warning;
  const std::vector all{fault("m", {{{0, 1}, "", true}}), fault("n", {{{0, 1}, "", true}}),
                        warning};
  EXPECT_TRUE(
    render_text(all, s, false).ends_with("\n\nerror: could not check a.ss: 2 errors, 1 warning\n"));
}

TEST(render, json_has_every_part_on_one_line) {
  const source s{"a\"b.ss", "é x\n\xFF\n"};
  auto d = fault("say \"x\"\n", {{{3, 4}, "here \xFF", true}});
  d.fixes.push_back({{3, 4}, "y"});
  EXPECT_EQ(render_json(d, s),
            R"({"code":"E0401","severity":"error","message":"say \"x\"\u000a","file":"a\"b.ss",)"
            R"("line":1,"col":3,"end_line":1,"end_col":4,"labels":[{"line":1,"col":3,"end_line":1,)"
            R"("end_col":4,"text":"here \ufffd","primary":true}],"notes":[],"help":[],"fixes":[)"
            R"({"range":{"line":1,"col":3,"end_line":1,"end_col":4},"text":"y"}]})");
}

TEST(render, any_text_and_any_spans_are_drawn) {
  EXPECT_TRUE(
    rc::check([](const std::string& text, const std::vector<std::pair<uint8_t, uint8_t>>& spans) {
      auto d = fault("m", {{{0, 0}, "", true}});
      for (const auto& [begin, length] : spans)
        d.labels.push_back({{begin, uint32_t(begin) + length}, "text", false});
      const source s{"a.ss", text};
      RC_ASSERT(!render_text(d, s, false).empty());
      RC_ASSERT(render_json(d, s).find('\n') == std::string::npos);
    }));
}

TEST(diagnostics, codes_are_registered_once_and_sorted) {
  const auto all = all_codes();
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1].code, all[i].code);
}
