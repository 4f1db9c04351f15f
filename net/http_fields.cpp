#include "net/http_fields.hpp"

#include <algorithm>

#include <boost/beast/core/string.hpp>

namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace moxzi::net {

namespace {

using std::string_view;

string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

bool is_number(string_view text) {
  return !text.empty()
         && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Whoever passes requests on for others says so in one of these.
bool tells_of_a_proxy(string_view name) {
  static constexpr string_view beginnings[] = {
    "x-forwarded",    "x-original-",      "x-real-ip", "x-client-ip",      "x-cluster-client-ip",
    "true-client-ip", "cf-connecting-ip", "cdn-loop",  "fastly-client-ip", "x-envoy-"};
  return std::any_of(std::begin(beginnings), std::end(beginnings), [name](string_view one) {
    const auto head = name.substr(0, one.size());
    return beast::iequals({head.data(), head.size()}, {one.data(), one.size()});
  });
}

// The facts as they come together, field by field.
class reader {
public:
  reader(header_facts& out, unsigned version, const http_limits& limits)
      : out_(out), version_(version), limits_(limits) {
    // nop
  }

  void take(const http::fields::value_type& field) {
    const auto value = view_of(field.value());
    switch (field.name()) {
      case http::field::content_length:
        if (++lengths_ > 1 || !is_number(value)) bad("the content length is not one number");
        break;
      case http::field::transfer_encoding:
        take_coding(value);
        break;
      case http::field::host:
        ++hosts_;
        if (!is_local_host(value)) out_.is_direct = false;
        break;
      case http::field::expect:
        take_expectation(value);
        break;
      case http::field::content_type:
        out_.content_type = value;
        break;
      case http::field::sec_fetch_site:
        if (value != "none") out_.is_direct = false; // none: the person at the browser asks
        break;
      case http::field::origin:
      case http::field::forwarded:
      case http::field::via:
        out_.is_direct = false;
        break;
      default: // Beast knows some of ours by name
        take_other(view_of(field.name_string()), value);
        break;
    }
  }

  void finish() {
    if (hosts_ > 1 || (version_ == 11 && hosts_ == 0))
      bad("an HTTP/1.1 request has one Host field");
    if (hosts_ == 0) out_.is_direct = false; // for whom it is cannot be said
  }

private:
  void bad(const char* why) {
    if (!out_.refused) out_.refused = bad_request(400, "MX003", why);
  }

  void take_coding(string_view value) {
    if (++codings_ > 1 || !beast::iequals({value.data(), value.size()}, "chunked"))
      bad("the only transfer encoding this server takes is chunked");
    if (version_ < 11) bad("a transfer encoding has no place in this request");
  }

  void take_expectation(string_view value) {
    if (value.empty()) return;
    out_.expects_continue = true;
    if (!beast::iequals({value.data(), value.size()}, "100-continue") && !out_.refused)
      out_.refused =
        bad_request(417, "MX003", "the only expectation this server meets is 100-continue");
  }

  void take_other(string_view name, string_view value) {
    if (tells_of_a_proxy(name)) out_.is_direct = false;
    const auto option = option_of_field(name);
    if (option.empty()) return;
    auto refused = set_option(out_.options, option, value, limits_);
    if (refused && !out_.option_refused) out_.option_refused = std::move(refused);
  }

  header_facts& out_;
  unsigned version_;
  const http_limits& limits_;
  int lengths_ = 0;
  int codings_ = 0;
  int hosts_ = 0;
};

} // namespace

header_facts read_fields(const http::fields& fields, unsigned version, const http_limits& limits) {
  header_facts out;
  reader in{out, version, limits};
  for (const auto& field : fields) in.take(field);
  in.finish();
  return out;
}

bool is_local_host(string_view host) noexcept {
  constexpr string_view v6 = "[::1]";
  const auto colon = host.find(':', host.starts_with(v6) ? v6.size() : 0);
  const auto name = host.substr(0, colon);
  if (colon != string_view::npos && !is_number(host.substr(colon + 1))) return false;
  if (name == v6) return true;
  if (beast::iequals({name.data(), name.size()}, "localhost")) return true;
  if (name.substr(0, 4) != "127.") return false;
  return name.find_first_not_of("0123456789.") == string_view::npos;
}

bool names_a_version(string_view header) noexcept {
  auto line = header.substr(0, header.find('\r'));
  auto target = line.find(' ');
  auto space = line.find(' ', target + 1);
  if (target == string_view::npos || space == string_view::npos) return false;
  auto version = line.substr(space + 1);
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return version.size() == 8 && version.substr(0, 5) == "HTTP/" && is_digit(version[5])
         && version[6] == '.' && is_digit(version[7]);
}

} // namespace moxzi::net
