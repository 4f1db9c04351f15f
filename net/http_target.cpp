#include "net/http_target.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.hpp"

namespace moxzi::net {

namespace {

using std::string_view;

constexpr string_view paths[] = {"call-json", "query-json", "health"};
constexpr string_view parameters[] = {"timeout_ms"};

std::vector<string_view> split(string_view text, char separator) {
  std::vector<string_view> out;
  for (;;) {
    auto at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// `http://host:port/path` is what a proxy's client sends (RFC 9112, 3.2.2); the path counts.
string_view origin_form(string_view target) {
  for (string_view scheme : {"http://", "https://"}) {
    if (target.substr(0, scheme.size()) != scheme) continue;
    auto path = target.find_first_of("/?", scheme.size());
    return path == string_view::npos ? string_view{"/"} : target.substr(path);
  }
  return target;
}

refusal unknown_path(string_view path) {
  auto first = path.substr(path.empty() ? 0 : 1);
  first = first.substr(0, first.find('/'));
  return bad_request(404, "MX001",
                     fmt::format("no such route: {}{}; there are POST /call-json/<actor>/<method>, "
                                 "POST /query-json/<actor>/<method> and GET /health",
                                 path, did_you_mean(first, paths)));
}

refusal method_not_allowed(string_view method, string_view path, string_view allow) {
  auto out = bad_request(405, "MX002",
                         fmt::format("{} takes {}, not {}", path, allow, method.substr(0, 32)));
  out.allow = allow;
  return out;
}

// Reads the query string into the route.
std::optional<refusal> read_query(string_view query, call_route& out, const http_limits& limits) {
  for (auto pair : split(query, '&')) {
    if (pair.empty()) continue;
    auto equals = std::min(pair.find('='), pair.size());
    auto name = pair.substr(0, equals);
    if (std::find(std::begin(parameters), std::end(parameters), name) == std::end(parameters))
      return bad_request(
        400, "MX003",
        fmt::format("unknown parameter '{}' in the URL{}", name, did_you_mean(name, parameters)));
    auto value = read_timeout(pair.substr(std::min(equals + 1, pair.size())), limits);
    if (auto* refused = boost::variant2::get_if<refusal>(&value)) return std::move(*refused);
    out.timeout_ms = boost::variant2::get<uint32_t>(value);
  }
  return std::nullopt;
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

boost::variant2::variant<refusal, uint32_t> read_timeout(string_view text,
                                                         const http_limits& limits) {
  uint32_t value = 0;
  const auto* end = text.data() + text.size();
  auto [rest, ec] = std::from_chars(text.data(), end, value);
  if (ec != std::errc{} || rest != end || value == 0 || value > limits.call_timeout_ms)
    return bad_request(400, "MX003",
                       fmt::format("timeout_ms must be a whole number of milliseconds from 1 to {}",
                                   limits.call_timeout_ms));
  return value;
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
  if (path == "/health") {
    if (method != "GET" && method != "HEAD") return method_not_allowed(method, path, "GET, HEAD");
    return health_route{};
  }
  auto parts = split(path, '/');
  auto is_call = parts.size() == 4 && parts[1] == "call-json";
  auto is_query = parts.size() == 4 && parts[1] == "query-json";
  if ((!is_call && !is_query) || parts[2].empty() || parts[3].empty()) return unknown_path(path);
  if (is_call && method != "POST") return method_not_allowed(method, path, "POST");
  if (is_query && method != "POST" && method != "GET" && method != "HEAD")
    return method_not_allowed(method, path, "GET, HEAD, POST");
  auto actor = percent_decode(parts[2]);
  auto name = percent_decode(parts[3]);
  if (!actor || !name)
    return bad_request(400, "MX003",
                       "the URL has a malformed percent-escape, or is not UTF-8 text");
  call_route out{is_call ? call_kind::update : call_kind::query, std::move(*actor),
                 std::move(*name), std::nullopt};
  if (auto refused = read_query(query, out, limits)) return std::move(*refused);
  return out;
}

} // namespace moxzi::net
