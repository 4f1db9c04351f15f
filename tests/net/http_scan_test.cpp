#include "net/http_scan.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>

using namespace moxzi::net;
using state = header_scan::state;

namespace {

const http_limits bounds;

state whole(std::string_view header) {
  return header_scan{bounds}.scan(header);
}

// Fed in pieces that end at the given places.
std::pair<state, size_t> in_pieces(const std::string& header, const std::vector<size_t>& cuts) {
  header_scan scan{bounds};
  for (auto cut : cuts) {
    auto now = scan.scan(std::string_view{header}.substr(0, cut));
    if (now != state::need_more) return {now, scan.size()};
  }
  auto last = scan.scan(header);
  return {last, scan.size()};
}

} // namespace

TEST(header_scan, ends_at_the_empty_line) {
  header_scan scan{bounds};
  EXPECT_EQ(scan.scan("GET / HTTP/1.1\r\nHost: x\r\n"), state::need_more);
  EXPECT_EQ(scan.scan("GET / HTTP/1.1\r\nHost: x\r\n\r\nBODY"), state::complete);
  EXPECT_EQ(scan.size(), 27u);
}

TEST(header_scan, refuses_what_readers_could_see_differently) {
  EXPECT_EQ(whole("GET / HTTP/1.1\nHost: x\n\n"), state::bad_line_ending);
  EXPECT_EQ(whole("GET / HTTP/1.1\r\nHost: x\n\r\n"), state::bad_line_ending);
  EXPECT_EQ(whole("GET / HTTP/1.1\r\rHost: x\r\n"), state::bad_line_ending);
  EXPECT_EQ(whole("GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n"), state::folded);
  EXPECT_EQ(whole("GET / HTTP/1.1\r\n A: b\r\n\r\n"), state::folded);
  EXPECT_EQ(whole("GET / HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n"), state::folded);
  EXPECT_EQ(whole(std::string_view{"GET / HTTP/1.1\r\nA: \0\r\n", 22}), state::bad_byte);
  EXPECT_EQ(whole("\x16\x03\x01\x02"), state::bad_byte);
  EXPECT_EQ(whole("GET / HTTP/1.1\r\nA:\tb\r\n\r\n"), state::complete);
}

TEST(header_scan, a_header_of_the_limit_passes_and_one_byte_more_does_not) {
  const std::string start = "GET / HTTP/1.1\r\nHost: x\r\nA: ";
  const std::string end = "\r\n\r\n";
  auto fill = bounds.header_bytes_max - start.size() - end.size();
  EXPECT_EQ(whole(start + std::string(fill, 'a') + end), state::complete);
  EXPECT_EQ(whole(start + std::string(fill + 1, 'a') + end), state::header_too_long);
  EXPECT_EQ(whole(start + std::string(bounds.header_bytes_max, 'a')), state::header_too_long);
}

TEST(header_scan, a_target_of_the_limit_passes_and_one_byte_more_does_not) {
  auto request = [](size_t target) {
    return "GET /" + std::string(target - 1, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n";
  };
  EXPECT_EQ(whole(request(bounds.target_bytes_max)), state::complete);
  EXPECT_EQ(whole(request(bounds.target_bytes_max + 1)), state::target_too_long);
  EXPECT_EQ(whole("GET /" + std::string(bounds.target_bytes_max, 'a')), state::target_too_long);
}

TEST(header_scan, says_the_same_however_the_bytes_are_cut) {
  rc::check([] {
    auto alphabet = rc::gen::elementOf(std::string{"GA: /\r\n\r\n\r\n\t\x01"});
    auto header = *rc::gen::container<std::string>(alphabet);
    auto cuts =
      *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, header.size() + 1));
    std::sort(cuts.begin(), cuts.end());
    RC_ASSERT(in_pieces(header, cuts) == in_pieces(header, {}));
  });
}
