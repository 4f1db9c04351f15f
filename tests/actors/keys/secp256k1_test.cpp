#include "actors/keys/secp256k1.hpp"

#include <gtest/gtest.h>

#include "actors/principal.hpp"
#include "base/digest.hpp"
#include "tests/actors/keys/verify.hpp"

// Expected values: RFC 6979 signatures as published for this curve, the vectors of BIP 32, BIP 340
// and BIP 341, and keys that the Internet Computer's public master keys have for a canister.

namespace moxzi::actors::keys {
namespace {

byte_string hex(std::string_view text) {
  return *from_hex(text);
}

byte_string number(uint8_t n) {
  byte_string bytes(32, '\0');
  bytes[31] = static_cast<char>(n);
  return bytes;
}

TEST(Secp256k1, HasThePublicKeysOfTheStandards) {
  EXPECT_EQ(to_hex(secp256k1::public_key(number(1))),
            "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
  EXPECT_EQ(to_hex(secp256k1::public_key(number(3))),
            "02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9");
}

TEST(Secp256k1, DerivesTheChildrenOfBip32) {
  // Test vector 2 of BIP 32: master key, then m/0.
  const extended_secret master{
    hex("4b03d6fc340455b363f51020ad3ecca4f0850280cf436c70c727923f6db46c3e"),
    hex("60499f801b896d83179a4374aeb7822aaeaceaa0db1f85ee3e904c4defbd9689")};
  const derivation_path path{byte_string(4, '\0')};
  const auto child = secp256k1::derive(master, path);
  EXPECT_EQ(to_hex(child.secret),
            "abe74a98f6c7eabee0428f53798f0ab8aa1bd37873999041703c742f15ac7e1e");
  EXPECT_EQ(to_hex(child.chain_code),
            "f0909affaa7ee7abe5dd4e100598d4dc53cd709d5a5c2cac40e7412f232f7c9c");
  const auto shown = secp256k1::derive(
    extended_public{secp256k1::public_key(master.secret), master.chain_code}, path);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->key, secp256k1::public_key(child.secret));
  EXPECT_EQ(shown->chain_code, child.chain_code);
}

struct mainnet_case {
  const char* master;
  const char* canister;
  derivation_path path;
  const char* expected;
};

TEST(Secp256k1, DerivesWhatTheInternetComputerDerives) {
  const mainnet_case cases[] = {
    {"02f9ac345f6be6db51e1c5612cddb59e72c3d0d493c994d12035cf13257e3b1fa7",
     "h5jwf-5iaaa-aaaan-qmvoa-cai",
     {"Hello", "Threshold", "Signatures"},
     "0315ae8bb8c6e9f78eec2167f5ac773067f37a39da1a1efbc585f9e90658d1c620"},
    {"02121bc3a5c38f38ca76487c72007ebbfd34bc6c4cb80a671655aa94585bbd0a02",
     "h5jwf-5iaaa-aaaan-qmvoa-cai",
     {hex("abcdef"), hex("012345")},
     "02735ca28b5c3e380016d7f28bf4703b540a8bbe8e24beffdc021455ca2ab93fe3"},
    {"037a651a2e5ef3d1ef63e84c4c4caa029fa4a43a347a91e4d84a8e846853d51be1",
     "h5jwf-5iaaa-aaaan-qmvoa-cai",
     {"Hello", "Threshold", "Signatures"},
     "0237ca6a41c1db8ab40410445250a5d46fbec7f3e449c8f40f86d8622a4106cebd"},
    {"036ad6e838b46811ad79c37b2f4b854b7a05f406715b2935edc5d3251e7666977b",
     "uzt4z-lp777-77774-qaabq-cai",
     {"Test", "Derivation", "For", "PocketIC", "ECDSA", "secp256k1", "key_1"},
     "03bca84b5629dc70a37cadb5b3cda0bfc35abc5658f1d9bf8335b10199785a3836"},
  };
  for (const auto& one : cases) {
    auto path = one.path;
    path.insert(path.begin(), byte_string{principal::from_text(one.canister)->bytes()});
    const auto key =
      secp256k1::derive(extended_public{hex(one.master), byte_string(32, '\0')}, path);
    ASSERT_TRUE(key);
    EXPECT_EQ(to_hex(key->key), one.expected);
  }
}

TEST(Secp256k1, RefusesAKeyThatIsNoPoint) {
  EXPECT_FALSE(
    secp256k1::derive(extended_public{byte_string(33, '\x05'), number(0)}, derivation_path{}));
  EXPECT_FALSE(secp256k1::derive(extended_public{"", number(0)}, {"x"}));
}

TEST(Secp256k1, SignsHashesAsRfc6979Says) {
  const auto hash = sha256("Satoshi Nakamoto");
  EXPECT_EQ(to_hex(secp256k1::sign_ecdsa(number(1), as_bytes(hash))),
            "934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8"
            "2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5");
}

TEST(Secp256k1, EcdsaSignaturesVerify) {
  for (uint8_t n = 1; n < 30; ++n) {
    const auto secret = secp256k1::make_secret(byte_string(64, static_cast<char>(n)));
    const auto hash = byte_string{as_bytes(sha256(number(n)))};
    const auto signature = secp256k1::sign_ecdsa(secret, hash);
    EXPECT_TRUE(verify_ecdsa(secp256k1::public_key(secret), hash, signature));
    auto other = hash;
    other[7] = static_cast<char>(other[7] ^ 1);
    EXPECT_FALSE(verify_ecdsa(secp256k1::public_key(secret), other, signature));
  }
}

TEST(Secp256k1, SignsAsBip340Says) {
  struct {
    const char* secret;
    const char* fresh;
    const char* message;
    const char* signature;
  } const vectors[] = {
    {"0000000000000000000000000000000000000000000000000000000000000003",
     "0000000000000000000000000000000000000000000000000000000000000000",
     "0000000000000000000000000000000000000000000000000000000000000000",
     "E907831F80848D1069A5371B402410364BDF1C5F8307B0084C55F1CE2DCA8215"
     "25F66A4A85EA8B71E482A74F382D2CE5EBEEE8FDB2172F477DF4900D310536C0"},
    {"B7E151628AED2A6ABF7158809CF4F3C762E7160F38B4DA56A784D9045190CFEF",
     "0000000000000000000000000000000000000000000000000000000000000001",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "6896BD60EEAE296DB48A229FF71DFE071BDE413E6D43F917DC8DCF8C78DE3341"
     "8906D11AC976ABCCB20B091292BFF4EA897EFCB639EA871CFA95F6DE339E4B0A"},
    {"C90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B14E5C9",
     "C87AA53824B4D7AE2EB035A2B5BBBCCC080E76CDC6D1692C4B0B62D798E6D906",
     "7E2D58D8B3BCDF1ABADEC7829054F90DDA9805AAB56C77333024B9D0A508B75C",
     "5831AAEED7B44BB74E5EAB94BA9D4294C49BCF2A60728D8B4C200F50DD313C1B"
     "AB745879A5AD954A72C45A91C3A51D3C7ADEA98D82F8481E0E1E03674A6F3FB7"},
    {"0B432B2677937381AEF05BB02A66ECD012773062CF3FA2549E44F58ED2401710",
     "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
     "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
     "7EB0509757E246F19449885651611CB965ECC1A187DD51B64FDA1EDC9637D5EC"
     "97582B9CB13DB3933705B32BA982AF5AF25FD78881EBB32771FC5922EFC66EA3"},
  };
  for (const auto& one : vectors) {
    const auto secret = hex(one.secret);
    const auto message = hex(one.message);
    const auto signature = secp256k1::sign_bip340(secret, message, hex(one.fresh));
    EXPECT_EQ(signature, hex(one.signature));
    EXPECT_TRUE(verify_bip340(secp256k1::public_key(secret).substr(1), message, signature));
  }
}

TEST(Secp256k1, SignsForTaprootOutputsAsBip341Says) {
  struct {
    const char* internal;
    const char* root;
    const char* tweaked;
    const char* hash;
    const char* signature;
  } const vectors[] = {
    {"6b973d88838f27366ed61c9ad6367663045cb456e28335c109e30717ae0c6baa", "",
     "2405b971772ad26915c8dcdf10f238753a9b837e5f8e6a86fd7c0cce5b7296d9",
     "2514a6272f85cfa0f45eb907fcb0d121b808ed37c6ea160a5a9046ed5526d555",
     "ed7c1647cb97379e76892be0cacff57ec4a7102aa24296ca39af7541246d8ff1"
     "4d38958d4cc1e2e478e4d4a764bbfd835b16d4e314b72937b29833060b87276c"},
    {"1e4da49f6aaf4e5cd175fe08a32bb5cb4863d963921255f33d3bc31e1343907f",
     "5b75adecf53548f3ec6ad7d78383bf84cc57b55a3127c72b9a2481752dd88b21",
     "ea260c3b10e60f6de018455cd0278f2f5b7e454be1999572789e6a9565d26080",
     "325a644af47e8a5a2591cda0ab0723978537318f10e6a63d4eed783b96a71a4d",
     "052aedffc554b41f52b521071793a6b88d6dbca9dba94cf34c83696de0c1ec35"
     "ca9c5ed4ab28059bd606a4f3a657eec0bb96661d42921b5f50a95ad33675b54f"},
    {"f36bb07a11e469ce941d16b63b11b9b9120a84d9d87cff2c84a8d4affb438f4e",
     "ccbd66c6f7e8fdab47b3a486f59d28262be857f30d4773f2d5ea47f7761ce0e2",
     "a8e7aa924f0d58854185a490e6c41f6efb7b675c0f3331b7f14b549400b4d501",
     "4f900a0bae3f1446fd48490c2958b5a023228f01661cda3496a11da502a7f7ef",
     "b4010dd48a617db09926f729e79c33ae0b4e94b79f04a1ae93ede6315eb3669d"
     "e185a17d2b0ac9ee09fd4c64b678a0b61a0a86fa888a273c8511be83bfd6810f"},
  };
  for (const auto& one : vectors) {
    const auto tweaked = secp256k1::tweak_bip341(hex(one.internal), hex(one.root));
    EXPECT_EQ(to_hex(tweaked), one.tweaked);
    EXPECT_EQ(to_hex(secp256k1::sign_bip340(tweaked, hex(one.hash), number(0))), one.signature);
  }
}

} // namespace
} // namespace moxzi::actors::keys
