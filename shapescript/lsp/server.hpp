#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

/// The language server without its streams: bodies of messages go in and come out. Messages wait in
/// a queue, so that a request can be cancelled before its turn; reports on a program are made when
/// nothing else waits. No body ends it.
class server {
public:
  /// `load` reads the programs that no editor has open, `list` says what lies beside them.
  explicit server(program_loader load, folder_lister list = {});
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Takes a message's body.
  void receive(std::string_view body);
  /// Answers bytes that were no message.
  void refuse(std::string_view problem);
  /// Does one piece of what waits; false if nothing did.
  bool work();
  /// Whether a message waits, and not only reports.
  bool has_requests() const noexcept {
    return !waiting_.empty();
  }
  bool has_work() const noexcept {
    return !waiting_.empty() || !unpublished_.empty();
  }
  /// The bodies to send, in order.
  std::vector<std::string> take_output();

  /// After `exit`: nothing more is taken.
  bool finished() const noexcept {
    return finished_;
  }
  /// 0 if the client ended it in the order that the protocol asks for.
  int exit_status() const noexcept {
    return shut_down_ ? 0 : 1;
  }
  /// The text of an open file as the server has it; null if it is not open.
  const std::string* text_of(const std::string& uri) const;

private:
  struct open_file {
    document text;
    json::value version;
    checked known;
    bool current = false; ///< `known` is about this text
  };

  void handle(const json::object& message);
  void answer(const json::value& id, const outcome& what);
  void notify(std::string_view method, json::value params);
  void cancel(const json::value& params);
  outcome request(std::string_view method, const json::value& params);
  outcome initialize(const json::value& params);
  outcome ask(const feature& what, const json::value& params);
  outcome workspace_symbols(const json::value& params);
  outcome resolve_completion(const json::value& item);
  void notification(std::string_view method, const json::value& params);
  void open(const json::value& params);
  void change(const json::value& params);
  void close(const json::value& params);
  void changed(const std::string& uri);
  void publish_one();
  void analyze_file(const std::string& uri, open_file& file);
  /// All open files, each with what is known of it now.
  std::vector<view> views();
  moxzi::result<source> load(const std::string& path) const;

  program_loader load_;
  surroundings around_;
  std::map<std::string, open_file> files_;
  std::set<std::string> unpublished_; // files whose reports the client has not seen
  std::deque<json::value> waiting_;
  std::vector<std::string> output_;
  encoding unit_ = encoding::utf16;
  bool initialized_ = false;
  bool shut_down_ = false;
  bool finished_ = false;
};

} // namespace shapescript::lsp
