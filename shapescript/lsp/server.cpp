#include "shapescript/lsp/server.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "shapescript/lsp/beside.hpp"
#include "shapescript/report/explain.hpp"

namespace shapescript::lsp {

namespace {

std::string_view view_of(const json::string& text) {
  return {text.data(), text.size()};
}

// The name of the document that a message is about.
std::optional<std::string> uri_in(const json::value& params) {
  const auto* document = member(params, "textDocument");
  const auto uri = document == nullptr ? std::nullopt : text_member(*document, "uri");
  if (!uri) return std::nullopt;
  return std::string{*uri};
}

// The best unit that the client knows too: bytes are the cheapest.
encoding chosen_unit(const json::value& params) {
  const auto* client = member(params, "capabilities");
  const auto* general = client == nullptr ? nullptr : member(*client, "general");
  const auto* offered = general == nullptr ? nullptr : member(*general, "positionEncodings");
  const auto* list = offered == nullptr ? nullptr : offered->if_array();
  if (list == nullptr) return encoding::utf16;
  const auto has = [&](std::string_view name) {
    return std::any_of(list->begin(), list->end(), [&](const json::value& one) {
      return one.is_string() && view_of(one.get_string()) == name;
    });
  };
  if (has("utf-8")) return encoding::utf8;
  return has("utf-32") && !has("utf-16") ? encoding::utf32 : encoding::utf16;
}

// Whether the client says that it can do something: a path of names below `capabilities`.
bool can(const json::value& params, std::initializer_list<std::string_view> path) {
  const auto* at = member(params, "capabilities");
  for (const auto name : path) at = at == nullptr ? nullptr : member(*at, name);
  const auto* flag = at == nullptr ? nullptr : at->if_bool();
  return flag != nullptr && *flag;
}

// Whether the client asks for a completion's property later.
bool resolves(const json::value& params, std::string_view property) {
  const auto* at = member(params, "capabilities");
  for (const auto* name :
       {"textDocument", "completion", "completionItem", "resolveSupport", "properties"})
    at = at == nullptr ? nullptr : member(*at, name);
  const auto* list = at == nullptr ? nullptr : at->if_array();
  return list != nullptr && std::any_of(list->begin(), list->end(), [&](const json::value& one) {
           return one.is_string() && view_of(one.get_string()) == property;
         });
}

abilities abilities_of(const json::value& params) {
  abilities out;
  out.snippets = can(params, {"textDocument", "completion", "completionItem", "snippetSupport"});
  out.insert_replace =
    can(params, {"textDocument", "completion", "completionItem", "insertReplaceSupport"});
  out.lazy_documentation = resolves(params, "documentation");
  out.label_places = can(params, {"textDocument", "signatureHelp", "signatureInformation",
                                  "parameterInformation", "labelOffsetSupport"});
  return out;
}

// The folders that the client works in.
std::vector<std::string> roots_of(const json::value& params) {
  std::vector<std::string> out;
  const auto add = [&](std::optional<std::string_view> uri) {
    if (!uri) return;
    auto path = path_of(*uri);
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    out.push_back(std::move(path));
  };
  const auto* folders = member(params, "workspaceFolders");
  if (folders != nullptr && folders->is_array())
    for (const auto& one : folders->get_array()) add(text_member(one, "uri"));
  if (out.empty()) add(text_member(params, "rootUri"));
  return out;
}

} // namespace

server::server(program_loader load, folder_lister list) : load_(std::move(load)) {
  around_.load = [this](const std::string& path) { return this->load(path); };
  around_.list_folder = std::move(list);
}

std::vector<std::string> server::take_output() {
  return std::exchange(output_, {});
}

const std::string* server::text_of(const std::string& uri) const {
  const auto place = files_.find(uri);
  return place == files_.end() ? nullptr : &place->second.text.text();
}

// -- messages ------------------------------------------------------------------

void server::receive(std::string_view body) {
  if (finished_) return;
  json::error_code failed;
  auto message = read_json(body, failed);
  if (failed) return answer(nullptr, refusal{parse_error, "not JSON: " + failed.message()});
  const auto* method = member(message, "method");
  if (!message.is_object() || (method != nullptr && !method->is_string()))
    return answer(nullptr, refusal{invalid_request, "not a request of JSON-RPC"});
  if (method == nullptr) return; // an answer; the server asks nothing
  if (view_of(method->get_string()) == "$/cancelRequest") {
    if (const auto* params = member(message, "params")) cancel(*params);
    return;
  }
  waiting_.push_back(std::move(message));
}

void server::refuse(std::string_view problem) {
  answer(nullptr, refusal{invalid_request, std::string{problem}});
}

void server::cancel(const json::value& params) {
  const auto* id = member(params, "id");
  if (id == nullptr) return;
  const auto place = std::find_if(waiting_.begin(), waiting_.end(), [&](const json::value& one) {
    const auto* other = member(one, "id");
    return other != nullptr && *other == *id;
  });
  if (place == waiting_.end()) return; // answered already
  waiting_.erase(place);
  answer(*id, refusal{request_cancelled, "cancelled by the client"});
}

bool server::work() {
  if (finished_) return false;
  if (!waiting_.empty()) {
    const auto message = std::move(waiting_.front());
    waiting_.pop_front();
    handle(message.get_object());
    return true;
  }
  if (unpublished_.empty()) return false;
  publish_one();
  return true;
}

void server::handle(const json::object& message) {
  static const json::value nothing;
  const auto method = view_of(message.at("method").get_string());
  const auto* found = message.if_contains("params");
  const auto& params = found != nullptr ? *found : nothing;
  if (const auto* id = message.if_contains("id"))
    answer(*id, request(method, params));
  else
    notification(method, params);
}

void server::answer(const json::value& id, const outcome& what) {
  json::object message{{"jsonrpc", "2.0"}, {"id", id}};
  if (const auto* refused = std::get_if<refusal>(&what))
    message["error"] = {{"code", refused->code}, {"message", refused->message}};
  else
    message["result"] = std::get<json::value>(what);
  output_.push_back(json::serialize(message));
}

void server::notify(std::string_view method, json::value params) {
  output_.push_back(json::serialize(
    json::object{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}));
}

// -- requests ------------------------------------------------------------------

outcome server::request(std::string_view method, const json::value& params) {
  if (method == "initialize") return initialize(params);
  if (!initialized_) return refusal{not_initialized, "the first request is `initialize`"};
  if (shut_down_) return refusal{invalid_request, "after `shutdown` comes only `exit`"};
  if (method == "shutdown") {
    shut_down_ = true;
    return json::value(nullptr);
  }
  if (method == "workspace/symbol") return workspace_symbols(params);
  if (method == "completionItem/resolve") return resolve_completion(params);
  if (method == "shapescript/explain") {
    const auto code = text_member(params, "code");
    const auto page = code ? explanation(*code) : std::nullopt;
    if (!page) return refusal{invalid_params, "`code` is no code of a report"};
    return json::value(json::string{*page});
  }
  for (const auto& one : features())
    if (one.method == method) return ask(one, params);
  return refusal{method_not_found, fmt::format("no method `{}`", method)};
}

outcome server::initialize(const json::value& params) {
  if (initialized_) return refusal{invalid_request, "`initialize` comes once"};
  initialized_ = true;
  unit_ = chosen_unit(params);
  around_.able = abilities_of(params);
  around_.roots = roots_of(params);
  json::object out;
  out["capabilities"] = capabilities(unit_);
  out["serverInfo"] = {{"name", "shapescript"}};
  return json::value(std::move(out));
}

outcome server::ask(const feature& what, const json::value& params) {
  const auto uri = uri_in(params);
  if (!uri) return refusal{invalid_params, "`textDocument` has no `uri`"};
  const auto place = files_.find(*uri);
  if (place == files_.end()) return refusal{invalid_params, fmt::format("{} is not open", *uri)};
  const auto all = views();
  const auto own =
    std::find_if(all.begin(), all.end(), [&](const view& x) { return x.uri == *uri; });
  auto of = *own;
  of.open = all;
  return what.answer(of, params);
}

outcome server::workspace_symbols(const json::value& params) {
  const auto query = text_member(params, "query");
  if (!query) return refusal{invalid_params, "`query` is no text"};
  const auto open = views();
  json::array out;
  if (open.empty()) return json::value(std::move(out));
  auto first = open.front();
  first.open = open;
  const auto beside = files_of_workspace(first);
  for (const auto& one : beside.all) find_symbols(one, *query, out);
  return json::value(std::move(out));
}

// An item of a file that is no longer open is as it was.
outcome server::resolve_completion(const json::value& item) {
  const auto* data = member(item, "data");
  const auto uri = data == nullptr ? std::nullopt : text_member(*data, "uri");
  if (uri)
    for (const auto& one : views())
      if (one.uri == *uri) return resolved_completion(one, item);
  if (!item.is_object()) return refusal{invalid_params, "a completion is an object"};
  return item;
}

// -- documents -----------------------------------------------------------------

void server::notification(std::string_view method, const json::value& params) {
  if (method == "exit") {
    finished_ = true;
    return;
  }
  if (!initialized_ || shut_down_) return;
  if (method == "textDocument/didOpen")
    open(params);
  else if (method == "textDocument/didChange")
    change(params);
  else if (method == "textDocument/didClose")
    close(params);
  else if (method == "workspace/didChangeWatchedFiles")
    for (const auto& [uri, file] : files_) changed(uri);
}

void server::open(const json::value& params) {
  const auto* item = member(params, "textDocument");
  const auto uri = item == nullptr ? std::nullopt : text_member(*item, "uri");
  const auto text = item == nullptr ? std::nullopt : text_member(*item, "text");
  if (!uri || !text || text->size() > program_bytes_max) return;
  const auto* version = member(*item, "version");
  files_.insert_or_assign(
    std::string{*uri},
    open_file{
      document{std::string{*text}}, version != nullptr ? *version : json::value{}, {}, false});
  changed(std::string{*uri});
}

void server::change(const json::value& params) {
  const auto uri = uri_in(params);
  const auto place = uri ? files_.find(*uri) : files_.end();
  if (place == files_.end()) return;
  auto& file = place->second;
  if (const auto* version = member(*member(params, "textDocument"), "version"))
    file.version = *version;
  const auto* changes = member(params, "contentChanges");
  if (changes == nullptr || !changes->is_array()) return;
  for (const auto& one : changes->get_array()) {
    const auto text = text_member(one, "text");
    if (!text) continue;
    const auto* where = member(one, "range");
    if (where != nullptr && where->is_null()) where = nullptr; // all of it
    const auto range = where == nullptr ? std::nullopt : read_range(*where);
    if (where != nullptr && !range) continue;
    const auto kept = range ? file.text.text().size() : 0;
    if (kept + text->size() > program_bytes_max) continue;
    if (range)
      file.text.replace(*range, *text, unit_);
    else
      file.text.replace_all(std::string{*text});
  }
  changed(*uri);
}

void server::close(const json::value& params) {
  const auto uri = uri_in(params);
  if (!uri || files_.erase(*uri) == 0) return;
  unpublished_.erase(*uri);
  notify("textDocument/publishDiagnostics", {{"uri", *uri}, {"diagnostics", json::array{}}});
  for (const auto& [other, file] : files_) changed(other);
}

// What is known of a file, and of those that import anything, is out of date.
void server::changed(const std::string& uri) {
  for (auto& [other, file] : files_) {
    const bool imports = file.known.program != nullptr
                         && !file.known.program->modules.front()->program.program.imports.empty();
    if (other != uri && !imports) continue;
    file.current = false;
    unpublished_.insert(other);
  }
}

void server::publish_one() {
  const auto uri = *unpublished_.begin();
  unpublished_.erase(unpublished_.begin());
  auto& file = files_.at(uri);
  analyze_file(uri, file);
  json::object params{
    {"uri", uri}, {"diagnostics", diagnostics({uri, file.text, file.known, unit_, {}, &around_})}};
  if (file.version.is_number()) params["version"] = file.version;
  notify("textDocument/publishDiagnostics", std::move(params));
}

void server::analyze_file(const std::string& uri, open_file& file) {
  if (file.current) return;
  file.known = analyze(source{path_of(uri), file.text.text()},
                       [this](const std::string& path) { return load(path); });
  file.current = true;
}

std::vector<view> server::views() {
  std::vector<view> out;
  for (auto& [uri, file] : files_) {
    analyze_file(uri, file);
    out.push_back({uri, file.text, file.known, unit_, {}, &around_});
  }
  return out;
}

moxzi::result<source> server::load(const std::string& path) const {
  for (const auto& [uri, file] : files_)
    if (path_of(uri) == path) return source{path, file.text.text()};
  return load_(path);
}

} // namespace shapescript::lsp
