#include <algorithm>

#include <gtest/gtest.h>

#include "shapescript/check/check.hpp"
#include "tests/shapescript/support.hpp"

using namespace shapescript;
using shapescript::testing::summary;

// What people write who know other languages: one error, which says what it is called here. Where
// that is certain, the fix is applied, and the program is sound.

namespace {

std::string applied(const std::string& text, const diagnostic& d) {
  auto fixes = d.fixes;
  std::sort(fixes.begin(), fixes.end(),
            [](const fix& x, const fix& y) { return x.where.begin > y.where.begin; });
  auto out = text;
  for (const auto& one : fixes)
    out.replace(one.where.begin, one.where.end - one.where.begin, one.text);
  return out;
}

struct habit {
  std::string wrong;
  std::string fault; ///< the one report
  std::string right; ///< empty if a person must decide
};

void expect_mended(const habit& h) {
  const source text{"a.ss", h.wrong};
  const auto found = check(text).diagnostics;
  ASSERT_EQ(summary(found, text), h.fault) << h.wrong;
  EXPECT_FALSE(found[0].help.empty() && found[0].fixes.empty()) << h.wrong;
  if (h.right.empty()) {
    EXPECT_TRUE(found[0].fixes.empty()) << h.wrong;
    return;
  }
  EXPECT_EQ(applied(h.wrong, found[0]), h.right) << h.wrong;
  const source mended{"a.ss", h.right};
  EXPECT_EQ(summary(check(mended).diagnostics, mended), "") << h.right;
}

std::string body(const std::string& lines) {
  return "fn f(x: [b d], k: int) -> [b d]:\n" + lines;
}

} // namespace

TEST(habits, declarations) {
  const std::string rest = "(x: [n]) -> [n]:\n    return x\n";
  for (const auto* word : {"def", "func", "function"})
    expect_mended({fmt::format("{} f{}", word, rest), "E0110 @1:1", "fn f" + rest});
  const std::string model = " M:\n    param w: [3] = zeros()\n";
  expect_mended({"class" + model, "E0110 @1:1", "model" + model});
  expect_mended({"model M:\n    self.w: [3] = zeros()\n", "E0110 @2:5",
                 "model M:\n    param w: [3] = zeros()\n"});
  expect_mended({"model M:\n    parm w: [3] = zeros()\n", "E0110 @2:5",
                 "model M:\n    param w: [3] = zeros()\n"});
  expect_mended({"m = 3\nprint(m)\n", "E0110 @1:1", ""});
  expect_mended({"import python\n", "E0110 @1:14", ""});
  expect_mended({"import pyhton augment\n", "E0110 @1:15", "import python augment\n"});
  expect_mended({"import numpy\n", "E0201 @1:8", "import python numpy\n"});
  expect_mended({"from os import path\n", "E0110 @1:1", ""});
}

TEST(habits, devices) {
  const std::string rest = "\nfn f(x: [n]) -> [n]:\n    return x\n";
  expect_mended({"devices cuda:" + rest, "E0110 @1:13", "devices cuda" + rest});
  expect_mended({"devices cuda[0, 1]" + rest, "E0110 @1:15", "devices cuda[0 1]" + rest});
  expect_mended({"devices mps[0]" + rest, "E1507 @1:12", "devices mps" + rest});
  expect_mended({"devices cpu[0 1]\n    shard\n" + rest, "E1504 @2:5",
                 "devices cpu[0 1]\n    shard params\n" + rest});
}

TEST(habits, types) {
  const auto with = [](const std::string& type) {
    return fmt::format("fn f(x: {}):\n    pass\n", type);
  };
  expect_mended({with("[n, d]"), "E0110 @1:11", with("[n d]")});
  expect_mended({with("[n,d,e]"), "E0110 @1:11", with("[n d e]")});
  expect_mended({with("[n] float32"), "E0202 @1:13", with("[n] f32")});
  expect_mended({with("[n] int64"), "E0202 @1:13", with("[n] i64")});
  expect_mended({with("[n] float"), "E0202 @1:13", with("[n] f32")});
  expect_mended({with("[n] NonNegative"), "E0202 @1:13", with("[n] NonNeg")});
  expect_mended({with("int[3]"), "E0202 @1:9", with("[3] i64")});
  expect_mended({with("float[n 3]"), "E0202 @1:9", with("[n 3]")});
  expect_mended({with("f32"), "E0202 @1:9", with("[] f32")});
  expect_mended({with("string"), "E0202 @1:9", with("str")});
  expect_mended({with("Tensor"), "E0202 @1:9", ""});
  expect_mended({with("[n] NonNeg f32"), "E0202 @1:20", with("[n] f32 NonNeg")});
  expect_mended(
    {"fn f(x: [n] y: [n]):\n    pass\n", "E0110 @1:14", "fn f(x: [n], y: [n]):\n    pass\n"});
  expect_mended({"fn f(x):\n    pass\n", "E0110 @1:7", ""});
  for (const auto* arrow : {"=>", "- >", "-->", "="})
    expect_mended({fmt::format("fn f(x: [n]) {} [n]:\n    return x\n", arrow), "E0110 @1:14",
                   "fn f(x: [n]) -> [n]:\n    return x\n"});
  expect_mended(
    {"fn f(x: [n]): [n]:\n    return x\n", "E0110 @1:15", "fn f(x: [n]) -> [n]:\n    return x\n"});
  expect_mended({"fn f(x: [n]) -> ([] NonNeg [] NonNeg):\n    return sum(abs(x)), sum(abs(x))\n",
                 "E0202 @1:21",
                 "fn f(x: [n]) -> ([] NonNeg, [] NonNeg):\n    return sum(abs(x)), sum(abs(x))\n"});
}

TEST(habits, statements) {
  for (const auto* word : {"let", "var", "const"})
    expect_mended({body(fmt::format("    {} y = x\n    return y\n", word)),
                   fmt::format("E0110 @2:{}", 6 + std::string{word}.size()),
                   body("    y = x\n    return y\n")});
  const std::string after = " k > 0:\n        return -x\n    return x\n";
  const std::string before = "    if k > 1:\n        return x\n    ";
  expect_mended({body(before + "else if" + after), "E0110 @4:10", body(before + "elif" + after)});
  expect_mended({body(before + "elseif" + after), "E0110 @4:12", body(before + "elif" + after)});
  expect_mended({"fn main(n: int):\n    k = n\n    k++\n    print(k)\n", "E0110 @3:7",
                 "fn main(n: int):\n    k = n\n    k += 1\n    print(k)\n"});
  expect_mended({"fn main(n: int):\n    k = n\n    k--\n    print(k)\n", "E0110 @3:8",
                 "fn main(n: int):\n    k = n\n    k -= 1\n    print(k)\n"});
  expect_mended({"fn main(n: int):\n    if n = 1:\n        print(n)\n", "E0110 @2:10",
                 "fn main(n: int):\n    if n == 1:\n        print(n)\n"});
  expect_mended(
    {body("    return x\n    |> relu\n"), "E0110 @3:5", body("    return x\n        |> relu\n")});
  expect_mended({"// a note\ndim D = 3\n", "E0110 @1:1", "# a note\ndim D = 3\n"});
  expect_mended(
    {body("    y = x;\n    return y;\n"), "E0101 @2:10", body("    y = x\n    return y\n")});
  expect_mended({"fn f(x: [n]) -> [n] {\n    return x\n}\n", "E0101 @1:21",
                 "fn f(x: [n]) -> [n]:\n    return x\n\n"});
  expect_mended({"fn main(n: int):\n    if n > 1 {\n        print(n)\n    } else {\n"
                 "        print(1)\n    }\n",
                 "E0101 @2:14",
                 "fn main(n: int):\n    if n > 1:\n        print(n)\n    else:\n"
                 "        print(1)\n\n"});
  expect_mended({"fn main():\n    \"\"\"Says hello,\n    and more.\n    \"\"\"\n    print(1)\n",
                 "E0101 @2:5", ""});
}

TEST(habits, expressions) {
  const auto says = [](const std::string& value) {
    return fmt::format("fn main(a: bool, b: bool, n: int):\n    print({})\n", value);
  };
  expect_mended({says("'it is'"), "E0101 @2:11", says("\"it is\"")});
  expect_mended({says("a && b"), "E0101 @2:13", says("a and b")});
  expect_mended({says("a || b"), "E0101 @2:13", says("a or b")});
  expect_mended({says("n ^ 2"), "E0101 @2:13", says("n ** 2")});
  expect_mended({says("True"), "E0201 @2:11", says("true")});
  expect_mended({says("a == None"), "E0201 @2:16", ""});
  expect_mended({says("7 // 2"), "E0110 @2:14", ""});
  expect_mended({says("n if a else 2"), "E0110 @2:13", ""});
  expect_mended({says("f\"{n}\""), "E0110 @2:12", ""});
  expect_mended({says("f\"n\""), "E0110 @2:12", says("\"n\"")});
  expect_mended({says("0 < n < 9"), "E0113 @2:17", says("0 < n and n < 9")});
  const auto gives = [](const std::string& value) {
    return fmt::format("fn f(x: [b d]) -> [b]:\n    return {}\n", value);
  };
  expect_mended({gives("x.sum(over=d)"), "E0204 @2:14", gives("sum(x, over=d)")});
  expect_mended({gives("sum(x, axis=d)"), "E0602 @2:19", gives("sum(x, over=d)")});
  expect_mended({gives("sum(x, dim=1)"), "E0602 @2:19", ""});
  expect_mended({gives("sum(x, d)"), "E0601 @2:19", gives("sum(x, over=d)")});
  expect_mended({gives("sum(x, 1)"), "E0601 @2:19", ""});
  expect_mended(
    {"fn f(x: [n]) -> [n]:\n    return map(lambda v: v * 2.0, x, over=n)\n", "E0110 @2:23", ""});
  expect_mended({"fn f(x: [n n]) -> [n n]:\n    return masked_fill(x, ~causal[n n], 0.0)\n",
                 "E0101 @2:27",
                 "fn f(x: [n n]) -> [n n]:\n"
                 "    return masked_fill(x, !causal[n n], 0.0)\n"});
  const auto turned = [](const std::string& call) {
    return fmt::format("fn f(x: [a b]) -> [b a]:\n    return {}\n", call);
  };
  const auto right = turned("rearrange(x: a b -> b a)");
  expect_mended({turned("rearrange(x: a, b -> b, a)"), "E0110 @2:26", right});
  expect_mended({turned("rearrange(x: a b -> b, a)"), "E0110 @2:33", right});
  expect_mended({turned("rearrange(x: a b - > b a)"), "E0110 @2:23", right});
  expect_mended({turned("einsum(x: a b -> b, a)"), "E0110 @2:30", turned("einsum(x: a b -> b a)")});
  expect_mended({"fn f() -> [2 2]:\n    return [[1.0, 2.0] [3.0, 4.0]]\n", "E0110 @2:24",
                 "fn f() -> [2 2]:\n    return [[1.0, 2.0], [3.0, 4.0]]\n"});
}

TEST(habits, mut_is_added_where_a_method_needs_it) {
  const std::string model = "model M:\n    buffer n: [] = zeros()\n\n"
                            "    fn count(mut self):\n        self.n += 1.0\n\n";
  expect_mended({model + "fn f(m: M):\n    m.count()\n", "E0701 @8:5",
                 model + "fn f(mut m: M):\n    m.count()\n"});
}
