#include "base/codec.hpp"

#include <bit>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>

using namespace moxzi;

TEST(codec, leb128_bytes_are_those_of_the_dwarf_standard) {
  // DWARF 5, section 7.6, figure for unsigned LEB128.
  const std::pair<uint64_t, byte_string> rows[] = {
    {2, "\x02"},
    {127, "\x7f"},
    {128, byte_string{"\x80\x01", 2}},
    {129, byte_string{"\x81\x01", 2}},
    {12857, byte_string{"\xb9\x64", 2}},
  };
  for (const auto& [value, bytes] : rows) {
    writer out;
    out.count(value);
    EXPECT_EQ(out.data(), bytes) << value;
    reader in{bytes};
    EXPECT_EQ(in.count(), value);
    EXPECT_TRUE(in.finish());
  }
}

TEST(codec, every_number_comes_back_bit_for_bit) {
  EXPECT_TRUE(rc::check([](uint8_t a, uint16_t b, uint32_t c, uint64_t d, uint32_t e, uint64_t f,
                           bool g, const std::string& h) {
    writer out;
    out.u8(a);
    out.u16(b);
    out.u32(c);
    out.u64(d);
    out.count(d);
    out.f32(std::bit_cast<float>(e));
    out.f64(std::bit_cast<double>(f));
    out.boolean(g);
    out.bytes(h);
    reader in{out.data()};
    RC_ASSERT(in.u8() == a);
    RC_ASSERT(in.u16() == b);
    RC_ASSERT(in.u32() == c);
    RC_ASSERT(in.u64() == d);
    RC_ASSERT(in.count() == d);
    RC_ASSERT(std::bit_cast<uint32_t>(in.f32()) == e);
    RC_ASSERT(std::bit_cast<uint64_t>(in.f64()) == f);
    RC_ASSERT(in.boolean() == g);
    RC_ASSERT(in.bytes() == h);
    RC_ASSERT(in.finish().has_value());
  }));
}

TEST(codec, special_floats_keep_their_bits) {
  for (const uint64_t bits : {0x0000000000000000ull, 0x8000000000000000ull, 0x7FF0000000000000ull,
                              0xFFF0000000000000ull, 0x7FF8000000000001ull, 0x7FF0000000000001ull,
                              0x0000000000000001ull, 0x000FFFFFFFFFFFFFull}) {
    writer out;
    out.f64(std::bit_cast<double>(bits));
    reader in{out.data()};
    EXPECT_EQ(std::bit_cast<uint64_t>(in.f64()), bits);
  }
}

TEST(codec, a_length_larger_than_the_input_is_refused_without_allocating) {
  writer out;
  out.count(std::numeric_limits<uint64_t>::max());
  reader in{out.data()};
  EXPECT_TRUE(in.bytes().empty());
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.status().error().code, base_errc::truncated);
}

TEST(codec, forms_that_are_not_canonical_are_refused) {
  for (const byte_string& input :
       {byte_string{"\x80\x00", 2}, byte_string{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10},
        byte_string{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11}}) {
    reader in{input};
    in.count();
    EXPECT_EQ(in.status().error().code, base_errc::malformed) << to_hex(input);
  }
  reader in{"\x02"};
  in.boolean();
  EXPECT_EQ(in.status().error().code, base_errc::malformed);
}

TEST(codec, the_first_failure_sticks) {
  reader in{"\x01"};
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_EQ(in.u8(), 0u);
  EXPECT_EQ(in.finish().error().code, base_errc::truncated);
  EXPECT_NE(in.finish().error().message.find("byte 0: 4 bytes wanted, 1 left"), std::string::npos);
}

TEST(codec, left_over_bytes_are_named) {
  reader in{"abc"};
  in.u8();
  EXPECT_EQ(in.finish().error().code, base_errc::trailing);
  EXPECT_EQ(in.finish().error().message, "byte 1: 2 bytes after the last value");
}

TEST(codec, random_bytes_never_break_the_reader) {
  EXPECT_TRUE(rc::check([](const std::string& bytes, const std::vector<uint8_t>& reads) {
    reader in{bytes};
    for (const auto kind : reads) {
      switch (kind % 6) {
        case 0:
          in.u8();
          break;
        case 1:
          in.u64();
          break;
        case 2:
          in.count();
          break;
        case 3:
          in.bytes();
          break;
        case 4:
          in.text();
          break;
        default:
          in.items(1 + kind);
      }
    }
    RC_ASSERT(in.position() <= bytes.size());
    (void)in.finish();
  }));
}
