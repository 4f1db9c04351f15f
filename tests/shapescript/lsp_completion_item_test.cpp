// What a completion is, and that a program can be written by them.

#include <set>

#include <gtest/gtest.h>

#include "shapescript/check/builtin_docs.hpp"
#include "shapescript/lsp/completion_items.hpp"
#include "tests/shapescript/lsp_completion_support.hpp"

using namespace shapescript;
using namespace shapescript::testing;

// -- what an item is -----------------------------------------------------------

TEST(lsp_completion, an_item_replaces_the_word_that_is_written) {
  client c;
  const std::string marked = program + "fn f(x: [b D]) -> [b D]:\n    y = rel^ax(x)\n";
  const auto item = item_of(c, marked, "relu");
  const auto& edit = item.at("textEdit");
  EXPECT_EQ(c.slice(edit.at("range")), "rel");
  EXPECT_EQ(edit.at("newText"), "relu") << "a parenthesis follows already";
  client both{able({"insertReplaceSupport", "snippetSupport"})};
  const auto replaced = item_of(both, marked, "relu").at("textEdit");
  EXPECT_EQ(both.slice(replaced.at("insert")), "rel");
  EXPECT_EQ(both.slice(replaced.at("replace")), "relax");
  EXPECT_EQ(item_of(c, program + "fn f(x: [b D]) -> [b D]:\n    y = softmax(x, ov^=D)\n", "over=")
              .at("textEdit")
              .at("newText"),
            "over")
    << "its sign is there";
}

TEST(lsp_completion, an_item_is_a_call_where_snippets_are_known) {
  client c{able({"snippetSupport"})};
  const auto text = [&](const std::string& marked, std::string_view label) {
    const auto item = item_of(c, program + marked, label);
    return std::string{item.at("textEdit").at("newText").as_string()};
  };
  const std::string body = "fn f(x: [b D], g: Grad[Mlp]) -> [b D]:\n    ";
  EXPECT_EQ(text(body + "y = ^", "softmax"), "softmax($1)");
  EXPECT_EQ(text(body + "y = ^", "loss"), "loss($1)");
  EXPECT_EQ(text(body + "y = ^", "zeros"), "zeros[$1]");
  EXPECT_EQ(text(body + "y = ^", "full"), "full[$1]($2)");
  EXPECT_EQ(text(body + "y = x |> ^", "relu"), "relu") << "a bare name is called";
  EXPECT_EQ(text(body + "y = x |> ^", "matmul"), "matmul($1)");
  EXPECT_EQ(text(body + "y = value_and_grad(^", "loss"), "loss") << "passed by its name";
  EXPECT_EQ(text("fn f():\n    m = ^", "Lin"), "Lin[$1](seed=${2:0})");
  EXPECT_EQ(text("fn f(m: ^", "Lin"), "Lin[$1]");
  EXPECT_EQ(text("fn f(m: ^", "Mlp"), "Mlp");
  EXPECT_EQ(text("fn f(m: ^", "AdamW"), "AdamW[$1]");
  EXPECT_EQ(text("model M:\n    param w: [4] = ^", "zeros"), "zeros()");
  EXPECT_EQ(text("^", "dim"), "dim ${1:NAME} = $0");
}

TEST(lsp_completion, every_item_says_what_it_is) {
  client c;
  for (const auto& place :
       {std::string{"^"}, program + "fn f(x: [b D]) -> [b D]:\n    ^", program + "fn f(x: ^",
        program + "fn f(x: [b] ^", program + "fn f(x: [b D]) -> [b D]:\n    y = x |> ^"}) {
    for (const auto& one : items(c, place)) {
      EXPECT_TRUE(one.at("kind").is_int64()) << one;
      ASSERT_NE(one.as_object().if_contains("detail"), nullptr) << one;
      const auto label = std::string{one.at("label").as_string()};
      if (one.at("kind") != static_cast<int>(lsp::item_kind::function)
          || find_builtin(label) == nullptr)
        continue;
      EXPECT_EQ(one.at("detail").as_string(), json::string{signature_of(*find_builtin(label))});
      EXPECT_EQ(one.at("documentation").at("value").as_string(),
                json::string{documentation_of(label)});
    }
  }
  const auto loss = item_of(c, program + "fn f():\n    ^", "loss");
  EXPECT_EQ(loss.at("detail"), "fn loss(m: Mlp, batch: [b] Digit) -> [] NonNeg");
}

TEST(lsp_completion, documentation_comes_later_if_the_client_asks_so) {
  client c{
    json::object{{"textDocument",
                  {{"completion",
                    {{"completionItem",
                      {{"resolveSupport", {{"properties", json::array{"documentation"}}}}}}}}}}}};
  const std::string text = "# Half of the loss.\nfn half(x: []) -> []:\n    return x / 2.0\n\n"
                           "fn f(x: []) -> []:\n    return ^x\n";
  for (const auto& [label, said] :
       {std::pair<std::string, std::string>{"softmax", "Exponentials that sum to 1 along an axis."},
        {"half", "Half of the loss."}}) {
    const auto item = item_of(c, text, label);
    EXPECT_EQ(item.if_contains("documentation"), nullptr);
    const auto resolved = c.request("completionItem/resolve", item);
    EXPECT_EQ(resolved.at("documentation").at("value").as_string(), json::string{said});
    EXPECT_EQ(resolved.at("label").as_string(), json::string{label});
  }
  const json::object strange{{"label", "x"}};
  EXPECT_EQ(c.request("completionItem/resolve", strange), json::value(strange));
}

TEST(lsp_completion, a_sign_asks_for_completions_only_where_few_words_follow) {
  client c;
  const auto asked = [&](std::string_view marked, std::string_view sign) {
    auto params = c.open_at(marked);
    params["context"] = {{"triggerKind", 2}, {"triggerCharacter", sign}};
    return c.list("textDocument/completion", params).size();
  };
  EXPECT_EQ(asked("devices ^", " "), 3u);
  EXPECT_GT(asked(program + "fn f(x: ^", " "), 0u);
  EXPECT_GT(asked(program + "fn f(x: [n]) -> [n]:\n    y = x as ^", " "), 0u);
  EXPECT_GT(asked(program + "fn f(x: [n]) -> [n]:\n    y = x |> ^", " "), 0u);
  EXPECT_EQ(asked(program + "fn f(x: [n]) -> [n]:\n    y = ^", " "), 0u);
  EXPECT_EQ(asked(program + "fn f(x: [n]) -> [n]:\n    y =^", "="), 0u);
  EXPECT_GT(asked(program + "fn f(x: [n]) -> [n]:\n    y = softmax(x, over=^", "="), 0u);
  EXPECT_GT(asked(program + "fn f(x: [^", "["), 0u);
  EXPECT_EQ(asked(program + "fn f(x: [b ^", " "), 0u);
  EXPECT_EQ(asked(program + "fn f(x: [n]) -> [n]:\n    y = x[^", "["), 0u);
}

// -- a program is written ------------------------------------------------------

namespace {

// The words of a text with their places, comments and strings left out.
std::vector<span> words_of(const source& text) {
  std::vector<span> out;
  for (const auto& one : lex(text).tokens)
    if (one.kind == token_kind::name
        || (one.kind >= token_kind::kw_fn && one.kind <= token_kind::kw_false))
      out.push_back(one.where);
  return out;
}

// The names of arguments that the language itself knows.
std::set<std::string_view> argument_names() {
  std::set<std::string_view> out{"seed"};
  for (const auto name : builtin_names())
    for (const auto& one : slots_of(*find_builtin(name))) out.insert(one.name);
  return out;
}

// Whether nobody could know the word before it is written: a new name, one of Python's, one that
// the call chooses.
bool is_new(const typed_tree& program, const source& text, span where) {
  const auto line = text.line(text.line_of(where.begin));
  if (line.starts_with("import ")) return text.text(where) != "as";
  const auto* use = program.use_at(0, where.begin);
  if (use == nullptr || !(use->where == where)) {
    const bool inner = where.begin > 0 && text.text().substr(where.begin - 1, 1) == ".";
    for (const auto& [name, what] : program.modules[0]->names)
      if (what.kind == entity::python && line.find(std::string{name} + ".") != line.npos)
        return true;
    static const auto known = argument_names();
    const bool named = text.text().substr(where.end, 1) == "=";
    const bool chosen = line.find("log(\"") != line.npos || line.find("expand(") != line.npos
                        || !known.contains(text.text(where));
    return inner || (named && chosen);
  }
  const auto all = program.uses_of(use->name);
  const auto first = std::min_element(all.begin(), all.end(), [](const auto& x, const auto& y) {
    return x.where.begin < y.where.begin;
  });
  return use->declares || use->writes || *first == *use;
}

} // namespace

// Whoever writes a sound program word for word finds each word in the list, if it is no new name.
TEST(lsp_completion, offers_each_word_of_the_sound_programs_before_it_is_written) {
  auto paths = shapescript::testing::corpus();
  paths.push_back(golden_folder() + "/chapter/train.ss");
  size_t count = 0;
  for (const auto& path : paths) {
    const auto whole = read_file(path);
    const source text{"/tmp/a.ss", whole};
    const auto known = analyze(text);
    const bool sound = path.string().find("/sound/") != std::string::npos
                       || path.string().find("/chapter/") != std::string::npos;
    if (!sound || known.has_errors()) continue;
    client c;
    for (const auto where : words_of(text)) {
      if (is_new(*known.program, text, where)) continue;
      const auto word = whole.substr(where.begin, where.end - where.begin);
      const auto line_end = std::min(whole.find('\n', where.end), whole.size());
      // The rest of the file is there, that of the line is not.
      std::set<std::string> offered;
      for (const auto& one :
           items(c, whole.substr(0, where.begin) + "^" + whole.substr(line_end))) {
        const std::string label{one.at("label").as_string()};
        offered.insert(label.substr(0, label.find_first_of("=([: ")));
        if (const auto space = label.find(' '); space != label.npos)
          offered.insert(label.substr(space + 1));
      }
      ++count;
      EXPECT_TRUE(offered.contains(word))
        << path << " line " << text.line_of(where.begin) << ": " << word;
    }
  }
  EXPECT_GT(count, 1000u);
}
