#include <atomic>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/net/http_fixture.hpp"

using namespace moxzi;
using namespace moxzi::net;
using namespace moxzi::net::test;

TEST(http_front, an_asynchronous_call_is_answered_under_its_id) {
  held_calls held;
  running_server s{held.handler()};
  raw_client client{s.port};
  std::set<std::string> ids;
  for (const auto& request :
       {post("/call-json/a/m?async=1", "[1]"), post("/call-json/a/m", "[2]", "async: 1\r\n")}) {
    client.send(request);
    auto r = client.read();
    ASSERT_EQ(r->status, 202);
    const auto id = call_id_of(r->body);
    EXPECT_EQ(r->body, R"({"call_id":")" + id + R"("})");
    EXPECT_EQ(id.size(), 32u);
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 2u);
  held.take()->sink->answer({.content_type = "text/plain", .body = "(1)"});
  ASSERT_EQ(held.size(), 1u); // whose client is gone
  EXPECT_EQ(s.server.numbers().calls_kept, 2u);
  for (const auto& id : ids) {
    client.send("GET /calls/" + id + " HTTP/1.1\r\nHost: x\r\n\r\n");
    auto r = client.read();
    if (r->status == 202) continue;
    EXPECT_EQ(r->status, 200);
    EXPECT_EQ(r->fields["content-type"], "text/plain");
    EXPECT_EQ(r->body, "(1)");
  }
  client.send("GET /calls/" + std::string(32, '0') + " HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.read()->status, 404);
}

TEST(http_front, the_content_type_says_how_arguments_are_written_or_they_do) {
  std::vector<std::pair<std::string, call_format>> seen;
  running_server s{[&seen](const http_call_ptr& call) {
    seen.emplace_back(call->body, call->format);
    call->sink->answer({});
  }};
  raw_client client{s.port};
  const auto send = [&client](std::string_view target, std::string_view body,
                              std::string_view type) {
    client.send(post(target, body, "Content-Type: " + std::string{type} + "\r\n"));
    EXPECT_EQ(client.read()->status, 200);
  };
  send("/call/a/m", "DIDL1", "application/octet-stream");
  send("/query/a/m", "2", "application/octet-stream");
  send("/call/a/m", "DIDL3", "text/plain; charset=utf-8");
  send("/call/a/m", "DIDL4", "application/x-www-form-urlencoded");
  send("/call/a/m", "(5)", "application/x-www-form-urlencoded");
  send("/call-json/a/m", "DIDL6", "application/octet-stream");
  using enum call_format;
  const std::vector<std::pair<std::string, call_format>> expected = {
    {"DIDL1", candid}, {"2", candid}, {"DIDL3", text},
    {"DIDL4", candid}, {"(5)", text}, {"DIDL6", json}};
  EXPECT_EQ(seen, expected);
}

TEST(http_front, only_a_program_of_this_machine_may_say_who_it_is) {
  running_server s{[](const http_call_ptr& call) {
    call->sink->answer({.body = call->sender + " " + call->cycles});
  }};
  const auto status = [&s](std::string_view fields) {
    raw_client client{s.port};
    client.send(fmt::format("POST /call-json/a/m?sender=2vxsx-fae&cycles=5 HTTP/1.1\r\n"
                            "Content-Length: 0\r\n{}\r\n",
                            fields));
    auto r = client.read();
    return r->status == 200 ? r->body : std::to_string(r->status);
  };
  for (auto host : {"localhost", "localhost:7000", "127.0.0.1:7000", "127.1.2.3", "[::1]:7000"})
    EXPECT_EQ(status(fmt::format("Host: {}\r\n", host)), "2vxsx-fae 5") << host;
  // A page of another site reaches this machine too; so does what comes through a proxy.
  for (auto other :
       {"Host: evil.example\r\n", "Host: 127.0.0.1.evil.example\r\n",
        "Host: localhost\r\nOrigin: http://evil.example\r\n",
        "Host: localhost\r\nX-Forwarded-For: 1.2.3.4\r\n", "Host: localhost\r\nVia: 1.1 proxy\r\n",
        "Host: localhost\r\nForwarded: for=1.2.3.4\r\n",
        "Host: localhost\r\nx-forwarded-proto: https\r\n",
        "Host: localhost\r\nX-Forwarded-Server: proxy\r\n",
        "Host: localhost\r\nCF-Connecting-IP: 1.2.3.4\r\n",
        "Host: localhost\r\nFastly-Client-IP: 1.2.3.4\r\n",
        "Host: localhost\r\nX-Envoy-External-Address: 1.2.3.4\r\n",
        "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"})
    EXPECT_EQ(status(other), "403") << other;
  const auto request_line = [&s](std::string_view line, std::string_view fields) {
    raw_client client{s.port};
    client.send(fmt::format("{}\r\nContent-Length: 0\r\n{}\r\n", line, fields));
    return client.read()->status;
  };
  constexpr std::string_view here = "Host: localhost\r\n";
  EXPECT_EQ(request_line("POST http://127.0.0.1:7000/call-json/a/m?cycles=5 HTTP/1.1", here), 200);
  EXPECT_EQ(request_line("POST http://evil.example/call-json/a/m?cycles=5 HTTP/1.1", here), 403);
  EXPECT_EQ(request_line("POST /call-json/a/m?cycles=5 HTTP/1.0", here), 200);
  EXPECT_EQ(request_line("POST /call-json/a/m?cycles=5 HTTP/1.0", ""), 403);
}

TEST(http_front, options_come_as_fields_too) {
  running_server s{[](const http_call_ptr& call) {
    call->sink->answer({.body = call->sender + " " + call->cycles});
  }};
  const auto answer = [&s](std::string_view query, std::string_view fields) {
    raw_client client{s.port};
    client.send(fmt::format("POST /call-json/a/m{} HTTP/1.1\r\nHost: localhost\r\n"
                            "Content-Length: 0\r\n{}\r\n",
                            query, fields));
    auto r = client.read();
    return r->status == 200 ? r->body : std::to_string(r->status);
  };
  EXPECT_EQ(answer("", "Sender: un4fu-tqaaa-aaaab-qadjq-cai\r\nCycles: 7\r\n"),
            "un4fu-tqaaa-aaaab-qadjq-cai 7");
  EXPECT_EQ(answer("?sender=2vxsx-fae", "Sender: 2vxsx-fae\r\n"), "400");
  EXPECT_EQ(answer("", "Sender: 2vxsx-fae\r\nsender: 2vxsx-fae\r\n"), "400");
  EXPECT_EQ(answer("", "Sender: NOBODY\r\n"), "400");
  EXPECT_EQ(answer("?async=1", "Async: 1\r\n"), "400");
}

TEST(http_front, answers_that_nobody_reads_are_bounded) {
  http_limits small;
  small.unsent_bytes_per_client_max = 20u << 20;
  small.unsent_bytes_max = 30u << 20;
  const std::string large(8u << 20, 'x');
  running_server s{[&large](const http_call_ptr& call) {
                     call->sink->answer({.body = call->method == "large" ? large : "small"});
                   },
                   small};
  std::vector<std::unique_ptr<raw_client>> unread;
  const auto ask = [&](uint8_t host, std::string_view method) {
    auto& client = *unread.emplace_back(std::make_unique<raw_client>(s.port, host));
    client.send(post(fmt::format("/call-json/a/{}", method), "[]"));
    return &client;
  };
  const auto is_answered = [&s](uint64_t count) {
    return eventually([&s, count] {
      const auto& answers = s.server.numbers().answers;
      return std::accumulate(answers.begin(), answers.end(), uint64_t{0}) == count;
    });
  };
  ask(2, "large");
  ask(2, "large");
  ASSERT_TRUE(is_answered(2));
  EXPECT_EQ(ask(2, "large")->read()->status, 503); // 24 MiB of one address
  EXPECT_EQ(ask(2, "small")->read()->body, "small");
  ask(3, "large");
  ASSERT_TRUE(is_answered(5));
  const auto refused = ask(3, "large")->read(); // 32 MiB of all
  EXPECT_EQ(refused->status, 503);
  EXPECT_NE(refused->body.find("MX294"), std::string::npos);
  // What was read, and what was given up, makes room.
  EXPECT_EQ(unread[0]->read()->body, large);
  unread[1]->reset();
  ASSERT_TRUE(eventually([&] { return ask(4, "large")->read()->status == 200; }));
}

TEST(http_front, a_client_that_ends_its_sending_is_let_go_whoever_is_first) {
  held_calls held;
  running_server s{held.handler()};
  std::atomic<bool> is_over{false};
  std::thread answering{[&] {
    while (!is_over) {
      if (held.size() == 0) continue;
      held.take()->sink->answer({.body = "done"});
    }
  }};
  for (int i = 0; i < 2'000; ++i) {
    raw_client client{s.port};
    client.send(post("/call-json/a/m", "[1]"));
    client.finish();
    const auto answer = client.read_to_end();
    ASSERT_TRUE(answer) << "round " << i;
    EXPECT_EQ(answer->substr(answer->size() - 4), "done");
  }
  is_over = true;
  answering.join();
}

TEST(http_front, pages_and_commands_go_to_the_node) {
  running_server s;
  raw_client client{s.port};
  const auto ask = [&client](std::string_view line) {
    client.send(fmt::format("{} HTTP/1.1\r\nHost: localhost\r\n\r\n", line));
    return client.read()->body;
  };
  const auto number = [](node_question what) { return std::to_string(static_cast<int>(what)); };
  EXPECT_EQ(ask("GET /actors"), number(node_question::actors) + "   0  local");
  EXPECT_EQ(ask("GET /actors/a%20b/logs?from=7"), number(node_question::logs) + " a b  7  local");
  EXPECT_EQ(ask("GET /actors/a/metadata/candid:service"),
            number(node_question::metadata) + " a candid:service 0  local");
  EXPECT_EQ(ask("POST /admin/topup/a?cycles=12"), number(node_question::topup) + " a  0 12 local");
  EXPECT_EQ(ask("POST /admin/topup/upgrade?cycles=1"),
            number(node_question::topup) + " upgrade  0 1 local");
  EXPECT_EQ(ask("POST /admin/a/upgrade"), number(node_question::upgrade) + " a  0  local");
  client.send("GET /status HTTP/1.1\r\nHost: example.org\r\n\r\n");
  EXPECT_EQ(client.read()->body, number(node_question::status) + "   0  remote");
}

TEST(http_front, one_address_cannot_take_all_connections) {
  http_limits small;
  small.connections_max = 6;
  small.connections_per_client_max = 4;
  running_server s{echo, small};
  std::vector<std::unique_ptr<raw_client>> open;
  const auto connect = [&](uint8_t host) {
    open.push_back(std::make_unique<raw_client>(s.port, host));
    open.back()->send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    return open.back()->read();
  };
  for (int i = 0; i < 4; ++i) EXPECT_EQ(connect(2)->status, 200);
  auto refused = connect(2);
  EXPECT_EQ(refused->status, 503);
  EXPECT_NE(refused->body.find("4 connections are open from this address"), std::string::npos);
  EXPECT_EQ(connect(3)->status, 200);
  open.erase(open.begin());
  ASSERT_TRUE(eventually([&] {
    const bool is_in = connect(2)->status == 200;
    if (!is_in) open.pop_back();
    return is_in;
  }));
}

TEST(http_front, one_address_cannot_take_all_waiting_calls) {
  http_limits small;
  small.waiting_per_client_max = 3;
  small.calls_kept_per_client_max = 2;
  held_calls held;
  running_server s{held.handler(), small};
  const auto status = [&s](std::string_view target, uint8_t host) {
    raw_client client{s.port, host};
    client.send(post(target, "[]"));
    return client.read()->status;
  };
  EXPECT_EQ(status("/call-json/a/m?async=1", 2), 202);
  EXPECT_EQ(status("/call-json/a/m?async=1", 2), 202);
  EXPECT_EQ(status("/call-json/a/m?async=1", 2), 429); // of those kept
  // Going away does not give back what waits: the actor is still to answer it.
  {
    raw_client gone{s.port, 2};
    gone.send(post("/call-json/a/m", "[]"));
    ASSERT_TRUE(eventually([&held] { return held.size() == 3; }));
  }
  EXPECT_EQ(status("/call-json/a/m", 2), 429);
  EXPECT_EQ(status("/health", 2), 405);
  EXPECT_EQ(status("/call-json/a/m?timeout_ms=1", 3), 504);
  for (int i = 0; i < 3; ++i) held.take()->sink->answer({});
  ASSERT_TRUE(eventually([&] { return status("/call-json/a/m?async=1", 2) == 202; }));
}
