// Names over several files: those that are open, and those that lie beside them.

#include <gtest/gtest.h>

#include "tests/shapescript/lsp_support.hpp"

using namespace shapescript;
using shapescript::testing::client;
using shapescript::testing::edited;
namespace json = boost::json;

namespace {

const std::string lib = "dim D = 4\n\ndata R:\n    x: [D]\n\n"
                        "fn twice(x: [n D]) -> [n D]:\n    return x + x\n";
const std::string user = "import lib\n\nfn f(r: [b] lib.R) -> [b lib.D]:\n"
                         "    return lib.twice(r.x)\n";
const std::string far_user = "import parts.lib\n\nfn f(x: [b lib.D]) -> [b 4]:\n"
                             "    return lib.twice(x)\n";

std::map<std::string, std::string> folder() {
  return {{"/tmp/lib.ss", lib},
          {"/tmp/user.ss", user},
          {"/tmp/other.ss", "fn twice(x: [n]) -> [n]:\n    return x\n"},
          {"/tmp/notes.txt", "lib.twice"}};
}

// `FILE:LINE` of each place, sorted.
std::vector<std::string> places(const json::value& answer) {
  std::vector<std::string> out;
  if (answer.is_null()) return out;
  const auto all = answer.is_array() ? answer.as_array() : json::array{answer};
  for (const auto& one : all) {
    const auto path = lsp::path_of(std::string{one.at("uri").as_string()});
    out.push_back(fmt::format("{}:{}", path.substr(path.rfind('/') + 1),
                              lsp::read_place(one.at("range").at("start"))->line + 1));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> references(client& c, json::object at) {
  at["context"] = {{"includeDeclaration", true}};
  return places(c.request("textDocument/references", at));
}

// The texts after a rename, by file name.
std::map<std::string, std::string> renamed(client& c, json::object at, std::string_view fresh) {
  at["newName"] = fresh;
  std::map<std::string, std::string> out;
  const auto edit = c.request("textDocument/rename", at);
  for (const auto& [uri, edits] : edit.at("changes").as_object()) {
    const auto path = lsp::path_of(std::string{uri});
    const auto before = uri == client::uri() ? c.text : c.files.at(path);
    out[path.substr(path.rfind('/') + 1)] = edited(before, edits);
  }
  return out;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

} // namespace

TEST(lsp_files, references_are_found_in_files_that_no_editor_has_open) {
  client c{json::object{}, folder()};
  using list = std::vector<std::string>;
  // From the file that uses the name, and from the one that declares it.
  const auto from_user = c.open_at("import lib\n\nfn g(x: [b 4]) -> [b 4]:\n"
                                   "    return lib.^twice(x)\n");
  EXPECT_EQ(references(c, from_user), (list{"a.ss:4", "lib.ss:6", "user.ss:4"}));
  EXPECT_EQ(
    references(c, c.open_at("import lib\n\nfn g(x: [b lib.^D]) -> [b]:\n"
                            "    return sum(x, over=lib.D)\n")),
    (list{"a.ss:3", "a.ss:4", "lib.ss:1", "lib.ss:4", "lib.ss:6", "lib.ss:6", "user.ss:3"}));
  EXPECT_EQ(references(c, c.open_at("import lib\n\nfn g(r: lib.R) -> [4]:\n    return r.^x\n")),
            (list{"a.ss:4", "lib.ss:4", "user.ss:4"}));
  client declares{json::object{}, folder()};
  declares.open(lib, "file:///tmp/lib.ss");
  auto at = declares.at("fn ", "twice");
  at["textDocument"] = {{"uri", "file:///tmp/lib.ss"}};
  EXPECT_EQ(references(declares, at), (list{"lib.ss:6", "user.ss:4"}));
}

TEST(lsp_files, an_import_leads_down_from_the_folders_above) {
  client c{json::object{}, {{"/tmp/parts/lib.ss", lib}, {"/tmp/user.ss", far_user}}};
  c.open(lib, "file:///tmp/parts/lib.ss");
  auto at = c.at("fn ", "twice");
  at["textDocument"] = {{"uri", "file:///tmp/parts/lib.ss"}};
  EXPECT_EQ(references(c, at), (std::vector<std::string>{"lib.ss:6", "user.ss:4"}));
}

TEST(lsp_files, definition_leads_into_files_that_are_not_open) {
  client c{json::object{}, folder()};
  const auto target = [&](const std::string& marked) {
    return places(c.request("textDocument/definition", c.open_at(marked)));
  };
  using list = std::vector<std::string>;
  EXPECT_EQ(target("import lib\n\nfn g(x: [b 4]) -> [b 4]:\n    return lib.^twice(x)\n"),
            list{"lib.ss:6"});
  EXPECT_EQ(target("import lib\n\nfn g(x: [b lib.^D]) -> [b]:\n    return sum(x, over=D)\n"),
            list{"lib.ss:1"});
  EXPECT_EQ(target("import lib\n\nfn g(x: lib.^R) -> [4]:\n    return x.x\n"), list{"lib.ss:3"});
  EXPECT_EQ(target("import lib\n\nfn g(x: ^lib.R) -> [4]:\n    return x.x\n"), list{"lib.ss:1"})
    << "the file itself";
}

TEST(lsp_files, rename_edits_files_that_are_not_open) {
  client c{json::object{}, folder()};
  const std::string text = "import lib\n\nfn g(x: [b lib.D]) -> [b 4]:\n"
                           "    return lib.twice(x)\n";
  const auto twice = renamed(c, c.open_at(replaced(text, "lib.twice", "lib.^twice")), "double");
  EXPECT_EQ(twice,
            (std::map<std::string, std::string>{{"a.ss", replaced(text, "twice", "double")},
                                                {"lib.ss", replaced(lib, "twice", "double")},
                                                {"user.ss", replaced(user, "twice", "double")}}))
    << "what another file calls so is another thing";
  const auto dim = renamed(c, c.open_at(replaced(text, "lib.D", "lib.^D")), "Wide");
  EXPECT_EQ(dim.at("user.ss"), replaced(user, "lib.D", "lib.Wide"));
  EXPECT_EQ(dim.at("lib.ss"),
            replaced(replaced(lib, "dim D", "dim Wide"), " D]", " Wide]")
              .replace(replaced(replaced(lib, "dim D", "dim Wide"), " D]", " Wide]").find("[D]"), 3,
                       "[Wide]"));
}

TEST(lsp_files, rename_refuses_what_would_break_or_cannot_be_read_beside) {
  client c{json::object{}, folder()};
  const auto refused = [&](std::string_view fresh) {
    auto at = c.open_at("import lib\n\nfn g(x: [b 4]) -> [b 4]:\n    return lib.^twice(x)\n");
    at["newName"] = fresh;
    return c.refusal("textDocument/rename", at);
  };
  EXPECT_EQ(refused("R"),
            "-32803 `twice` can't be renamed to `R`: E0203: `/tmp/lib.ss` does not check: "
            "`R` is declared twice");
  c.files["/tmp/broken.ss"] = "import lib\n\nfn h(x: [b 4]) -> [b 4]:\n    y = lib.twice(x +\n"
                              "    return y\n";
  EXPECT_EQ(refused("double"), "-32803 `twice` can't be renamed: it also stands in a part of "
                               "`/tmp/broken.ss` that can't be read yet");
}

TEST(lsp_files, an_import_is_checked_again_when_its_file_comes) {
  client c;
  c.open("import lib\n\nfn f(x: [b 4]) -> [b 4]:\n    return lib.twice(x)\n");
  ASSERT_EQ(c.diagnostics().size(), 1u);
  EXPECT_EQ(c.diagnostics().at(0).at("code"), "E0201") << "there is no such file";
  const auto text = c.text;
  c.open(lib, "file:///tmp/lib.ss");
  bool mended = false;
  for (const auto& one : c.received)
    if (const auto* params = one.if_contains("params");
        params != nullptr && params->as_object().if_contains("diagnostics") != nullptr
        && params->at("uri").as_string() == client::uri())
      mended = params->at("diagnostics").as_array().empty();
  EXPECT_TRUE(mended);
}

TEST(lsp_files, symbols_of_the_workspace_are_those_of_the_folder_too) {
  client c{json::object{}, folder()};
  c.open("fn g(x: [n]) -> [n]:\n    return x\n");
  const auto found = c.request("workspace/symbol", {{"query", "twice"}});
  std::vector<std::string> files;
  for (const auto& one : found.as_array())
    files.emplace_back(one.at("location").at("uri").as_string());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (std::vector<std::string>{"file:///tmp/lib.ss", "file:///tmp/other.ss"}));
}
