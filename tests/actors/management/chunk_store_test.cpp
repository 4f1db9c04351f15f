#include "actors/management/chunk_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.hpp"

namespace moxzi::actors::management {
namespace {

using ::testing::HasSubstr;

const auto owner = principal::of_actor("owner");
const auto other = principal::of_actor("other");

byte_string hash_of(byte_view bytes) {
  return byte_string{as_bytes(sha256(bytes))};
}

TEST(ChunkStore, PutsChunksTogetherInTheOrderOfTheList) {
  chunk_store store;
  EXPECT_EQ(*store.add(owner, "one"), sha256("one"));
  EXPECT_EQ(*store.add(owner, "two"), sha256("two"));
  const std::vector<byte_string> list{hash_of("two"), hash_of("one"), hash_of("two")};
  EXPECT_EQ(*store.assemble(owner, list, hash_of("twoonetwo")), "twoonetwo");
  EXPECT_EQ(*store.assemble(owner, {}, hash_of("")), "");
}

TEST(ChunkStore, RefusesAnotherHashAndUnknownChunks) {
  chunk_store store;
  ASSERT_TRUE(store.add(owner, "one"));
  const std::vector<byte_string> list{hash_of("one")};
  EXPECT_THAT(store.assemble(owner, list, hash_of("two")).error().message,
              HasSubstr("not " + to_hex(hash_of("two"))));
  EXPECT_FALSE(store.assemble(owner, list, "short"));
  EXPECT_THAT(store.assemble(other, list, hash_of("one")).error().message,
              HasSubstr("chunk_hashes_list[0]: " + other.to_text()));
  EXPECT_FALSE(store.assemble(owner, std::vector<byte_string>{"short"}, hash_of("")));
  EXPECT_FALSE(
    store.assemble(owner, std::vector<byte_string>(101, hash_of("one")), hash_of("one")));
}

TEST(ChunkStore, HoldsAHundredChunksOfAMebibyteAndCountsAChunkOnce) {
  chunk_store store;
  EXPECT_TRUE(store.add(owner, byte_string(1u << 20, 'x')));
  EXPECT_THAT(store.add(owner, byte_string((1u << 20) + 1, 'x')).error().message,
              HasSubstr("at most 1048576"));
  for (int i = 1; i < 100; ++i) ASSERT_TRUE(store.add(owner, std::to_string(i)));
  EXPECT_THAT(store.add(owner, "new").error().message, HasSubstr("holds 100 chunks"));
  EXPECT_TRUE(store.add(owner, "7"));
  EXPECT_EQ(store.list(owner).size(), 100u);
  EXPECT_TRUE(store.add(other, "new"));
  store.clear(owner);
  EXPECT_TRUE(store.list(owner).empty());
  EXPECT_EQ(store.bytes(owner), 0u);
  EXPECT_EQ(store.bytes(other), 3u);
}

} // namespace
} // namespace moxzi::actors::management
