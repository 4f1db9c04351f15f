// From where each system call may be called: the table below is written by hand after the Internet
// Computer's interface specification ("System API"), every cell of it is tried out, and
// docs/system-calls.md is made from it.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "actors/wasm/system_calls.hpp"
#include "tests/actors/wasm/runner.hpp"

using namespace moxzi;
using namespace moxzi::actors;

namespace {

constexpr char star[] = "I G U RQ NRQ TQ CQ Ry Rt CRy CRt C CC F T";
constexpr char star_s[] = "s I G U RQ NRQ TQ CQ Ry Rt CRy CRt C CC F T";
constexpr char answering[] = "U RQ NRQ TQ CQ Ry Rt CRy CRt";
constexpr char sender_info[] = "U RQ NRQ CQ Ry Rt CRy CRt C CC F";
constexpr char calling[] = "U CQ Ry Rt CRy CRt T";
constexpr char paying[] = "U Ry Rt T";
constexpr char accepting[] = "U RQ Ry Rt";
constexpr char root_key[] = "I G U RQ Ry Rt C T";

struct expected_call {
  const char* name;
  const char* contexts;
  const char* note;
};

const expected_call table[] = {
  {"accept_message", "F", ""},
  {"call_cycles_add", paying, "32-bit memory only"},
  {"call_cycles_add128", paying, ""},
  {"call_data_append", calling, ""},
  {"call_new", calling, ""},
  {"call_on_cleanup", calling, ""},
  {"call_perform", calling, "2: too many open calls, or it cannot be paid for"},
  {"call_with_best_effort_response", calling, "at most 300 s"},
  {"canister_cycle_balance", star, "32-bit memory only"},
  {"canister_cycle_balance128", star, "a large constant where nothing is charged"},
  {"canister_liquid_cycle_balance128", star, "the whole balance: idling costs nothing"},
  {"canister_self_copy", star, ""},
  {"canister_self_size", star, ""},
  {"canister_status", star, ""},
  {"canister_version", star, ""},
  {"certified_data_set", "I G U Ry Rt T", "kept; there is no certificate for it"},
  {"cost_call", star_s, "0 where nothing is charged, as all costs"},
  {"cost_create_canister", star_s, ""},
  {"cost_http_request", star_s, ""},
  {"cost_http_request_v2", star_s,
   "of `request_bytes` and `raw_response_bytes`; the other three must be there"},
  {"cost_sign_with_ecdsa", star_s, ""},
  {"cost_sign_with_schnorr", star_s, ""},
  {"cost_vetkd_derive_key", star_s, "2: there is no such key"},
  {"cycles_burn128", "I G U RQ Ry Rt C T", ""},
  {"data_certificate_copy", "NRQ CQ", "traps: there is none"},
  {"data_certificate_present", star, "0"},
  {"data_certificate_size", "NRQ CQ", "traps: there is none"},
  {"debug_print", star_s, ""},
  {"env_var_count", star, ""},
  {"env_var_name_copy", star, ""},
  {"env_var_name_exists", star, ""},
  {"env_var_name_size", star, ""},
  {"env_var_value_copy", star, ""},
  {"env_var_value_size", star, ""},
  {"global_timer_set", "I G U Ry Rt C T", ""},
  {"in_replicated_execution", star_s, "1 in what is recorded"},
  {"is_controller", star_s, ""},
  {"msg_arg_data_copy", "I U RQ NRQ TQ CQ Ry CRy F", ""},
  {"msg_arg_data_size", "I U RQ NRQ TQ CQ Ry CRy F", ""},
  {"msg_caller_copy", star, ""},
  {"msg_caller_info_data_copy", sender_info, "empty"},
  {"msg_caller_info_data_size", sender_info, "0"},
  {"msg_caller_info_signer_copy", sender_info, "empty"},
  {"msg_caller_info_signer_size", sender_info, "0"},
  {"msg_caller_size", star, ""},
  {"msg_cycles_accept", accepting, "32-bit memory only"},
  {"msg_cycles_accept128", accepting, ""},
  {"msg_cycles_available", accepting, "32-bit memory only"},
  {"msg_cycles_available128", accepting, ""},
  {"msg_cycles_refunded", "Ry Rt", "32-bit memory only"},
  {"msg_cycles_refunded128", "Ry Rt", ""},
  {"msg_deadline", answering, ""},
  {"msg_method_name_copy", "F", ""},
  {"msg_method_name_size", "F", ""},
  {"msg_reject", answering, ""},
  {"msg_reject_code", "Ry Rt CRy CRt C", ""},
  {"msg_reject_msg_copy", "Rt CRt", ""},
  {"msg_reject_msg_size", "Rt CRt", ""},
  {"msg_reply", answering, ""},
  {"msg_reply_data_append", answering, ""},
  {"performance_counter", star_s, "0: this execution, 1: all of the call"},
  {"root_key_copy", root_key, ""},
  {"root_key_size", root_key, ""},
  {"stable64_grow", star_s, ""},
  {"stable64_read", star_s, ""},
  {"stable64_size", star_s, ""},
  {"stable64_write", star_s, ""},
  {"stable_grow", star_s, "32-bit memory only"},
  {"stable_read", star_s, "32-bit memory only"},
  {"stable_size", star_s, "32-bit memory only"},
  {"stable_write", star_s, "32-bit memory only"},
  {"subnet_self_copy", star, ""},
  {"subnet_self_size", star, ""},
  {"time", star, ""},
  {"trap", star_s, ""},
};

std::set<std::string> letters_of(const std::string& text) {
  std::istringstream in{text};
  return {std::istream_iterator<std::string>{in}, {}};
}

bool is_narrow(const expected_call& row) {
  return std::string_view{row.note} == "32-bit memory only";
}

// -- trying it out -------------------------------------------------------------

std::string types_of(std::string_view letters, bool wide) {
  std::string text;
  for (const char c : letters) {
    text += c == 'l' || (c == 'I' && wide) ? " i64" : " i32";
  }
  return text;
}

/// A module whose every entry makes one system call with zeros and forgets its result. `start` and
/// `init` are there on demand: they run with every installation.
std::string prober(const system_call& row, bool wide, const std::string& more) {
  const std::string word = wide ? "i64" : "i32";
  std::string call;
  for (const char c : row.parameters) {
    call += c == 'l' || (c == 'I' && wide) ? "(i64.const 0)" : "(i32.const 0)";
  }
  const std::string name{row.name};
  call = "(call $probed " + call + ")";
  if (!row.results.empty()) call = "(drop " + call + ")";
  return "(module (import \"ic0\" \"" + name + "\" (func $probed (param"
         + types_of(row.parameters, wide) + ") (result" + types_of(row.results, wide) + ")))"
         + "(memory " + (wide ? "i64 " : "") + "1) (table " + (wide ? "i64 " : "") + "2 funcref)"
         + "(elem (" + word + ".const 1) $callback)" + "(func $callback (param " + word + ") "
         + call + ")" + "(func $entry " + call + ")" + more +
         R"((export "canister_update u" (func $entry)) (export "canister_query q" (func $entry))
            (export "canister_composite_query c" (func $entry))
            (export "canister_inspect_message" (func $entry))
            (export "canister_heartbeat" (func $entry))
            (export "canister_pre_upgrade" (func $entry))))";
}

bool is_refused(const execution_output& out) {
  return out.trapped
         && out.trapped->message.find("may not be called from here") != std::string::npos;
}

execution_input input_for(const std::string& letters) {
  const std::map<std::string, execution_input> inputs{
    {"U", input_of(entry_kind::update, "u")},
    {"RQ", input_of(entry_kind::query, "q")},
    {"NRQ", input_of(entry_kind::query, "q")},
    {"TQ", input_of(entry_kind::query, "q")},
    {"CQ", input_of(entry_kind::composite_query, "c")},
    {"Ry", input_of(entry_kind::reply_callback)},
    {"Rt", input_of(entry_kind::reject_callback)},
    {"CRy", input_of(entry_kind::composite_reply)},
    {"CRt", input_of(entry_kind::composite_reject)},
    {"C", input_of(entry_kind::cleanup_callback)},
    {"CC", input_of(entry_kind::composite_cleanup)},
    {"F", input_of(entry_kind::inspect)},
    {"T", input_of(entry_kind::heartbeat)}};
  auto input = inputs.at(letters);
  input.callback = {1, 0};
  input.is_replicated = letters == "RQ" || !is_discarded(input.kind);
  input.is_transform = letters == "TQ";
  return input;
}

// The letters of the contexts in which the call is not refused.
std::set<std::string> tried(const system_call& row, bool wide) {
  std::set<std::string> found;
  subject actor{compile_text(prober(row, wide, ""))};
  for (const auto letters : context_letters) {
    const std::string name{letters};
    execution_output out;
    if (name == "s" || name == "I") {
      const std::string more =
        name == "s" ? "(start $entry)" : R"((export "canister_init" (func $entry)))";
      const auto body = make_wasm_body(test_pool().handle(), {self_id()});
      out = pending{*body, install_of(compile_text(prober(row, wide, more)))}.wait();
    } else if (name == "G") {
      out = actor.install(entry_kind::upgrade, actor.code);
    } else {
      out = actor.run(input_for(name));
    }
    if (!is_refused(out)) found.insert(name);
  }
  return found;
}

std::string page() {
  std::string text =
    "# System calls\n\n"
    "The system API of the Internet Computer as hosted modules find it (`ic0.*`), and from where "
    "each\n"
    "call may be made; from anywhere else it traps with `MX504`. Made from the table that\n"
    "`tests/actors/wasm/contexts_test.cpp` tries out cell by cell.\n\n"
    "Contexts: `s` start function, `I` init and post_upgrade, `G` pre_upgrade, `U` update, `RQ` "
    "query "
    "called as\nan update, `NRQ` query, `TQ` transform of an HTTP answer, `CQ` composite query, "
    "`Ry` "
    "`Rt` callbacks for\nreply and reject, `CRy` `CRt` those of a composite query, `C` `CC` "
    "cleanup, "
    "`F` inspect_message, `T`\nheartbeat, timer and low memory. `*` is all but `s`.\n\n"
    "| call | contexts | note |\n| --- | --- | --- |\n";
  for (const auto& row : table) {
    std::string contexts = row.contexts;
    if (contexts == star) contexts = "*";
    if (contexts == star_s) contexts = "* s";
    text += std::string{"| `"} + row.name + "` | " + contexts + " | " + row.note + " |\n";
  }
  return text;
}

} // namespace

TEST(contexts, the_table_has_every_system_call_once) {
  std::set<std::string_view> names;
  for (const auto& row : system_calls()) names.insert(row.name);
  std::set<std::string_view> expected;
  for (const auto& row : table) expected.insert(row.name);
  EXPECT_EQ(names, expected);
  EXPECT_EQ(std::size(table), system_calls().size());
}

TEST(contexts, each_call_runs_in_its_contexts_and_traps_in_all_others) {
  for (const auto& row : table) {
    const auto* call = find_system_call(row.name);
    ASSERT_NE(call, nullptr) << row.name;
    EXPECT_EQ(call->is_narrow, is_narrow(row)) << row.name;
    EXPECT_EQ(tried(*call, false), letters_of(row.contexts)) << row.name << " with 32-bit memory";
    if (!is_narrow(row)) {
      EXPECT_EQ(tried(*call, true), letters_of(row.contexts)) << row.name << " with 64-bit memory";
    }
  }
}

TEST(contexts, narrow_calls_are_unknown_to_modules_with_64_bit_memory) {
  for (const auto& row : table) {
    if (!is_narrow(row)) continue;
    const auto wasm = wasm_from_text(prober(*find_system_call(row.name), true, ""));
    ASSERT_TRUE(wasm);
    const auto module = test_engine()->compile(*wasm);
    ASSERT_FALSE(module) << row.name;
    EXPECT_NE(module.error().message.find("only for modules with 32-bit memory"), std::string::npos)
      << module.error().message;
  }
}

TEST(contexts, the_page_says_what_the_table_says) {
  const std::string path = MOXZI_SOURCE_DIR "/docs/system-calls.md";
  if (std::getenv("MOXZI_WRITE_INTERFACE")) std::ofstream{path, std::ios::binary} << page();
  std::ifstream file{path, std::ios::binary};
  const std::string stored{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_TRUE(stored == page()) << path << " is out of date; write it anew with\n"
                                << "  MOXZI_WRITE_INTERFACE=1 actors_wasm_tests "
                                   "--gtest_filter='contexts.*'";
}
