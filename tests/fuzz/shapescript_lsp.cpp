#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "shapescript/lsp/server.hpp"
#include "shapescript/lsp/transport.hpp"

using namespace shapescript;
namespace json = boost::json;

namespace {

void give(lsp::server& server, const json::value& message) {
  server.receive(json::serialize(message));
}

// Every answer is JSON, whatever was asked.
void settle(lsp::server& server) {
  while (server.work()) {
    // nop
  }
  json::error_code failed;
  for (const auto& body : server.take_output()) {
    json::parse(body, failed);
    if (failed) std::abort();
  }
}

} // namespace

// The first byte says whether the rest is a stream of messages, or the text of a program that every
// feature is asked about at a place that the next two bytes give.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const std::string_view rest{reinterpret_cast<const char*>(data) + 3, size - 3};
  lsp::server server{[](const std::string& path) -> moxzi::result<source> {
    return moxzi::fail(moxzi::base_errc::io, "{}: no such file", path);
  }};
  give(server, {{"id", 0}, {"method", "initialize"}, {"params", {{"capabilities", {}}}}});
  if (data[0] % 2 == 0) {
    lsp::message_reader reader;
    std::vector<lsp::incoming> messages;
    reader.feed(rest, messages);
    for (const auto& one : messages) {
      if (one.problem.empty())
        server.receive(one.body);
      else
        server.refuse(one.problem);
    }
    settle(server);
    return 0;
  }
  json::error_code failed;
  const auto text = json::parse("\"" + std::string{rest} + "\"", failed);
  if (failed || !text.is_string()) return 0;
  give(server, {{"method", "textDocument/didOpen"},
                {"params", {{"textDocument", {{"uri", "file:///a.ss"}, {"text", text}}}}}});
  const json::object where{{"line", data[1] % 64}, {"character", data[2] % 128}};
  for (const auto& one : lsp::features())
    give(server, {{"id", 1},
                  {"method", one.method},
                  {"params",
                   {{"textDocument", {{"uri", "file:///a.ss"}}},
                    {"position", where},
                    {"range", {{"start", {{"line", 0}, {"character", 0}}}, {"end", where}}},
                    {"newName", "fresh"},
                    {"context", {{"includeDeclaration", true}}}}}});
  settle(server);
  return 0;
}
