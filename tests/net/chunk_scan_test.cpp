#include "net/chunk_scan.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

using namespace moxzi::net;

namespace {

using state = chunk_scan::state;

state seen(std::string_view body) {
  chunk_scan scan{http_limits{}};
  return scan.scan(body);
}

// The same in pieces of the given sizes.
state seen_in_pieces(std::string_view body, const std::vector<uint8_t>& sizes) {
  chunk_scan scan{http_limits{}};
  for (size_t i = 0; !body.empty(); ++i) {
    const auto size = sizes.empty() ? size_t{1} : std::max<size_t>(1, sizes[i % sizes.size()]);
    const auto piece = body.substr(0, size);
    if (const auto found = scan.scan(piece); found != state::fine) return found;
    body.remove_prefix(piece.size());
  }
  return state::fine;
}

} // namespace

TEST(chunk_scan, lets_pass_what_the_standard_allows) {
  for (auto body :
       {"0\r\n\r\n", "3\r\n[1]\r\n0\r\n\r\n", "003\r\n[1]\r\n000\r\n\r\n",
        "A\r\n\r\n\n\r 45678\r\n0\r\n\r\n", "3;a;b=c;d=\"e;\t\"\r\n[1]\r\n0;x\r\n\r\n",
        "3;a=\"b\\\"c\\\\\"\r\n[1]\r\n0\r\n\r\n",
        "3 ; a = b\r\n[1]\r\n0\r\nA: b\r\nC: d e\tf\r\n\r\n", "1\r\n1\r\n1\r\n2\r\n0\r\n\r\n"})
    EXPECT_EQ(seen(body), state::fine) << body;
}

TEST(chunk_scan, looks_at_nothing_behind_the_end) {
  EXPECT_EQ(seen("0\r\n\r\n\n\n\x01"), state::fine);
  EXPECT_EQ(seen("0\r\nA: b\r\n\r\n GET\n"), state::fine);
}

TEST(chunk_scan, says_what_is_wrong) {
  EXPECT_EQ(seen("3\n"), state::bad_line_ending);
  EXPECT_EQ(seen("3\r[1]"), state::bad_line_ending);
  EXPECT_EQ(seen("2\r\n[1]\r\n"), state::bad_line_ending);
  EXPECT_EQ(seen("3\r\n[1]\r\n0\r\nA: b\n"), state::bad_line_ending);
  EXPECT_EQ(seen("0\r\nA: b\r\n c\r\n"), state::folded);
  EXPECT_EQ(seen("0\r\n\tc\r\n"), state::folded);
  EXPECT_EQ(seen("\r\n"), state::bad_byte);
  EXPECT_EQ(seen("x\r\n"), state::bad_byte);
  EXPECT_EQ(seen("3;\x01\r\n"), state::bad_byte);
  EXPECT_EQ(seen("2;a=\"\r\n[]\r\n"), state::open_quote);
  EXPECT_EQ(seen("2;a=\"b\\\"\r\n"), state::open_quote);
  EXPECT_EQ(seen("0;a=\"\r\n\r\n"), state::open_quote);
  EXPECT_EQ(seen("10000000000000003\r\n"), state::bad_byte);
  EXPECT_EQ(seen("3;" + std::string(20'000, 'a')), state::too_long);
}

TEST(chunk_scan, chunks_of_one_byte_are_no_excess) {
  std::string body;
  for (int i = 0; i < 100'000; ++i) body += "1\r\nx\r\n";
  EXPECT_EQ(seen(body), state::fine);
}

TEST(chunk_scan, how_the_bytes_come_makes_no_difference) {
  rc::check([](const std::vector<std::string>& chunks, const std::vector<uint8_t>& sizes,
               const std::string& noise, uint16_t where) {
    std::string body;
    for (const auto& chunk : chunks)
      if (!chunk.empty()) body += fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk);
    body += "0\r\n\r\n";
    RC_ASSERT(seen_in_pieces(body, sizes) == state::fine);
    body.insert(where % body.size(), noise);
    RC_ASSERT(seen_in_pieces(body, sizes) == seen(body));
  });
}
