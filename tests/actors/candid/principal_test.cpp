#include "actors/principal.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

using moxzi::principal;

TEST(principal, known_texts) {
  EXPECT_EQ(principal{}.to_text(), "aaaaa-aa");
  EXPECT_EQ(principal::anonymous().to_text(), "2vxsx-fae");
  // The interface specification's example.
  EXPECT_EQ(principal::from_bytes("\xab\xcd\x01").value().to_text(), "em77e-bvlzu-aq");
  EXPECT_TRUE(principal::from_text("aaaaa-aa").value().is_management());
}

TEST(principal, only_the_canonical_text_is_read) {
  for (const auto* text : {"", "aaaaa", "AAAAA-AA", "em77e-bvlzu-ar", "em77ebvlzuaq",
                           "em77e-bvlzu-aq-", "em77e-bvlz1-aq", "em77e-bvlzu-aqa"}) {
    EXPECT_FALSE(principal::from_text(text)) << text;
  }
  EXPECT_FALSE(principal::from_bytes(std::string(30, 'x')));
}

TEST(principal, text_and_bytes_agree_for_all) {
  EXPECT_TRUE(rc::check([] {
    const auto bytes = *rc::gen::resize(29, rc::gen::arbitrary<std::string>());
    RC_PRE(bytes.size() <= principal::bytes_max);
    const auto who = principal::from_bytes(bytes).value();
    RC_ASSERT(principal::from_text(who.to_text()).value() == who);
  }));
}

TEST(principal, an_actors_principal_follows_from_its_name) {
  // printf 'moxzi-actor\0letters' | sha256sum | cut -c1-16
  const auto who = principal::of_actor("letters");
  EXPECT_EQ(moxzi::to_hex(who.bytes()), "f0dd5fce76d390830101");
}
