#include "net/http_server.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/net/http_fixture.hpp"

using namespace moxzi;
using namespace moxzi::net;
using namespace moxzi::net::test;

TEST(http_server, hands_a_call_over_as_it_came) {
  running_server s;
  raw_client client{s.port};
  client.send(post("/call-json/letters/learn", "[200]",
                   "Content-Type: application/x-www-form-urlencoded\r\n"));
  auto r = client.read();
  ASSERT_TRUE(r);
  EXPECT_EQ(r->status, 200);
  EXPECT_EQ(r->body, "update letters learn [200]");
  EXPECT_EQ(r->fields["content-type"], "application/json");
  client.send("GET /query-json/a%20b/count HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.read()->body, "query a b count ");
  client.send(post("/query-json/a/m", "[]"));
  EXPECT_EQ(client.read()->body, "query a m []");
}

TEST(http_server, answers_health_and_head) {
  running_server s;
  raw_client client{s.port};
  client.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.read()->body, R"({"status":"ok"})");
  client.send("HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n");
  auto head = client.read(false);
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->fields["content-length"], "15");
  client.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.read()->body, R"({"status":"ok"})");
}

TEST(http_server, errors_have_the_error_object_and_keep_the_connection) {
  running_server s;
  raw_client client{s.port};
  client.send(post("/nowhere", "[1]"));
  auto r = client.read();
  EXPECT_EQ(r->status, 404);
  EXPECT_EQ(r->body.substr(0, 50), R"({"error":{"code":0,"name":"bad_request","message":)");
  client.send("GET /call-json/a/m HTTP/1.1\r\nHost: x\r\n\r\n");
  r = client.read();
  EXPECT_EQ(r->status, 405);
  EXPECT_EQ(r->fields["allow"], "POST");
  EXPECT_TRUE(r->keeps_open());
  client.send(post("/call-json/a/m", "[1]"));
  EXPECT_EQ(client.read()->status, 200);
}

TEST(http_server, answers_pipelined_requests_in_order) {
  held_calls held;
  running_server s{held.handler()};
  raw_client client{s.port};
  std::string all;
  for (int i = 0; i < 100; ++i) all += post("/call-json/a/m", std::to_string(i));
  client.send(all);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(eventually([&held] { return held.size() == 1; }));
    auto call = held.take();
    EXPECT_EQ(call->body, std::to_string(i));
    call->sink->answer({.body = call->body});
    auto r = client.read();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->body, std::to_string(i));
  }
}

TEST(http_server, takes_chunked_bodies_however_they_are_cut) {
  running_server s;
  const std::string text =
    "POST /call-json/a/m HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked"
    "\r\n\r\n3;name=value\r\n[1,\r\nA\r\n2,3,4,5,6]\r\n0\r\nTrailer: t\r\n\r\n";
  for (size_t piece : {size_t{1}, size_t{2}, size_t{7}, text.size()}) {
    raw_client client{s.port};
    for (size_t at = 0; at < text.size(); at += piece)
      client.send(std::string_view{text}.substr(at, piece));
    auto r = client.read();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->body, "update a m [1,2,3,4,5,6]");
    client.send(post("/call-json/a/m", "next"));
    EXPECT_EQ(client.read()->body, "update a m next");
  }
}

TEST(http_server, says_continue_to_who_waits_for_it) {
  running_server s;
  raw_client client{s.port};
  client.send("POST /call-json/a/m HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
              "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read()->status, 100);
  client.send("[1]");
  EXPECT_EQ(client.read()->body, "update a m [1]");
}

TEST(http_server, refuses_at_once_instead_of_saying_continue) {
  running_server s;
  for (auto [target, length, status] :
       {std::tuple{"/nowhere", "3", 404}, std::tuple{"/call-json/a/m", "2097153", 413}}) {
    raw_client client{s.port};
    client.send(std::string{"POST "} + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + length
                + "\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(client.read()->status, status);
    EXPECT_TRUE(client.is_closed());
  }
}

TEST(http_server, takes_a_body_of_the_limit_and_no_byte_more) {
  running_server s;
  const std::string limit(limits::ingress_bytes_max, 'x');
  auto chunked = [](const std::string& body) {
    std::string out =
      "POST /call-json/a/m HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (size_t at = 0; at < body.size(); at += 1u << 16) {
      auto piece = body.substr(at, 1u << 16);
      char size[16];
      std::snprintf(size, sizeof(size), "%zx\r\n", piece.size());
      out += size + piece + "\r\n";
    }
    return out + "0\r\n\r\n";
  };
  {
    raw_client client{s.port};
    client.send(post("/call-json/a/m", limit));
    EXPECT_EQ(client.read()->body.size(), limit.size() + sizeof("update a m ") - 1);
    client.send(chunked(limit));
    EXPECT_EQ(client.read()->body.size(), limit.size() + sizeof("update a m ") - 1);
  }
  for (const auto& request : {post("/call-json/a/m", limit + "x"), chunked(limit + "x")}) {
    raw_client client{s.port};
    client.send(request);
    auto r = client.read();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->status, 413);
    EXPECT_FALSE(r->keeps_open());
    EXPECT_TRUE(client.is_closed());
  }
}

TEST(http_server, takes_headers_and_targets_of_the_limit_and_no_byte_more) {
  running_server s;
  auto with_header = [](size_t bytes) {
    std::string out = "GET /health HTTP/1.1\r\nHost: x\r\nA: ";
    return out + std::string(bytes - out.size() - 4, 'a') + "\r\n\r\n";
  };
  auto with_target = [](size_t bytes) {
    return "GET /health?" + std::string(bytes - 8, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n";
  };
  auto status = [&s](const std::string& request) {
    raw_client client{s.port};
    client.send(request);
    auto r = client.read();
    return r ? r->status : 0;
  };
  EXPECT_EQ(status(with_header(limits::http_header_bytes_max)), 200);
  EXPECT_EQ(status(with_header(limits::http_header_bytes_max + 1)), 431);
  EXPECT_EQ(status(with_target(limits::http_target_bytes_max)), 200);
  EXPECT_EQ(status(with_target(limits::http_target_bytes_max + 1)), 414);
}

TEST(http_server, answers_504_at_the_deadline_and_keeps_the_late_answer) {
  held_calls held;
  running_server s{held.handler()};
  raw_client client{s.port};
  for (const auto& request : {post("/call-json/a/m?timeout_ms=20", "[]"),
                              post("/call-json/a/m", "[]", "timeout_ms: 20\r\n"),
                              post("/call-json/a/m", "[]", "Timeout-Ms: 20\r\n")}) {
    auto start = now_ms();
    client.send(request);
    auto r = client.read();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->status, 504);
    EXPECT_GE(now_ms() - start, 19);
    const auto id = call_id_of(r->body);
    client.send("GET /calls/" + id + " HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(client.read()->body, R"({"status":"processing"})");
    held.take()->sink->answer({.status = 422, .body = "late"});
    ASSERT_TRUE(eventually([&] {
      client.send("GET /calls/" + id + " HTTP/1.1\r\nHost: x\r\n\r\n");
      r = client.read();
      return r->status != 202;
    }));
    EXPECT_EQ(r->status, 422);
    EXPECT_EQ(r->body, "late");
  }
  client.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.read()->body, R"({"status":"ok"})");
}

TEST(http_server, the_first_answer_counts) {
  running_server s{[](const http_call_ptr& call) {
    call->sink->answer({.body = "first"});
    call->sink->answer({.body = "second"});
  }};
  raw_client client{s.port};
  client.send(post("/call-json/a/m", "") + post("/call-json/a/m", ""));
  EXPECT_EQ(client.read()->body, "first");
  EXPECT_EQ(client.read()->body, "first");
}

TEST(http_server, a_call_that_is_forgotten_is_answered_all_the_same) {
  running_server s{[](const http_call_ptr&) {
    // nop
  }};
  raw_client client{s.port};
  client.send(post("/call-json/a/m", ""));
  EXPECT_EQ(client.read()->status, 500);
}

TEST(http_server, takes_answers_from_any_thread) {
  held_calls held;
  running_server s{held.handler()};
  std::atomic<bool> done{false};
  std::vector<std::thread> workers;
  for (int i = 0; i < 2; ++i)
    workers.emplace_back([&held, &done] {
      while (!done) {
        http_call_ptr call;
        {
          std::lock_guard guard{held.mutex};
          if (!held.calls.empty()) {
            call = std::move(held.calls.back());
            held.calls.pop_back();
          }
        }
        if (call)
          call->sink->answer({.body = call->body});
        else
          wait_a_little();
      }
    });
  std::vector<std::unique_ptr<raw_client>> clients;
  for (int i = 0; i < 16; ++i) clients.push_back(std::make_unique<raw_client>(s.port));
  for (int round = 0; round < 50; ++round) {
    for (size_t i = 0; i < clients.size(); ++i)
      clients[i]->send(post("/call-json/a/m", std::to_string(i * 1'000 + round)));
    for (size_t i = 0; i < clients.size(); ++i)
      EXPECT_EQ(clients[i]->read()->body, std::to_string(i * 1'000 + round));
  }
  done = true;
  for (auto& worker : workers) worker.join();
}

TEST(http_server, cuts_who_is_too_slow) {
  http_limits small;
  small.header_timeout_ms = 500;
  small.idle_timeout_ms = 100;
  running_server s{echo, small};
  raw_client idle{s.port};
  idle.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  raw_client silent{s.port};
  raw_client half_header{s.port};
  raw_client half_body{s.port};
  half_header.send("GET /health HT");
  half_body.send("POST /call-json/a/m HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n[1");
  EXPECT_EQ(silent.read_to_end(), "");
  EXPECT_EQ(half_header.read()->status, 408);
  EXPECT_TRUE(half_header.is_closed());
  EXPECT_EQ(half_body.read()->status, 408);
  EXPECT_TRUE(half_body.is_closed());
  EXPECT_EQ(idle.read()->status, 200);
  EXPECT_EQ(idle.read_to_end(), "");
  EXPECT_TRUE(eventually([&s] { return s.server.connections() == 0; }));
}

TEST(http_server, a_trickled_body_is_cut_and_a_steady_one_is_not) {
  http_limits small;
  small.header_timeout_ms = 500;
  small.body_bytes_per_second_min = 1'000;
  running_server s{echo, small};
  raw_client slow{s.port};
  slow.send("POST /call-json/a/m HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
  // One byte whenever the server has had time to notice: it earns a millisecond each.
  auto end = now_ms() + deadline_ms;
  while (now_ms() < end && s.server.connections() == 1 && slow.send("x"))
    for (int i = 0; i < 5; ++i) wait_a_little();
  EXPECT_LT(now_ms(), end);
  raw_client steady{s.port};
  steady.send("POST /call-json/a/m HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n");
  auto start = now_ms();
  for (int i = 0; i < 2'000; ++i) {
    while (now_ms() - start < i / 2) wait_a_little();
    steady.send("x");
  }
  EXPECT_EQ(steady.read()->status, 200);
}

TEST(http_server, refuses_connections_above_the_limit) {
  http_limits small;
  small.connections_max = 3;
  running_server s{echo, small};
  std::vector<std::unique_ptr<raw_client>> open;
  for (int i = 0; i < 3; ++i) {
    open.push_back(std::make_unique<raw_client>(s.port));
    open.back()->send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(open.back()->read()->status, 200);
  }
  {
    raw_client extra{s.port};
    extra.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(extra.read()->status, 503);
    EXPECT_TRUE(extra.is_closed());
  }
  open.pop_back();
  ASSERT_TRUE(eventually([&s] { return s.server.connections() == 2; }));
  raw_client again{s.port};
  again.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(again.read()->status, 200);
}

TEST(http_server, closes_after_a_request_that_asks_for_it) {
  running_server s;
  raw_client close{s.port};
  close.send(post("/call-json/a/m", "1", "Connection: close\r\n") + post("/call-json/a/m", "2"));
  EXPECT_EQ(close.read()->body, "update a m 1");
  EXPECT_EQ(close.read_to_end(), "");
  raw_client old{s.port};
  old.send("GET /health HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.read()->status, 200);
  EXPECT_EQ(old.read_to_end(), "");
  raw_client kept{s.port};
  kept.send("GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(kept.read()->fields["connection"], "keep-alive");
  kept.finish();
  EXPECT_EQ(kept.read_to_end(), "");
}

TEST(http_server, a_request_may_come_ahead_of_the_answer_to_the_last) {
  held_calls held;
  running_server s{held.handler()};
  raw_client client{s.port};
  client.send(post("/call-json/a/m", "1"));
  for (int i = 1; i <= 20; ++i) {
    ASSERT_TRUE(eventually([&held] { return held.size() == 1; }));
    client.send(post("/call-json/a/m", std::to_string(i + 1)));
    auto call = held.take();
    EXPECT_EQ(call->body, std::to_string(i));
    call->sink->answer({.body = call->body});
    EXPECT_EQ(client.read()->body, std::to_string(i));
  }
}

TEST(http_server, who_ends_its_sending_still_gets_the_answer) {
  held_calls held;
  running_server s{held.handler()};
  raw_client client{s.port};
  client.send(post("/call-json/a/m", "[]"));
  client.finish();
  ASSERT_TRUE(eventually([&held] { return held.size() == 1; }));
  held.take()->sink->answer({.body = "done"});
  EXPECT_EQ(client.read()->body, "done");
  EXPECT_TRUE(client.is_closed());
}

TEST(http_server, a_connection_idles_from_its_answer_on_however_long_that_took) {
  http_limits small;
  small.idle_timeout_ms = 50;
  held_calls held;
  running_server s{held.handler(), small};
  raw_client client{s.port};
  const auto start = now_ms();
  client.send(post("/call-json/a/m", "[]"));
  ASSERT_TRUE(eventually([&] { return held.size() == 1 && now_ms() - start > 200; }));
  held.take()->sink->answer({.body = "done"});
  EXPECT_EQ(client.read()->body, "done");
  EXPECT_TRUE(client.is_closed());
}

TEST(http_server, a_client_that_goes_takes_nothing_with_it) {
  held_calls held;
  running_server s{held.handler()};
  {
    raw_client client{s.port};
    client.send(post("/call-json/a/m", "[]"));
    ASSERT_TRUE(eventually([&held] { return held.size() == 1; }));
    client.reset();
  }
  held.take()->sink->answer({.body = std::string(1u << 20, 'x')});
  EXPECT_TRUE(eventually([&s] { return s.server.connections() == 0; }));
}

TEST(http_server, stopping_answers_what_is_open_and_closes_the_rest) {
  held_calls held;
  auto s = std::make_unique<running_server>(held.handler());
  raw_client idle{s->port};
  raw_client half{s->port};
  raw_client waiting{s->port};
  half.send("GET /he");
  waiting.send(post("/call-json/a/m", "[]"));
  ASSERT_TRUE(eventually([&] { return held.size() == 1 && s->server.connections() == 3; }));
  auto start = now_ms();
  s->server.stop(100);
  EXPECT_LT(now_ms() - start, deadline_ms);
  EXPECT_EQ(idle.read_to_end(), "");
  EXPECT_EQ(half.read_to_end(), "");
  EXPECT_EQ(waiting.read()->status, 503);
  EXPECT_EQ(waiting.read_to_end(), "");
  EXPECT_EQ(s->server.connections(), 0u);
  // An answer after the end has nowhere to go, and does no harm.
  s.reset();
  held.take()->sink->answer({.body = "late"});
}

TEST(http_server, says_why_it_cannot_listen) {
  running_server s;
  http_server second{{.port = s.port}, {echo, echo_node}};
  auto port = second.start();
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().message,
            "cannot listen on 127.0.0.1:" + std::to_string(s.port) + ": Address already in use");
  http_server nowhere{{.address = "localhost.", .port = 0}, {echo, echo_node}};
  EXPECT_EQ(nowhere.start().error().message, "'localhost.' is no IP address to listen on");
}
