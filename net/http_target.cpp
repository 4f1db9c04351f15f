#include "net/http_target.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.hpp"

namespace moxzi::net {

namespace {

using std::string_view;

enum class path_kind : uint8_t { call, query, call_json, query_json, result, node, health };

struct path_row {
  string_view pattern; // `*` takes one part of the path
  string_view allow;
  path_kind kind;
  node_question what = node_question::status;
};

constexpr string_view reads = "GET, HEAD";
constexpr string_view asks = "GET, HEAD, POST";

// The first row that fits counts.
constexpr path_row rows[] = {
  {"call-json/*/*", "POST", path_kind::call_json},
  {"query-json/*/*", asks, path_kind::query_json},
  {"call/*/*", "POST", path_kind::call},
  {"query/*/*", asks, path_kind::query},
  {"calls/*", reads, path_kind::result},
  {"actors", reads, path_kind::node, node_question::actors},
  {"actors/*", reads, path_kind::node, node_question::actor},
  {"actors/*/did", reads, path_kind::node, node_question::did},
  {"actors/*/logs", reads, path_kind::node, node_question::logs},
  {"actors/*/metadata/*", reads, path_kind::node, node_question::metadata},
  {"admin/topup/*", "POST", path_kind::node, node_question::topup},
  {"admin/*/upgrade", "POST", path_kind::node, node_question::upgrade},
  {"admin/*/reinstall", "POST", path_kind::node, node_question::reinstall},
  {"admin/*/stop", "POST", path_kind::node, node_question::stop},
  {"admin/*/start", "POST", path_kind::node, node_question::start},
  {"health", reads, path_kind::health},
  {"status", reads, path_kind::node, node_question::status},
  {"metrics", reads, path_kind::node, node_question::metrics},
};

constexpr string_view first_words[] = {"call-json", "query-json", "call",   "query",  "calls",
                                       "actors",    "admin",      "health", "status", "metrics"};

// One part of a path, and the rest behind its slash.
string_view take_part(string_view& path) {
  auto slash = path.find('/');
  auto part = path.substr(0, slash);
  path.remove_prefix(slash == string_view::npos ? path.size() : slash + 1);
  return part;
}

// What the stars of the pattern take, if the path (without its first slash) fits.
using captures = std::array<string_view, 2>;
std::optional<captures> match(string_view pattern, string_view path) {
  if (std::count(pattern.begin(), pattern.end(), '/') != std::count(path.begin(), path.end(), '/'))
    return std::nullopt;
  captures out;
  size_t taken = 0;
  while (!pattern.empty()) {
    auto wanted = take_part(pattern);
    auto part = take_part(path);
    if (wanted != "*" ? wanted != part : part.empty()) return std::nullopt;
    if (wanted == "*") out[taken++] = part;
  }
  return out;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// `http://host:port/path` is what a proxy's client sends (RFC 9112, 3.2.2). What is in front of
// its path; nothing in origin form.
string_view before_path(string_view target) noexcept {
  for (string_view scheme : {"http://", "https://"})
    if (target.starts_with(scheme))
      return target.substr(0, target.find_first_of("/?", scheme.size()));
  return {};
}

// The path counts.
string_view origin_form(string_view target) noexcept {
  const auto front = before_path(target);
  if (!front.empty() && front.size() == target.size()) return "/";
  return target.substr(front.size());
}

refusal unknown_path(string_view path) {
  auto first = path.substr(path.empty() ? 0 : 1);
  first = first.substr(0, first.find('/'));
  return bad_request(
    404, "MX001",
    fmt::format("no such route: {}{}; calls go to POST /call-json/<actor>/<method> "
                "and POST /query-json/<actor>/<method>, pages are GET /actors, "
                "/status, /metrics and /health",
                path, did_you_mean(first, first_words)));
}

refusal method_not_allowed(string_view method, string_view path, string_view allow) {
  auto out = bad_request(405, "MX002",
                         fmt::format("{} takes {}, not {}", path, allow, method.substr(0, 32)));
  out.allow = allow;
  return out;
}

std::optional<refusal> read_from(string_view value, uint64_t& out) {
  const auto* end = value.data() + value.size();
  auto [rest, ec] = std::from_chars(value.data(), end, out);
  if (ec == std::errc{} && rest == end) return std::nullopt;
  return bad_request(400, "MX003", "from must be a whole number");
}

// Which parameters a page takes beside none: logs `from`, topup `cycles`.
std::optional<refusal> set_parameter(node_route& out, string_view name, string_view value,
                                     const http_limits& limits) {
  if (out.what == node_question::logs && name == "from") return read_from(value, out.from);
  if (out.what == node_question::topup && name == "cycles") {
    call_options options;
    auto refused = set_option(options, name, value, limits);
    if (!refused) out.cycles = *options.cycles;
    return refused;
  }
  return bad_request(400, "MX003", fmt::format("unknown parameter '{}' in the URL", name));
}

// Hands each `name=value` to `take`, and refuses a name that comes twice.
template <class Take>
std::optional<refusal> for_each_parameter(string_view query, Take take) {
  std::vector<string_view> seen;
  while (!query.empty()) {
    auto pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    auto name = pair.substr(0, pair.find('='));
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return bad_request(400, "MX003", fmt::format("{} is given twice", name));
    seen.push_back(name);
    if (auto refused = take(name, pair.substr(std::min(name.size() + 1, pair.size()))))
      return refused;
  }
  return std::nullopt;
}

route make_call(const path_row& row, std::string actor, std::string name, string_view query,
                const http_limits& limits) {
  const bool is_query = row.kind == path_kind::query || row.kind == path_kind::query_json;
  const bool is_json = row.kind == path_kind::call_json || row.kind == path_kind::query_json;
  call_route out{is_query ? call_kind::query : call_kind::update,
                 is_json,
                 std::move(actor),
                 std::move(name),
                 {}};
  auto refused = for_each_parameter(query, [&](string_view key, string_view value) {
    return set_option(out.options, key, value, limits);
  });
  if (refused) return std::move(*refused);
  return out;
}

route make_node(const path_row& row, std::string actor, std::string section, string_view query,
                const http_limits& limits) {
  node_route out{row.what, std::move(actor), std::move(section), 0, {}};
  auto refused = for_each_parameter(query, [&](string_view key, string_view value) {
    return set_parameter(out, key, value, limits);
  });
  if (refused) return std::move(*refused);
  if (out.what == node_question::topup && out.cycles.empty())
    return bad_request(400, "MX003", "how many? POST /admin/topup/<actor>?cycles=N");
  return out;
}

route make_route(const path_row& row, const captures& parts, string_view query,
                 const http_limits& limits) {
  auto first = percent_decode(parts[0]);
  auto second = percent_decode(parts[1]);
  if (!first || !second)
    return bad_request(400, "MX003",
                       "the URL has a malformed percent-escape, or is not UTF-8 text");
  switch (row.kind) {
    case path_kind::health:
      return health_route{};
    case path_kind::result:
      return result_route{std::move(*first)};
    case path_kind::node:
      return make_node(row, std::move(*first), std::move(*second), query, limits);
    default:
      return make_call(row, std::move(*first), std::move(*second), query, limits);
  }
}

} // namespace

refusal server_stopping() {
  return {
    503, {reject_code::sys_unknown, "the server stopped before the answer came", "MX692"}, {}};
}

refusal bad_request(uint16_t status, std::string error_code, std::string message) {
  return {status, {reject_code::none, std::move(message), std::move(error_code)}, {}};
}

std::optional<std::string> percent_decode(string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    auto high = hex_value(text[i + 1]);
    auto low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (!is_utf8(out) || std::any_of(out.begin(), out.end(), is_control)) return std::nullopt;
  return out;
}

string_view authority_of(string_view target) noexcept {
  const auto front = before_path(target);
  return front.empty() ? front : front.substr(front.find("//") + 2);
}

route find_route(string_view method, string_view target, const http_limits& limits) {
  if (target.size() > limits.target_bytes_max)
    return bad_request(414, "MX005",
                       fmt::format("the URL is longer than {} bytes", limits.target_bytes_max));
  target = origin_form(target);
  if (target.empty() || target.front() != '/' || target.find('#') != string_view::npos)
    return bad_request(400, "MX003", "the request's target is no path");
  auto question = std::min(target.find('?'), target.size());
  auto path = target.substr(0, question);
  auto query = target.substr(std::min(question + 1, target.size()));
  if (!is_utf8(path)) return bad_request(400, "MX003", "the URL is not UTF-8");
  for (const auto& row : rows) {
    auto parts = match(row.pattern, path.substr(1));
    if (!parts) continue;
    auto is_read = method == "GET" || method == "HEAD";
    auto is_taken =
      row.allow == "POST" ? method == "POST" : is_read || (row.allow == asks && method == "POST");
    if (!is_taken) return method_not_allowed(method, path, row.allow);
    return make_route(row, *parts, query, limits);
  }
  return unknown_path(path);
}

} // namespace moxzi::net
