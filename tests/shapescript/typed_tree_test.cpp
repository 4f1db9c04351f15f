#include "shapescript/check/typed_tree.hpp"

#include <gtest/gtest.h>

#include "shapescript/check/check.hpp"
#include "tests/shapescript/support.hpp"

using namespace shapescript;
using shapescript::testing::corpus;
using shapescript::testing::golden_folder;
using shapescript::testing::read_file;

namespace {

struct analyzed {
  source text;
  checked result;

  explicit analyzed(std::string program) : text{"a.ss", std::move(program)}, result{analyze(text)} {
    // nop
  }

  const typed_tree& tree() const {
    return *result.program;
  }

  uint32_t offset(std::string_view word, int nth) const {
    size_t at = text.text().find(word);
    for (int i = 1; i < nth; ++i) at = text.text().find(word, at + 1);
    return static_cast<uint32_t>(at);
  }

  /// `7:9 declares; 8:14` of the name that stands at the nth place of the word.
  std::string uses(std::string_view word, int nth = 1) const {
    const auto* found = tree().use_at(0, offset(word, nth));
    if (found == nullptr) return "none";
    std::string out;
    for (const auto& one : tree().uses_of(found->name)) {
      const auto at = text.position_of(one.where.begin);
      out += fmt::format("{}{}:{}{}", out.empty() ? "" : "; ", at.line, at.column,
                         one.declares ? " declares"
                         : one.writes ? " writes"
                                      : "");
    }
    return out;
  }

  /// The type of the largest expression that begins at the word and ends with it or `until`.
  std::string type(std::string_view written) const {
    const auto begin = offset(written, 1);
    const span where{begin, begin + static_cast<uint32_t>(written.size())};
    const auto& exprs = tree().modules[0]->program.program.exprs;
    for (uint32_t i = 0; i < exprs.size(); ++i)
      if (exprs[i].where == where) return tree().show(tree().type_of(0, expr_id{i}));
    return "no expression";
  }
};

} // namespace

TEST(typed_tree, gives_the_type_of_every_expression_of_the_chapters_program) {
  const analyzed a{read_file(golden_folder() + "/chapter/train.ss")};
  EXPECT_EQ(a.type("batch.img @ m.w1"), "[b Hd]");
  EXPECT_EQ(a.type("m.w1"), "[D Hd]");
  EXPECT_EQ(a.type("batch.label"), "[b] Index[C]");
  EXPECT_EQ(a.type("batch.img @ m.w1 |> gelu |> matmul(m.w2)"), "[b C]");
  EXPECT_EQ(a.type("value_and_grad(loss, m, batch)"), "([] NonNeg, Grad[Mlp])");
  EXPECT_EQ(a.type("step(mut m, mut opt, batch)"), "[] NonNeg");
  EXPECT_EQ(a.type("adamw(m, lr=3e-4)"), "AdamW[Mlp]");
}

TEST(typed_tree, finds_a_names_declaration_and_uses) {
  const analyzed a{"dim D = 4\n"                                   // 1
                   "model M:\n"                                    // 2
                   "    param w: [D D] = zeros()\n"                // 3
                   "data R:\n"                                     // 4
                   "    img: [D]\n"                                // 5
                   "fn f(m: M, batch: [b] R) -> [b D]:\n"          // 6
                   "    x = batch.img @ m.w\n"                     // 7
                   "    x = x |> relu\n"                           // 8
                   "    return x |> softmax(over=D)\n"             // 9
                   "fn g(m: M, batch: [b] R) -> [b D]:\n"          // 10
                   "    return f(m, batch=batch) + zeros[b D]\n"}; // 11
  EXPECT_EQ(a.result.diagnostics.size(), 0u);
  EXPECT_EQ(a.uses("D"), "1:5 declares; 3:15; 3:17; 5:11; 6:32; 9:30; 10:32; 11:40");
  EXPECT_EQ(a.uses("w:"), "3:11 declares; 7:23");
  EXPECT_EQ(a.uses("img"), "5:5 declares; 7:15");
  EXPECT_EQ(a.uses("R:"), "4:6 declares; 6:23; 10:23");
  EXPECT_EQ(a.uses("M:"), "2:7 declares; 6:9; 10:9");
  EXPECT_EQ(a.uses("x = batch"), "7:5 declares; 8:5 writes; 8:9; 9:12");
  EXPECT_EQ(a.uses("b] R"), "6:20 declares; 6:30");
  EXPECT_EQ(a.uses("b] R", 2), "10:20 declares; 10:30; 11:38");
  EXPECT_EQ(a.uses("f(m: M"), "6:4 declares; 11:12");
  // An argument's name is the parameter, its value the other one.
  EXPECT_EQ(a.uses("batch: [b] R"), "6:12 declares; 7:9; 11:17");
  EXPECT_EQ(a.uses("batch: [b] R", 2), "10:12 declares; 11:23");
}

TEST(typed_tree, knows_axes_by_all_their_names) {
  const analyzed a{"fn f(q: [n E], k: [n E]) -> [n n]:\n"
                   "    s = einsum(q, k: n e, m e -> n m)\n"
                   "    return s |> softmax(over=m)\n"
                   "dim E = 2\n"};
  EXPECT_EQ(a.uses("m e"), "2:27 declares; 2:36; 3:30");
  EXPECT_EQ(a.uses("n E"), "1:10 declares; 1:20; 1:30; 1:32; 2:22; 2:34");
}

TEST(typed_tree, holds_methods_layers_and_sizes_of_models) {
  const analyzed a{"model Linear[I O]:\n"
                   "    param w: [I O] = zeros()\n"
                   "    fn forward(self, x: [b I]) -> [b O]:\n"
                   "        return x @ self.w\n"
                   "model Net:\n"
                   "    layer fc: Linear[4 2]\n"
                   "fn run(m: Net, x: [b 4]) -> [b 2]:\n"
                   "    return m.fc.forward(x) + (x |> m.fc)\n"};
  EXPECT_EQ(a.result.diagnostics.size(), 0u);
  EXPECT_EQ(a.uses("I O"), "1:14 declares; 2:15; 3:28");
  EXPECT_EQ(a.uses("forward"), "3:8 declares; 8:17");
  EXPECT_EQ(a.uses("fc"), "6:11 declares; 8:14; 8:38");
  EXPECT_EQ(a.type("m.fc.forward(x)"), "[b 2]");
}

TEST(typed_tree, never_changes_what_is_reported) {
  for (const auto& path : corpus()) {
    const source text{path.filename().string(), read_file(path)};
    const auto with = analyze(text), without = check(text);
    EXPECT_EQ(shapescript::testing::summary(with.diagnostics, text),
              shapescript::testing::summary(without.diagnostics, text))
      << path;
    // Uses are sorted and lie in the text, and each spells the name that it is a use of.
    for (const auto& one : with.program->uses)
      EXPECT_EQ(text.text(one.where), with.program->names[one.name].name) << path;
  }
}
