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

TEST(StableTypes, WhatIsOfAnotherFormSaysNothing) {
  for (const auto* text :
       {"", "actor", "actor {", "actor ({pre}, {post})", "// actor { stable x"}) {
    EXPECT_EQ(stable_differences(before, text), "") << text;
    EXPECT_EQ(stable_differences(text, before), "") << text;
  }
}

} // namespace
} // namespace moxzi::actors
