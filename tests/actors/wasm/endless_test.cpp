// Code that never ends, in every place where code runs: the instruction limit ends it, and nothing
// of it is left.

#include "tests/actors/wasm/fixture_text.hpp"
#include "tests/actors/wasm/runner.hpp"

using namespace moxzi;
using namespace moxzi::actors;

namespace {

const std::string forever = "(call $add (i64.const 1)) (loop $again (br $again))";

std::string endless(const std::string& more = "") {
  return fixture(R"((func $endless )" + forever + R"()
    (func $endless_callback (param i64) )"
                 + forever + R"()
    (elem (i64.const 1) $endless_callback)
    (export "canister_update u" (func $endless))
    (export "canister_query q" (func $endless))
    (export "canister_composite_query c" (func $endless))
    (export "canister_inspect_message" (func $endless))
    (export "canister_heartbeat" (func $endless))
    (export "canister_global_timer" (func $endless))
    (export "canister_on_low_wasm_memory" (func $endless))
    (export "canister_pre_upgrade" (func $endless)))"
                 + more);
}

} // namespace

TEST(endless, every_entry_and_callback_ends_at_its_limit) {
  subject actor{compile_text(endless())};
  const std::pair<entry_kind, const char*> kinds[] = {
    {entry_kind::update, "u"},           {entry_kind::query, "q"},
    {entry_kind::composite_query, "c"},  {entry_kind::inspect, ""},
    {entry_kind::heartbeat, ""},         {entry_kind::timer, ""},
    {entry_kind::low_memory, ""},        {entry_kind::reply_callback, ""},
    {entry_kind::reject_callback, ""},   {entry_kind::cleanup_callback, ""},
    {entry_kind::composite_reply, ""},   {entry_kind::composite_reject, ""},
    {entry_kind::composite_cleanup, ""},
  };
  for (const auto& [kind, method] : kinds) {
    auto input = input_of(kind, method);
    input.callback = {1, 0};
    input.instructions_max = 20'000'000;
    const auto out = actor.run(input);
    EXPECT_EQ(trap_code(out), "MX522") << static_cast<int>(kind);
    EXPECT_GE(out.instructions, 20'000'000u);
    EXPECT_LE(out.instructions, 20'100'000u);
  }
  EXPECT_EQ(number_of(actor.query("heap")), 0u);
}

TEST(endless, installations_and_upgrades_end_at_theirs) {
  for (const std::string more :
       {"(start $endless)", R"((export "canister_init" (func $endless)))"}) {
    auto body = make_wasm_body(test_pool().handle(), {self_id()});
    auto input = install_of(compile_text(endless(more)));
    input.instructions_max = 20'000'000;
    EXPECT_EQ(trap_code(pending{*body, input}.wait()), "MX522");
  }
  subject actor{compile_text(endless())};
  auto upgrade = input_of(entry_kind::upgrade);
  upgrade.code = actor.code;
  upgrade.instructions_max = 20'000'000;
  EXPECT_EQ(trap_code(actor.run(upgrade)), "MX522"); // pre_upgrade
  upgrade.skips_pre_upgrade = true;
  EXPECT_FALSE(actor.run(upgrade).trapped);
  upgrade.code =
    code_of(compile_text(endless(R"((export "canister_post_upgrade" (func $endless)))")));
  EXPECT_EQ(trap_code(actor.run(upgrade)), "MX522");
}
