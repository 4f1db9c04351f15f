#include "actors/candid/conformance.hpp"

#include <gtest/gtest.h>

using namespace moxzi;
using namespace moxzi::candid;

TEST(conformance, statements_of_each_form_are_run) {
  const auto report = run_conformance(R"did(
// Own cases in the public format.
type List = opt record { head : nat; tail : List };
assert blob "DIDL\00\01\7d\05" : (nat) "a number";
assert blob "DIDL\00\01\7d\05" !: (text) "no text";
assert blob "DIDL\00\01\7d\05" == "(5)" : (nat);
assert blob "DIDL\00\01\7d\05" != "(6)" : (nat) "not six";
assert "(opt record { head = 1; tail = null })" : (List) "text at a named type";
assert "(5)" == "(6)" : (nat) "wrong on purpose";
assert blob "DIDL\00\01\7d" : (nat) "cut off on purpose";
assert "(7)" !: (nat) "accepted on purpose";
)did");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->passed, 5u);
  EXPECT_EQ(report->failed, 3u);
  EXPECT_EQ(report->failures, (std::vector<std::string>{
                                "9:1: wrong on purpose: (5) and (6)",
                                "10:1: cut off on purpose: byte 7: a number that does not end",
                                "11:1: accepted on purpose: accepted as (7)"}));
}

TEST(conformance, a_file_of_another_form_is_refused) {
  EXPECT_EQ(run_conformance("service : {}").error().message,
            "1:1: expected 'type' or 'assert', got 'service'");
}
