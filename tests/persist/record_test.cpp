#include "persist/record.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "persist/memory_journal.hpp"

using namespace moxzi;
using namespace moxzi::persist;

namespace {

record sample() {
  return {record_kind::request,
          byte_string{"\x01\x02\x01\x01", 4},
          3,
          9,
          1'700'000'000'000'000'000,
          {5, 1},
          "payload",
          {7, 8},
          14'886};
}

} // namespace

TEST(record, comes_back_as_it_was) {
  EXPECT_EQ(decode_record(encode(sample())).value(), sample());
}

TEST(record, its_bytes_are_the_format_of_version_1) {
  // Golden bytes: a change here is a change of the format and needs a new version number.
  EXPECT_EQ(to_hex(byte_view{encode(sample())}).substr(0, 158), "010a0401020101"
                                                                "03000000000000000900000000000000"
                                                                "00002a36fe9c97170500000000000000"
                                                                "0100000000000000"
                                                                "077061796c6f6164"
                                                                "07000000000000000800000000000000"
                                                                "263a000000000000");
}

TEST(record, every_cut_and_every_flipped_bit_is_noticed) {
  const auto bytes = encode(sample());
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode_record(bytes.substr(0, n))) << n;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(decode_record(damaged)) << bit;
  }
  EXPECT_FALSE(decode_record(bytes + "x"));
}

TEST(record, random_bytes_are_refused) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) { RC_ASSERT(!decode_record(bytes)); }));
}

TEST(memory_journal, numbers_records_and_opens_the_gate_at_once) {
  memory_journal journal{1 << 20};
  int opened = 0;
  EXPECT_EQ(journal.append(sample(), [&] { ++opened; }), 1u);
  EXPECT_EQ(journal.append(sample(), nullptr), 2u);
  EXPECT_EQ(opened, 1);
  ASSERT_EQ(journal.records().size(), 2u);
  EXPECT_EQ(journal.records()[1].sequence, 2u);
}

TEST(memory_journal, forgets_the_oldest_when_full) {
  memory_journal journal{20};
  for (int i = 0; i < 5; ++i) journal.append(sample(), nullptr); // 7 bytes of payload each
  ASSERT_EQ(journal.records().size(), 2u);
  EXPECT_EQ(journal.records()[0].sequence, 4u);
}
