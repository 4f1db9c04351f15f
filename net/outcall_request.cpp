#include <algorithm>
#include <array>
#include <cctype>

#include "net/outcall.hpp"

// What may be asked: pure.

namespace moxzi::net {

namespace {

class category final : public std::error_category {
public:
  const char* name() const noexcept override {
    return "moxzi.outcall";
  }
  std::string message(int code) const override {
    switch (static_cast<outcall_errc>(code)) {
      case outcall_errc::forbidden:
        return "the call is not one that may be made";
      case outcall_errc::bad_url:
        return "the URL cannot be called";
      case outcall_errc::bad_header:
        return "a header cannot be sent";
      case outcall_errc::unreachable:
        return "the server cannot be reached";
      case outcall_errc::timed_out:
        return "there was no whole response in time";
      case outcall_errc::busy:
        return "too many calls are open";
      case outcall_errc::not_trusted:
        return "the server's certificate does not hold";
      case outcall_errc::too_large:
        return "the response is too large";
      case outcall_errc::bad_response:
        return "the response is no HTTP";
    }
    return "unknown outcall error";
  }
};

constexpr std::string_view hex_digits = "0123456789ABCDEF";

constexpr std::string_view token_marks = "!#$%&'*+-.^_`|~";

bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
           || token_marks.find(c) != std::string_view::npos;
  });
}

bool is_field_value(std::string_view text) noexcept {
  return std::ranges::none_of(text,
                              [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}

std::string lower(std::string_view text) {
  std::string out{text};
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// The path and query, sendable; false if they hold what no URL may.
bool encode_target(std::string_view text, std::string& out) {
  if (text.empty() || text.front() != '/') out = '/';
  for (const unsigned char c : text) {
    if (c == '#') return true;
    if (c <= 0x20 || c == 0x7f) return false;
    if (c < 0x80) {
      out += static_cast<char>(c);
      continue;
    }
    out += '%';
    out += hex_digits[c / 16];
    out += hex_digits[c % 16];
  }
  return true;
}

} // namespace

const std::error_category& outcall_category() noexcept {
  static const category made;
  return made;
}

result<outcall_url> read_outcall_url(std::string_view url) {
  const auto bad = [url](std::string_view why) {
    return fail(outcall_errc::bad_url, "'{}': {}", url.substr(0, 200), why);
  };
  if (url.size() > limits::outcall_url_bytes_max) {
    return fail(outcall_errc::bad_url, "the URL has {} bytes; at most {}", url.size(),
                limits::outcall_url_bytes_max);
  }
  outcall_url out;
  auto rest = url;
  const auto scheme = lower(url.substr(0, 8));
  if (scheme == "https://") {
    rest.remove_prefix(8);
  } else if (scheme.starts_with("http://")) {
    out.is_https = false;
    rest.remove_prefix(7);
  } else {
    return bad("a URL that can be called starts with https:// or http://");
  }
  const auto end = std::min(rest.find_first_of("/?#"), rest.size());
  const auto server = rest.substr(0, end);
  if (server.find('@') != std::string_view::npos) return bad("it names a user; use a header");
  if (!encode_target(rest.substr(end), out.target)) return bad("it holds a space or control byte");
  const bool is_v6 = server.starts_with('[');
  const auto bracket = is_v6 ? server.find(']') : std::string_view::npos;
  if (is_v6 && bracket == std::string_view::npos) return bad("a ']' is missing");
  const auto colon = server.find(':', is_v6 ? bracket : 0);
  auto host = server.substr(0, colon);
  out.port = colon == std::string_view::npos ? std::string{out.is_https ? "443" : "80"}
                                             : std::string{server.substr(colon + 1)};
  if (is_v6) {
    if (host.size() != bracket + 1) return bad("something stands between ']' and ':'");
    host = host.substr(1, bracket - 1);
  }
  const bool is_sound = std::ranges::all_of(host, [is_v6](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || (is_v6 && c == ':');
  });
  if (host.empty() || host.size() > 253 || !is_sound) return bad("its host is no name or address");
  const bool is_number = !out.port.empty() && out.port.size() <= 5
                         && out.port.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || std::stoul(out.port) == 0 || std::stoul(out.port) > UINT16_MAX) {
    return bad("its port is no number from 1 to 65535");
  }
  out.host = host;
  out.host_header = is_v6 ? "[" + out.host + "]" : out.host;
  if (out.port != (out.is_https ? "443" : "80")) out.host_header += ":" + out.port;
  return out;
}

result<void> check_outcall(const outcall_request& request) {
  constexpr std::array<std::string_view, 8> ours = {
    "connection", "content-length", "expect",  "keep-alive",
    "te",         "trailer",        "upgrade", "transfer-encoding"};
  if (request.headers.size() > limits::outcall_headers_max) {
    return fail(outcall_errc::bad_header, "{} headers; at most {}", request.headers.size(),
                limits::outcall_headers_max);
  }
  size_t header_bytes = 0;
  for (const auto& [name, value] : request.headers) {
    if (name.size() > limits::outcall_header_bytes_max
        || value.size() > limits::outcall_header_bytes_max) {
      return fail(outcall_errc::bad_header, "the header '{}' has more than {} bytes",
                  name.substr(0, 64), limits::outcall_header_bytes_max);
    }
    if (!is_token(name) || !is_field_value(value)) {
      return fail(outcall_errc::bad_header,
                  "the header '{}' holds a byte that no header may: a line end or such",
                  name.substr(0, 64));
    }
    if (std::ranges::find(ours, lower(name)) != ours.end()) {
      return fail(outcall_errc::bad_header, "the header '{}' follows from the call itself", name);
    }
    header_bytes += name.size() + value.size();
  }
  if (header_bytes > limits::outcall_headers_bytes_max) {
    return fail(outcall_errc::bad_header, "the headers have {} bytes; at most {}", header_bytes,
                limits::outcall_headers_bytes_max);
  }
  if (header_bytes + request.body.size() > limits::outcall_bytes_max) {
    return fail(outcall_errc::forbidden, "headers and body have {} bytes; at most {}",
                header_bytes + request.body.size(), limits::outcall_bytes_max);
  }
  if (request.response_bytes_max > limits::outcall_bytes_max) {
    return fail(outcall_errc::forbidden, "max_response_bytes is {}; at most {}",
                request.response_bytes_max, limits::outcall_bytes_max);
  }
  return {};
}

} // namespace moxzi::net
