#include "shapescript/lower/lower.hpp"

#include <set>

#include <gtest/gtest.h>

#include "device/ops/table.hpp"
#include "shapescript/check/check.hpp"
#include "tests/shapescript/lowered_fixture.hpp"
#include "tests/shapescript/support.hpp"

using namespace shapescript;
using namespace shapescript::testing;

namespace device = moxzi::device;

TEST(lower, makes_the_chapters_loss_a_program) {
  const source text{"train.ss", read_file(golden_folder() + "/chapter/train.ss")};
  const auto result = analyze(text);
  lowering_options options;
  options.sizes["b"] = 64;
  const auto made = lower(*result.program, function_named(*result.program, "loss"), options);
  ASSERT_TRUE(std::holds_alternative<lowered>(made));
  const auto& code = std::get<lowered>(made);
  EXPECT_EQ(operations(code), "input input param matmul gelu param matmul cross_entropy");
  ASSERT_EQ(code.inputs.size(), 2u);
  EXPECT_EQ(code.inputs[0].name, "batch.img");
  EXPECT_EQ(code.inputs[0].what.dims, (device::shape{64, 784}));
  EXPECT_EQ(code.inputs[1].name, "batch.label");
  EXPECT_EQ(code.inputs[1].what.type, device::elem::i64);
  ASSERT_EQ(code.parameters.size(), 2u);
  EXPECT_EQ(code.parameters[0].name, "m.w1");
  EXPECT_EQ(code.parameters[0].what.dims, (device::shape{784, 256}));
  // Every operation has the place in the text that it is for.
  const auto& from = code.origins[code.code.origins[3]];
  EXPECT_EQ(text.text(from.where), "batch.img @ m.w1");
  EXPECT_EQ(text.text(code.origins[code.code.origins[4]].where), "gelu");
}

TEST(lower, appends_the_gradient_and_names_the_optimizers_step) {
  const source text{"train.ss", read_file(golden_folder() + "/chapter/train.ss")};
  const auto result = analyze(text);
  lowering_options options;
  options.sizes["b"] = 64;
  const auto made = lower(*result.program, function_named(*result.program, "step"), options);
  ASSERT_TRUE(std::holds_alternative<lowered>(made));
  const auto& code = std::get<lowered>(made);
  ASSERT_EQ(code.gradients.size(), 2u);
  EXPECT_EQ(code.gradients[0].name, "w1");
  EXPECT_EQ(code.code.types[code.gradients[0].at].dims, (device::shape{784, 256}));
  EXPECT_EQ(code.code.types[code.gradients[1].at].dims, (device::shape{256, 10}));
  ASSERT_EQ(code.updates.size(), 1u);
  EXPECT_EQ(code.updates[0].optimizer, "opt");
  EXPECT_EQ(code.updates[0].kind, "AdamW");
  EXPECT_EQ(code.updates[0].gradients.at("m.w2"), code.gradients[1].at);
  ASSERT_EQ(code.results.size(), 1u);
}

TEST(lower, every_device_function_of_the_corpus_has_the_types_of_the_check) {
  // Those that depend on what is known only when they run: numbers that are compared or counted to,
  // and a function that is passed.
  const std::set<std::string> dependent{"control.ss:5:8", "control.ss:11:8", "control.ss:21:14",
                                        "misc.ss:42:7", "scalar_sum.ss:6:15"};
  std::set<std::string> faults;
  size_t count = 0;
  for (const auto& path : corpus()) {
    const source text{path.filename().string(), read_file(path)};
    const auto result = analyze(text);
    if (result.has_errors()) continue;
    for (uint32_t index = 0; index < result.program->functions.size(); ++index) {
      const auto& f = result.program->functions[index];
      if (f.host || f.decl->is_extern) continue;
      lowering_options options;
      options.other_size = 12;
      const auto made = lower(*result.program, index, options);
      if (const auto* fault = std::get_if<lowering_fault>(&made)) {
        const auto at = text.position_of(fault->where.begin);
        const auto place = fmt::format("{}:{}:{}", text.name(), at.line, at.column);
        EXPECT_TRUE(dependent.contains(place)) << place << ": " << fault->message;
        continue;
      }
      ++count;
      expect_checked_alike(std::get<lowered>(made), path.string());
    }
  }
  EXPECT_GE(count, 100u);
}

TEST(lower, takes_what_is_given_and_says_what_is_missing) {
  const source text{"a.ss", "fn f(x: [n], k: int, w: float) -> [n]:\n"
                            "    for i in 0..k:\n"
                            "        x = x * w\n"
                            "    return x\n"};
  const auto result = analyze(text);
  ASSERT_FALSE(result.has_errors());
  lowering_options options;
  options.sizes["n"] = 3;
  auto made = lower(*result.program, 0, options);
  ASSERT_TRUE(std::holds_alternative<lowering_fault>(made));
  EXPECT_EQ(std::get<lowering_fault>(made).message, "how often is known only when it runs");
  options.values["k"] = int64_t{2};
  made = lower(*result.program, 0, options);
  ASSERT_TRUE(std::holds_alternative<lowered>(made)) << std::get<lowering_fault>(made).message;
  EXPECT_EQ(operations(std::get<lowered>(made)), "input input mul mul");
  options.values["w"] = 0.5;
  made = lower(*result.program, 0, options);
  EXPECT_EQ(operations(std::get<lowered>(made)), "input scalar mul scalar mul");
  options.sizes.clear();
  made = lower(*result.program, 0, options);
  ASSERT_TRUE(std::holds_alternative<lowering_fault>(made));
  EXPECT_EQ(std::get<lowering_fault>(made).message, "the size of `n` is not given");
}

TEST(lower, takes_sizes_and_axes_from_an_imported_file) {
  const source text{"a.ss",
                    "import lib\n\nfn f(x: [b lib.D]) -> [b]:\n"
                    "    return sum(x * full[lib.D](2.0), over=lib.D) + sum(x, over=(D))\n"};
  const auto result = analyze(text, [](const std::string& path) -> moxzi::result<source> {
    return source{path, "dim D = 4\n"};
  });
  ASSERT_FALSE(result.has_errors());
  lowering_options options;
  options.sizes["b"] = 3;
  const auto made = lower(*result.program, function_named(*result.program, "f"), options);
  ASSERT_TRUE(std::holds_alternative<lowered>(made));
  const auto& code = std::get<lowered>(made);
  EXPECT_EQ(code.inputs[0].what.dims, (device::shape{3, 4}));
  EXPECT_EQ(code.code.types[code.results[0]].dims, (device::shape{3}));
}

TEST(lower, works_out_quotients_and_says_which_is_not_exact) {
  const source text{"a.ss", "model Head[A]:\n"
                            "    param w: [A A/2] = zeros()\n"
                            "fn f(h: Head[n], x: [b n]) -> [2 b n/2]:\n"
                            "    y = zeros[b n/2] + x @ h.w\n"
                            "    return stack(y, x[0..b, 0..n/2], new=two)\n"
                            "fn g(x: [b n]) -> [2 b n/2]:\n"
                            "    return x |> rearrange(b (two k) -> two b k, two=2)\n"};
  const auto result = analyze(text);
  ASSERT_FALSE(result.has_errors()) << summary(result.diagnostics, text);
  lowering_options options;
  options.sizes = {{"b", 4}, {"n", 6}};
  for (const uint32_t index : {0, 1}) {
    const auto made = lower(*result.program, index, options);
    ASSERT_TRUE(std::holds_alternative<lowered>(made)) << std::get<lowering_fault>(made).message;
    const auto& code = std::get<lowered>(made);
    EXPECT_EQ(code.code.types[code.results.at(0)].dims, (device::shape{2, 4, 3}));
    if (index == 0) {
      EXPECT_EQ(code.parameters.at(0).what.dims, (device::shape{6, 3}));
    }
  }
  options.sizes["n"] = 7;
  const auto message = [&](uint32_t index) {
    const auto made = lower(*result.program, index, options);
    const auto* fault = std::get_if<lowering_fault>(&made);
    return fault == nullptr ? "" : fault->message;
  };
  EXPECT_EQ(message(0), "the size `A/2` is not exact: 7 / 2, in `h.w`");
  EXPECT_EQ(message(1), "`(two k)` is not exact: 7 / 2");
}

TEST(lower, drops_nothing_out_of_training) {
  const source text{"a.ss", "fn f(x: [n]) -> [n]:\n"
                            "    return dropout(x, p=0.5)\n"
                            "fn loss(x: [n]) -> []:\n"
                            "    return sum(f(x))\n"
                            "fn g(x: [n]) -> [n]:\n"
                            "    return grad(loss, x)\n"};
  const auto result = analyze(text);
  ASSERT_FALSE(result.has_errors());
  lowering_options options;
  options.other_size = 3;
  const auto made = lower(*result.program, 0, options);
  EXPECT_EQ(operations(std::get<lowered>(made)), "input");
  const auto trained = operations(std::get<lowered>(lower(*result.program, 2, options)));
  EXPECT_NE(trained.find("dropout_active"), trained.npos) << trained;
}

namespace {

// The one program of a text, for axes of size 3.
std::variant<lowered, lowering_fault> made_of(const std::string& program,
                                              std::string_view function) {
  const source text{"a.ss", program};
  const auto result = analyze(text);
  EXPECT_FALSE(result.has_errors()) << summary(result.diagnostics, text);
  lowering_options options;
  options.other_size = 3;
  return lower(*result.program, function_named(*result.program, function), options);
}

const std::string jitter = "extern fn jitter(x: [b 2]) -> [b 2] = \"helper.jitter\"\n"
                           "fn loss(w: [2], x: [b 2]) -> []:\n"
                           "    return sum(w * jitter(x))\n";

} // namespace

TEST(lower, takes_a_gradient_as_an_input_for_each_parameter) {
  const auto made = made_of("model L[A]:\n"
                            "    param w: [A 2] = zeros()\n"
                            "model M:\n"
                            "    param v: [2] = zeros()\n"
                            "    buffer n: [] = zeros()\n"
                            "    layer all: 2 * L[4]\n"
                            "fn step(mut m: M, mut opt: Sgd[M], g: Grad[M]) -> [] NonNeg:\n"
                            "    h, norm = clip_norm(g, max=1.0)\n"
                            "    update(mut m, mut opt, h)\n"
                            "    return norm\n",
                            "step");
  ASSERT_TRUE(std::holds_alternative<lowered>(made)) << std::get<lowering_fault>(made).message;
  const auto& code = std::get<lowered>(made);
  std::string names;
  for (const auto& one : code.inputs) names += one.name + device::to_string(one.what.dims) + " ";
  EXPECT_EQ(names, "g.v[2] g.all.0.w[4, 2] g.all.1.w[4, 2] ");
  ASSERT_EQ(code.updates.size(), 1u);
  EXPECT_EQ(code.updates[0].gradients.size(), 3u);
  EXPECT_TRUE(code.updates[0].gradients.contains("m.all.1.w"));
}

TEST(lower, cuts_the_program_where_python_is_called) {
  const auto made = made_of(jitter, "loss");
  ASSERT_TRUE(std::holds_alternative<lowered>(made)) << std::get<lowering_fault>(made).message;
  const auto& code = std::get<lowered>(made);
  EXPECT_EQ(operations(code), "input input input mul sum");
  ASSERT_EQ(code.python.size(), 1u);
  EXPECT_EQ(code.python[0].arguments, (std::vector<device::reg>{1}));
  EXPECT_EQ(code.python[0].results, (std::vector<device::reg>{2}));
  EXPECT_EQ(code.inputs[2].name, "jitter");
  EXPECT_EQ(code.inputs[2].what.dims, (device::shape{3, 2}));
}

TEST(lower, takes_no_gradient_through_python) {
  // With respect to w it goes past the call.
  EXPECT_TRUE(std::holds_alternative<lowered>(
    made_of(jitter + "fn f(w: [2], x: [b 2]) -> [2]:\n    return grad(loss, w, x)\n", "f")));
  const auto through = "fn g(x: [b 2], w: [2]) -> []:\n    return loss(w, x)\n"
                       "fn f(w: [2], x: [b 2]) -> [b 2]:\n    return grad(g, x, w)\n";
  const auto made = made_of(jitter + through, "f");
  ASSERT_TRUE(std::holds_alternative<lowering_fault>(made));
  EXPECT_EQ(std::get<lowering_fault>(made).message,
            "no gradient flows back through an `extern fn`: it is Python; use `stop_gradient` on "
            "what it is given");
  const auto stopped = "fn g(x: [b 2], w: [2]) -> []:\n"
                       "    return sum(x) + loss(w, stop_gradient(x))\n"
                       "fn f(w: [2], x: [b 2]) -> [b 2]:\n    return grad(g, x, w)\n";
  EXPECT_TRUE(std::holds_alternative<lowered>(made_of(jitter + stopped, "f")));
}

TEST(lower, blames_the_gradient_that_has_no_rule) {
  const source text{"a.ss",
                    "fn f(x: [n]) -> []:\n    return sum(gelu(x, approx=true))\n"
                    "fn g(x: [n]) -> []:\n    return sum(grad(f, x) * x)\n"
                    "fn h(x: [n]) -> [n]:\n    y = grad(f, x)\n    return y + grad(g, x)\n"};
  const auto result = analyze(text);
  ASSERT_FALSE(result.has_errors()) << summary(result.diagnostics, text);
  lowering_options options;
  options.other_size = 3;
  const auto made = lower(*result.program, function_named(*result.program, "h"), options);
  ASSERT_TRUE(std::holds_alternative<lowering_fault>(made));
  const auto& fault = std::get<lowering_fault>(made);
  EXPECT_EQ(text.text(fault.where), "grad(g, x)");
  EXPECT_NE(fault.message.find("gelu_tanh"), std::string::npos) << fault.message;
}

TEST(lower, more_axes_than_a_device_has_are_a_fault_not_an_end) {
  for (const std::string program :
       {"fn h(x: [a b c d g i j k n]) -> [a b c d g i j k n]:\n    return x + 1.0\n",
        "data R:\n    x: [2 3 2 2 2 2 2 2]\n\nfn h(r: [n] R) -> []:\n    return mean(r.x)\n",
        "model M:\n    param w: [2 2 2 2 2 2 2 2 2] = zeros()\n\n"
        "fn h(m: M) -> []:\n    return mean(m.w)\n"}) {
    const source text{"a.ss", program};
    const auto result = analyze(text);
    ASSERT_FALSE(result.has_errors()) << program;
    lowering_options options;
    options.other_size = 2;
    const auto made = lower(*result.program, function_named(*result.program, "h"), options);
    ASSERT_TRUE(std::holds_alternative<lowering_fault>(made)) << program;
    const auto& message = std::get<lowering_fault>(made).message;
    EXPECT_NE(message.find("more than 8 axes"), std::string::npos) << program << message;
  }
}

// -- random programs -----------------------------------------------------------

TEST(lower, two_thousand_random_programs_run_on_the_null_backend) {
  device::device_core core{device::make_null_backend(), {}};
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const source text{"a.ss", random_program(seed)};
    const auto result = analyze(text);
    ASSERT_FALSE(result.has_errors()) << seed << "\n"
                                      << text.text() << summary(result.diagnostics, text);
    lowering_options options;
    options.sizes["b"] = 1 + seed % 5;
    const auto made = lower(*result.program, function_named(*result.program, "f"), options);
    ASSERT_TRUE(std::holds_alternative<lowered>(made))
      << seed << "\n"
      << text.text() << std::get<lowering_fault>(made).message;
    const auto& code = std::get<lowered>(made);
    expect_checked_alike(code, std::string{text.text()});
    expect_runs(core, code, std::string{text.text()});
    if (::testing::Test::HasFailure()) return;
  }
}
