// The order of messages, reports as one types, fixes, formatting, and what no input may do.

#include <random>

#include <gtest/gtest.h>

#include "shapescript/syntax/format.hpp"
#include "tests/shapescript/lsp_support.hpp"

using namespace shapescript;
using shapescript::testing::client;
using shapescript::testing::corpus;
using shapescript::testing::edited;
using shapescript::testing::golden_folder;
using shapescript::testing::read_file;
namespace json = boost::json;

namespace {

std::string_view code_of(const json::value& one) {
  return std::string_view{one.at("code").as_string()};
}

} // namespace

// -- the order of messages -----------------------------------------------------

TEST(lsp_server, before_initialize_and_after_shutdown_requests_are_refused) {
  lsp::server server{[](const std::string&) { return source{"", ""}; }};
  server.receive(R"({"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}})");
  while (server.work()) {
    // nop
  }
  EXPECT_NE(server.take_output().at(0).find("-32002"), std::string::npos);

  client c;
  EXPECT_TRUE(c.refusal("initialize", json::object{}).starts_with("-32600 "));
  c.request("shutdown", nullptr);
  EXPECT_TRUE(c.refusal("textDocument/hover", json::object{}).starts_with("-32600 "));
  EXPECT_FALSE(c.server.finished());
  c.notify("exit", nullptr);
  EXPECT_TRUE(c.server.finished());
  EXPECT_EQ(c.server.exit_status(), 0);

  client rude;
  rude.notify("exit", nullptr);
  EXPECT_EQ(rude.server.exit_status(), 1);
}

TEST(lsp_server, the_unit_of_columns_is_agreed_on) {
  const auto chosen = [](json::array offered) {
    lsp::server server{[](const std::string&) { return source{"", ""}; }};
    server.receive(json::serialize(json::object{
      {"id", 1},
      {"method", "initialize"},
      {"params", {{"capabilities", {{"general", {{"positionEncodings", std::move(offered)}}}}}}}}));
    while (server.work()) {
      // nop
    }
    const auto answer = json::parse(server.take_output().at(0));
    return std::string{answer.at("result").at("capabilities").at("positionEncoding").as_string()};
  };
  EXPECT_EQ(chosen({}), "utf-16");
  EXPECT_EQ(chosen({"utf-16", "utf-8"}), "utf-8");
  EXPECT_EQ(chosen({"utf-32"}), "utf-32");
  EXPECT_EQ(chosen({"ebcdic", 3}), "utf-16");
}

TEST(lsp_server, half_a_surrogate_pair_is_one_unknown_character) {
  client c;
  c.open("# ab\n");
  const auto change = [&](std::string_view changes) {
    c.server.receive(fmt::format(
      R"({{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{"textDocument":)"
      R"({{"uri":"{}","version":2}},"contentChanges":[{}]}}}})",
      client::uri(), changes));
    c.settle();
    return *c.server.text_of(client::uri());
  };
  const std::string_view at =
    R"("range":{"start":{"line":0,"character":3},"end":{"line":0,"character":3}})";
  EXPECT_EQ(change(fmt::format(R"({{{},"text":"\ud83d"}})", at)), "# a\uFFFDb\n");
  EXPECT_EQ(change(fmt::format(R"({{{},"text":"\\ud83d \ud83d\ude42"}})", at)),
            "# a\\ud83d 🙂\uFFFDb\n");
  EXPECT_EQ(change(R"({"range":null,"text":"# new\n"})"), "# new\n");
}

TEST(lsp_server, a_request_is_cancelled_while_it_waits) {
  client c;
  c.open("dim A = 1\n");
  c.received.clear();
  for (int id : {101, 102})
    c.send({{"jsonrpc", "2.0"},
            {"id", id},
            {"method", "textDocument/documentSymbol"},
            {"params", {{"textDocument", {{"uri", client::uri()}}}}}});
  c.send({{"jsonrpc", "2.0"}, {"method", "$/cancelRequest"}, {"params", {{"id", 102}}}});
  c.settle();
  ASSERT_EQ(c.received.size(), 2u);
  EXPECT_EQ(c.received[0].at("id"), 102);
  EXPECT_EQ(c.received[0].at("error").at("code"), -32800);
  EXPECT_EQ(c.received[1].at("id"), 101);
  EXPECT_TRUE(c.received[1].contains("result"));
  c.send({{"jsonrpc", "2.0"}, {"method", "$/cancelRequest"}, {"params", {{"id", 102}}}});
  c.settle();
  EXPECT_EQ(c.received.size(), 2u) << "what is answered can't be cancelled";
}

TEST(lsp_server, reports_come_once_for_a_run_of_changes) {
  client c;
  c.open("dim A = 1\n");
  c.received.clear();
  for (int i = 0; i < 10; ++i)
    c.send({{"jsonrpc", "2.0"},
            {"method", "textDocument/didChange"},
            {"params",
             {{"textDocument", {{"uri", client::uri()}, {"version", i + 2}}},
              {"contentChanges", {{{"text", "dim A = " + std::to_string(i) + "\n"}}}}}}});
  c.settle();
  ASSERT_EQ(c.received.size(), 1u);
  EXPECT_EQ(c.received[0].at("params").at("version"), 11);
}

// -- reports -------------------------------------------------------------------

TEST(lsp_server, reports_are_the_terminals) {
  for (const auto& path : corpus()) {
    const auto text = read_file(path);
    const auto expected = check(source{"/tmp/a.ss", text}, [](const std::string& missing) {
                            return moxzi::fail(moxzi::base_errc::io, "{}: no such file", missing);
                          }).diagnostics;
    client c;
    c.open(text);
    const auto shown = c.diagnostics();
    ASSERT_EQ(shown.size(), expected.size()) << path;
    for (size_t i = 0; i < shown.size(); ++i) {
      EXPECT_EQ(code_of(shown[i]), expected[i].code);
      const std::string message{shown[i].at("message").as_string()};
      EXPECT_TRUE(message.starts_with(expected[i].message)) << message;
      for (const auto* lines : {&expected[i].notes, &expected[i].help})
        for (const auto& line : *lines) EXPECT_NE(message.find(line), message.npos);
      const auto where = expected[i].primary().where;
      EXPECT_EQ(c.slice(shown[i].at("range")), text.substr(where.begin, where.end - where.begin));
    }
  }
}

TEST(lsp_server, a_report_has_its_other_places_and_leads_to_its_page) {
  client c;
  c.open(read_file(golden_folder() + "/chapter/split_python.ss"));
  ASSERT_EQ(c.diagnostics().size(), 1u);
  const auto one = c.diagnostics()[0];
  EXPECT_EQ(c.slice(one.at("range")), "batch.img");
  EXPECT_EQ(one.at("codeDescription").at("href"), "shapescript-explain:E1901.md");
  const auto& other = one.at("relatedInformation").at(0);
  EXPECT_EQ(c.slice(other.at("location").at("range")), "augment.random_crop");
  EXPECT_EQ(other.at("message"), "a Python function");
  const auto page = c.request("shapescript/explain", {{"code", "E1901"}});
  EXPECT_TRUE(std::string_view{page.as_string()}.starts_with("# E1901: Python on split data"));
  EXPECT_TRUE(c.refusal("shapescript/explain", {{"code", "E9999"}}).starts_with("-32602 "));
}

TEST(lsp_server, a_closed_file_has_no_reports) {
  client c;
  c.open("dim A = 0\n");
  EXPECT_EQ(c.diagnostics().size(), 1u);
  c.notify("textDocument/didClose", {{"textDocument", {{"uri", client::uri()}}}});
  EXPECT_TRUE(c.diagnostics().empty());
  EXPECT_EQ(c.server.text_of(client::uri()), nullptr);
}

TEST(lsp_server, an_import_is_read_from_the_open_file) {
  client c;
  c.open("dim W = 4\n\nfn twice(x: [W]) -> [W]:\n    return x + x\n", "file:///tmp/other.ss");
  c.open("import other\n\nfn f(x: [4]) -> [4]:\n    return other.twice(x)\n");
  EXPECT_TRUE(c.diagnostics().empty());
  const auto there = c.request("textDocument/definition", c.at("other.", "twice"));
  EXPECT_EQ(there.at("uri"), "file:///tmp/other.ss");
  EXPECT_EQ(there.at("range").at("start").at("line"), 2);
  c.notify("textDocument/didChange",
           {{"textDocument", {{"uri", "file:///tmp/other.ss"}, {"version", 2}}},
            {"contentChanges", {{{"text", "dim W = 5\n"}}}}});
  bool seen = false;
  for (const auto& one : c.received)
    if (const auto* params = one.if_contains("params");
        params != nullptr && params->at("uri") == json::value(client::uri()))
      seen = !params->at("diagnostics").as_array().empty();
  EXPECT_TRUE(seen) << "the importing file is checked again";
}

// -- fixes and formatting ------------------------------------------------------

TEST(lsp_server, a_fix_mends_its_fault) {
  client c;
  const std::string text = "fn f(x: [n]) -> [n]:\n    return rellu(x) # 🙂\n";
  c.open(text);
  const auto report = c.diagnostics().at(0);
  EXPECT_EQ(code_of(report), "E0201");
  auto params = c.whole();
  params["range"] = report.at("range");
  params["context"] = {{"diagnostics", json::array{}}};
  const auto actions = c.request("textDocument/codeAction", params);
  ASSERT_EQ(actions.as_array().size(), 1u);
  EXPECT_EQ(actions.at(0).at("title"), "Replace `rellu` by `relu`");
  const auto mended = edited(text, actions.at(0).at("edit").at("changes").at(client::uri()));
  EXPECT_EQ(mended, "fn f(x: [n]) -> [n]:\n    return relu(x) # 🙂\n");
  params["context"] = {{"diagnostics", json::array{}}, {"only", json::array{"refactor"}}};
  EXPECT_EQ(c.request("textDocument/codeAction", params), json::value(json::array{}));
}

TEST(lsp_server, every_fix_of_the_corpus_mends_its_fault) {
  size_t fixes = 0;
  for (const auto& path : corpus()) {
    const auto text = read_file(path);
    client c;
    c.open(text);
    auto params = c.whole();
    for (const auto& action : c.list("textDocument/codeAction", params)) {
      const auto mended = edited(text, action.at("edit").at("changes").at(client::uri()));
      const auto report = action.at("diagnostics").at(0);
      const auto line = report.at("range").at("start").at("line").to_number<uint32_t>() + 1;
      const source program{"/tmp/a.ss", mended};
      const auto left = check(program).diagnostics;
      EXPECT_LE(left.size(), check(source{"/tmp/a.ss", text}).diagnostics.size()) << path;
      for (const auto& one : left) {
        const auto where = program.position_of(one.primary().where.begin);
        EXPECT_FALSE(one.code == code_of(report) && where.line == line) << path << ": " << action;
      }
      ++fixes;
    }
  }
  EXPECT_GT(fixes, 10u);
}

TEST(lsp_server, formatting_gives_what_fmt_gives) {
  size_t formatted = 0;
  for (const auto& path : corpus()) {
    auto text = read_file(path);
    for (size_t at = 0; (at = text.find("    ", at)) != text.npos; at += 3)
      text.replace(at, 4, "  "); // another indentation
    const source program{"/tmp/a.ss", text};
    const auto expected = shapescript::format(program, parse(program));
    client c;
    c.open(text);
    const auto edits =
      c.request("textDocument/formatting", {{"textDocument", {{"uri", client::uri()}}}});
    if (!expected) {
      EXPECT_TRUE(edits.is_null()) << path;
      continue;
    }
    EXPECT_LE(edits.as_array().size(), 1u);
    EXPECT_EQ(edited(text, edits), *expected) << path;
    ++formatted;
  }
  EXPECT_GT(formatted, 50u);
}

// -- what no input may do ------------------------------------------------------

TEST(lsp_server, wrong_messages_are_answered_and_the_next_ones_too) {
  client c;
  const auto answer = [&](std::string_view body) {
    c.received.clear();
    c.server.receive(body);
    c.settle();
    return c.received.empty() ? std::string{"nothing"}
                              : json::serialize(c.received.at(0).at("error").at("code"));
  };
  EXPECT_EQ(answer("{"), "-32700");
  EXPECT_EQ(answer("\xFF"), "-32700");
  EXPECT_EQ(answer("[]"), "-32600");
  EXPECT_EQ(answer("7"), "-32600");
  EXPECT_EQ(answer(R"({"method":7})"), "-32600");
  EXPECT_EQ(answer(R"({"id":5,"result":null})"), "nothing");
  EXPECT_EQ(answer(R"({"id":5,"method":"textDocument/fly"})"), "-32601");
  EXPECT_EQ(answer(R"({"method":"textDocument/fly"})"), "nothing");
  EXPECT_EQ(answer(R"({"id":5,"method":"textDocument/hover"})"), "-32602");
  EXPECT_EQ(answer(R"({"id":null,"method":"textDocument/hover","params":[1]})"), "-32602");
  EXPECT_EQ(answer(std::string(100'000, '[')), "-32700");
  c.open("dim A = 1\n");
  for (const auto& one : lsp::features()) {
    const auto refused = c.refusal(one.method, {{"textDocument", {{"uri", "file:///other"}}}});
    EXPECT_TRUE(refused.starts_with("-32602 ")) << refused;
    c.ask(one.method, {{"textDocument", {{"uri", client::uri()}}}});
    c.ask(one.method, {{"textDocument", {{"uri", client::uri()}}},
                       {"position", {{"line", -1}, {"character", "x"}}},
                       {"range", 3}});
    auto far = c.whole();
    far["position"] = {{"line", 4'000'000'000u}, {"character", 18446744073709551615u}};
    far["newName"] = "x";
    c.ask(one.method, far);
  }
  EXPECT_EQ(c.request("textDocument/documentSymbol", c.whole()).as_array().size(), 1u);
}

TEST(lsp_server, edits_out_of_range_and_of_other_files_change_nothing_else) {
  client c;
  c.open("dim A = 1\n");
  const auto change = [&](json::value changes) {
    c.notify("textDocument/didChange",
             {{"textDocument", {{"uri", client::uri()}, {"version", nullptr}}},
              {"contentChanges", std::move(changes)}});
  };
  change(
    {{{"range",
       {{"start", {{"line", 9}, {"character", 9}}}, {"end", {{"line", 99}, {"character", 0}}}}},
      {"text", "dim B = 2\n"}}});
  EXPECT_EQ(*c.server.text_of(client::uri()), "dim A = 1\ndim B = 2\n");
  change(7);
  change(json::array{7, json::object{{"text", 7}}, json::object{{"range", 7}, {"text", "x"}}});
  EXPECT_EQ(*c.server.text_of(client::uri()), "dim A = 1\ndim B = 2\n");
  c.notify("textDocument/didChange",
           {{"textDocument", {{"uri", "file:///none"}}}, {"contentChanges", {{{"text", ""}}}}});
  c.notify("textDocument/didChange", 7);
  c.notify("textDocument/didOpen", {{"textDocument", 7}});
  EXPECT_EQ(*c.server.text_of(client::uri()), "dim A = 1\ndim B = 2\n");
}

TEST(lsp_server, a_file_cut_at_every_byte_is_answered_about) {
  const auto text = read_file(golden_folder() + "/chapter/train.ss");
  for (size_t size = 0; size <= text.size(); ++size) {
    client c;
    c.open(text.substr(0, size));
    const lsp::document document{text.substr(0, size)};
    const auto end = document.place_of(static_cast<uint32_t>(size), lsp::encoding::utf16);
    auto params = c.whole();
    params["position"] = lsp::to_json(end);
    params["newName"] = "fresh";
    params["context"] = {{"includeDeclaration", true}};
    for (const auto& one : lsp::features()) c.ask(one.method, params);
  }
}

TEST(lsp_server, random_messages_are_survived) {
  std::mt19937 random{7};
  const auto text = read_file(golden_folder() + "/chapter/train.ss");
  const auto features = lsp::features();
  client c;
  c.open(text);
  for (int i = 0; i < 3000; ++i) {
    const auto method = i % 4 == 0 ? std::string_view{"textDocument/didChange"}
                                   : features[random() % features.size()].method;
    const lsp::place start{uint32_t(random() % 40), uint32_t(random() % 60)};
    const lsp::place end{start.line + uint32_t(random() % 2), uint32_t(random() % 60)};
    auto body = json::serialize(
      json::object{{"jsonrpc", "2.0"},
                   {"id", i},
                   {"method", method},
                   {"params",
                    {{"textDocument", {{"uri", client::uri()}, {"version", i}}},
                     {"position", lsp::to_json(start)},
                     {"range", lsp::to_json(lsp::place_range{start, end})},
                     {"newName", "q"},
                     {"contentChanges",
                      {{{"range", lsp::to_json(lsp::place_range{start, end})},
                        {"text", text.substr(random() % text.size(), random() % 20)}}}}}}});
    if (i % 5 == 1) body[random() % body.size()] = static_cast<char>(random());
    c.server.receive(body);
    c.settle();
    c.received.clear();
  }
  EXPECT_FALSE(c.server.finished());
}
