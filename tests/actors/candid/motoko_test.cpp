#include "actors/candid/motoko_printer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/candid/did_parser.hpp"

using namespace moxzi::candid;
using testing::HasSubstr;

namespace {

std::string motoko(std::string_view did) {
  auto interface = parse_did(did);
  if (!interface) return interface.error().message;
  auto text = motoko_text(*interface);
  return text ? *text : text.error().message;
}

} // namespace

// Motoko's mapping of names (IDL-Motoko.md in the Motoko compiler's design folder).
TEST(motoko, names_are_those_that_the_compiler_maps_back) {
  EXPECT_EQ(motoko_label("total"), "total");
  EXPECT_EQ(motoko_label("query"), "query_");
  EXPECT_EQ(motoko_label("query_"), "query__");
  EXPECT_EQ(motoko_label("a b"), "_" + std::to_string(hash_name("a b")) + "_");
  EXPECT_EQ(motoko_label(""), "_0_");
}

TEST(motoko, an_interface_becomes_a_module_of_types) {
  EXPECT_EQ(motoko(R"(
    type list = opt record { head : nat; tail : list };
    type pair = record { text; blob };
    type Nat = variant { zero; "next one" : Nat; };
    service : (record { greeting : text }) -> {
      add : (left : nat, nat8) -> (int) ;
      get : () -> (opt list, pair) query;
      "type" : (float64, float32) -> () oneway;
      all : (func (text) -> (nat) composite_query) -> (reserved);
    })"),
            R"(module {
  public type list = ?{
    head : Nat;
    tail : list;
  };
  public type pair = (Text, Blob);
  public type Nat_ = {
    #zero;
    #_)" + std::to_string(hash_name("next one"))
              + R"(_ : Nat_;
  };
  public type Init = ({
    greeting : Text;
  });
  public type Self = actor {
    add : shared (left : Nat, Nat8) -> async Int;
    all : shared (shared composite query (Text) -> async Nat) -> async Any;
    get : shared query () -> async (?list, pair);
    type_ : shared (Float, Float32) -> ();
  };
};
)");
}

TEST(motoko, says_what_motoko_cannot) {
  EXPECT_THAT(motoko("service : { \"not a name\" : () -> () }"),
              HasSubstr("method \"not a name\" has no name in Motoko"));
}
