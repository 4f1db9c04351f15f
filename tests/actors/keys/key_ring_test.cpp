#include "actors/keys/key_ring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/keys/ed25519.hpp"
#include "actors/keys/secp256k1.hpp"
#include "tests/actors/keys/verify.hpp"

namespace moxzi::actors::keys {
namespace {

using ::testing::HasSubstr;

const byte_string fresh(32, 'f');

key_place place(key_algorithm algorithm, derivation_path path = {"a", "b"}) {
  return {algorithm, "test_key_1", principal::of_actor("signer"), std::move(path)};
}

TEST(KeyRing, WhatItSignsVerifiesUnderTheKeyThatItShows) {
  const key_ring ring{sha256("a seed")};
  const auto ecdsa = place(key_algorithm::ecdsa_secp256k1);
  const auto hash = byte_string{as_bytes(sha256("message"))};
  EXPECT_TRUE(verify_ecdsa(ring.public_key(ecdsa)->key, hash, *ring.sign(ecdsa, hash, fresh)));
  const auto bip340 = place(key_algorithm::schnorr_bip340);
  const auto key = ring.public_key(bip340)->key.substr(1);
  for (const byte_string& message : {byte_string{}, hash, byte_string(1000, 'm')}) {
    EXPECT_TRUE(verify_bip340(key, message, *ring.sign(bip340, message, fresh)));
  }
  const auto edwards = place(key_algorithm::schnorr_ed25519);
  EXPECT_TRUE(verify_ed25519(ring.public_key(edwards)->key, "message",
                             *ring.sign(edwards, "message", fresh)));
}

TEST(KeyRing, KeysFollowFromTheSeedAndDifferByEverythingElse) {
  const key_ring ring{sha256("a seed")};
  const key_ring same{sha256("a seed")};
  const key_ring other{sha256("another seed")};
  std::set<byte_string> all;
  size_t asked = 0;
  for (const auto algorithm : {key_algorithm::ecdsa_secp256k1, key_algorithm::schnorr_bip340,
                               key_algorithm::schnorr_ed25519}) {
    for (const std::string name : {"dfx_test_key", "test_key_1", "key_1"}) {
      for (const std::string owner : {"x", "y"}) {
        for (const derivation_path& path : {derivation_path{}, {"a"}, {"a", ""}, {"", "a"}}) {
          const key_place where{algorithm, name, principal::of_actor(owner), path};
          const auto key = ring.public_key(where);
          ASSERT_TRUE(key);
          EXPECT_EQ(*key, *same.public_key(where));
          all.insert(key->key);
          all.insert(other.public_key(where)->key);
          asked += 2;
        }
      }
    }
  }
  EXPECT_EQ(all.size(), asked);
}

TEST(KeyRing, APublicKeyLeadsToThoseBelowItWithoutAnySecret) {
  const key_ring ring{sha256("a seed")};
  for (const auto algorithm : {key_algorithm::ecdsa_secp256k1, key_algorithm::schnorr_bip340}) {
    const auto root = *ring.public_key(place(algorithm, {}));
    EXPECT_EQ(*secp256k1::derive(root, {"a", "b"}), *ring.public_key(place(algorithm)));
  }
  const auto root = *ring.public_key(place(key_algorithm::schnorr_ed25519, {}));
  EXPECT_EQ(*ed25519::derive(root, {"a", "b"}),
            *ring.public_key(place(key_algorithm::schnorr_ed25519)));
}

TEST(KeyRing, SignsForATaprootOutput) {
  const key_ring ring{sha256("a seed")};
  const auto where = place(key_algorithm::schnorr_bip340);
  const auto hash = byte_string{as_bytes(sha256("message"))};
  const auto internal = ring.public_key(where)->key.substr(1);
  EXPECT_FALSE(verify_bip340(internal, hash, *ring.sign(where, hash, fresh, byte_string{})));
  EXPECT_TRUE(ring.sign(where, hash, fresh, byte_string(32, 'r')));
  EXPECT_THAT(ring.sign(where, hash, fresh, byte_string(31, 'r')).error().message,
              HasSubstr("merkle_root_hash has 31 bytes"));
  EXPECT_THAT(
    ring.sign(place(key_algorithm::schnorr_ed25519), hash, fresh, byte_string{}).error().message,
    HasSubstr("bip341"));
}

TEST(KeyRing, SaysWhatIsWrong) {
  const key_ring ring{sha256("a seed")};
  auto where = place(key_algorithm::ecdsa_secp256k1);
  EXPECT_THAT(ring.sign(where, "short", fresh).error().message, HasSubstr("message_hash has 5"));
  where.name = "test_key_2";
  EXPECT_THAT(ring.public_key(where).error().message, HasSubstr("did you mean 'test_key_1'?"));
  where.name = "key_1";
  where.path.assign(256, "x");
  EXPECT_THAT(ring.public_key(where).error().message, HasSubstr("256 parts; at most 255"));
}

} // namespace
} // namespace moxzi::actors::keys
