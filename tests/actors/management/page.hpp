#pragma once

#include <string_view>

/// What the page on tensors for hosted actors declares and sends.
namespace moxzi::actors::management::page {

/// The page's `type Device`, as Candid.
inline constexpr std::string_view interface = R"(
  type Op = variant {
    input : nat32;
    param : text;
    narrow : record { x : nat32; dim : nat32; start : nat32; len : nat32 };
    reshape : record { x : nat32; shape : vec nat32 };
    embedding : record { table : nat32; ids : nat32 };
    linear : record { x : nat32; w : nat32 };
    cross_entropy : record { logits : nat32; targets : nat32 };
  };
  service : {
    moxzi_device_params :
      (vec record { name : text; shape : vec nat32; init : variant { normal : float64 } }) -> ();
    moxzi_device_optimizer : (record {
      name : text; params : vec text; lr : float64;
      beta1 : float64; beta2 : float64; eps : float64; weight_decay : float64;
      kind : opt variant { adamw };
    }) -> ();
    moxzi_device_run : (record {
      inputs : vec record { data : blob; elem : variant { u8 }; shape : vec nat32 };
      program : vec Op;
      train : opt record {
        loss : nat32; optimizer : text; clip : opt float64; lr : opt float64; also : opt vec text;
      };
      scalars : vec nat32;
      tensors : vec nat32;
    }) -> (record { scalars : vec float64 });
  }
)";

// The page's three messages as the program that the Motoko compiler made of it sends them (captured
// from the calls of its first step).

inline constexpr std::string_view params =
  "4449444c046d016c0390f6ecad0402cbe4fdc70471a1c6f3e007036b01a7e4a58303726d79010002009a99999999"
  "99b93f05656d626564020001000010000000009a9999999999b93f0468656164020001000010000000";

inline constexpr std::string_view optimizer =
  "4449444c046c0886bd0172a88bb40272f3cba06572d4c2a7b80401cbe4fdc70471c180ff820b72c280ff820b72c6"
  "f6ebeb0e036e026b0188aa86e2017f6d7101009a9999999999a93f3a8c30e28e79453e0000000000000000010004"
  "6164616dcdccccccccccec3fae47e17a14aeef3f0205656d6265640468656164";

inline constexpr std::string_view run =
  "4449444c126c05c8a7feb0010dc7bf91a80605a98ab7df0901baefc4e10d058495e59f0f066d026c03aaac8d9304"
  "038fb1d3980404a1c6f3e007056d7b6b01a3cc017f6d796d076b079bd5c486020b8eeddc95060cd7a2ddbb0b098d"
  "81d6ea0b718a88f7f00b79e5a381e50e0af2fa87c10f086c02a4d0a9e3057982e89fc308796c02b888c002798ef0"
  "8e57796c02777978796c047879c8fab00279d597c90279e2e8ada008796c027879a1c6f3e007056e0e6c0586bd01"
  "11c794c083040fd0dd898e0411e3d3debd0479f5e98ac305716e106d716e7201000100000009000000046164616d"
  "0109000000014168656c6c6f206d6f787a692c2068656c6c6f206163746f72732c2068656c6c6f2074656e736f72"
  "73206f6e2061206465766963652e2068656c6c6f20616761696e00020100000041000000000a0400000000000000"
  "00000100000040000000000000000000000000010000004000000001000000010200000001400000000305656d62"
  "65640201000000040000000304686561640506000000050000000107000000024000000000010000060800000003"
  "000000";

} // namespace moxzi::actors::management::page
