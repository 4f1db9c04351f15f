// What may be written at a place: the lists follow from the grammar and the rules of types.

#include <gtest/gtest.h>

#include "tests/shapescript/lsp_completion_support.hpp"

using namespace shapescript;
using namespace shapescript::testing;

namespace {

const words scalars{"bool", "float", "int", "str"};
const words dtypes{"bf16", "f16", "f32", "f64", "i16", "i32", "i64", "i8", "u8"};
const words refinements{"Index", "NonNeg", "Pos", "Prob", "Unit"};

} // namespace

// -- types ---------------------------------------------------------------------

TEST(lsp_completion, after_a_colon_stand_types) {
  const words places{"fn f(x: ^",
                     "fn f(x: ^) -> [n]:\n    return x\n",
                     "fn f(x: [n], y: ^",
                     "fn f(x: [n]) -> ^",
                     "fn f(x: [n]) -> ([n], ^",
                     "extern fn f(x: ^",
                     "fn f(x: [n]) -> [n]:\n    y: ^\n",
                     "model M:\n    fn go(self, x: ^"};
  for (const auto& place : places) {
    const auto all = labels(program + place);
    for (const auto& list : {scalars, words{"[ ]", "Digit", "Mlp", "Lin", "AdamW", "Sgd", "Grad",
                                            "Dataset", "Batches", "BatchNorm", "Rng", "fn"}})
      for (const auto& one : list) EXPECT_TRUE(holds(all, one)) << place << ": " << one;
    for (const auto* one : {"softmax", "D", "loss", "f32", "NonNeg", "return"})
      EXPECT_FALSE(holds(all, one)) << place << ": " << one;
  }
  // A field is a tensor (E0901), and so is what a model keeps.
  for (const auto* place :
       {"data R:\n    x: ^", "model M:\n    param w: ^", "model M:\n    buffer s: ^"})
    EXPECT_EQ(labels(program + place), words{"[ ]"}) << place;
}

TEST(lsp_completion, after_the_axes_stand_dtypes_refinements_and_records) {
  auto all = labels(program + "fn f(x: [b] ^");
  for (const auto& list : {dtypes, refinements, words{"bool", "Digit"}})
    for (const auto& one : list) EXPECT_TRUE(holds(all, one)) << one;
  EXPECT_FALSE(holds(all, "Mlp")) << "a batch holds records (E0903)";
  EXPECT_EQ(labels(program + "fn f(x: [b] bf16 ^"), refinements) << "a dtype comes before";
  all = labels(program + "model M:\n    param w: [D] ^");
  EXPECT_TRUE(holds(all, "bf16") && holds(all, "NonNeg"));
  EXPECT_FALSE(holds(all, "Digit"));
}

TEST(lsp_completion, after_as_stands_what_a_value_becomes) {
  const auto all = labels(program + "fn f(x: [b D]) -> [b D]:\n    y = relu(x) as ^\n");
  for (const auto& list : {dtypes, refinements, scalars, words{"[ ]", "Digit"}})
    for (const auto& one : list) EXPECT_TRUE(holds(all, one)) << one;
  EXPECT_FALSE(holds(all, "relu"));
}

TEST(lsp_completion, a_type_in_brackets_stands_where_it_is_of) {
  EXPECT_EQ(labels(program + "fn f(o: AdamW[^"), (words{"Lin", "Mlp", "BatchNorm"}));
  EXPECT_EQ(labels(program + "fn f(g: Grad[^"), (words{"Lin", "Mlp", "BatchNorm"}));
  EXPECT_EQ(labels(program + "fn f(d: Dataset[^"), words{"Digit"});
  EXPECT_EQ(labels(program + "fn f(d: Batches[^"), words{"Digit"});
  EXPECT_EQ(labels(program + "model N:\n    layer q: ^"),
            (words{"Lin", "Mlp", "BatchNorm", "C", "D"}))
    << "a number of layers may come first; no model is its own layer (E0805)";
  EXPECT_EQ(labels(program + "model N:\n    layer q: 3 * ^"), (words{"Lin", "Mlp", "BatchNorm"}));
  EXPECT_EQ(labels(program + "model N:\n    layer q: (^"), (words{"C", "D"})) << "a size";
}

TEST(lsp_completion, in_brackets_of_a_type_stand_axes_and_dims) {
  EXPECT_EQ(own(program + "fn f(x: [b D], y: [^]) -> [b]:\n    return x\n"),
            (words{"b", "C", "D", "A", "B"}))
    << "the axes of this line first; what other functions call theirs last";
  EXPECT_EQ(own(program + "fn f(x: [n k]) -> [^"), (words{"k", "n", "C", "D", "A", "B", "b"}));
  EXPECT_EQ(own(program + "fn f(x: [b] Index[^"), (words{"b", "C", "D", "A", "B"}));
  EXPECT_EQ(own(program + "fn f(x: [n D]) -> [n D]:\n    y = x as [^\n"), (words{"n", "C", "D"}));
  EXPECT_EQ(own(program + "model M[H]:\n    param w: [^"), (words{"H", "C", "D"}));
  EXPECT_EQ(own(program + "data R:\n    x: [^"), (words{"C", "D"}));
  EXPECT_EQ(own(program + "fn f(x: [n D], k: int) -> [n D]:\n    y = zeros[^\n"),
            (words{"n", "C", "D", "k"}))
    << "a constructor takes ints too";
}

// -- lines ---------------------------------------------------------------------

TEST(lsp_completion, a_line_begins_with_what_its_block_takes) {
  EXPECT_EQ(labels("^"), (words{"data", "devices", "dim", "extern", "fn", "import", "model"}));
  EXPECT_FALSE(holds(labels("devices cpu\n\n^"), "devices")) << "a program has one line (E0208)";
  EXPECT_EQ(labels("model M:\n    ^"), (words{"buffer", "fn", "layer", "param", "pass"}));
  EXPECT_EQ(labels("model M:\n    param w: [4] = zeros()\n    ^\n\ndim A = 1\n"),
            (words{"buffer", "fn", "layer", "param", "pass"}));
  EXPECT_EQ(labels("devices cpu[0 1]\n    ^"), (words{"shard params", "split"}));
  EXPECT_EQ(labels("devices cpu[0 1]\n    shard params\n    ^"), words{"split"});
  EXPECT_EQ(labels("data R:\n    ^"), words{}) << "a new name";
  EXPECT_EQ(labels("extern ^"), words{"fn"});
  const auto body = labels(program + "fn f(x: [b D]) -> [b D]:\n    y = x\n    ^\n");
  for (const auto* one : {"return", "for", "if", "while", "x", "y", "loss", "relu"})
    EXPECT_TRUE(holds(body, one)) << one;
  for (const auto* one : {"param", "dim", "break", "else", "batch", "m"})
    EXPECT_FALSE(holds(body, one)) << one;
  EXPECT_TRUE(holds(labels("fn f():\n    for i in 0..3:\n        ^"), "break"));
  EXPECT_TRUE(holds(labels("fn f():\n    if true:\n        pass\n    ^"), "else"));
  EXPECT_TRUE(holds(
    labels("fn f():\n    if true:\n        pass\n    elif false:\n        pass\n    ^"), "elif"));
}

TEST(lsp_completion, devices_take_kinds_and_dims) {
  EXPECT_EQ(labels("devices ^"), (words{"cpu", "cuda", "mps"}));
  EXPECT_EQ(labels("devices cpu[0 1]\n    shard ^"), words{"params"});
  EXPECT_EQ(labels("devices cpu[0 1]\n    split ^\n\ndim Odd = 3\ndim Even = 4\n"),
            (words{"Even", "Odd"}))
    << "the number of devices divides the first (E1506)";
  EXPECT_EQ(labels("devices cpu[0 1]\n    split Even ^\n\ndim Odd = 3\ndim Even = 4\n"),
            words{"Odd"});
  EXPECT_EQ(labels("devices cuda[^"), words{}) << "numbers";
}

TEST(lsp_completion, a_dim_is_made_of_other_dims) {
  EXPECT_EQ(labels("dim A = 3\ndim B = ^\ndim E = 2\n"), (words{"A", "E"}));
  EXPECT_EQ(labels("dim A = 3\ndim B = 2 * (A + ^"), words{"A"});
  EXPECT_EQ(labels("dim ^"), words{}) << "a new name";
}

TEST(lsp_completion, imports_are_the_files_beside) {
  const std::map<std::string, std::string> files{
    {"/tmp/lib.ss", "dim D = 4\n\nfn g():\n    pass\n"},
    {"/tmp/other.ss", ""},
    {"/tmp/a.ss", ""},
    {"/tmp/augment.py", ""},
    {"/tmp/not-a-name.ss", ""},
    {"/tmp/models/small.ss", "dim E = 4\n"}};
  client c{json::object{}, files};
  EXPECT_EQ(labels(c, "import ^"), (words{"lib", "other", "python"})) << "not the file itself";
  EXPECT_EQ(labels(c, "import lib\nimport o^"), (words{"other", "python"}));
  EXPECT_EQ(labels(c, "import python ^"), words{"augment"});
  EXPECT_EQ(labels(c, "import models.^"), words{"small"});
  EXPECT_EQ(labels(c, "import lib\n\nfn f(x: [b lib.^"), words{"D"}) << "a size is a dim";
  EXPECT_EQ(labels(c, "import lib\n\nfn f():\n    lib.^"), (words{"D", "g"}));
  EXPECT_EQ(labels(c, "import lib\n\nfn f(x: lib.^"), words{}) << "it declares no types";
  EXPECT_EQ(labels(c, "import models.small\n\ndim A = small.^"), words{"E"});
}

TEST(lsp_completion, a_param_takes_initialisers) {
  client c;
  EXPECT_EQ(labels(c, "model M:\n    param w: [4] = ^"),
            (words{"eye", "full", "kaiming", "normal", "ones", "orthogonal", "uniform", "xavier",
                   "zeros"}));
  EXPECT_EQ(item_of(c, "model M:\n    param w: [4] = ^", "normal").at("detail"),
            "normal(std=?, mean=?, rng=?)");
  const auto inside = labels(c, "model M:\n    param w: [4] = normal(^");
  EXPECT_TRUE(holds(inside, "std=") && holds(inside, "mean="));
  EXPECT_FALSE(holds(inside, "relu"));
}

TEST(lsp_completion, a_parameter_is_new_or_like_another_functions) {
  EXPECT_EQ(own(program + "fn f(^"), (words{"batch: [b] Digit", "m: Mlp", "x: [b A]"}));
  EXPECT_EQ(own(program + "fn f(m: Mlp, ^"), (words{"batch: [b] Digit", "x: [b A]"}));
  EXPECT_TRUE(holds(labels(program + "fn f(^"), "mut"));
  EXPECT_FALSE(holds(labels(program + "fn f(mut ^"), "mut"));
  EXPECT_EQ(labels("model M:\n    fn go(^"), (words{"self", "mut"}));
  EXPECT_EQ(labels("model M:\n    fn go(mut ^"), words{"self"});
  EXPECT_EQ(labels("model M:\n    fn go(self, ^"), words{"mut"});
}

// -- values --------------------------------------------------------------------

TEST(lsp_completion, variables_are_those_that_have_a_value) {
  const std::string body = program
                           + "fn f(x: [b D], n: int) -> [b D]:\n    y = relu(x)\n"
                             "    for i in 0..n:\n        z = relu(y)\n        ";
  auto all = labels(body + "w = ^\n    later = x\n    return x\n");
  for (const auto* one : {"x", "n", "y", "i", "z", "D", "b"}) EXPECT_TRUE(holds(all, one)) << one;
  for (const auto* one : {"w", "later", "batch"}) EXPECT_FALSE(holds(all, one)) << one;
  all = labels(body + "pass\n    q = ^\n");
  EXPECT_TRUE(holds(all, "z")) << "assigned in the loop";
  EXPECT_FALSE(holds(all, "i")) << "a loop's variable lives in it";
  all = labels(body + "pass\n\nfn g(^");
  EXPECT_FALSE(holds(all, "y")) << "another function's";
}

TEST(lsp_completion, after_a_dot_stand_fields_members_and_methods) {
  EXPECT_EQ(labels(program + "fn f(batch: [b] Digit) -> [b D]:\n    y = batch.^\n"),
            (words{"img", "label"}));
  EXPECT_EQ(labels(program + "fn f(batch: [b] Digit) -> [D]:\n    y = batch[0].^\n"),
            (words{"img", "label"}));
  EXPECT_EQ(labels(program + "fn f(l: Lin[3 4]) -> []:\n    return relu(l.^"),
            (words{"forward", "w"}));
  EXPECT_EQ(labels(program + "fn f():\n    l = Lin[3 4](seed=0)\n    l.^"),
            (words{"forward", "w"}));
  EXPECT_EQ(labels(program + "fn f(g: Grad[Lin[3 4]]) -> []:\n    y = g.^"), words{"w"})
    << "a gradient has the params alone";
  EXPECT_EQ(labels(program
                   + "model N:\n    layer fc: Lin[D C]\n    layer all: 2 * Lin[D D]\n\n"
                     "fn f(m: N) -> []:\n    y = m.all[1].^"),
            (words{"forward", "w"}));
  EXPECT_EQ(labels(program + "fn f(x: [b D]) -> []:\n    y = x.^"), words{});
  client c;
  EXPECT_EQ(
    item_of(c, program + "fn f(batch: [b] Digit) -> []:\n    y = batch.^", "img").at("detail"),
    "[b D]")
    << "in a batch a field has the batch's axis";
}

TEST(lsp_completion, a_call_takes_named_arguments_and_mut) {
  const std::string head = program
                           + "fn step(mut m: Mlp, mut opt: AdamW[Mlp], batch: [b] Digit, k: "
                             "int = 1) -> [] NonNeg:\n    l, g = value_and_grad(loss, m, "
                             "batch)\n    ";
  const auto first = [](const words& all, size_t n) {
    return words(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(n, all.size())));
  };
  EXPECT_EQ(first(labels(head + "update(^"), 1), words{"mut m"}) << "m is the model";
  EXPECT_EQ(first(labels(head + "update(mut m, ^"), 1), words{"mut opt"});
  EXPECT_EQ(labels(head + "update(mut ^"), (words{"batch", "g", "k", "l", "m", "opt"}));
  EXPECT_FALSE(holds(labels(head + "update(mut m, mut opt, ^"), "mut"));
  EXPECT_TRUE(holds(labels(head + "update(mut m, mut opt, g, ^"), "lr="));
  EXPECT_EQ(first(labels(head + "softmax(batch.img, ^"), 1), words{"over="});
  const auto again = labels(head + "step(mut m, mut opt, batch, ^");
  EXPECT_TRUE(holds(again, "k="));
  EXPECT_FALSE(holds(again, "batch=")) << "given by position";
  EXPECT_FALSE(holds(labels(head + "step(mut m, mut opt, batch=batch, ^"), "batch="))
    << "given by name";
  EXPECT_TRUE(holds(labels(head + "step(mut m, mut opt, ^"), "batch="));
  EXPECT_EQ(first(labels(head + "value_and_grad(^"), 2), (words{"loss", "step"}))
    << "a function comes first";
  EXPECT_EQ(first(labels(program + "fn f():\n    d = dataset(^"), 1), words{"Digit"});
  EXPECT_EQ(first(labels(program + "fn f():\n    d = dataset(Digit, ^"), 2),
            (words{"img=", "label="}));
  EXPECT_EQ(first(labels(program + "fn f():\n    m = Mlp(^"), 1), words{"seed="});
  EXPECT_EQ(labels(program + "fn f(d: Dataset[Digit]):\n    for x in d |> batches(4, last=^"),
            (words{"\"drop\"", "\"keep\"", "\"pad\""}));
}

TEST(lsp_completion, over_takes_the_axes_of_the_value_first) {
  EXPECT_EQ(labels(program + "fn f(x: [b D], y: [n]) -> [b D]:\n    return softmax(x, over=^)\n"),
            (words{"D", "b", "n", "C"}));
  EXPECT_EQ(labels(program + "fn f(x: [b D]) -> [b D]:\n    return concat(x, x, along=^"),
            (words{"D", "b", "C"}));
  const auto index = labels(program + "fn f(x: [b D], i: int) -> [b]:\n    y = x[^");
  EXPECT_EQ(words(index.begin(), index.begin() + 2), (words{"D=", "b="})) << "by name";
  EXPECT_TRUE(holds(index, "i"));
}

TEST(lsp_completion, patterns_take_axes) {
  EXPECT_EQ(labels(program + "fn f(x: [b D]) -> [D b]:\n    return rearrange(x: ^"),
            (words{"b", "C", "D"}));
  EXPECT_EQ(labels(program + "fn f(x: [b 6]) -> [b 2 3]:\n    return x |> split(b (h k) -> b ^"),
            (words{"b", "h", "k", "C", "D"}));
  const auto sizes =
    labels(program + "fn f(x: [b 6]) -> [b 2 3]:\n    return x |> rearrange(b (h k) -> b h k, ^");
  EXPECT_TRUE(holds(sizes, "h=") && holds(sizes, "k=")) << "a size given by name";
}

TEST(lsp_completion, a_pipeline_takes_functions_of_what_it_brings) {
  const auto stream =
    labels(program + "fn f(d: Dataset[Digit]):\n    for batch in d |> ^\n        pass\n");
  for (const auto* one : {"shuffle", "batches", "take", "map"})
    EXPECT_TRUE(holds(stream, one)) << one;
  EXPECT_FALSE(holds(stream, "relu"));
  const auto second = labels(program
                             + "fn f(d: Dataset[Digit]):\n    for batch in d |> shuffle(seed="
                               "1) |> take(3) |> ^\n        pass\n");
  EXPECT_TRUE(holds(second, "batches") && !holds(second, "batch_norm"));
  const auto tensor =
    labels(program + "fn f(x: [b D], l: Lin[D C], m: Mlp) -> [b D]:\n    y = x |> ^\n");
  for (const auto* one : {"relu", "matmul", "softmax", "loss", "l"})
    EXPECT_TRUE(holds(tensor, one)) << one;
  for (const auto* one : {"batches", "zeros", "adamw", "m", "x", "return"})
    EXPECT_FALSE(holds(tensor, one)) << one;
}

TEST(lsp_completion, nothing_is_offered_where_nothing_may_stand) {
  for (const auto* place :
       {"dim ^", "fn ^", "model ^", "fn f():\n    for ^", "fn f():\n    print(\"lo^",
        "fn f():\n    pass # no^", "fn f():\n    x = 12^", "devices cpu ^",
        "extern fn f(x: [b]) -> [b] = \"os^"})
    EXPECT_EQ(labels(place), words{}) << place;
  EXPECT_EQ(labels("fn f():\n    for x ^"), words{"in"});
  EXPECT_EQ(labels("import python os ^"), words{"as"});
  EXPECT_EQ(labels("fn f(x: [n]) -> [n]:\n    y = x ^"), (words{"and", "as", "or"}));
}
