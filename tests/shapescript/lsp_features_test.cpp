// What the editor is told about names, types and calls.

#include <gtest/gtest.h>

#include "tests/shapescript/lsp_support.hpp"

using namespace shapescript;
using shapescript::testing::client;
using shapescript::testing::edited;
using shapescript::testing::golden_folder;
using shapescript::testing::read_file;
namespace json = boost::json;

namespace {

std::string train() {
  return read_file(golden_folder() + "/chapter/train.ss");
}

std::string hover(client& c, std::string_view before, std::string_view after) {
  const auto answer = c.request("textDocument/hover", c.at(before, after));
  return answer.is_null() ? std::string{}
                          : std::string{answer.at("contents").at("value").as_string()};
}

std::vector<uint32_t> reference_lines(client& c, const json::object& at) {
  auto params = at;
  params["context"] = {{"includeDeclaration", true}};
  std::vector<uint32_t> out;
  for (const auto& one : c.list("textDocument/references", params))
    out.push_back(lsp::read_place(one.at("range").at("start"))->line + 1);
  std::sort(out.begin(), out.end());
  return out;
}

std::string renamed(client& c, json::object at, std::string_view fresh) {
  at["newName"] = fresh;
  const auto edit = c.request("textDocument/rename", at);
  return edited(c.text, edit.at("changes").at(client::uri()));
}

std::string refused_rename(client& c, json::object at, std::string_view fresh) {
  at["newName"] = fresh;
  return c.refusal("textDocument/rename", at);
}

} // namespace

// -- hover ---------------------------------------------------------------------

TEST(lsp_features, hover_shows_types_with_their_sizes) {
  client c;
  c.open(train());
  EXPECT_EQ(hover(c, "", "m.w1 |>").substr(0, 24), "```shapescript\nm: Mlp\n``");
  EXPECT_TRUE(hover(c, "m.", "w1 |>")
                .starts_with("```shapescript\nw1: [D Hd]\n```\n\n`D` is 784, `Hd` is 256\n\n"));
  EXPECT_TRUE(
    hover(c, "batch.", "img").starts_with("```shapescript\nimg: [b D]\n```\n\n`D` is 784\n\n"))
    << "in a batch a field has the batch's axis";
  EXPECT_TRUE(hover(c, "l, ", "g").starts_with("```shapescript\ng: Grad[Mlp]\n```"));
  EXPECT_EQ(hover(c, "dim ", "Hd"), "```shapescript\ndim Hd = 256\n```\n\n`Hd` is 256");
  EXPECT_EQ(hover(c, "fn ", "loss"),
            "```shapescript\nfn loss(m: Mlp, batch: [b] Digit) -> [] NonNeg\n```");
  EXPECT_TRUE(hover(c, "step(mut ", "m: Mlp").starts_with("```shapescript\nmut m: Mlp\n```"));
  EXPECT_TRUE(hover(c, "|> ", "gelu")
                .starts_with("```shapescript\ngelu(x, approx?)\n```\n\nThe Gaussian error linear "
                             "unit, in its exact form unless `approx` is true."));
  EXPECT_EQ(hover(c, "", "\ndim D"), "") << "nothing is there";
}

TEST(lsp_features, hover_shows_what_a_step_sends) {
  client c;
  c.open(train());
  const auto text = hover(c, "l, g = ", "value_and_grad");
  EXPECT_NE(text.find("all-reduce"), text.npos) << text;
  EXPECT_NE(text.find("203,264 f32 values, 813,056 bytes per step"), text.npos) << text;
  EXPECT_NE(hover(c, "batch.", "img @").find("split along"), std::string::npos)
    << hover(c, "batch.", "img @");
  const auto mistaken = c.text + "\nfn wrong(x: [n]) -> [n]:\n    return rellu(x)\n";
  c.open(mistaken);
  EXPECT_EQ(hover(c, "l, g = ", "value_and_grad").find("bytes"), std::string::npos)
    << "what a wrong program sends is not known";
}

// -- names ---------------------------------------------------------------------

TEST(lsp_features, definition_leads_to_the_declaration) {
  client c;
  c.open(train());
  const auto target = [&](const json::object& at) {
    const auto answer = c.request("textDocument/definition", at);
    if (answer.is_null()) return std::string{"nothing"};
    const auto start = *lsp::read_place(answer.at("range").at("start"));
    return fmt::format("{} in line {}", c.slice(answer.at("range")), start.line + 1);
  };
  EXPECT_EQ(target(c.at("m.", "w1")), "w1 in line 8");
  EXPECT_EQ(target(c.at("value_and_grad(", "loss")), "loss in line 15");
  EXPECT_EQ(target(c.at("batch.", "label")), "label in line 13");
  EXPECT_EQ(target(c.at("over=", "C")), "C in line 5");
  EXPECT_EQ(target(c.at("mut opt, ", "g)")), "g in line 19");
  EXPECT_EQ(target(c.at("Dataset[", "Digit")), "Digit in line 11");
  EXPECT_EQ(target(c.at("|> ", "gelu")), "nothing");
}

TEST(lsp_features, references_and_highlights_are_all_uses) {
  client c;
  c.open(train());
  EXPECT_EQ(reference_lines(c, c.at("dim ", "Hd")), (std::vector<uint32_t>{4, 8, 9}));
  EXPECT_EQ(reference_lines(c, c.at("dim ", "C ")), (std::vector<uint32_t>{5, 9, 13, 16}));
  EXPECT_EQ(reference_lines(c, c.at("data ", "Digit")), (std::vector<uint32_t>{11, 15, 18, 23}));
  const auto marks = c.request("textDocument/documentHighlight", c.at("", "l, g"));
  ASSERT_EQ(marks.as_array().size(), 2u);
  EXPECT_EQ(marks.at(0).at("kind"), 3) << "written";
  EXPECT_EQ(marks.at(1).at("kind"), 2) << "read";
}

TEST(lsp_features, rename_changes_dims_axes_fields_and_variables_everywhere) {
  client c;
  c.open(train());
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string out;
    std::string_view rest = c.text;
    const auto is_word = [](char x) {
      return std::isalnum(static_cast<unsigned char>(x)) || x == '_';
    };
    while (!rest.empty()) {
      size_t n = 0;
      while (n < rest.size() && is_word(rest[n])) ++n;
      const auto word = rest.substr(0, std::max<size_t>(n, 1));
      out += word == from ? to : word;
      rest.remove_prefix(word.size());
    }
    return out;
  };
  EXPECT_EQ(renamed(c, c.at("dim ", "Hd"), "Hidden"), replaced("Hd", "Hidden"));
  EXPECT_EQ(renamed(c, c.at("over=", "C"), "Classes"), replaced("C", "Classes"));
  EXPECT_EQ(renamed(c, c.at("batch.", "label"), "digit"), replaced("label", "digit"));
  EXPECT_EQ(renamed(c, c.at("model ", "Mlp"), "Net"), replaced("Mlp", "Net"));
  EXPECT_EQ(renamed(c, c.at("value_and_grad(", "loss,"), "objective").find("fn loss"),
            std::string::npos);
  // `b` is an axis of `loss`; the one of `step` is another.
  const auto one = renamed(c, c.at("loss(m: Mlp, batch: [", "b]"), "n");
  EXPECT_NE(one.find("fn loss(m: Mlp, batch: [n] Digit)"), one.npos);
  EXPECT_NE(one.find("batch: [b] Digit) -> [] NonNeg:\n    l, g"), one.npos);
}

TEST(lsp_features, rename_refuses_what_is_no_name_and_what_would_change_the_meaning) {
  client c;
  c.open(train());
  const auto hd = c.at("dim ", "Hd");
  EXPECT_TRUE(refused_rename(c, hd, "3x").starts_with("-32602 `3x` is no name"));
  EXPECT_TRUE(refused_rename(c, hd, "return").starts_with("-32602 "));
  EXPECT_TRUE(refused_rename(c, hd, "").starts_with("-32602 "));
  EXPECT_TRUE(refused_rename(c, hd, "a b").starts_with("-32602 "));
  EXPECT_TRUE(refused_rename(c, c.at("", "gelu"), "relu").starts_with("-32803 "));
  EXPECT_TRUE(refused_rename(c, c.at("lr=", "3e-4"), "x").starts_with("-32803 "));
  EXPECT_TRUE(refused_rename(c, c.at("", "return"), "x").starts_with("-32803 "));
  EXPECT_EQ(refused_rename(c, hd, "D"),
            "-32803 `Hd` can't be renamed to `D`: E0203: `D` is declared twice");
  EXPECT_TRUE(refused_rename(c, c.at("loss(m: Mlp, batch: [", "b]"), "Q").starts_with("-32803 "))
    << "an axis of any size begins with a small letter";
  c.open("fn f(x: [n], y: [n]) -> [n]:\n    return x + y\n");
  EXPECT_TRUE(refused_rename(c, c.at("f(", "x"), "y").starts_with("-32803 "));
  c.open("fn f(x: [n 4]) -> [n 4]:\n    k = relu(x)\n    j = relu(x)\n    return k + j\n");
  EXPECT_TRUE(refused_rename(c, c.at("", "k ="), "j").starts_with("-32803 "))
    << "two variables would be one";
  EXPECT_EQ(c.request("textDocument/prepareRename", c.at("", "k =")).at("placeholder"), "k");
  EXPECT_TRUE(c.refusal("textDocument/prepareRename", c.at("", "relu")).starts_with("-32803 "));
}

TEST(lsp_features, rename_refuses_names_in_what_cannot_be_read) {
  client c;
  c.open("fn f(x: [n]) -> [n]:\n    y = x * 2.0\n    z = y +\n    return y\n");
  EXPECT_TRUE(refused_rename(c, c.at("", "y ="), "q").starts_with("-32803 `y` can't be renamed"));
  EXPECT_EQ(renamed(c, c.at("f(", "x"), "v"),
            "fn f(v: [n]) -> [n]:\n    y = v * 2.0\n    z = y +\n    return y\n");
}

TEST(lsp_features, rename_changes_fields_and_axes_given_by_name) {
  client c;
  c.open("data R:\n    img: [3]\n\nfn main():\n    d = dataset(R, img=[[1.0, 2.0, 3.0]])\n"
         "    print(len(d))\n");
  EXPECT_EQ(renamed(c, c.at("", "img: ["), "pic"),
            "data R:\n    pic: [3]\n\nfn main():\n    d = dataset(R, pic=[[1.0, 2.0, 3.0]])\n"
            "    print(len(d))\n");
  c.open("fn f() -> [k]:\n    return zeros[k]\n\nfn g() -> [3]:\n    return f(k=3)\n");
  EXPECT_EQ(renamed(c, c.at("-> [", "k]"), "j"),
            "fn f() -> [j]:\n    return zeros[j]\n\nfn g() -> [3]:\n    return f(j=3)\n");
}

TEST(lsp_features, rename_reaches_the_files_that_import) {
  client c;
  const std::string other = "fn twice(x: [n]) -> [n]:\n    return x + x\n";
  const std::string uri = "file:///tmp/other.ss";
  c.open(other, uri);
  c.open("import other\n\nfn f(x: [4]) -> [4]:\n    return other.twice(x)\n");
  auto params = c.at("other.", "twice");
  params["newName"] = "double";
  const auto changes = c.request("textDocument/rename", params).at("changes");
  EXPECT_EQ(edited(c.text, changes.at(client::uri())),
            "import other\n\nfn f(x: [4]) -> [4]:\n    return other.double(x)\n");
  EXPECT_EQ(edited(other, changes.at(uri)), "fn double(x: [n]) -> [n]:\n    return x + x\n");
}

// -- outlines, hints and colours -------------------------------------------------

TEST(lsp_features, symbols_are_the_declarations) {
  client c;
  c.open(train());
  std::string out;
  for (const auto& one : c.list("textDocument/documentSymbol", c.whole())) {
    out += std::string{one.at("name").as_string()} + " ";
    if (one.at("name") == "Mlp") {
      EXPECT_EQ(c.slice(one.at("range")).substr(0, 10), "model Mlp:");
      EXPECT_TRUE(c.slice(one.at("range")).ends_with("param w2: [Hd C] = normal(std=0.02)"));
      EXPECT_EQ(one.at("children").at(1).at("detail"), "[Hd C]");
    }
  }
  EXPECT_EQ(out, "D Hd C Mlp Digit loss step train ");
  const auto found = c.request("workspace/symbol", {{"query", "W"}});
  ASSERT_EQ(found.as_array().size(), 2u);
  EXPECT_EQ(found.at(0).at("containerName"), "Mlp");
}

TEST(lsp_features, hints_show_shapes_after_assignments_and_stages) {
  client c;
  c.open("dim D = 4\n\nfn f(x: [b D], w: [D 2]) -> [b]:\n    y = x @ w\n    z: [b 2] = y\n"
         "    s = z\n        |> relu\n        |> sum(over=b)\n    t = s |> sum\n"
         "    return x |> sum(over=D)\n");
  std::string out;
  for (const auto& one : c.list("textDocument/inlayHint", c.whole())) {
    const auto where = *lsp::read_place(one.at("position"));
    out += fmt::format("{}:{} {}\n", where.line + 1, where.column + 1,
                       std::string_view{one.at("label").as_string()});
  }
  EXPECT_EQ(out, "4:6 : [b 2]\n6:6 : [2] NonNeg\n6:10 [b 2]\n7:16 [b 2] NonNeg\n"
                 "8:23 [2] NonNeg\n9:6 : [] NonNeg\n");
}

TEST(lsp_features, colours_are_where_the_tokens_are) {
  for (const auto& path : shapescript::testing::corpus()) {
    client c;
    c.open(read_file(path));
    const auto data =
      c.request("textDocument/semanticTokens/full", c.whole()).at("data").as_array();
    ASSERT_EQ(data.size() % 5, 0u);
    lsp::place at;
    const source text{"/tmp/a.ss", c.text};
    const auto tokens = lex(text);
    const lsp::document document{c.text};
    for (size_t i = 0; i < data.size(); i += 5) {
      const auto number = [&](size_t k) { return data[i + k].to_number<uint32_t>(); };
      at = number(0) > 0 ? lsp::place{at.line + number(0), number(1)}
                         : lsp::place{at.line, at.column + number(1)};
      const span where{document.offset_of(at, lsp::encoding::utf16),
                       document.offset_of({at.line, at.column + number(2)}, lsp::encoding::utf16)};
      const auto is = [&](const auto& one) { return one.where == where; };
      EXPECT_TRUE(std::any_of(tokens.tokens.begin(), tokens.tokens.end(), is)
                  || std::any_of(tokens.comments.begin(), tokens.comments.end(), is))
        << path << ": " << text.text(where);
      EXPECT_LT(number(3), lsp::semantic_legend().at("tokenTypes").as_array().size());
    }
  }
}

TEST(lsp_features, an_axis_has_a_colour_of_its_own) {
  client c;
  c.open(train());
  const auto legend = lsp::semantic_legend().at("tokenTypes").as_array();
  const auto kind_of = [&](std::string_view before, std::string_view word) {
    const auto params = c.at(before, word);
    auto range = json::object{{"start", params.at("position")}, {"end", params.at("position")}};
    auto end = *lsp::read_place(params.at("position"));
    end.column += static_cast<uint32_t>(word.size());
    range["end"] = lsp::to_json(end);
    const auto data = c.request("textDocument/semanticTokens/range",
                                {{"textDocument", {{"uri", client::uri()}}}, {"range", range}})
                        .at("data");
    return std::string{legend.at(data.at(3).to_number<size_t>()).as_string()};
  };
  EXPECT_EQ(kind_of("batch: [", "b"), "axis");
  EXPECT_EQ(kind_of("over=", "C"), "enumMember");
  EXPECT_EQ(kind_of("", "devices"), "keyword");
  EXPECT_EQ(kind_of("train(mut m: Mlp, ", "data"), "parameter") << "the word, not the declaration";
  EXPECT_EQ(kind_of("", "data Digit").substr(0, 7), "keyword");
  EXPECT_EQ(kind_of("", "loss("), "function");
}

namespace {

// The kind of each token of a text, in order, as `TEXT:KIND`.
std::vector<std::string> kinds(client& c) {
  const auto legend = lsp::semantic_legend().at("tokenTypes").as_array();
  const auto data = c.request("textDocument/semanticTokens/full", c.whole()).at("data").as_array();
  const lsp::document document{c.text};
  lsp::place at;
  std::vector<std::string> out;
  for (size_t i = 0; i < data.size(); i += 5) {
    const auto number = [&](size_t k) { return data[i + k].to_number<uint32_t>(); };
    at = number(0) > 0 ? lsp::place{at.line + number(0), number(1)}
                       : lsp::place{at.line, at.column + number(1)};
    const auto begin = document.offset_of(at, lsp::encoding::utf16);
    out.push_back(c.text.substr(begin, number(2)) + ":"
                  + std::string{legend.at(number(3)).as_string()});
  }
  return out;
}

bool has(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

} // namespace

TEST(lsp_features, words_of_devices_and_models_have_colours_of_their_own) {
  client c;
  c.open("devices cuda[0 1]\n    shard params\n    split H\n\nimport python os\n\ndim H = 2\n\n"
         "model M:\n    param w: [H] NonNeg = zeros()\n    buffer s: [] = zeros()\n"
         "    layer bn: BatchNorm[H]\n\nextern fn e(x: [b H]) -> [b H] = \"os.e\"\n");
  const auto all = kinds(c);
  for (const auto* one :
       {"devices:keyword", "cuda:device",    "shard:modifier", "params:modifier", "split:modifier",
        "H:enumMember",    "import:keyword", "python:keyword", "os:namespace",    "dim:keyword",
        "model:keyword",   "M:class",        "param:keyword",  "w:property",      "NonNeg:type",
        "zeros:function",  "buffer:keyword", "layer:keyword",  "BatchNorm:class", "extern:keyword",
        "fn:keyword",      "x:parameter",    "b:axis"})
    EXPECT_TRUE(has(all, one)) << one;
}

// Axes stand in types, patterns, indices, masks and named arguments.
TEST(lsp_features, an_axis_has_its_colour_everywhere) {
  client c;
  c.open("fn f(x: [b n d], ids: [m] Index[n]) -> [b m]:\n"
         "    y = x |> rearrange(b n d -> n b d)\n    z = repeat(x: b n d -> b k n d, k=3)\n"
         "    w = causal[n n]\n    s = sum(x, over=(n, d)) + sum(pad(x, n=(1, 1)))\n"
         "    q = stack(ids, ids, new=p)\n    r = y[n=0] as [b d]\n"
         "    return einsum(x, x: b n d, b m d -> b m)\n");
  for (const auto& one : kinds(c)) {
    const auto name = one.substr(0, one.find(':'));
    if (std::string_view{"bndmkp"}.find(name) != std::string_view::npos && name.size() == 1)
      EXPECT_EQ(one, name + ":axis");
  }
  const auto all = kinds(c);
  EXPECT_EQ(std::count(all.begin(), all.end(), "n:axis"), 12);
  EXPECT_EQ(std::count(all.begin(), all.end(), "k:axis"), 2);
}

TEST(lsp_features, names_keep_their_colours_in_a_line_that_cannot_be_read) {
  client c;
  c.open("dim D = 4\n\nmodel M:\n    param w: [D D] = zeros()\n\n"
         "fn f(m: M, x: [n D]) -> [n D]:\n    y = relu(x)\n    return f(m, y @ m.w + softmax(x,\n\n"
         "fn g(x: [k D] y: [k]) -> [k]:\n    return y\n");
  const auto all = kinds(c);
  const auto count = [&](std::string_view one) { return std::count(all.begin(), all.end(), one); };
  EXPECT_EQ(count("m:parameter"), 3);
  EXPECT_EQ(count("y:variable"), 2);
  EXPECT_EQ(count("f:function"), 2);
  EXPECT_EQ(count("w:property"), 2);
  EXPECT_EQ(count("softmax:function"), 1);
  EXPECT_EQ(count("k:axis"), 3) << "in a header that lacks a comma";
}

TEST(lsp_features, rename_changes_an_axis_that_a_call_gives_a_size) {
  client c;
  c.open("fn f(x: [b d]) -> [b 3 d]:\n    return x |> repeat(b d -> b k d, k=3)\n");
  EXPECT_EQ(renamed(c, c.at("-> b ", "k d"), "times"),
            "fn f(x: [b d]) -> [b 3 d]:\n    return x |> repeat(b d -> b times d, times=3)\n");
}

TEST(lsp_features, blocks_and_comments_fold) {
  client c;
  c.open("# one\n# two\ndim A = 1 # beside\n\nfn f(x: [n]) -> [n]:\n    y = x\n\n    return y\n\n");
  std::string out;
  for (const auto& one : c.list("textDocument/foldingRange", c.whole()))
    out += fmt::format("{}-{} ", one.at("startLine").to_number<int>(),
                       one.at("endLine").to_number<int>());
  EXPECT_EQ(out, "4-7 0-1 ");
}
