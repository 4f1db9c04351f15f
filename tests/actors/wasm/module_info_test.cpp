#include "actors/wasm/module_info.hpp"

#include <rapidcheck.h>

#include "tests/actors/wasm/fixture_text.hpp"
#include "tests/actors/wasm/runner.hpp"

using namespace moxzi;
using namespace moxzi::actors;

namespace {

std::string refusal(const std::string& text) {
  auto wasm = wasm_from_text(text);
  if (!wasm) return "text: " + wasm.error().message;
  auto prepared = prepare_module(*wasm);
  return prepared ? "none" : prepared.error().message;
}

std::string refusal_of_bytes(byte_view wasm) {
  auto prepared = prepare_module(wasm);
  return prepared ? "none" : prepared.error().message;
}

byte_string custom_section(std::string_view name, std::string_view contents) {
  byte_string section{"\0", 1};
  section.push_back(static_cast<char>(1 + name.size() + contents.size()));
  section.push_back(static_cast<char>(name.size()));
  return section.append(name).append(contents);
}

const byte_string empty_module{"\0asm\1\0\0\0", 8};

} // namespace

TEST(module_info, a_fixture_is_described) {
  auto prepared = prepare_module(
    *wasm_from_text(fixture("(func (export \"canister_heartbeat\")) (func $s) (start $s)")));
  ASSERT_TRUE(prepared) << prepared.error().message;
  const auto& info = prepared->info;
  EXPECT_TRUE(info.has_memory);
  EXPECT_TRUE(info.memory64);
  EXPECT_EQ(info.memory_pages_min, 2u);
  EXPECT_EQ(info.mutable_globals, 2u);
  EXPECT_TRUE(info.has_table);
  EXPECT_TRUE(info.has_start);
  EXPECT_EQ(info.methods.at("add"), method_mode::update);
  EXPECT_EQ(info.methods.at("heap"), method_mode::query);
  EXPECT_EQ(info.entry_points, std::set<std::string>{"canister_heartbeat"});
}

TEST(module_info, what_an_actor_may_not_be_is_refused_with_the_reason) {
  const std::pair<std::string, std::string> rows[] = {
    {"(module (import \"env\" \"print\" (func)))",
     "import env.print: only functions of 'ic0' can be imported"},
    {"(module (import \"ic0\" \"msg_repply\" (func)))",
     "import ic0.msg_repply: no such system call; did you mean 'msg_reply'?"},
    {"(module (import \"ic0\" \"msg_reply\" (func (param f32))))",
     "import ic0.msg_reply has type (another type) -> (); the system call has () -> ()"},
    {"(module (import \"ic0\" \"debug_print\" (func (param i32 i32))) (memory i64 1))",
     "import ic0.debug_print has type (i32, i32) -> (); the system call has (i64, i64) -> ()"},
    {"(module (import \"ic0\" \"mem\" (memory 1)))",
     "import ic0.mem: an actor's module may import functions only"},
    {"(module (memory 1) (memory 1))", "2 memories; an actor has at most one"},
    {"(module (memory 1 2 shared))", "its memory is shared or of a kind not offered"},
    {"(module (func (export \"canister_update f\") (param i32)))",
     "'canister_update f' has type (i32) -> (); an entry point has () -> ()"},
    {"(module (func (export \"canister_initt\")))",
     "export 'canister_initt' is no entry point of an actor; did you mean 'canister_init'?"},
    {"(module (func $f) (export \"canister_update f\" (func $f)) (export \"canister_query f\" "
     "(func "
     "$f)))",
     "method 'f' is exported twice"},
    {"(module (global (export \"canister_init\") i32 (i32.const 0)))",
     "export 'canister_init' must be a function"},
    {"(module (func (export \"\\01start\")))",
     "export names that begin with the byte 01 are the host's"},
    {"(module (global (mut externref) (ref.null extern)))",
     "mutable global 0 is not a number and could not be saved"},
  };
  for (const auto& [text, reason] : rows) EXPECT_EQ(refusal(text), reason) << text;
  EXPECT_EQ(refusal_of_bytes("not a module"),
            "it is not a wasm module (no '\\0asm' version 1 at its beginning)");
  EXPECT_EQ(refusal_of_bytes("\x1f\x8b\x08"), "it is compressed; unpack it first (gunzip)");
  EXPECT_EQ(refusal_of_bytes(empty_module), "none");
}

TEST(module_info, metadata_is_kept_and_bounded) {
  auto module = empty_module + custom_section("icp:public candid:service", "service : {}")
                + custom_section("icp:private other", "x") + custom_section("name", "");
  auto prepared = prepare_module(module);
  ASSERT_TRUE(prepared);
  const auto& metadata = prepared->info.metadata;
  EXPECT_EQ(metadata.size(), 2u);
  EXPECT_TRUE(metadata.at("candid:service").is_public);
  EXPECT_EQ(metadata.at("candid:service").contents, "service : {}");
  EXPECT_FALSE(metadata.at("other").is_public);
  EXPECT_EQ(refusal_of_bytes(module + custom_section("icp:public other", "y")),
            "metadata 'other' is there twice");
  auto many = empty_module;
  for (int i = 0; i < 17; ++i) many += custom_section(fmt::format("icp:public m{}", i), "");
  EXPECT_EQ(refusal_of_bytes(many), "more than 16 metadata sections");
}

TEST(module_info, counts_above_the_limits_are_refused) {
  std::string globals, methods;
  for (int i = 0; i < 1'001; ++i) {
    globals += "(global i32 (i32.const 0))";
    methods += fmt::format("(func (export \"canister_update m{}\"))", i);
  }
  EXPECT_EQ(refusal("(module " + globals + ")"), "too many entries in the global section");
  EXPECT_EQ(refusal("(module " + methods + ")"), "more than 1000 methods");
  EXPECT_EQ(
    refusal("(module (func (export \"canister_update " + std::string(20'001, 'm') + "\")))"),
    "method names of more than 20000 bytes together");
}

TEST(module_info, a_module_without_exports_gets_them_in_the_right_place) {
  auto compiled = compile_text("(module (memory i64 1) (global (mut i64) (i64.const 5))"
                               " (func $s (global.set 0 (i64.const 6))) (start $s)"
                               " (elem declare func $s))");
  EXPECT_TRUE(compiled->info().has_start);
  subject actor{compiled};
  EXPECT_NE(actor.installed.state_digest, digest128{});
}

TEST(module_info, padded_numbers_of_other_linkers_are_read) {
  // One function type, its count written in five bytes.
  byte_string module = empty_module + byte_string{"\1\x84\x80\x80\x80\0\1\x60\0\0", 10};
  EXPECT_EQ(refusal_of_bytes(module), "none");
}

TEST(module_info, damaged_modules_never_do_more_than_fail) {
  auto wasm = *wasm_from_text(fixture("(func $s) (start $s)"));
  EXPECT_TRUE(
    rc::check([&wasm](const std::vector<std::pair<uint32_t, uint8_t>>& changes, uint32_t cut) {
      auto damaged = wasm.substr(0, cut % 4 == 0 ? cut % (wasm.size() + 1) : wasm.size());
      for (const auto& [at, value] : changes)
        if (!damaged.empty()) damaged[at % damaged.size()] = static_cast<char>(value);
      if (auto prepared = prepare_module(damaged)) {
        RC_ASSERT(prepared->code.size() <= damaged.size() + 64 * 1024);
      } else {
        RC_ASSERT(!prepared.error().message.empty());
      }
    }));
  for (size_t size = 0; size < wasm.size(); ++size)
    static_cast<void>(prepare_module(byte_view{wasm}.substr(0, size)));
}

TEST(module_info, what_the_engine_finds_invalid_is_refused) {
  // A function that promises a result and gives none: well-formed, but not valid.
  byte_string module = empty_module + byte_string{"\1\5\1\x60\0\1\x7f\3\2\1\0\n\4\1\2\0\x0b", 17};
  auto compiled = test_engine()->compile(module);
  ASSERT_FALSE(compiled);
  EXPECT_TRUE(compiled.error().message.starts_with("the module is not valid: "))
    << compiled.error().message;
}
