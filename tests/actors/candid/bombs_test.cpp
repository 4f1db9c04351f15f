#include <cstdlib>
#include <new>

#include <gtest/gtest.h>
#include <malloc.h>

#include "actors/candid/decode.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/errc.hpp"
#include "actors/candid/json.hpp"
#include "actors/candid/text.hpp"

using namespace moxzi;
using namespace moxzi::candid;

// -- what is allocated, now and at most ---------------------------------------

namespace {

size_t live_bytes = 0;
size_t peak_bytes = 0;

} // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

[[gnu::noinline]] void* operator new(size_t size) {
  void* place = std::malloc(size);
  if (place == nullptr) std::abort();
  live_bytes += malloc_usable_size(place);
  if (live_bytes > peak_bytes) peak_bytes = live_bytes;
  return place;
}

[[gnu::noinline]] void operator delete(void* place) noexcept {
  live_bytes -= malloc_usable_size(place);
  std::free(place);
}

[[gnu::noinline]] void operator delete(void* place, size_t) noexcept {
  operator delete(place);
}

#endif

namespace {

constexpr size_t bomb_bytes_max = 4u << 20;

std::string leb(uint64_t n) {
  std::string out;
  for (; n >= 0x80; n >>= 7) out += static_cast<char>(n | 0x80);
  return out + static_cast<char>(n);
}

/// A type number; not negative.
std::string sleb(uint64_t n) {
  std::string out;
  for (; n >= 0x40; n >>= 7) out += static_cast<char>((n & 0x7F) | 0x80);
  return out + static_cast<char>(n);
}

/// The message must be refused, at the types given, at its own, and unseen, within the memory.
void expect_refused(const std::string& after_magic, std::string_view types) {
  const auto bytes = "DIDL" + after_magic;
  const auto expected = parse_types(types).value();
  peak_bytes = live_bytes;
  const auto before = live_bytes;
  EXPECT_FALSE(decode(bytes, expected)) << types;
  EXPECT_FALSE(decode_any(bytes));
  EXPECT_FALSE(validate_any(bytes));
  EXPECT_LE(peak_bytes - before, bomb_bytes_max) << types;
}

const std::string billion = leb(1'000'000'000);

} // namespace

TEST(bombs, vectors_of_nothing_are_refused) {
  for (const auto* types : {"()", "(vec null)", "(vec opt nat)", "(vec reserved)", "(opt nat)",
                            "(reserved)", "(vec record {})"}) {
    expect_refused("\x01\x6d\x7f\x01" + std::string(1, '\0') + billion, types);
    expect_refused("\x01\x6d\x70\x01" + std::string(1, '\0') + billion, types);
    expect_refused(std::string("\x02\x6d\x01\x6c\0\x01\0", 7) + billion, types);
  }
}

TEST(bombs, lengths_beyond_the_message_are_refused) {
  const std::string zero(1, '\0');
  expect_refused(billion, "()");        // type table
  expect_refused(zero + billion, "()"); // arguments
  expect_refused(zero + "\x01\x71" + billion + "abc", "(text)");
  expect_refused("\x01\x6c" + billion + "\x01\x7f", "()"); // record
  expect_refused("\x01\x6d\x78\x01" + zero + leb(1000) + std::string(7999, 'x'), "(vec nat64)");
  expect_refused("\x01\x67" + billion, "()"); // future type
}

TEST(bombs, nesting_is_refused_before_the_stack_ends) {
  // type T = vec T; 100,000 vectors of one element in each other
  expect_refused(std::string("\x01\x6d\0\x01\0", 5) + std::string(100'000, '\x01'), "(reserved)");
  // type T = opt T
  expect_refused(std::string("\x01\x6e\0\x01\0", 5) + std::string(100'000, '\x01'),
                 "(opt opt nat)");
  // type T = variant { T }
  expect_refused(std::string("\x01\x6b\x01\0\0\x01\0", 7) + std::string(100'000, '\0'),
                 "(reserved)");
}

TEST(bombs, empty_recursive_types_are_refused) {
  expect_refused(std::string("\x01\x6c\x01\0\0\x01\0", 7), "(reserved)");
  // type A = record { B; B }; type B = record { A; A }: doubling without a byte
  expect_refused(std::string("\x02\x6c\x02\0\x01\x01\x01\x6c\x02\0\0\x01\0\x01\0", 15), "()");
}

TEST(bombs, records_that_double_at_every_level_are_refused) {
  // 30 records, each of two of the next; the last of two nulls: 2^30 values.
  std::string table = leb(30);
  for (uint64_t i = 0; i < 30; ++i) {
    const auto next = i < 29 ? leb(i + 1) : std::string("\x7f");
    table += std::string("\x6c\x02\0", 3) + next + "\x01" + next;
  }
  expect_refused(table + std::string("\x01\0", 2), "(reserved)");
  expect_refused(table + std::string("\x01\0", 2), "()");
}

TEST(bombs, a_type_table_of_a_million_entries_is_refused) {
  std::string table = leb(1'000'000);
  for (int i = 0; i < 1'000'000; ++i) table += "\x6e\x7f";
  expect_refused(table + std::string("\0", 1), "()");
  std::string wide = "\x01\x6c" + leb(1'000'000);
  for (uint32_t i = 0; i < 1'000'000; ++i) wide += leb(i) + "\x7f";
  expect_refused(wide + std::string("\0", 1), "()");
}

TEST(bombs, comparing_references_costs) {
  // Many functions of types that are large to compare, each another entry.
  std::string table = leb(2000);
  for (uint64_t i = 0; i < 2000; ++i) {
    table += std::string("\x6a\x01", 2) + sleb((i + 1) % 2000) + std::string("\0\0", 2);
  }
  const auto expected = parse_did("type F = func (F) -> (); service : { f : (F) -> () }").value();
  std::string bytes = "DIDL" + table + leb(1) + leb(0);
  bytes += std::string("\x01\x01\0\x01", 4) + "a";
  EXPECT_TRUE(decode(bytes, expected.find("f")->arguments)); // 2,000 pairs: within the budget
}

namespace {

/// Types that make a pair of each of one and each of the other: cycles of coprime lengths.
std::string cycle(size_t size, bool has_opt) {
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    const auto next = "t" + std::to_string((i + 1) % size);
    text += "type t" + std::to_string(i) + " = record { ";
    text += has_opt ? "a : opt " + next + "; f : func () -> (" + next + ")" : next;
    text += " };\n";
  }
  return text;
}

} // namespace

TEST(bombs, interfaces_that_make_a_million_pairs_are_not_compared) {
  for (const bool has_opt : {false, true}) {
    const std::string end = "service : { m : () -> (vec t0) }";
    const auto now = parse_did(cycle(997, has_opt) + end).value();
    const auto old = parse_did(cycle(1009, has_opt) + end).value();
    peak_bytes = live_bytes;
    const auto before = live_bytes;
    EXPECT_EQ(check_compatible(now, old).error().code, candid_errc::over_limit);
    EXPECT_EQ(lossy_place(now, old).error().code, candid_errc::over_limit);
    EXPECT_LE(peak_bytes - before, bomb_bytes_max);
    EXPECT_TRUE(check_compatible(now, now));
  }
}

TEST(bombs, comparing_references_is_bounded_however_long_the_message) {
  const auto expected =
    parse_did(cycle(97, true) + "service : { m : (func () -> (vec t0)) -> () }").value();
  constexpr uint64_t links = 3'331;
  const auto ids = std::pair{leb(hash_name("a")), leb(hash_name("f"))};
  std::string table = leb(3 * links + 2);
  for (uint64_t i = 0; i < links; ++i) {
    const auto next = sleb(3 * ((i + 1) % links));
    table += "\x6c\x02" + ids.first + sleb(3 * i + 1) + ids.second + sleb(3 * i + 2);
    table += "\x6e" + next + std::string("\x6a\0\x01", 3) + next + std::string(1, '\0');
  }
  table += std::string("\x6d\0\x6a\0\x01", 5) + sleb(3 * links) + std::string(1, '\0');
  // A second argument of 2 MiB, which is skipped, must not buy more.
  for (const size_t padding : {size_t{0}, size_t{2} << 20}) {
    auto bytes = "DIDL" + table + leb(2) + sleb(3 * links + 1) + "\x71";
    bytes += std::string("\x01\x01\0\x01m", 5) + leb(padding) + std::string(padding, 'x');
    peak_bytes = live_bytes;
    const auto before = live_bytes;
    const auto& types = expected.find("m")->arguments;
    EXPECT_EQ(validate(bytes, types).error().code, candid_errc::over_limit);
    EXPECT_EQ(decode(bytes, types).error().code, candid_errc::over_limit);
    EXPECT_LE(peak_bytes - before, bomb_bytes_max);
  }
}

TEST(bombs, arguments_are_bounded_like_members) {
  constexpr size_t count = 1u << 20;
  expect_refused(std::string(1, '\0') + leb(count) + std::string(count, '\x7f'), "()");
}

TEST(bombs, a_reply_is_seen_through_before_it_is_built) {
  const auto page = parse_did("service : { f : () -> (vec bool) }").value();
  const auto reason = [&page](size_t count, size_t given) {
    const auto bytes =
      std::string("DIDL\x01\x6d\x7e\x01\0", 9) + leb(count) + std::string(given, '\0');
    peak_bytes = live_bytes;
    const auto before = live_bytes;
    const auto made = reply_to_json(*page.find("f"), bytes);
    EXPECT_LE(peak_bytes - before, bomb_bytes_max);
    return made ? std::error_code{} : made.error().code;
  };
  EXPECT_EQ(reason(1'000'000, 1'000'001), candid_errc::trailing);
  // Sound, but of more values than JSON is made of.
  EXPECT_EQ(reason(limits::json_values_max, limits::json_values_max), candid_errc::over_limit);
}

TEST(bombs, missing_fields_are_counted_before_anything_is_built) {
  std::string type = "(vec record { ";
  for (int i = 0; i < 5'000; ++i) type += "f" + std::to_string(i) + " : opt nat; ";
  const auto types = parse_types(type + "})").value();
  std::string json = "[[{}";
  for (int i = 0; i < 100'000; ++i) json += ",{}";
  json += "]]";
  peak_bytes = live_bytes;
  const auto before = live_bytes;
  EXPECT_FALSE(json_to_values(types, json));
  EXPECT_LE(peak_bytes - before, bomb_bytes_max);
  // Of text the parsed form is there, which takes its share for each item.
  std::string text = "(vec { record {}";
  for (int i = 0; i < 5'000; ++i) text += "; record {}";
  text += " })";
  peak_bytes = live_bytes;
  EXPECT_FALSE(text_to_values(types, text));
  const auto endless = parse_did("type t = opt t; service : { f : (t) -> () }").value();
  EXPECT_FALSE(text_to_values(endless.find("f")->arguments, "(5)"));
  EXPECT_LE(peak_bytes - before, bomb_bytes_max);
}

TEST(bombs, a_body_of_more_values_than_it_may_have_builds_none) {
  constexpr size_t body_bytes = 2u << 20;
  const auto body = [](const std::string& item) {
    std::string json = "[[" + item;
    while (json.size() + item.size() + 3 < body_bytes) json += "," + item;
    return json + "]]";
  };
  std::string sixteen = "(vec record { ";
  for (int i = 0; i < 16; ++i) sixteen += "f" + std::to_string(i) + " : opt nat; ";
  const std::pair<std::string, std::string> cases[] = {{sixteen + "})", "{}"},
                                                       {"(vec opt bool)", "true"},
                                                       {"(vec opt nat8)", "1"},
                                                       {"(vec opt record { a : opt nat })", "{}"}};
  for (const auto& [type, item] : cases) {
    const auto types = parse_types(type).value();
    const auto json = body(item);
    peak_bytes = live_bytes;
    const auto before = live_bytes;
    const auto values = json_to_values(types, json);
    EXPECT_EQ(values.has_value(), item == "true") << type; // 5 bytes for two values
    if (!values) {
      EXPECT_LE(peak_bytes - before, bomb_bytes_max) << type;
    }
  }
  // As many as fit are taken.
  const auto ones = body("1");
  EXPECT_TRUE(json_to_values(parse_types("(vec nat8)").value(), ones));
  EXPECT_TRUE(json_to_values(parse_types("(vec nat16)").value(), ones));
}

TEST(bombs, json_and_text_are_bounded_too) {
  EXPECT_FALSE(json_to_values(parse_types("(reserved)").value(), std::string(100'000, '[')));
  EXPECT_FALSE(text_to_values(parse_types("(reserved)").value(), "(" + std::string(100'000, '(')));
  std::string nested = "(";
  for (int i = 0; i < 100'000; ++i) nested += "opt ";
  EXPECT_FALSE(text_to_values(parse_types("(reserved)").value(), nested));
  std::string types = "type a = ";
  for (int i = 0; i < 100'000; ++i) types += "vec ";
  EXPECT_FALSE(parse_did(types + "nat"));
  // Each element adds a tag to the type of the vector: as much work as there is text.
  std::string tags = "(vec { variant { a }";
  for (int i = 0; i < 10'000; ++i) tags += "; variant { a" + std::to_string(i) + " }";
  EXPECT_TRUE(text_to_message(tags + " })"));
  // A large value is not read anew for each of many annotations.
  std::string annotated = "(" + std::string(100, '(') + "vec { 1";
  for (int i = 0; i < 50'000; ++i) annotated += "; 1";
  annotated += "}";
  for (int i = 0; i < 100; ++i) annotated += ") : vec nat";
  const auto read = text_to_message(annotated + ")");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("more annotations"), std::string::npos);
  // A record of many optional fields, left out 10,000 times.
  std::string wide = "(vec record { ";
  for (int i = 0; i < 200; ++i) wide += "f" + std::to_string(i) + " : opt nat; ";
  std::string body = "[[{}";
  for (int i = 0; i < 10'000; ++i) body += ",{}";
  EXPECT_FALSE(json_to_values(parse_types(wide + "})").value(), body + "]]"));
}
