#include <atomic>
#include <filesystem>
#include <iterator>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/net/http_fixture.hpp"

using namespace moxzi::net;
using namespace moxzi::net::test;

namespace {

struct malformed {
  const char* what;
  std::string request;
  int status = 400;
};

std::string get(std::string_view fields) {
  return fmt::format("GET /health HTTP/1.1\r\nHost: x\r\n{}\r\n", fields);
}

std::string put_body(std::string_view fields, std::string_view body) {
  return fmt::format("POST /call-json/a/m HTTP/1.1\r\nHost: x\r\n{}\r\n{}", fields, body);
}

std::string chunks(std::string_view body) {
  return put_body("Transfer-Encoding: chunked\r\n", body);
}

// RFC 9112 (message syntax), RFC 9110 (fields) and the request smuggling literature: after each of
// these, two readers might disagree about where the next request begins, or about what this one is.
std::vector<malformed> lengths() {
  return {
    {"length and chunked",
     put_body("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
    {"chunked and length",
     put_body("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")},
    {"two lengths that differ", put_body("Content-Length: 3\r\nContent-Length: 4\r\n", "[1]")},
    {"two lengths that agree", put_body("Content-Length: 3\r\nContent-Length: 3\r\n", "[1]")},
    {"a list of lengths", put_body("Content-Length: 3, 3\r\n", "[1]")},
    {"a length with a sign", put_body("Content-Length: +3\r\n", "[1]")},
    {"a negative length", put_body("Content-Length: -3\r\n", "[1]")},
    {"a hexadecimal length", put_body("Content-Length: 0x3\r\n", "[1]")},
    {"a length with a point", put_body("Content-Length: 3.0\r\n", "[1]")},
    {"an empty length", put_body("Content-Length: \r\n", "[1]")},
    {"a length of words", put_body("Content-Length: three\r\n", "[1]")},
    {"a length with a space in it", put_body("Content-Length: 1 2\r\n", "[1]")},
    {"a length above 64 bits", put_body("Content-Length: 18446744073709551616\r\n", "[1]")},
    {"a length far above 64 bits",
     put_body("Content-Length: " + std::string(200, '9') + "\r\n", "")},
    {"an unknown coding", put_body("Transfer-Encoding: gzip\r\n", "[1]")},
    {"identity", put_body("Transfer-Encoding: identity\r\n", "[1]")},
    {"chunked not last", put_body("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n")},
    {"chunked after another", put_body("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")},
    {"chunked twice", put_body("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n")},
    {"two fields of chunked",
     put_body("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
    {"two codings",
     put_body("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n")},
    {"identity, then chunked",
     put_body("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
    {"an empty coding", put_body("Transfer-Encoding: \r\n", "0\r\n\r\n")},
    {"a quoted coding", put_body("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n")},
    {"a misspelt coding", put_body("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n")},
    {"a coding with a vertical tab", put_body("Transfer-Encoding: \x0b"
                                              "chunked\r\n",
                                              "0\r\n\r\n")},
    {"a coding with parameters", put_body("Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n")},
    {"chunked in HTTP/1.0",
     "POST /call-json/a/m HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {"a space before the colon", put_body("Content-Length : 3\r\n", "[1]")},
    {"a tab before the colon", put_body("Transfer-Encoding\t: chunked\r\n", "0\r\n\r\n")},
  };
}

// Each line is short enough, all together are not.
std::string many_extensions() {
  std::string out;
  for (int i = 0; i < 40; ++i) out += "1;" + std::string(1'000, 'a') + "\r\n1\r\n";
  return out + "0\r\n\r\n";
}

std::string many_trailers() {
  std::string out;
  for (int i = 0; i < 40; ++i) out += "A: " + std::string(1'000, 'a') + "\r\n";
  return out + "\r\n";
}

std::vector<malformed> chunked() {
  return {
    {"a chunk size of words", chunks("xyz\r\n[1]\r\n0\r\n\r\n")},
    {"an empty chunk size", chunks("\r\n[1]\r\n0\r\n\r\n")},
    {"a chunk size with 0x", chunks("0x3\r\n[1]\r\n0\r\n\r\n")},
    {"a chunk size with a sign", chunks("+3\r\n[1]\r\n0\r\n\r\n")},
    {"a negative chunk size", chunks("-3\r\n[1]\r\n0\r\n\r\n")},
    {"a chunk size above 64 bits", chunks("10000000000000003\r\n[1]\r\n0\r\n\r\n")},
    {"a chunk longer than its size", chunks("2\r\n[1]\r\n0\r\n\r\n")},
    {"a chunk shorter than its size", chunks("4\r\n[1]\r\n0\r\n\r\n")},
    {"a chunk line with a bare LF", chunks("3\n[1]\r\n0\r\n\r\n")},
    {"a chunk with a bare LF behind", chunks("3\r\n[1]\n0\r\n\r\n")},
    {"a chunk with a bare CR behind", chunks("3\r\n[1]\r0\r\n\r\n")},
    {"a chunk size with a space before", chunks(" 3\r\n[1]\r\n0\r\n\r\n")},
    {"a chunk line without end", chunks(std::string(40'000, '1'))},
    {"an extension without end", chunks("3;" + std::string(40'000, 'a'))},
    {"a NUL in a chunk line", chunks(std::string{"3\0\r\n[1]\r\n0\r\n\r\n", 15})},
    {"a broken trailer", chunks("3\r\n[1]\r\n0\r\nno colon here\r\n\r\n")},
    {"a folded trailer", chunks("3\r\n[1]\r\n0\r\nA: b\r\n c\r\n\r\n")},
    {"a trailer folded by a tab", chunks("3\r\n[1]\r\n0\r\nA: b\r\n\tc\r\n\r\n")},
    {"a trailer with a bare LF", chunks("3\r\n[1]\r\n0\r\nA: b\n\r\n")},
    {"a bare LF in a quoted extension", chunks("3;a=\"\n\"\r\n[1]\r\n0\r\n\r\n")},
    {"a quoted extension over lines", chunks("2;a=\"\r\n[]\r\n0\r\n\r\n\"\r\n0\r\n\r\n")},
    {"a quoted extension without end", chunks("0;a=\"\r\n\r\n")},
    {"a control character in an extension", chunks("3;a=\"\x01\"\r\n[1]\r\n0\r\n\r\n")},
    {"a bare CR in an extension", chunks("3;a\r;b\r\n[1]\r\n0\r\n\r\n")},
    {"extensions, chunk after chunk", chunks(many_extensions())},
    {"trailers without end", chunks("3\r\n[1]\r\n0\r\n" + many_trailers())},
  };
}

std::vector<malformed> lines() {
  return {
    {"a folded field", get("A: b\r\n c\r\n")},
    {"a field folded by a tab", get("A: b\r\n\tc\r\n")},
    {"a folded first field", "GET /health HTTP/1.1\r\n Host: x\r\n\r\n"},
    {"a folded length", put_body("Content-Length:\r\n 3\r\n", "[1]")},
    {"bare LF everywhere", "GET /health HTTP/1.1\nHost: x\n\n"},
    {"bare LF in one line", "GET /health HTTP/1.1\r\nHost: x\nA: b\r\n\r\n"},
    {"bare LF at the end", "GET /health HTTP/1.1\r\nHost: x\r\n\n"},
    {"bare CR in a value", get("A: b\rContent-Length: 5\r\n")},
    {"bare CR as a line ending", "GET /health HTTP/1.1\rHost: x\r\r"},
    {"a NUL in a value", get(std::string_view{"A: b\0c\r\n", 8})},
    {"a NUL in a name", get(std::string_view{"A\0: b\r\n", 7})},
    {"a control character in a value", get("A: \x01\r\n")},
    {"DEL in a value", get("A: \x7f\r\n")},
    {"a field without colon", get("no colon here\r\n")},
    {"a field without name", get(": x\r\n")},
    {"a name with a space", get("A B: x\r\n")},
    {"a name with brackets", get("A(B): x\r\n")},
    {"a name that is not ASCII", get("\xc3\xb6: x\r\n")},
    {"no host", "GET /health HTTP/1.1\r\n\r\n"},
    {"two hosts", get("Host: y\r\n")},
    {"an empty line too many", "\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n"},
    {"an unknown expectation", get("Expect: a-reply\r\n"), 417},
  };
}

std::vector<malformed> request_lines() {
  auto line = [](std::string_view text) { return fmt::format("{}\r\nHost: x\r\n\r\n", text); };
  return {
    {"no version", line("GET /health")},
    {"an empty line for a version", line("GET /health ")},
    {"two spaces", line("GET  /health HTTP/1.1")},
    {"a tab instead of a space", line("GET\t/health\tHTTP/1.1")},
    {"a space at the end", line("GET /health HTTP/1.1 ")},
    {"a space in the target", line("GET /hea lth HTTP/1.1")},
    {"a space before the method", line(" GET /health HTTP/1.1")},
    {"no target", line("GET HTTP/1.1")},
    {"only a method", line("GET")},
    {"a method in brackets", line("(GET) /health HTTP/1.1")},
    {"HTTP/2", line("GET /health HTTP/2.0"), 505},
    {"HTTP/0.9", line("GET /health HTTP/0.9"), 505},
    {"HTTP/1.2", line("GET /health HTTP/1.2"), 505},
    {"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
    {"a version in lower case", line("GET /health http/1.1")},
    {"a version of three digits", line("GET /health HTTP/1.10")},
    {"a version without number", line("GET /health HTTP/x.y")},
    {"a NUL in the target", line(std::string_view{"GET /he\0lth HTTP/1.1", 20})},
    {"an asterisk", line("GET * HTTP/1.1")},
    {"an authority", line("CONNECT x:443 HTTP/1.1")},
    {"a fragment", line("GET /health#x HTTP/1.1")},
    {"a half escape", line("POST /call-json/a/% HTTP/1.1")},
    {"a NUL escaped", line("POST /call-json/a/%00 HTTP/1.1")},
    {"bytes that are not UTF-8", line("POST /call-json/a/\xff HTTP/1.1")},
    {"a TLS hello", std::string{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11}},
    {"a BASP handshake", std::string{"\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00", 12}},
    {"an SSH greeting", "SSH-2.0-OpenSSH_9.2\r\n\r\n"},
    {"something else", "hello there\r\n\r\n"},
  };
}

} // namespace

TEST(http_malformed, every_case_is_refused_and_none_reaches_an_actor) {
  std::atomic<int> reached{0};
  running_server s{[&reached](const http_call_ptr& call) {
    ++reached;
    call->sink->answer({});
  }};
  size_t cases = 0;
  for (const auto& group : {lengths(), chunked(), lines(), request_lines()}) {
    for (const auto& one : group) {
      ++cases;
      raw_client client{s.port};
      // A second request behind it must not be taken for one: what is refused ends the connection,
      // unless only the target was wrong.
      client.send(one.request);
      auto r = client.read();
      ASSERT_TRUE(r) << one.what;
      EXPECT_EQ(r->status, one.status) << one.what << ": " << r->body;
      EXPECT_EQ(r->body.substr(0, 10), R"({"error":{)") << one.what;
      if (r->keeps_open()) continue;
      client.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
      EXPECT_EQ(client.read_to_end(), "") << one.what;
    }
  }
  EXPECT_GE(cases, 60u);
  EXPECT_EQ(reached, 0);
  raw_client client{s.port};
  client.send(post("/call-json/a/m", "[1]"));
  EXPECT_EQ(client.read()->status, 200);
  EXPECT_EQ(reached, 1);
}

TEST(http_malformed, is_refused_also_when_it_comes_byte_by_byte) {
  running_server s;
  for (const auto& group : {lengths(), chunked(), lines(), request_lines()}) {
    for (const auto& one : group) {
      if (one.request.size() > 300) continue;
      raw_client client{s.port};
      for (auto c : one.request) client.send({&c, 1});
      auto r = client.read();
      ASSERT_TRUE(r) << one.what;
      EXPECT_EQ(r->status, one.status) << one.what << ": " << r->body;
    }
  }
}

TEST(http_malformed, a_connection_cut_at_any_byte_leaves_nothing_behind) {
  running_server s;
  auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"},
                         std::filesystem::directory_iterator{});
  };
  auto before = descriptors();
  const std::string request =
    post("/call-json/a/m", "[1,2,3]", "Expect: 100-continue\r\n") + post("/call-json/a/m", "[4]");
  for (size_t cut = 0; cut <= request.size(); ++cut) {
    raw_client reset{s.port};
    reset.send(std::string_view{request}.substr(0, cut));
    reset.reset();
    raw_client finished{s.port};
    finished.send(std::string_view{request}.substr(0, cut));
    finished.finish();
    EXPECT_TRUE(finished.is_closed()) << cut;
  }
  EXPECT_TRUE(eventually([&s] { return s.server.connections() == 0; }));
  EXPECT_EQ(descriptors(), before);
}

TEST(http_malformed, random_bytes_never_end_the_server) {
  running_server s;
  std::mt19937 random{20'261'129};
  const std::string good = post("/call-json/a/m?timeout_ms=100", "[1,2,3]", "A: b\r\n");
  for (int i = 0; i < 10'000; ++i) {
    std::string bytes = i % 4 == 0 ? std::string(random() % 200, '\0') : good;
    if (i % 4 == 0)
      for (auto& c : bytes) c = static_cast<char>(random());
    else
      for (auto n = random() % 4; n > 0; --n)
        switch (auto at = random() % bytes.size(); random() % 3) {
          case 0:
            bytes[at] = static_cast<char>(random());
            break;
          case 1:
            bytes.erase(at, random() % 8);
            break;
          default:
            bytes.insert(at, 1, static_cast<char>(random()));
        }
    raw_client client{s.port};
    client.send(bytes);
    client.finish();
    auto answer = client.read_to_end();
    ASSERT_TRUE(answer) << "case " << i;
    if (!answer->empty()) {
      EXPECT_EQ(answer->substr(0, 9), "HTTP/1.1 ") << "case " << i;
    }
  }
  EXPECT_TRUE(eventually([&s] { return s.server.connections() == 0; }));
  raw_client client{s.port};
  client.send(good);
  EXPECT_EQ(client.read()->status, 200);
}
