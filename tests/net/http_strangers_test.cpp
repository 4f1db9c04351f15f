#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/net/http_fixture.hpp"

// What strangers send and how slowly; the same with larger numbers is `tests/e2e/strangers.py`.

using namespace moxzi::net;
using namespace moxzi::net::test;

namespace {

size_t resident_bytes() {
  std::ifstream in{"/proc/self/statm"};
  size_t whole = 0;
  size_t resident = 0;
  in >> whole >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

size_t descriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator{"/proc/self/fd"},
                                           std::filesystem::directory_iterator{}));
}

std::string random_bytes(std::mt19937& random, size_t size) {
  std::string out(size, '\0');
  for (auto& c : out) c = static_cast<char>(random());
  return out;
}

} // namespace

TEST(http_strangers, leave_neither_memory_nor_descriptors_behind) {
  running_server s;
  std::mt19937 random{20'261'130};
  const auto descriptors_before = descriptors();
  const auto send_all = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const std::string kinds[] = {
        std::string{"\xff\xff\xff\xff\x0f", 5}, // a length bomb
        std::string(28, '\0') + std::string{"\xff\xff\xff\xff", 4},
        random_bytes(random, 1u << 16),
        std::string{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11},
        "POST /call-json/a/m HTTP/1.1\r\nHost: x\r\nContent-Length: 2097152\r\n\r\n",
      };
      for (const auto& bytes : kinds) {
        raw_client client{s.port};
        client.send(bytes);
        if (i % 2 == 0) client.reset();
      }
    }
  };
  send_all(20);
  const auto before = resident_bytes();
  send_all(100);
  EXPECT_TRUE(eventually([&s] { return s.server.connections() == 0; }));
  EXPECT_LE(resident_bytes(), before + (16u << 20));
  EXPECT_EQ(descriptors(), descriptors_before);
}

TEST(http_strangers, slow_ones_are_cut_and_good_ones_keep_their_answers) {
  http_limits small;
  small.header_timeout_ms = 1'000;
  running_server s{echo, small};
  constexpr size_t slow_clients = 200;
  std::vector<std::unique_ptr<raw_client>> slow;
  for (size_t i = 0; i < slow_clients; ++i) {
    slow.push_back(std::make_unique<raw_client>(s.port));
    slow.back()->send(i % 2 == 0 ? "GET /health HTTP/1.1\r\nA: "
                                 : "POST /call-json/a/m HTTP/1.1\r\nHost: x\r\n"
                                   "Content-Length: 100000\r\n\r\n");
  }
  raw_client good{s.port};
  const auto end = now_ms() + deadline_ms;
  auto next = now_ms();
  do {
    // Ten bytes a second, however fast the good one is answered.
    if (now_ms() >= next) {
      for (auto& client : slow) client->send("x");
      next += 100;
    }
    good.send(post("/call-json/a/m", "[1]"));
    const auto r = good.read();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->body, "update a m [1]");
  } while (s.server.connections() > 1 && now_ms() < end);
  EXPECT_EQ(s.server.connections(), 1u);
  for (auto& client : slow) EXPECT_TRUE(client->is_closed());
}
