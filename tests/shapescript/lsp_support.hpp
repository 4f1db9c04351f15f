#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "shapescript/lsp/server.hpp"
#include "tests/shapescript/support.hpp"

namespace shapescript::testing {

namespace json = boost::json;

/// A client that talks to a server of its own, one message after the other.
class client {
public:
  explicit client(json::value capabilities = json::object{},
                  std::map<std::string, std::string> on_disk = {})
      : files(std::move(on_disk)) {
    request("initialize",
            json::object{{"capabilities", std::move(capabilities)}, {"rootUri", "file:///tmp"}});
    notify("initialized", json::object{});
  }

  static std::string uri() {
    return "file:///tmp/a.ss";
  }

  void send(const json::value& message) {
    server.receive(json::serialize(message));
  }

  void notify(std::string_view method, json::value params) {
    send(json::object{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
    settle();
  }

  /// The whole answer, with `result` or `error`.
  json::object ask(std::string_view method, json::value params) {
    const auto id = ++last_id_;
    send(json::object{
      {"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
    settle();
    for (const auto& one : received)
      if (const auto* found = one.if_contains("id"); found != nullptr && *found == json::value(id))
        return one;
    ADD_FAILURE() << "no answer to " << method;
    return {};
  }

  json::value request(std::string_view method, json::value params) {
    auto answer = ask(method, std::move(params));
    if (const auto* found = answer.if_contains("result")) return *found;
    ADD_FAILURE() << method << ": " << json::serialize(answer);
    return {};
  }

  json::array list(std::string_view method, json::value params) {
    return request(method, std::move(params)).as_array();
  }

  /// The message of the refusal, with its number before it.
  std::string refusal(std::string_view method, json::value params) {
    auto answer = ask(method, std::move(params));
    const auto* found = answer.if_contains("error");
    if (found == nullptr) return "answered: " + json::serialize(answer);
    return json::serialize(found->at("code")) + " " + std::string{found->at("message").as_string()};
  }

  void open(std::string_view text, const std::string& name = uri()) {
    notify("textDocument/didOpen",
           {{"textDocument",
             {{"uri", name}, {"languageId", "shapescript"}, {"version", 1}, {"text", text}}}});
    this->text = text;
  }

  /// A request about a place in the file, with more parameters.
  json::object at(std::string_view before, std::string_view after = {}) const {
    const auto found = text.find(std::string{before} + std::string{after});
    EXPECT_NE(found, text.npos) << before;
    const lsp::document document{text};
    const auto offset = static_cast<uint32_t>(found + before.size());
    return {{"textDocument", {{"uri", uri()}}},
            {"position", lsp::to_json(document.place_of(offset, lsp::encoding::utf16))}};
  }

  json::object whole() const {
    return {{"textDocument", {{"uri", uri()}}},
            {"range",
             {{"start", {{"line", 0}, {"character", 0}}},
              {"end", {{"line", 100'000}, {"character", 0}}}}}};
  }

  /// What is written in a range.
  std::string_view slice(const json::value& range) const {
    const lsp::document document{text};
    const auto where = lsp::read_range(range);
    if (!where) return "no range";
    const auto begin = document.offset_of(where->start, lsp::encoding::utf16);
    const auto end = document.offset_of(where->end, lsp::encoding::utf16);
    return std::string_view{text}.substr(begin, end - begin);
  }

  /// The diagnostics sent last.
  json::array diagnostics() const {
    for (auto i = received.rbegin(); i != received.rend(); ++i)
      if (const auto* method = i->if_contains("method");
          method != nullptr && method->as_string() == "textDocument/publishDiagnostics")
        return i->at("params").at("diagnostics").as_array();
    return {};
  }

  void settle() {
    while (server.work()) {
      // nop
    }
    collect();
  }

  void collect() {
    for (const auto& body : server.take_output()) received.push_back(json::parse(body).as_object());
  }

  /// Opens a text in which `^` marks the cursor; gives a request about that place.
  json::object open_at(std::string_view marked) {
    const auto mark = marked.find('^');
    EXPECT_NE(mark, marked.npos) << marked;
    const std::string before{marked.substr(0, mark)};
    open(before + std::string{marked.substr(mark + 1)});
    const lsp::document document{text};
    return {{"textDocument", {{"uri", uri()}}},
            {"position",
             lsp::to_json(document.place_of(static_cast<uint32_t>(mark), lsp::encoding::utf16))}};
  }

  /// What lies on the disk, by path.
  std::map<std::string, std::string> files;
  lsp::server server{[this](const std::string& path) -> moxzi::result<source> {
                       if (const auto found = files.find(path); found != files.end())
                         return source{path, found->second};
                       return moxzi::fail(moxzi::base_errc::io, "{}: no such file", path);
                     },
                     [this](const std::string& folder) {
                       std::vector<std::string> names;
                       for (const auto& [path, text] : files)
                         if (path.starts_with(folder + "/")
                             && path.find('/', folder.size() + 1) == path.npos)
                           names.push_back(path.substr(folder.size() + 1));
                       return names;
                     }};
  std::vector<json::object> received;
  std::string text;

private:
  int last_id_ = 0;
};

/// The text after the edits of one file.
inline std::string edited(std::string text, const json::value& edits) {
  const lsp::document document{text};
  std::vector<std::pair<std::pair<uint32_t, uint32_t>, std::string>> all;
  for (const auto& one : edits.as_array()) {
    const auto where = *lsp::read_range(one.at("range"));
    all.push_back({{document.offset_of(where.start, lsp::encoding::utf16),
                    document.offset_of(where.end, lsp::encoding::utf16)},
                   std::string{one.at("newText").as_string()}});
  }
  std::sort(all.rbegin(), all.rend());
  for (const auto& [where, fresh] : all)
    text.replace(where.first, where.second - where.first, fresh);
  return text;
}

} // namespace shapescript::testing
