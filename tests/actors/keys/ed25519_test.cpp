#include "actors/keys/ed25519.hpp"

#include <gtest/gtest.h>

#include "actors/principal.hpp"
#include "tests/actors/keys/verify.hpp"

// Expected values: OpenSSL's verification, and keys that the Internet Computer's public master keys
// have for a canister.

namespace moxzi::actors::keys {
namespace {

byte_string hex(std::string_view text) {
  return *from_hex(text);
}

TEST(Ed25519, TheBasePointIsThePublicKeyOfOne) {
  byte_string one(32, '\0');
  one[0] = 1;
  EXPECT_EQ(to_hex(ed25519::public_key(one)),
            "5866666666666666666666666666666666666666666666666666666666666666");
}

TEST(Ed25519, DerivesWhatTheInternetComputerDerives) {
  struct {
    const char* master;
    derivation_path path;
    const char* expected;
  } const cases[] = {
    {"476374d9df3a8af28d3164dc2422cff894482eadd1295290b6d9ad92b2eeaa5c",
     {hex("abcdef"), hex("012345")},
     "43f0008b26564b6da51f585ad47669dfeb1db6d94d7dd216bd304fc1f5f5e997"},
    {"476374d9df3a8af28d3164dc2422cff894482eadd1295290b6d9ad92b2eeaa5c",
     {"Test", "Derivation", "For", "Mainnet", "Ed25519", "key_1"},
     "cf261202d0c17f5592cf405242bcf94f8c991aa9422bd883dcfc19f610851151"},
    {"6c0824beb37621bcca6eecc237ed1bc4e64c9c59dcb85344aa7f9cc8278ee31f",
     {"Hello", "Threshold", "Signatures"},
     "d9a2ce6a3cd33fe16dce37e045609e51ff516e93bb51013823d6d7a915e3cfb9"},
  };
  for (const auto& one : cases) {
    auto path = one.path;
    path.insert(path.begin(),
                byte_string{principal::from_text("h5jwf-5iaaa-aaaan-qmvoa-cai")->bytes()});
    const auto key = ed25519::derive(extended_public{hex(one.master), byte_string(32, '\0')}, path);
    ASSERT_TRUE(key);
    EXPECT_EQ(to_hex(key->key), one.expected);
  }
}

TEST(Ed25519, SecretsAndPublicKeysDescendTogetherAndTheirSignaturesVerify) {
  for (uint8_t n = 1; n < 9; ++n) {
    const extended_secret master{ed25519::make_secret(byte_string(64, static_cast<char>(n * 31))),
                                 byte_string(32, static_cast<char>(n))};
    const derivation_path path{"", byte_string(n * 20, 'x'), "end"};
    const auto child = ed25519::derive(master, path);
    const auto shown =
      ed25519::derive(extended_public{ed25519::public_key(master.secret), master.chain_code}, path);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->key, ed25519::public_key(child.secret));
    EXPECT_EQ(shown->chain_code, child.chain_code);
    const byte_string message(n * 7u, 'm');
    const auto signature = ed25519::sign(child.secret, message, byte_string(32, 'f'));
    EXPECT_TRUE(verify_ed25519(shown->key, message, signature));
    EXPECT_FALSE(verify_ed25519(shown->key, message + "!", signature));
    EXPECT_NE(signature, ed25519::sign(child.secret, message, byte_string(32, 'g')));
  }
}

TEST(Ed25519, RefusesAKeyThatIsNoPoint) {
  // y = 2 has no x; a y above the prime; a wrong length.
  byte_string two(32, '\0');
  two[0] = 2;
  EXPECT_FALSE(ed25519::derive(extended_public{two, byte_string(32, '\0')}, {}));
  EXPECT_FALSE(ed25519::derive(extended_public{byte_string(32, '\xff'), two}, {}));
  EXPECT_FALSE(ed25519::derive(extended_public{"", two}, {}));
}

} // namespace
} // namespace moxzi::actors::keys
