#include "actors/stable_types.hpp"

#include <gtest/gtest.h>

namespace moxzi::actors {
namespace {

constexpr std::string_view before = R"(// Version: 1.0.0
type T = {a : Nat; b : ?Text};
actor {
  stable var count : Nat;
  stable map :
    {var root : T; size : Nat};
  stable var note : Text
};
)";

TEST(StableTypes, DifferencesAreNamed) {
  EXPECT_EQ(stable_differences(before, before), "");
  EXPECT_EQ(stable_differences(before, R"(actor { stable var count : Int;
    stable map : { var root : T; size : Nat }; stable var more : Nat })"),
            "count was var Nat and is var Int; "
            "map was {var root : T; size : Nat} and is { var root : T; size : Nat }; note is gone");
  EXPECT_EQ(stable_differences(before, "actor { stable count : Nat }"),
            "count was var Nat and is Nat; map is gone; note is gone");
  EXPECT_EQ(stable_differences("actor { };", before), "");
}

// As the compiler writes it for `(with migration = func (old : {var n : Nat}) : {var n : Text})`.
TEST(StableTypes, AMigrationTakesOneFormAndLeavesAnother) {
  constexpr std::string_view migrating = R"(// Version: 3.0.0
type W = actor {inc : shared () -> async Text};
actor ({
  in var n : Nat;
  stable var w : ?W
}, {
  stable var n : Text;
  stable var w : ?W
});
)";
  EXPECT_EQ(stable_differences("actor { stable var n : Nat; stable var w : ?W };", migrating), "");
  EXPECT_EQ(stable_differences(migrating, migrating), "n was var Text and is var Nat");
  EXPECT_EQ(stable_differences(migrating, "actor { stable var w : ?W };"), "n is gone");
}

TEST(StableTypes, WhatIsOfAnotherFormSaysNothing) {
  for (const auto* text : {"", "actor", "actor {", "actor ({pre}, {post})", "actor ({}, {",
                           "actor ({})", "actor {stable x : Nat; what}", "// actor { stable x"}) {
    EXPECT_EQ(stable_differences(before, text), "") << text;
    EXPECT_EQ(stable_differences(text, before), "") << text;
  }
}

} // namespace
} // namespace moxzi::actors
