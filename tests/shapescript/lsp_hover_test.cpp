// What is told of a name or word where it stands.

#include <gtest/gtest.h>

#include "shapescript/check/words.hpp"
#include "tests/shapescript/lsp_support.hpp"

using namespace shapescript;
using shapescript::testing::client;

namespace {

const std::string program =
  "devices cuda[0 1 2]\n    shard params\n    split H\n\n"
  "import lib\nimport python augment\n\n"
  "dim D = 784\ndim H = 12\n# Of all heads\n# together.\ndim E = H * 2 + lib.D\n"
  "dim F = 3 # beside\n\n"
  "model Fc[A B]:\n    param w: [A B] = normal(std=0.02)\n    buffer seen: [] i64 = zeros()\n\n"
  "    # One layer.\n    fn forward(self, x: [b A]) -> [b B]:\n        return x @ self.w\n\n"
  "model Net:\n    layer one: Fc[D E]\n    layer more: 3 * Fc[E E]\n"
  "    param bias: [E] NonNeg = zeros()\n\n"
  "data Digit:\n    img:   [D]\n    label: [] Index[E]\n\n"
  "extern fn crop(x: [b D]) -> [b D] = \"augment.crop\"\n\n"
  "fn go(m: Net, batch: [b] Digit) -> [b E]:\n"
  "    y = rearrange(batch.img: n D -> D n)\n"
  "    return m.one(batch.img) + sum(y)\n\n"
  "fn noise(s: int) -> [j] NonNeg:\n    return zeros[j]\n\n"
  "fn main(rows: Dataset[Digit], opt: AdamW[Net]):\n    m = Net(seed=0)\n"
  "    if true:\n        print(lib.D, inf)\n    for batch in rows |> batches(4):\n"
  "        print(go(m, batch))\n";

const std::map<std::string, std::string> beside{
  {"/tmp/lib.ss", "dim D = 4\n\nfn twice(x: [n D]) -> [n D]:\n    return x + x\n"}};

// What is shown, without the fence, its parts joined by ` | `.
std::string shown(client& c, std::string_view marked) {
  const auto mark = marked.find('^');
  const auto answer =
    c.request("textDocument/hover", c.at(marked.substr(0, mark), marked.substr(mark + 1)));
  if (answer.is_null()) return "nothing";
  std::string text{answer.at("contents").at("value").as_string()};
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("```shapescript\n", "");
  replace("\n```", "");
  replace("  \n", " | ");
  replace("\n\n", " | ");
  return text;
}

} // namespace

TEST(lsp_hover, of_a_dim_tells_its_value_and_how_it_came) {
  client c{boost::json::object{}, beside};
  c.open(program);
  EXPECT_EQ(shown(c, "dim ^D = 784"), "dim D = 784 | `D` is 784");
  EXPECT_EQ(
    shown(c, "dim ^E ="),
    "dim E = H * 2 + lib.D | `E` is 28 | `H` is 12 and `lib.D` is 4 | Of all heads\ntogether.");
  EXPECT_EQ(shown(c, "dim ^F"), "dim F = 3 | `F` is 3 | beside");
  EXPECT_EQ(shown(c, "split ^H"), "dim H = 12 | `H` is 12 | split over the 3 devices, 4 on each")
    << "12 / 3";
  EXPECT_EQ(shown(c, "+ lib.^D"), "dim D = 4 | `D` is 4 | declared in /tmp/lib.ss, line 1");
}

TEST(lsp_hover, of_an_axis_tells_what_it_is_of) {
  client c{boost::json::object{}, beside};
  c.open(program);
  EXPECT_TRUE(shown(c, "batch: [^b]")
                .starts_with("axis b | an axis of examples, split over the 3 devices | first named "
                             "by `batch: [b] Digit`"))
    << shown(c, "batch: [^b]");
  EXPECT_TRUE(shown(c, "img: ^n D").starts_with("axis n | another name for the axis `b`"));
  EXPECT_EQ(shown(c, "model Fc[^A"),
            "axis A | a size of `model Fc`, which a use such as `Fc[...]` gives");
  EXPECT_EQ(shown(c, "-> [^j]"), "axis j | an axis of any size | only in the result: a call gives "
                                 "it by name, `j=`");
}

TEST(lsp_hover, of_members_tells_how_much_they_hold) {
  client c{boost::json::object{}, beside};
  c.open(program);
  EXPECT_EQ(shown(c, "param ^w"), "param w: [A B] = normal(std=0.02) | a param of `model Fc`")
    << "of open sizes";
  EXPECT_EQ(shown(c, "param ^bias"), "param bias: [E] NonNeg = zeros() | `E` is 28 | a param of "
                                     "`model Net` | 28 values, 112 bytes");
  EXPECT_EQ(shown(c, "buffer ^seen"), "buffer seen: [] i64 = zeros() | a buffer of `model Fc`");
  EXPECT_EQ(shown(c, "layer ^one"), "layer one: Fc[D E] | a layer of `model Net` | 21,952 values, "
                                    "87,808 bytes of params")
    << "784 * 28";
  EXPECT_EQ(shown(c, "layer ^more"), "layer more: 3 * Fc[E E] | a list of 3 layers of `model Net`");
  EXPECT_EQ(shown(c, "model ^Net"), "model Net | 24,332 values, 97,328 bytes of params")
    << "784 * 28 + 3 * 28 * 28 + 28";
  EXPECT_EQ(shown(c, "data ^Digit"), "data Digit | `img: [D]` and `label: [] Index[E]`");
  EXPECT_EQ(shown(c, "^img:   "), "img: [D] | `D` is 784 | a field of `data Digit`");
  EXPECT_EQ(shown(c, "fn ^forward"),
            "fn forward(self, x: [b A]) -> [b B] | a method of `model Fc` | One layer.");
}

TEST(lsp_hover, of_an_imported_name_tells_where_it_is_from) {
  client c{boost::json::object{}, beside};
  c.open(program);
  EXPECT_EQ(shown(c, "import ^lib"), "import lib | /tmp/lib.ss declares `D` and `twice`");
  EXPECT_EQ(shown(c, "python ^augment"),
            "import python augment | a Python module; its functions run in the controller");
  EXPECT_EQ(shown(c, "fn ^crop"), "extern fn crop(x: [b D]) -> [b D] | Python's `augment.crop`, "
                                  "which each device's worker calls on its own examples");
}

TEST(lsp_hover, of_a_word_of_the_language_tells_what_it_means) {
  client c{boost::json::object{}, beside};
  c.open(program);
  const auto form = [&](std::string_view marked) {
    const auto text = shown(c, marked);
    return text.substr(0, text.find(" | "));
  };
  EXPECT_EQ(shown(c, "^devices"),
            "devices KIND | Where every tensor of the program lives; there is no default. | 3 "
            "devices, a worker process each: `cuda:0`, `cuda:1`, `cuda:2`");
  EXPECT_EQ(form("devices ^cuda"), "devices cuda[0 1 2]");
  EXPECT_EQ(shown(c, "^shard params"),
            "shard params | Each device keeps a share of every param and of its optimizer state. "
            "| each of the 3 devices keeps 1/3");
  EXPECT_EQ(form("^split H"), "split NAME");
  EXPECT_EQ(form("^dim D"), "dim NAME = SIZE");
  EXPECT_EQ(form("^param w"), "param NAME: TYPE = INIT");
  EXPECT_EQ(form("^layer one"), "layer NAME: MODEL");
  EXPECT_EQ(form("import ^python"), "import python NAME");
  EXPECT_EQ(form("[E] ^NonNeg"), "[b] NonNeg");
  EXPECT_EQ(form("^Index[E]"), "[b] Index[C]");
  EXPECT_EQ(form("[] ^i64"), "[b] i64");
  EXPECT_EQ(form("opt: ^AdamW"), "AdamW[M]");
  EXPECT_EQ(form("rows: ^Dataset"), "Dataset[R]");
  EXPECT_EQ(form("s: ^int"), "n: int");
  EXPECT_EQ(form("if ^true"), "true");
  EXPECT_EQ(form("^for batch"), "for x in lo..hi:");
  EXPECT_EQ(form("lib.D, ^inf"), "inf");
  EXPECT_EQ(form("Net(^seed=0)"), "Net(seed=?)") << "the argument's name, not the builtin";
  EXPECT_EQ(shown(c, "main(rows: Dataset[Digit], ^opt"),
            "opt: AdamW[Net] | a share on each of the 3 devices");
}

TEST(lsp_hover, every_word_of_the_language_has_its_sentence) {
  std::string_view last;
  for (const auto& one : language_words()) {
    EXPECT_LT(last, one.name) << "sorted";
    last = one.name;
    EXPECT_TRUE(one.text.ends_with('.')) << one.name;
    EXPECT_NE(one.form.find(one.name), one.form.npos) << one.name;
    EXPECT_EQ(find_word(one.name), &one);
  }
  EXPECT_EQ(find_word("softmax"), nullptr);
}

TEST(lsp_hover, a_word_is_one_of_the_language_at_its_place_alone) {
  client c;
  c.open("devices cpu\n\nfn f(data: [n], split: [n], e: [n]) -> [n]:\n    shard = data + split\n"
         "    param = shard + e\n    return param\n");
  const auto code = [&](std::string_view marked) {
    const auto text = shown(c, marked);
    return text.substr(0, text.find(" | "));
  };
  EXPECT_EQ(code("f(^data"), "data: [n]");
  EXPECT_EQ(code("+ ^split"), "split: [n]");
  EXPECT_EQ(code("^shard ="), "shard: [n]");
  EXPECT_EQ(code("^param ="), "param: [n]");
  EXPECT_EQ(code("shard + ^e"), "e: [n]");
}
