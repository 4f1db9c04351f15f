#include <gtest/gtest.h>

#include "shapescript/check/check.hpp"
#include "shapescript/lower/lower.hpp"
#include "tests/shapescript/lowered_fixture.hpp"
#include "tests/shapescript/support.hpp"

using namespace shapescript;
using namespace shapescript::testing;

namespace {

std::vector<diagnostic> reports(const std::string& text) {
  return check(source{"a.ss", text}).diagnostics;
}

// The program with the first report's fixes applied.
std::string mended(std::string text) {
  const auto all = reports(text);
  if (all.empty()) return "right already";
  for (auto one = all[0].fixes.rbegin(); one != all[0].fixes.rend(); ++one)
    text.replace(one->where.begin, one->where.end - one->where.begin, one->text);
  return text;
}

std::string first_help(const std::string& text) {
  const auto all = reports(text);
  return all.empty() || all[0].help.empty() ? "" : all[0].help[0];
}

std::vector<std::string> labels(const std::string& text) {
  std::vector<std::string> out;
  const source program{"a.ss", text};
  const auto all = check(program).diagnostics;
  for (const auto& one : all.at(0).labels)
    out.push_back(std::string{program.text(one.where)} + ": " + one.text);
  return out;
}

const std::string model = "dim D = 4\n\nmodel M:\n    param w: [D] = zeros()\n"
                          "    buffer n: [D] = zeros()\n\n"
                          "fn g(mut m: M, x: [D]):\n    m.w = x\n\n";

} // namespace

TEST(flow, a_fix_writes_mut_before_a_named_argument) {
  const auto program = model + "fn f(mut m: M, x: [D]):\n    g(m=m, x=x)\n";
  EXPECT_EQ(first_help(program), "write `mut m=m`");
  EXPECT_EQ(mended(program), model + "fn f(mut m: M, x: [D]):\n    g(mut m=m, x=x)\n");
  EXPECT_TRUE(reports(mended(program)).empty());
}

TEST(flow, a_fix_takes_mut_away_and_leaves_the_arguments_name) {
  const auto program = model
                       + "fn h(m: M) -> []:\n    return sum(m.w)\n\n"
                         "fn f(mut m: M) -> []:\n    return h(mut m=m)\n";
  EXPECT_TRUE(mended(program).ends_with("return h(m=m)\n")) << mended(program);
  EXPECT_TRUE(reports(mended(program)).empty());
}

TEST(flow, one_mut_mends_a_function_and_all_its_calls) {
  const auto program = model
                       + "fn f(m: M, x: [D]):\n    g(mut m, x)\n    m.w = x\n\n"
                         "fn main():\n    m = M()\n    f(mut m, zeros[D])\n";
  ASSERT_EQ(reports(program).size(), 1u);
  EXPECT_TRUE(reports(mended(program)).empty());
}

TEST(flow, self_without_mut_is_what_is_wrong_in_a_method) {
  const std::string program = "dim D = 4\n\nmodel N:\n    buffer mean: [D] = zeros()\n\n"
                              "    fn track(self, x: [b D]) -> [b D]:\n"
                              "        self.mean = mean(x, over=b)\n"
                              "        return x - self.mean\n";
  ASSERT_EQ(reports(program).size(), 1u);
  EXPECT_EQ(reports(program)[0].message, "`self.mean` is changed, but `self` is not `mut`");
  EXPECT_TRUE(reports(mended(program)).empty()) << mended(program);
}

TEST(flow, a_controller_is_told_how_to_fetch_a_number) {
  const auto help = [](const std::string& before, const std::string& body) {
    return first_help("data R:\n    x: [3]\n\nfn cost(r: [b] R) -> []:\n    return mean(r.x)\n\n"
                      "fn main(d: Dataset[R]):\n"
                      + before + "    for r in d |> batches(8):\n" + body);
  };
  EXPECT_EQ(help("", "        l = cost(r)\n        if l < 0.1:\n            break\n"),
            "`float(l)` is a host number, which can be compared");
  EXPECT_EQ(help("    total = 0.0\n", "        total += cost(r)\n    print(total)\n"),
            "fetch the number: `float(cost(r))`");
  EXPECT_EQ(help("", "        print(cost(r) * 2.0)\n"),
            "`float(cost(r))` is a host number, with which the controller may compute");
}

TEST(flow, a_python_call_is_told_the_type_that_its_place_asks_for) {
  const auto help = [](const std::string& body) {
    return first_help("import python m\n\nfn f(x: [n], k: int) -> [n]:\n" + body
                      + "    return x\n");
  };
  const auto as = [](const char* what) {
    return std::string{"say what it is, as in `... as "} + what
           + "`; it is checked when the program runs";
  };
  EXPECT_EQ(help("    if m.ready(k):\n        print(k)\n"), as("bool"));
  EXPECT_EQ(help("    print(k + m.count())\n"), as("int"));
  EXPECT_EQ(help("    return m.blur(k)\n"), as("[n]"));
  EXPECT_EQ(help("    x = m.blur(x)\n"), as("[n]"));
  EXPECT_EQ(help("    print(m.count())\n"), as("float"));
  EXPECT_EQ(help("    for i in 0..m.count():\n        print(i)\n"), as("int"));
}

TEST(flow, a_name_is_suggested_only_where_it_fits) {
  EXPECT_EQ(first_help("fn f(x: [n]) -> [n]:\n    return x + tanhh\n"), "");
  EXPECT_EQ(first_help("fn f(x: [n]) -> [n]:\n    return tanhh(x)\n"), "did you mean `tanh`?");
  EXPECT_EQ(first_help("fn f(tanx: [n]) -> [n]:\n    return tanhx(tanx)\n"),
            "did you mean `tanh`?");
  EXPECT_EQ(first_help("fn tank(x: [n]) -> [n]:\n    return x\n\n"
                       "fn f(x: [n]) -> [n]:\n    return tan(x)\n"),
            "did you mean `tank`?");
  EXPECT_EQ(first_help("fn f(x: [n]) -> [n]:\n    return x + zeross[n]\n"),
            "did you mean `zeros`?");
  EXPECT_EQ(first_help("dim D = 2\n\nmodel Lin:\n    param w: [D] = zeros()\n\n"
                       "fn f(m: Linn) -> [D]:\n    return m.w\n"),
            "did you mean `Lin`?");
}

TEST(flow, a_report_of_crossed_examples_says_where_their_split_comes_from) {
  const std::string begin = "devices cpu[0 1]\n\ndata Row:\n    x: [4]\n\n";
  EXPECT_EQ(labels(begin
                   + "fn normed(x: [n d]) -> [n d]:\n    return softmax(x, over=n)\n\n"
                     "fn f(r: [b] Row) -> [b 4]:\n    return normed(r.x)\n"),
            (std::vector<std::string>{"n: across the batch axis `n`",
                                      "normed(r.x): here `n` is the batch axis `b`",
                                      "b: `b` is the axis of the examples"}));
  EXPECT_EQ(labels(begin
                   + "fn f(r: [b] Row) -> [b b]:\n"
                     "    return einsum(r.x, r.x: b d, k d -> b k)\n"),
            (std::vector<std::string>{"k: `k` is `b` again: every example meets every other",
                                      "b: `b` is the axis of the examples"}));
}

TEST(flow, what_a_function_changes_in_a_tensor_its_caller_goes_on_with) {
  const source text{"a.ss", "fn bump(mut x: [n], by: float):\n    x = x + by\n\n"
                            "fn f(x: [n]) -> [n]:\n    y = relu(x)\n    bump(mut y, 2.0)\n"
                            "    return y\n"};
  const auto result = analyze(text);
  ASSERT_TRUE(result.diagnostics.empty());
  lowering_options options;
  options.sizes["n"] = 3;
  const auto made = lower(*result.program, function_named(*result.program, "f"), options);
  ASSERT_TRUE(std::holds_alternative<lowered>(made));
  const auto& code = std::get<lowered>(made);
  ASSERT_EQ(code.results.size(), 1u);
  EXPECT_EQ(code.results[0] + 1, code.code.code.size()) << operations(code);
}

TEST(flow, loops_in_loops_are_checked_in_time) {
  // Each loop is tried a few times; of deep ones nothing is found out.
  std::string text = "fn f(x: [n]) -> [n] NonNeg:\n    y = relu(x)\n";
  std::string indent = "    ";
  for (int i = 0; i < 60; ++i) {
    text += indent + "for _i" + std::to_string(i) + " in 0..3:\n";
    indent += "    ";
    text += indent + "y = y * 2.0\n";
  }
  EXPECT_EQ(reports(text + "    return y\n").size(), 1u);
}

TEST(flow, an_unknown_kind_of_device_is_not_another_devices_line) {
  const program_loader load = [](const std::string& path) -> moxzi::result<source> {
    return source{path, "devices cpu[0 1]\n\nfn g(x: [b 4]) -> [b 4]:\n    return relu(x)\n"};
  };
  const auto codes = [&](const std::string& kind) {
    const source text{"a.ss", "devices " + kind
                                + "[0 1]\n\nimport lib\n\n"
                                  "fn f(x: [b 4]) -> [b 4]:\n    return lib.g(x)\n"};
    return summary(check(text, load).diagnostics, text);
  };
  EXPECT_EQ(codes("cpu"), "");
  EXPECT_EQ(codes("cuda"), "E0208 @3:8");
  EXPECT_EQ(codes("tpu"), "E1501 @1:9");
}
