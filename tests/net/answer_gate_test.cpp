#include "net/answer_gate.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace moxzi::net {
namespace {

class AnswerGate : public ::testing::Test {
protected:
  AnswerGate() {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  }
  ~AnswerGate() override {
    close(ends[0]);
    close(ends[1]);
  }

  /// What has come and was not read yet, at most so much.
  std::string received(size_t size_max) const {
    std::string bytes(size_max, '\0');
    const auto size = recv(ends[1], bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(size > 0 ? static_cast<size_t>(size) : 0);
    return bytes;
  }

  std::array<int, 2> ends{};
  answer_gate gate;
};

TEST_F(AnswerGate, WritesAnAnswerOnceAndTellsWhen) {
  EXPECT_FALSE(gate.write(1, {.body = "[1]"}).taken);
  gate.open(1, ends[0]);
  EXPECT_FALSE(gate.write(2, {.body = "[2]"}).taken);
  const auto before = steady::now();
  const auto outcome = gate.write(1, {.body = "[1]"});
  EXPECT_TRUE(outcome.taken);
  EXPECT_EQ(outcome.rest, "");
  EXPECT_FALSE(gate.write(1, {.body = "[1]"}).taken);
  const auto written = gate.shut();
  ASSERT_TRUE(written);
  EXPECT_GE(*written, before);
  EXPECT_FALSE(gate.shut());
  EXPECT_EQ(received(1'000), "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                             "Content-Length: 3\r\n\r\n[1]");
}

TEST_F(AnswerGate, WritesNothingOnceItIsShut) {
  gate.open(1, ends[0]);
  EXPECT_FALSE(gate.shut());
  EXPECT_FALSE(gate.write(1, {.body = "[1]"}).taken);
  EXPECT_EQ(received(1'000), "");
}

TEST_F(AnswerGate, LeavesLongAnswersToTheSession) {
  gate.open(1, ends[0]);
  EXPECT_FALSE(gate.write(1, {.body = std::string(1u << 20, 'x')}).taken);
  EXPECT_EQ(received(1'000), "");
}

TEST_F(AnswerGate, GivesBackWhatTheSocketDidNotTake) {
  const std::string filler(1'000, '.');
  size_t waiting = 0;
  for (ssize_t n = 0; n >= 0; waiting += n > 0 ? n : 0)
    n = send(ends[0], filler.data(), filler.size(), MSG_DONTWAIT);
  const std::string body(8'000, 'x');
  answer_gate::outcome outcome;
  for (uint64_t number = 1; !outcome.taken; ++number) {
    gate.open(number, ends[0]);
    outcome = gate.write(number, {.body = body});
    if (outcome.taken) break;
    waiting -= received(100).size();
    ASSERT_GT(waiting, 0u);
  }
  EXPECT_EQ(gate.shut().has_value(), outcome.rest.empty());
  std::string all;
  for (auto piece = received(1u << 16); !piece.empty(); piece = received(1u << 16)) all += piece;
  EXPECT_EQ(all.substr(waiting) + outcome.rest,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8000\r\n\r\n"
              + body);
}

} // namespace
} // namespace moxzi::net
