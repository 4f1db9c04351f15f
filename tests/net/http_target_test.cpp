#include "net/http_target.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

using namespace moxzi;
using namespace moxzi::net;
namespace variant2 = boost::variant2;

namespace {

const http_limits bounds;

std::string described(const call_options& options) {
  std::string out;
  if (options.timeout_ms) out += " " + std::to_string(*options.timeout_ms);
  if (options.is_async) out += *options.is_async ? " async" : " sync";
  if (options.is_lenient) out += *options.is_lenient ? " lenient" : " strict";
  if (options.blob_base64) out += *options.blob_base64 ? " base64" : " hex";
  if (options.sender) out += " from " + *options.sender;
  if (options.cycles) out += " with " + *options.cycles;
  return out;
}

std::string found(std::string_view method, std::string_view target) {
  auto route = find_route(method, target, bounds);
  if (auto* call = variant2::get_if<call_route>(&route))
    return (call->kind == call_kind::update ? "call " : "query ")
           + std::string{call->is_json ? "" : "candid "} + call->actor + " " + call->method
           + described(call->options);
  if (variant2::holds_alternative<health_route>(route)) return "health";
  if (auto* result = variant2::get_if<result_route>(&route)) return "result " + result->call_id;
  if (auto* node = variant2::get_if<node_route>(&route))
    return "node " + std::to_string(static_cast<int>(node->what)) + " " + node->actor + " "
           + node->section + " " + std::to_string(node->from) + " " + node->cycles;
  const auto& why = variant2::get<refusal>(route);
  return std::to_string(why.status) + " " + why.why.message
         + (why.allow.empty() ? "" : " [" + std::string{why.allow} + "]");
}

int status(std::string_view method, std::string_view target) {
  return std::atoi(found(method, target).c_str());
}

} // namespace

TEST(http_target, finds_the_routes_of_calls) {
  EXPECT_EQ(found("POST", "/call-json/letters/learn"), "call letters learn");
  EXPECT_EQ(found("POST", "/query-json/letters/count"), "query letters count");
  EXPECT_EQ(found("GET", "/query-json/letters/count"), "query letters count");
  EXPECT_EQ(found("HEAD", "/query-json/letters/count"), "query letters count");
  EXPECT_EQ(found("GET", "/health"), "health");
  EXPECT_EQ(found("HEAD", "/health?"), "health");
  EXPECT_EQ(found("GET", "http://localhost:7000/health"), "health");
  EXPECT_EQ(found("POST", "/call/letters/learn"), "call candid letters learn");
  EXPECT_EQ(found("GET", "/query/letters/count"), "query candid letters count");
  EXPECT_EQ(found("GET", "/calls/0123"), "result 0123");
}

TEST(http_target, finds_the_pages_and_commands) {
  const auto node = [](node_question what, std::string_view rest) {
    return fmt::format("node {} {}", static_cast<int>(what), rest);
  };
  using q = node_question;
  EXPECT_EQ(found("GET", "/actors"), node(q::actors, "  0 "));
  EXPECT_EQ(found("HEAD", "/actors/a"), node(q::actor, "a  0 "));
  EXPECT_EQ(found("GET", "/actors/a/did"), node(q::did, "a  0 "));
  EXPECT_EQ(found("GET", "/actors/a/logs?from=18446744073709551615"),
            node(q::logs, "a  18446744073709551615 "));
  EXPECT_EQ(found("GET", "/actors/a/metadata/candid%3Aservice"),
            node(q::metadata, "a candid:service 0 "));
  EXPECT_EQ(found("GET", "/status"), node(q::status, "  0 "));
  EXPECT_EQ(found("GET", "/metrics"), node(q::metrics, "  0 "));
  EXPECT_EQ(found("POST", "/admin/a/upgrade"), node(q::upgrade, "a  0 "));
  EXPECT_EQ(found("POST", "/admin/a/reinstall"), node(q::reinstall, "a  0 "));
  EXPECT_EQ(found("POST", "/admin/a/stop"), node(q::stop, "a  0 "));
  EXPECT_EQ(found("POST", "/admin/a/start"), node(q::start, "a  0 "));
  EXPECT_EQ(found("POST", "/admin/topup/a?cycles=5"), node(q::topup, "a  0 5"));
  EXPECT_EQ(status("POST", "/admin/topup/a"), 400);
  for (auto bad : {"/actors/a/logs?from=-1", "/actors/a/logs?from=", "/actors/a/logs?to=1",
                   "/actors/a/logs?from=1&from=1", "/actors?x=1", "/admin/a/stop?cycles=1"})
    EXPECT_EQ(status(std::string_view{bad}.starts_with("/admin") ? "POST" : "GET", bad), 400)
      << bad;
  EXPECT_EQ(status("GET", "/admin/a/stop"), 405);
  EXPECT_EQ(status("POST", "/actors/a"), 405);
  EXPECT_EQ(status("POST", "/admin/a/explode"), 404);
}

TEST(http_target, reads_the_options_of_a_call) {
  EXPECT_EQ(found("POST", "/call/a/m?async=1&blob=base64&lenient=1&sender=2vxsx-fae&cycles=007"),
            "call candid a m async lenient base64 from 2vxsx-fae with 007");
  EXPECT_EQ(found("POST", "/call-json/a/m?async=0&blob=hex&lenient=0"), "call a m sync strict hex");
  for (auto bad : {"async", "async=true", "async=1&async=1", "timeout_ms=1&timeout_ms=1",
                   "timeout_ms=1&timeout_ms=2", "blob=x", "lenient=2", "cycles=", "cycles=1.5",
                   "cycles=-1", "cycles=340282366920938463463374607431768211456",
                   "sender=", "sender=ABC", "sender=a b", "Async=1"})
    EXPECT_EQ(status("POST", std::string{"/call-json/a/m?"} + bad), 400) << bad;
}

TEST(http_target, decodes_percent_escapes_in_names) {
  EXPECT_EQ(found("POST", "/call-json/gr%C3%B6%c3%9fe/a%20b"), "call größe a b");
  EXPECT_EQ(found("POST", "/call-json/größe/m"), "call größe m");
  for (auto bad : {"/call-json/%/m", "/call-json/%4/m", "/call-json/%zz/m", "/call-json/%00/m",
                   "/call-json/%ff/m", "/call-json/a/%0d%0a", "/call-json/%c0%af/m"})
    EXPECT_EQ(status("POST", bad), 400) << bad;
}

TEST(http_target, refuses_other_methods_saying_which_are_taken) {
  EXPECT_EQ(found("GET", "/call-json/a/m"), "405 /call-json/a/m takes POST, not GET [POST]");
  EXPECT_EQ(found("DELETE", "/query-json/a/m"),
            "405 /query-json/a/m takes GET, HEAD, POST, not DELETE [GET, HEAD, POST]");
  EXPECT_EQ(found("POST", "/health"), "405 /health takes GET, HEAD, not POST [GET, HEAD]");
}

TEST(http_target, an_unknown_path_is_answered_with_the_nearest_known_one) {
  EXPECT_EQ(found("POST", "/call_json/a/m"),
            "404 no such route: /call_json/a/m; did you mean 'call-json'?; calls go to POST "
            "/call-json/<actor>/<method> and POST /query-json/<actor>/<method>, pages are GET "
            "/actors, /status, /metrics and /health");
  for (auto unknown : {"/", "//", "/call-json", "/call-json/", "/call-json/a", "/call-json/a/",
                       "/call-json//m", "/call-json/a/m/", "/call-json/a/m/n", "/health/",
                       "/HEALTH", "/call-json/a//m", "//call-json/a/m"})
    EXPECT_EQ(status("POST", unknown), 404) << unknown;
}

TEST(http_target, refuses_what_is_no_path) {
  for (auto bad : {"*", "", "example.com:443", "health", "/health#x", "ftp://x/health", "?x=1"})
    EXPECT_EQ(status("GET", bad), 400) << bad;
  EXPECT_EQ(status("GET", "/" + std::string(bounds.target_bytes_max - 1, 'a')), 404);
  EXPECT_EQ(status("GET", "/" + std::string(bounds.target_bytes_max, 'a')), 414);
}

TEST(http_target, reads_the_time_out) {
  EXPECT_EQ(found("POST", "/call-json/a/m?timeout_ms=1"), "call a m 1");
  EXPECT_EQ(found("POST", "/call-json/a/m?&timeout_ms=300000&"), "call a m 300000");
  for (auto bad : {"timeout_ms", "timeout_ms=", "timeout_ms=0", "timeout_ms=-1", "timeout_ms=1.5",
                   "timeout_ms=300001", "timeout_ms=99999999999", "timeout_ms=1x", "timeout_ms=+1",
                   "timeout_ms==1", "=1"})
    EXPECT_EQ(status("POST", std::string{"/call-json/a/m?"} + bad), 400) << bad;
  EXPECT_EQ(found("POST", "/call-json/a/m?timeout=5"),
            "400 unknown parameter 'timeout' in the URL; did you mean 'timeout_ms'?");
}

TEST(http_target, whatever_comes_gives_a_route_or_a_refusal) {
  rc::check([](const std::string& target) {
    auto route = find_route("POST", "/" + target, bounds);
    if (auto* why = variant2::get_if<refusal>(&route))
      RC_ASSERT(why->status >= 400 && why->status < 500 && !why->why.message.empty());
  });
}

TEST(http_target, decoding_undoes_encoding) {
  rc::check([] {
    auto text = *rc::gen::container<std::string>(rc::gen::inRange<char>(0x20, 0x7f));
    std::string encoded;
    for (unsigned char c : text) {
      const char* digits = "0123456789aBcDeF";
      encoded += '%';
      encoded += digits[c / 16];
      encoded += digits[c % 16];
    }
    RC_ASSERT(percent_decode(encoded) == text);
  });
}
