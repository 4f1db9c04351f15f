#include <gtest/gtest.h>

#include "shapescript/lsp/transport.hpp"

using namespace shapescript::lsp;

namespace {

std::string shown(const std::vector<incoming>& all) {
  std::string out;
  for (const auto& one : all)
    out += one.problem.empty() ? "<" + one.body + ">" : "!" + one.problem + "!";
  return out;
}

std::string read(std::string_view bytes, size_t piece = 1 << 20) {
  message_reader reader;
  std::vector<incoming> out;
  for (size_t i = 0; i < bytes.size(); i += piece) reader.feed(bytes.substr(i, piece), out);
  return shown(out);
}

} // namespace

TEST(lsp_transport, messages_come_out_however_the_stream_is_cut) {
  const auto stream = framed("{}") + "content-length:3\nContent-Type: x; charset=utf-8\n\nabc"
                      + framed("") + framed("🙂");
  for (size_t piece = 1; piece <= stream.size(); ++piece)
    EXPECT_EQ(read(stream, piece), "<{}><abc><><🙂>") << piece;
}

TEST(lsp_transport, a_broken_frame_is_said_once_and_the_next_one_is_read) {
  EXPECT_EQ(read("rubbish\r\nmore\r\n\r\n" + framed("a")), "!a line that is no header!<a>");
  EXPECT_EQ(read("Content-Length: many\r\n\r\n" + framed("a")),
            "!Content-Length is not a number of bytes!<a>");
  EXPECT_EQ(read("Content-Length: -5\r\n\r\n" + framed("a")),
            "!Content-Length is not a number of bytes!<a>");
  EXPECT_EQ(read("X: y\r\n\r\n" + framed("a")), "!a header without Content-Length!<a>");
  EXPECT_EQ(read("Content-Length: 99999999999999999999999\r\n\r\n" + framed("a")),
            "!Content-Length is not a number of bytes!<a>");
}

TEST(lsp_transport, a_length_that_is_too_short_costs_that_message_only) {
  EXPECT_EQ(read("Content-Length: 2\r\n\r\n{\"x\":1}" + framed("a")), "<{\"><a>");
}

TEST(lsp_transport, a_message_that_is_too_long_is_skipped) {
  const auto size = message_bytes_max + 1;
  const auto stream =
    "Content-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'x') + framed("a");
  const auto out = read(stream, 1 << 16);
  EXPECT_TRUE(out.ends_with("<a>"));
  EXPECT_NE(out.find("a message of 104857601 bytes"), out.npos) << out.substr(0, 200);
}

TEST(lsp_transport, a_header_line_without_end_is_not_kept) {
  message_reader reader;
  std::vector<incoming> out;
  for (int i = 0; i < 1000; ++i) reader.feed(std::string(1000, 'x'), out);
  reader.feed("Content-Length: 1\r\n\r\na", out);
  EXPECT_TRUE(shown(out).ends_with("<a>")) << shown(out);
}
