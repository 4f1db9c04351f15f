#pragma once

#include <array>
#include <string_view>

#include "actors/candid/did_parser.hpp"

/// Types that the Candid fuzzers read at, chosen by the first byte of the input.
namespace moxzi::candid {

inline const tuple_type& fuzzed_types(uint8_t chosen) {
  static const auto all = [] {
    const auto lists = parse_did(R"(
      type List = opt record { head : int; tail : List };
      type Tree = variant { leaf : nat8; node : record { Tree; Tree } };
      type Fix = opt Fix;
      type Op = variant { input : nat32; reshape : record { x : nat32; shape : vec nat32 }; none };
      service : {
        a : (nat, int, text, bool) -> ();
        b : (List, Tree) -> ();
        c : (vec Op, opt record { lr : opt float64; name : text }) -> ();
        d : (blob, vec float32, float64, principal, func (List) -> (Fix) query) -> ();
        e : (opt opt nat, opt null, reserved, opt empty, Fix) -> ();
        f : (vec record { text; nat64 }, service { g : (nat) -> (List) }) -> ();
        g : (int8, int16, int32, int64, nat8, nat16, nat32, null) -> ();
        h : (vec null, vec record {}, vec vec reserved) -> ();
      })")
                         .value();
    std::array<tuple_type, 8> made;
    for (size_t i = 0; i < made.size(); ++i) made[i] = lists.methods[i].arguments;
    return made;
  }();
  return all[chosen % all.size()];
}

} // namespace moxzi::candid
