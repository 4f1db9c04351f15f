// The Motoko compiler's output: 64-bit memory and table, its own run-time system, callbacks.

#include <fstream>
#include <iterator>

#include "tests/actors/wasm/runner.hpp"

using namespace moxzi;
using namespace moxzi::actors;

namespace {

byte_string file(const std::string& name) {
  std::ifstream in{MOXZI_MOTOKO_DIR "/" + name, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::shared_ptr<const compiled_module> tour() {
  static auto compiled = *test_engine()->compile(file("tour.wasm"));
  return compiled;
}

void leb(byte_string& out, uint64_t value) {
  for (; value >= 128; value >>= 7) out.push_back(static_cast<char>((value & 127) | 128));
  out.push_back(static_cast<char>(value));
}

// Candid's hash of a field's name (Candid specification, "Records").
uint32_t field(std::string_view name) {
  uint32_t hash = 0;
  for (char c : name) hash = hash * 223 + static_cast<uint8_t>(c);
  return hash;
}

const byte_string unit{"DIDL\0\0", 6};

byte_string nat(uint64_t value) {
  byte_string bytes{"DIDL\0\1\x7d", 7};
  leb(bytes, value);
  return bytes;
}

byte_string nat64(uint64_t value) {
  return byte_string{"DIDL\0\1\x78", 7} + byte_string{reinterpret_cast<const char*>(&value), 8};
}

byte_string text(std::string_view value) {
  byte_string bytes{"DIDL\0\1\x71", 7};
  leb(bytes, value.size());
  return bytes += value;
}

byte_string tour_argument() {
  byte_string bytes{"DIDL\1\x6c\2", 7};
  leb(bytes, field("n"));
  bytes.push_back('\x7d');
  leb(bytes, field("greeting"));
  bytes += byte_string{"\x71\1\0", 3};
  leb(bytes, 7);
  return bytes += "\x05hello";
}

struct tourist : subject {
  explicit tourist(uint64_t heap_bytes_max = limits::heap_bytes_max)
      : subject(tour(), heap_bytes_max, tour_argument()) {
    // nop
  }
  byte_string count() {
    return reply_of(query("get", unit));
  }
};

execution_input reply_to(const outgoing_call& call, byte_string argument) {
  auto input = input_of(entry_kind::reply_callback, {}, std::move(argument));
  input.callback = call.on_reply;
  return input;
}

} // namespace

TEST(motoko, methods_are_listed_and_those_of_the_compiler_marked) {
  const auto& info = tour()->info();
  EXPECT_TRUE(info.memory64);
  EXPECT_TRUE(info.has_start);
  EXPECT_TRUE(info.has_table);
  EXPECT_GT(info.mutable_globals, 0u);
  EXPECT_EQ(info.methods.at("bump"), method_mode::update);
  EXPECT_EQ(info.methods.at("get"), method_mode::query);
  EXPECT_EQ(info.methods.at("__motoko_async_helper"), method_mode::update);
  EXPECT_TRUE(is_internal_method("__motoko_async_helper"));
  EXPECT_TRUE(is_internal_method("@motoko_async_stabilization"));
  EXPECT_FALSE(is_internal_method("bump"));
  EXPECT_TRUE(info.metadata.contains("candid:service"));
  EXPECT_TRUE(info.metadata.contains("enhanced-orthogonal-persistence"));
  tourist actor;
  EXPECT_EQ(actor.code->find_method("bump"), method_mode::update);
  EXPECT_EQ(actor.code->find_method("get"), method_mode::query);
  EXPECT_EQ(actor.code->find_method("__motoko_async_helper"), method_mode::update);
  EXPECT_FALSE(actor.code->methods().contains("__motoko_async_helper"));
  EXPECT_FALSE(actor.code->has_entry(entry_kind::inspect));
  EXPECT_TRUE(actor.code->keeps_heap());
}

TEST(motoko, updates_are_kept_and_queries_are_not) {
  tourist actor;
  EXPECT_EQ(actor.count(), nat(7));
  EXPECT_EQ(reply_of(actor.query("greeting", unit)), text("hello"));
  EXPECT_EQ(reply_of(actor.update("bump", nat(35))), nat(42));
  EXPECT_EQ(reply_of(actor.query("spoil", unit)), nat(43));
  EXPECT_EQ(reply_of(actor.query("spoil", unit)), nat(43));
  // Its run-time system would trap here if the query's memory had been kept.
  EXPECT_EQ(reply_of(actor.update("bump", nat(0))), nat(42));
}

TEST(motoko, traps_say_what_the_program_said_and_leave_nothing) {
  tourist actor;
  auto refused = actor.update("refuse", unit);
  EXPECT_EQ(trap_code(refused), "MX503");
  EXPECT_TRUE(refused.trapped->message.starts_with("assertion failed at tour.mo:"))
    << refused.trapped->message;
  auto given_up = actor.update("give_up", unit);
  EXPECT_EQ(trap_code(given_up), "MX503");
  EXPECT_NE(given_up.trapped->message.find("enough of this"), std::string::npos);
  auto divided = actor.update("divide", nat(0));
  EXPECT_EQ(trap_code(divided), "MX502");
  EXPECT_EQ(divided.trapped->message, "integer divide by zero (in divide)");
  EXPECT_EQ(trap_code(actor.update("bump", text("not a number"))), "MX503");
  EXPECT_EQ(actor.count(), nat(7));
}

TEST(motoko, an_await_ends_the_execution_with_a_call_and_the_reply_goes_on) {
  tourist actor;
  auto first = actor.update("call_other", unit);
  ASSERT_FALSE(first.trapped) << first.trapped->message;
  EXPECT_FALSE(first.answer);
  ASSERT_EQ(first.calls.size(), 1u);
  const auto& call = first.calls[0];
  EXPECT_EQ(call.callee, principal::anonymous());
  EXPECT_EQ(call.method, "ping");
  EXPECT_EQ(call.argument, nat(8));
  EXPECT_TRUE(call.on_cleanup);
  EXPECT_FALSE(call.timeout_seconds);
  EXPECT_EQ(actor.count(), nat(8)) << "what came before the await is kept";
  auto second = actor.run(reply_to(call, nat(100)));
  EXPECT_EQ(reply_of(second), nat(108));
  EXPECT_TRUE(second.calls.empty());
}

TEST(motoko, a_reject_reaches_the_program_as_an_error) {
  tourist actor;
  auto first = actor.update("catch_other", unit);
  ASSERT_EQ(first.calls.size(), 1u);
  auto input = input_of(entry_kind::reject_callback);
  input.callback = first.calls[0].on_reject;
  input.reject_code = reject_code::canister_error;
  input.reject_message = "no such method";
  EXPECT_EQ(reply_of(actor.run(input)), text("caught"));
}

TEST(motoko, after_a_trap_in_a_callback_the_cleanup_runs_the_finally_block) {
  tourist actor;
  auto first = actor.update("call_and_trap", unit);
  ASSERT_EQ(first.calls.size(), 1u);
  const auto& call = first.calls[0];
  ASSERT_TRUE(call.on_cleanup);
  auto second = actor.run(reply_to(call, nat(1)));
  EXPECT_EQ(trap_code(second), "MX503");
  EXPECT_NE(second.trapped->message.find("after the answer"), std::string::npos);
  EXPECT_EQ(actor.count(), nat(8)) << "the part after the await is undone";
  auto cleanup = input_of(entry_kind::cleanup_callback);
  cleanup.callback = *call.on_cleanup;
  cleanup.can_answer = false;
  auto third = actor.run(cleanup);
  EXPECT_FALSE(third.trapped) << third.trapped->message;
  EXPECT_EQ(actor.count(), nat(18));
}

TEST(motoko, a_call_that_may_not_be_made_is_an_error_in_the_program) {
  tourist actor;
  auto input = input_of(entry_kind::update, "catch_other", unit);
  std::vector<principal> asked;
  auto out = actor.run(input, [&asked](const principal& callee) {
    asked.push_back(callee);
    return false;
  });
  EXPECT_EQ(asked, std::vector{principal::anonymous()});
  EXPECT_TRUE(out.calls.empty());
  EXPECT_EQ(reply_of(out), text("caught"));
}

TEST(motoko, an_actor_calls_itself_by_its_own_principal) {
  tourist actor;
  auto first = actor.update("call_self", unit);
  ASSERT_EQ(first.calls.size(), 1u);
  EXPECT_EQ(first.calls[0].callee, self_id());
  EXPECT_EQ(first.calls[0].method, "bump");
}

TEST(motoko, a_callback_that_is_not_in_the_table_is_refused) {
  tourist actor;
  auto input = input_of(entry_kind::reply_callback, {}, unit);
  for (uint64_t function : {uint64_t{1'000'000}, ~uint64_t{0}}) {
    input.callback = {function, 0};
    EXPECT_EQ(trap_code(actor.run(input)), "MX513");
  }
  EXPECT_EQ(reply_of(actor.update("bump", nat(1))), nat(8));
}

TEST(motoko, the_answer_to_a_one_way_call_runs_nothing) {
  tourist actor;
  for (auto kind : {entry_kind::reply_callback, entry_kind::reject_callback}) {
    auto input = input_of(kind, {}, unit);
    input.callback = {0xffff'ffff, 0};
    const auto out = actor.run(input);
    EXPECT_FALSE(out.trapped) << out.trapped->message;
    EXPECT_EQ(out.instructions, 0u);
  }
}

TEST(motoko, loops_recursion_and_memory_end_at_their_limits) {
  tourist actor{64u << 20};
  auto input = input_of(entry_kind::update, "forever", unit);
  input.instructions_max = 50'000'000;
  EXPECT_EQ(trap_code(actor.run(input)), "MX522");
  EXPECT_EQ(reply_of(actor.update("deep", nat(1'000))), nat(1'000));
  auto deep = actor.update("deep", nat(1'000'000));
  EXPECT_EQ(trap_code(deep), "MX502");
  EXPECT_TRUE(deep.trapped->message.starts_with("call stack exhausted")) << deep.trapped->message;
  auto large = actor.update("hold", nat(20'000'000));
  EXPECT_EQ(trap_code(large), "MX539") << large.trapped->message;
  EXPECT_LE(large.heap_bytes, 64u << 20);
  EXPECT_EQ(reply_of(actor.update("bump", nat(1))), nat(8));
  EXPECT_EQ(reply_of(actor.update("hold", nat(100'000))), nat(100'000));
}

TEST(motoko, regions_live_in_stable_memory_and_are_undone_with_the_rest) {
  tourist actor;
  EXPECT_EQ(reply_of(actor.update("store", nat64(11))), nat64(1));
  EXPECT_EQ(trap_code(actor.update("store_and_trap", nat64(99))), "MX503");
  EXPECT_EQ(reply_of(actor.query("stored", unit)), nat64(11));
}

TEST(motoko, a_timer_asks_for_the_global_timer) {
  tourist actor;
  auto out = actor.update("tick", unit);
  ASSERT_FALSE(out.trapped) << out.trapped->message;
  EXPECT_EQ(out.global_timer_ns, input_of(entry_kind::update).time_ns + 1'000'000'000);
  auto timer = input_of(entry_kind::timer);
  timer.time_ns += 1'000'000'000;
  timer.can_answer = false;
  timer.caller = {};
  auto expired = actor.run(timer);
  ASSERT_FALSE(expired.trapped) << expired.trapped->message;
  ASSERT_FALSE(expired.calls.empty()) << "the run-time system calls itself to run the job";
  EXPECT_EQ(expired.calls[0].callee, self_id());
}

TEST(motoko, the_same_messages_give_the_same_digests_and_instructions) {
  auto history = [] {
    tourist actor;
    std::vector<std::pair<digest128, uint64_t>> seen;
    auto note = [&seen](const execution_output& out) {
      seen.emplace_back(out.state_digest, out.instructions);
    };
    note(actor.installed);
    for (uint64_t i = 0; i < 20; ++i) note(actor.update("bump", nat(i)));
    note(actor.update("refuse", unit));
    note(actor.update("hold", nat(10'000)));
    note(actor.update("store", nat64(5)));
    auto call = actor.update("call_other", unit);
    note(call);
    note(actor.run(reply_to(call.calls.at(0), nat(3))));
    return seen;
  };
  EXPECT_EQ(history(), history());
}

TEST(motoko, stored_machine_code_behaves_as_compiled_code_does) {
  auto wasm = file("tour.wasm");
  auto artifact = tour()->artifact();
  ASSERT_TRUE(artifact);
  auto loaded = test_engine()->load(wasm, *artifact);
  ASSERT_TRUE(loaded) << loaded.error().message;
  subject fresh{tour(), limits::heap_bytes_max, tour_argument()};
  subject stored{*loaded, limits::heap_bytes_max, tour_argument()};
  EXPECT_EQ(fresh.installed.state_digest, stored.installed.state_digest);
  EXPECT_EQ(fresh.update("bump", nat(1)).state_digest, stored.update("bump", nat(1)).state_digest);
  auto other = test_engine()->load(file("letters.wasm"), *artifact);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("of another module"), std::string::npos);
  auto damaged = test_engine()->load(wasm, byte_view{*artifact}.substr(0, 40));
  EXPECT_FALSE(damaged);
}

TEST(motoko, the_page_s_actor_calls_the_device_as_the_management_canister) {
  subject actor{*test_engine()->compile(file("letters.wasm")), limits::heap_bytes_max, unit};
  auto first = actor.update("learn", nat(2));
  ASSERT_FALSE(first.trapped) << first.trapped->message;
  ASSERT_EQ(first.calls.size(), 1u);
  EXPECT_TRUE(first.calls[0].callee.is_management());
  EXPECT_EQ(first.calls[0].method, "moxzi_device_params");
  auto second = actor.run(reply_to(first.calls[0], unit));
  ASSERT_EQ(second.calls.size(), 1u);
  EXPECT_EQ(second.calls[0].method, "moxzi_device_optimizer");
  auto third = actor.run(reply_to(second.calls[0], unit));
  ASSERT_EQ(third.calls.size(), 1u);
  EXPECT_EQ(third.calls[0].method, "moxzi_device_run");
}
