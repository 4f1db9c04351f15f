#include "shapescript/syntax/tree.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/shapescript/support.hpp"

using namespace shapescript;
using shapescript::testing::summary;

namespace {

std::string faults(const std::string& text) {
  const source s{"a.ss", text};
  return summary(parse(s).diagnostics, s);
}

// An expression with all its brackets written.
std::string shape(const source& text, const tree& t, expr_id id) {
  if (id == expr_id::none) return "";
  const auto& e = t.at(id);
  const std::string name{text.text(e.name)};
  switch (e.kind) {
    case expr_kind::member:
      return "(" + shape(text, t, e.left) + "." + name + ")";
    case expr_kind::unary:
      return "(" + name + shape(text, t, e.right) + ")";
    case expr_kind::cast:
      return "(" + shape(text, t, e.left) + " as " + std::string{text.text(t.at(e.type).where)}
             + ")";
    case expr_kind::binary:
    case expr_kind::range:
    case expr_kind::pipe:
      return "(" + shape(text, t, e.left) + name + shape(text, t, e.right) + ")";
    default:
      return std::string{text.text(e.where)};
  }
}

std::string shape(const std::string& expression) {
  const source s{"a.ss", "fn f():\n    return " + expression + "\n"};
  const auto out = parse(s);
  EXPECT_TRUE(out.diagnostics.empty()) << summary(out.diagnostics, s);
  const auto& body = out.program.functions.at(0).body;
  return shape(s, out.program, out.program.at(body.at(0)).values.at(0));
}

} // namespace

TEST(parser, operators_bind_as_the_reference_says) {
  EXPECT_EQ(shape("a @ b |> f |> g(c)"), "(((a@b)|>f)|>g(c))");
  EXPECT_EQ(shape("a + b * c ** -d"), "(a+(b*(c**(-d))))");
  EXPECT_EQ(shape("not a == b and c or d"), "(((not(a==b))andc)ord)");
  EXPECT_EQ(shape("0..n + 1"), "(0..(n+1))");
  EXPECT_EQ(shape("m.f(x) as [n] bf16 * 2"), "((m.f(x) as [n] bf16)*2)");
  EXPECT_EQ(shape("-x ** 2"), "(-(x**2))");
  EXPECT_EQ(shape("!a.b"), "(!(a.b))");
}

TEST(parser, words_of_declarations_are_names_elsewhere) {
  EXPECT_EQ(faults("fn walk(data: Dataset[R], split: int, dim: int):\n"
                   "    for model in data |> batches(8):\n        print(model, split, dim)\n"),
            "");
}

TEST(parser, every_form_of_the_grammar_is_read) {
  EXPECT_EQ(
    faults("import other.part as op\n"
           "model Block[D H]:\n    layer a: Attn[D]\n    layer all: 3 * Attn\n"
           "    buffer n: [] = zeros()\n    fn forward(mut self, x: [b D]) -> ([b D], []):\n"
           "        a, b = split(x: b (2 D) -> b D)\n        self.n += 1\n"
           "        y: [b D] f64 NonNeg = x[b=0..4, 1, ..2, 3..] as [b D] f64 NonNeg\n"
           "        while x:\n            break\n        return (a, b)\n"
           "    pass\n"
           "fn g(f: fn([n], int) -> [] Index[3*D], o: AdamW[Block[64 4]] = 1) -> [n -1]:\n"
           "    repeat(x: ... d -> ... d k, k=3)\n    return causal[n m]\n"),
    "");
}

TEST(parser, one_mistake_gives_one_report) {
  EXPECT_EQ(faults("fn f(x: [n]) -> [n]\n    return x\n"), "E0110 @1:20");
  EXPECT_EQ(faults("fn f(x [n]) -> [n]:\n    y = x\n    return y\nfn g():\n    pass\n"),
            "E0110 @1:8");
  EXPECT_EQ(faults("fn f():\n    if x > 1:\n    return x\n"), "E0111 @3:5");
  // What was not indented is read as the block all the same.
  EXPECT_EQ(faults("fn f(x: [n]) -> [n]:\nreturn x\n"), "E0111 @2:1");
  EXPECT_EQ(faults("fn f(x: [n]) -> [n]:\ny = x\nprint(y)\nif y:\n    pass\ndim D = 4\n"),
            "E0111 @2:1");
  EXPECT_EQ(faults("data R:\nx: [3]\ny: [4]\nmodel M:\nparam w: [3] = 1\ndim D = 4\n"),
            "E0111 @2:1; E0111 @5:1");
  EXPECT_EQ(faults("fn f():\ndevices cpu\nmodel M:\n    pass\n"), "E0111 @2:1");
  EXPECT_EQ(faults("fn f():\n    x = (1]\n    y = 2\n"), "E0110 @2:11");
  EXPECT_EQ(faults("fn f():\n    x = 1)\n    y = 2\n"), "E0110 @2:10");
  EXPECT_EQ(faults("fn f():\n    x = g(\"abc)\n    y = 2\n"), "E0104 @2:11");
  EXPECT_EQ(faults("fn f():\n    for x on y:\n        z = 1\n        w = 1\n    y = 2\n"),
            "E0110 @2:11");
  EXPECT_EQ(faults("model M:\n    weight w: [3]\n    param v: [3] = 1\n"), "E0110 @2:5");
  EXPECT_EQ(faults("fn f():\n    x = 1 < 2 < 3 < 4\n"), "E0113 @2:15");
  EXPECT_EQ(faults("fn f():\n    x = 1 ? 2\n"), "E0101 @2:11");
  EXPECT_EQ(faults("fn f():\n    x = {1}\n    y = 2\n"), "E0101 @2:9");
  EXPECT_EQ(faults("fn f():\n    x = 1 +\n        2\n    y = 2\n"), "E0110 @2:12");
}

TEST(parser, several_mistakes_give_several_reports) {
  EXPECT_EQ(faults("fn f():\n    x = = 1\n    y = 2\n    z + = 1\ndim\n\nfn g(:\n    pass\n"),
            "E0110 @2:9; E0110 @4:9; E0110 @5:4; E0112 @7:5");
}

TEST(parser, deep_nesting_is_an_error_of_its_own) {
  const auto nested = [](const std::string& open, const std::string& close, size_t n) {
    std::string text = "fn f():\n    x = ";
    for (size_t i = 0; i < n; ++i) text += open;
    text += "1";
    for (size_t i = 0; i < n; ++i) text += close;
    return faults(text + "\n");
  };
  EXPECT_EQ(nested("(", ")", 100), "");
  for (const auto& [open, close] :
       std::vector<std::pair<std::string, std::string>>{{"(", ")"},
                                                        {"[", "]"},
                                                        {"-", ""},
                                                        {"not ", ""},
                                                        {"f(", ")"},
                                                        {"1 + (", ")"},
                                                        {"1 ** ", ""},
                                                        {"x |> f(", ")"},
                                                        {"a[", "]"},
                                                        {"1 as [(", ")]"}}) {
    EXPECT_TRUE(nested(open, close, 10'000).starts_with("E01")) << open;
  }
  EXPECT_EQ(nested("(", ")", 10'000).substr(0, 5), "E0115");
  // What stands side by side is not nested.
  for (const auto* part : {"1 + ", "x |> ", "1 @ ", "x and ", "x as f32 + ", "f(1)[2].y + "})
    EXPECT_EQ(nested(part, "", 10'000).substr(0, 5), "") << part;
  std::string blocks = "fn f():\n";
  for (size_t i = 1; i <= 1'000; ++i) blocks += std::string(i, ' ') + "if x:\n";
  EXPECT_EQ(faults(blocks + std::string(1'001, ' ') + "pass\n").substr(0, 5), "E0115");
}

TEST(parser, a_line_of_a_mebibyte_is_read_at_once) {
  const auto line = [](std::string_view part) {
    std::string text = "fn f():\n    x = [";
    while (text.size() < (1u << 20)) text += part;
    return text + "1]\n";
  };
  EXPECT_EQ(faults(line("1, ")), "");
  EXPECT_EQ(faults(line("1 + ")), "");
  EXPECT_TRUE(faults(line("(")).starts_with("E0"));
  EXPECT_TRUE(faults(line("a ")).starts_with("E0110"));
  EXPECT_TRUE(faults("fn " + std::string(1u << 20, 'x')).starts_with("E0110"));
}

TEST(parser, a_program_cut_at_any_byte_is_an_error_or_a_program) {
  const auto text =
    shapescript::testing::read_file(shapescript::testing::golden_folder() + "/chapter/train.ss");
  ASSERT_FALSE(text.empty());
  for (size_t i = 0; i <= text.size(); ++i) {
    const source s{"a.ss", text.substr(0, i)};
    EXPECT_LE(parse(s).diagnostics.size(), 2u) << i;
  }
}

TEST(parser, any_bytes_give_a_tree_and_places_inside_the_text) {
  static const std::vector<std::string> parts{
    "fn ",     "f",       "(",    ")",      "[",      "]",        ":",      "\n",      "    ",
    "  ",      "x",       "=",    "->",     "|>",     "model ",   "data ",  "dim ",    "1",
    "2.5",     "\"s\"",   "\"",   ",",      ".",      "..",       "...",    "if ",     "else",
    "elif ",   "return ", "+",    "-",      "*",      "@",        "!",      "as ",     "mut ",
    "#c\n",    "\t",      "\xFF", "param ", "layer ", "devices ", "split ", "extern ", "import ",
    "python ", "for ",    "in ",  "while ", "é"};
  EXPECT_TRUE(rc::check([](const std::vector<uint16_t>& picks) {
    std::string text;
    for (const auto pick : picks) text += parts[pick % parts.size()];
    const source s{"a.ss", text};
    const auto out = parse(s);
    for (const auto& one : out.diagnostics) {
      RC_ASSERT(one.primary().where.begin <= text.size());
      RC_ASSERT(one.primary().where.end <= text.size());
    }
  }));
}
