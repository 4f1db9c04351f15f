#include <array>

#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "base/digest.hpp"
#include "base/guard.hpp"
#include "base/nearest.hpp"
#include "base/reject.hpp"

using namespace moxzi;

TEST(hex, both_ways) {
  EXPECT_EQ(to_hex(byte_string{"\x00\xff\x7f", 3}), "00ff7f");
  EXPECT_EQ(from_hex("00FF7f").value(), (byte_string{"\x00\xff\x7f", 3}));
  EXPECT_EQ(from_hex("0").error().message, "hexadecimal of odd length (1 digits)");
  EXPECT_EQ(from_hex("0g").error().message, "not a hexadecimal digit at position 1");
}

TEST(digests, are_those_of_their_specifications) {
  // FIPS 180-4 example "abc"; xxHash's published value for the empty input.
  EXPECT_EQ(to_hex(as_bytes(sha256("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(xxh3_128("")), "99aa06d3014798d86001c324468d497f");
}

TEST(digests, a_stream_of_pieces_is_the_whole) {
  digest_stream stream;
  stream.update("hello ");
  stream.update("moxzi");
  EXPECT_EQ(stream.value(), xxh3_128("hello moxzi"));
}

TEST(utf8, follows_unicode_table_3_7) {
  for (const auto* good : {"", "plain", "\xC2\x80", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                           "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (const auto* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80",
                          "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
  }
}

TEST(nearest, finds_the_name_that_was_meant) {
  constexpr std::array<std::string_view, 3> known{"--listen", "--device", "--device-seed"};
  EXPECT_EQ(nearest("--devcie", known), "--device");
  EXPECT_EQ(nearest("--lsten", known), "--listen");
  EXPECT_EQ(nearest("zebra", known), std::nullopt);
  // Another case is nearer than another letter, and one letter is not like another.
  const std::vector<std::string_view> letters{"b", "n", "Hd", "hd2"};
  EXPECT_EQ(nearest("N", letters), "n");
  EXPECT_EQ(nearest("x", letters), std::nullopt);
  EXPECT_EQ(nearest("hd", letters), "Hd");
  EXPECT_EQ(did_you_mean("--device-sed", known), "; did you mean '--device-seed'?");
  EXPECT_EQ(did_you_mean("x", known), "");
}

TEST(rejection, is_the_error_object_of_the_http_interface) {
  EXPECT_EQ(to_json({reject_code::canister_error, "trapped: \"no\"\n", "MX503"}),
            R"({"error":{"code":5,"name":"canister_error","message":"trapped: \"no\"\n",)"
            R"("error_code":"MX503"}})");
  EXPECT_EQ(json_quote("\x01\xff\xE2\x82\xAC"), "\"\\u0001\xEF\xBF\xBD\xE2\x82\xAC\"");
}

TEST(guard, turns_an_exception_into_an_error) {
  const auto failed = guard([]() -> int { throw std::runtime_error{"disk on fire"}; });
  EXPECT_EQ(failed.error().code, base_errc::exception);
  EXPECT_EQ(failed.error().message, "disk on fire");
  EXPECT_EQ(guard([] { return 7; }).value(), 7);
}
