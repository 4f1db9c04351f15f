// Long chains of operands, stages and fields are flat, whoever walks them; what is nested is
// bounded.

#include <functional>
#include <pthread.h>

#include <gtest/gtest.h>

#include "shapescript/check/check.hpp"
#include "shapescript/lower/cost.hpp"
#include "shapescript/syntax/format.hpp"
#include "tests/shapescript/lowered_fixture.hpp"
#include "tests/shapescript/lsp_support.hpp"

using namespace shapescript;
using namespace shapescript::testing;

namespace {

constexpr size_t chain_long = 5'000;

std::string repeated(std::string_view part, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += part;
  return out;
}

std::string function_of(std::string_view result, const std::string& value) {
  return fmt::format("devices cpu[0 1 2]\n\ndim D = 4\n\n"
                     "fn f(x: [n D], w: [D D], k: int = 1, t: bool = true, s: str = \"a\") -> {}:\n"
                     "    return {}\n",
                     result, value);
}

struct chain {
  std::string name;
  std::string program;
};

std::vector<chain> chains() {
  const auto n = chain_long;
  return {
    {"sum", function_of("[n D]", "x" + repeated(" + x", n))},
    {"product", function_of("[n D]", "x" + repeated(" @ w", n))},
    {"pipeline", function_of("[n D]", "x" + repeated(" |> relu", n))},
    {"pipeline of calls", function_of("[n D]", "x" + repeated(" |> scale(0.5)", n))},
    {"pipeline of lines", function_of("[n D]", "x" + repeated("\n        |> relu", n))},
    {"pipeline of patterns", function_of("[n D]", "x" + repeated(" |> rearrange(n D -> n D)", n))},
    {"casts", function_of("[n D]", "x" + repeated(" as f64 as f32", n / 2))},
    {"indices", function_of("[n D]", "x" + repeated("[n=0..n]", n))},
    {"numbers", function_of("int", "k" + repeated(" + k", n))},
    {"conditions", function_of("bool", "t" + repeated(" and k == 1 or k < 3", n))},
    {"text", function_of("bool", "s" + repeated(" + s", n) + " == s")},
    {"sizes", "fn f(x: [n" + repeated("+1", n) + "]) -> []:\n    return sum(x)\n"},
    {"quotients", "fn f(x: [n]) -> []:\n    return sum(zeros[n/1" + repeated("+1", n) + "])\n"},
    {"dims", "dim A = 1" + repeated(" + 1", n) + "\n\nfn f(x: [A]) -> [A]:\n    return x\n"},
  };
}

// On a stack of its own, of so many bytes.
void on_stack(size_t bytes, std::function<void()> work) {
  pthread_attr_t how;
  pthread_attr_init(&how);
  ASSERT_EQ(pthread_attr_setstacksize(&how, bytes), 0);
  pthread_t thread{};
  const auto run = [](void* what) -> void* {
    (*static_cast<std::function<void()>*>(what))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &how, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&how);
}

} // namespace

TEST(chains, of_any_length_are_checked_formatted_and_lowered) {
  for (const auto& [name, program] : chains()) {
    on_stack(size_t{256} << 10, [&name = name, &program = program] {
      const source text{"a.ss", program};
      const auto result = analyze(text);
      EXPECT_EQ(summary(result.diagnostics, text), "") << name;
      if (result.has_errors()) return;
      const auto tidy = format(text, parse(text));
      ASSERT_TRUE(tidy) << name;
      const source again{"a.ss", *tidy};
      EXPECT_EQ(format(again, parse(again)), tidy) << name;
      const auto cost = cost_of(*result.program, 0, {});
      EXPECT_FALSE(cost.fault) << name << ": " << cost.fault->message;
    });
  }
}

TEST(chains, have_as_many_operations_as_operands) {
  const auto count = [](const chain& one, std::string_view operation) {
    const source text{"a.ss", one.program};
    lowering_options options;
    options.sizes["n"] = 2;
    const auto made = lower(*analyze(text).program, 0, options);
    const auto all = operations(std::get<lowered>(made)) + " ";
    size_t found = 0;
    for (auto at = all.find(operation); at != all.npos; at = all.find(operation, at + 1)) ++found;
    return found;
  };
  const auto all = chains();
  EXPECT_EQ(count(all[0], " add "), chain_long);
  EXPECT_EQ(count(all[1], " matmul "), chain_long);
  EXPECT_EQ(count(all[2], " relu "), chain_long);
}

TEST(chains, are_served_to_an_editor) {
  for (const auto& [name, program] : chains()) {
    on_stack(size_t{256} << 10, [&name = name, &program = program] {
      client c;
      c.open(program);
      EXPECT_EQ(c.diagnostics().size(), 0u) << name;
      for (const auto* method : {"textDocument/semanticTokens/full", "textDocument/inlayHint",
                                 "textDocument/foldingRange", "textDocument/documentSymbol"})
        EXPECT_FALSE(c.ask(method, c.whole()).contains("error")) << name << ": " << method;
      EXPECT_FALSE(c.ask("textDocument/hover", c.at("return ")).contains("error")) << name;
    });
  }
}

TEST(chains, of_fields_and_calls_that_are_wrong_are_one_mistake) {
  const auto faults = [](const std::string& value) {
    const source text{"a.ss", function_of("[n D]", value)};
    return summary(check(text).diagnostics, text);
  };
  EXPECT_EQ(faults("x" + repeated(".a", chain_long)), "E0204 @6:14");
  EXPECT_EQ(faults("x" + repeated(".a(1)[0]", chain_long)), "E0204 @6:14");
  EXPECT_EQ(faults("x" + repeated("[0]", chain_long)), "E0416 @6:20");
  EXPECT_EQ(faults("y" + repeated("(1)", chain_long)), "E0201 @6:12");
}

TEST(chains, nest_as_deep_as_is_allowed_on_an_ordinary_stack) {
  const auto faults = [](const std::string& result, const std::string& value) {
    std::string found;
    on_stack(size_t{8} << 20, [&] {
      const source text{"a.ss", function_of(result, value)};
      const auto known = analyze(text);
      found = summary(known.diagnostics, text).substr(0, 5);
      if (!known.has_errors()) {
        EXPECT_FALSE(cost_of(*known.program, 0, {}).fault) << value.substr(0, 20);
      }
    });
    return found;
  };
  struct nest {
    std::string open, close, result = "[n D]", inner = "x";
  };
  const std::vector<nest> all{{"(", ")"},
                              {"relu(", ")"},
                              {"maximum(x, ", ")"},
                              {"f(", ", w)", "[n D]", "x"},
                              {"rearrange(", ": n D -> n D)"},
                              {"x |> minimum(", ")"},
                              {"- ", ""},
                              {"x ** ", ""},
                              {"not ", "", "bool", "t"},
                              {"1 + (", ")", "int", "k"}};
  for (const auto& [open, close, result, inner] : all) {
    const auto nested = [&](size_t n) { return repeated(open, n) + inner + repeated(close, n); };
    EXPECT_EQ(faults(result, nested(190)), open == "f(" ? "E0607" : "") << open;
    EXPECT_EQ(faults(result, nested(10'000)), "E0115") << open;
  }
}
