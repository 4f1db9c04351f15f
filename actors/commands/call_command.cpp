#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "actors/commands/command.hpp"
#include "base/limits.hpp"
#include "net/http_client.hpp"

namespace moxzi::actors {

namespace {

struct arguments {
  std::string actor;
  std::string method;
  std::string json = "[]";
  std::string url = "http://127.0.0.1:7000";
  std::string tls_ca;
  uint32_t timeout_ms = limits::call_timeout_ms;
  bool query = false;
};

// What the server says went wrong, on one line.
std::string describe(const net::client_response& response) {
  boost::json::error_code ec;
  auto value = boost::json::parse(response.body, ec);
  const auto* outer = ec ? nullptr : value.if_object();
  const auto* inner = outer == nullptr ? nullptr : outer->if_contains("error");
  const auto* object = inner == nullptr ? nullptr : inner->if_object();
  if (object == nullptr)
    return fmt::format("the server answered {}: {}", response.status, response.body);
  auto text = [object](const char* key) -> std::string {
    const auto* found = object->if_contains(key);
    return found != nullptr && found->is_string() ? found->get_string().c_str() : "";
  };
  return fmt::format("{} {}: {}", text("name"), text("error_code"), text("message"));
}

int run(const arguments& in) {
  net::client_request request;
  request.url = in.url;
  request.tls_ca = in.tls_ca;
  request.target =
    fmt::format("/{}/{}/{}?timeout_ms={}", in.query ? "query-json" : "call-json",
                net::percent_encode(in.actor), net::percent_encode(in.method), in.timeout_ms);
  request.body = in.json;
  // The server answers at its deadline; a little more for the way.
  request.timeout_ms = in.timeout_ms + 5'000;
  auto response = net::send_request(request);
  if (!response) {
    fmt::print(stderr, "moxzi: {}\n", response.error().message);
    return exit_refused;
  }
  if (response->status != 200) {
    fmt::print(stderr, "moxzi: {}\n", describe(*response));
    return exit_refused;
  }
  fmt::print("{}\n", response->body);
  return exit_ok;
}

} // namespace

void add_call_command(CLI::App& program, int& status) {
  auto* app = program.add_subcommand("call", "Call a method of an actor and print its answer");
  auto in = std::make_shared<arguments>();
  app->add_option("NAME", in->actor, "The actor's name or principal")->required();
  app->add_option("METHOD", in->method, "The method's name")->required();
  app->add_option("JSON", in->json, "The arguments, a JSON array")->capture_default_str();
  app->add_option("--url", in->url, "Where moxzid listens")->capture_default_str();
  app->add_option("--tls-ca", in->tls_ca,
                  "With https: a PEM file of authorities to trust beside the system's");
  app->add_option("--timeout-ms", in->timeout_ms, "How long to wait for the answer")
    ->check(CLI::Range(1u, limits::call_timeout_ms))
    ->capture_default_str();
  app->add_flag("--query", in->query, "Ask without changing anything");
  app->callback([in, &status] { status = run(*in); });
}

} // namespace moxzi::actors
