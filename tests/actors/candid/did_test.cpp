#include "actors/candid/did_parser.hpp"

#include <map>

#include <gtest/gtest.h>

#include "actors/candid/did_printer.hpp"

using namespace moxzi;
using namespace moxzi::candid;

namespace {

std::string reason(std::string_view text) {
  const auto made = parse_did(text);
  return made ? "accepted" : made.error().message;
}

std::string compatible(std::string_view now, std::string_view old) {
  const auto done = check_compatible(parse_did(now).value(), parse_did(old).value());
  return done ? "compatible" : done.error().message;
}

} // namespace

TEST(did, hashes_of_names) {
  // From the specification of record field ids: sum of byte * 223^(n-1-i) mod 2^32.
  EXPECT_EQ(hash_name(""), 0u);
  EXPECT_EQ(hash_name("a"), 97u);
  EXPECT_EQ(hash_name("id"), 105u * 223 + 100);
  EXPECT_EQ(hash_name("first"), 10319920u); // 0x9d7830, as in the reply of the letters page
}

TEST(did, a_file_of_every_form_prints_and_reads_back) {
  const std::string text = R"(type List = opt record { head : int; tail : List };
type Shape = variant { circle : float64; square : record { nat; nat }; none };
type Callback = func (text, opt nat8) -> (bool) query;
type Peer = service {
  ping : () -> () oneway;
  "with blanks" : Callback;
};
service : (init : record { owner : principal }) -> {
  get : (List, blob) -> (vec Shape, reserved, empty) composite_query;
  later : Callback;
  peer : (Peer, record {}, variant {}) -> (null, float32);
}
)";
  const auto first = parse_did(text).value();
  const auto printed = did_text(first);
  const auto second = parse_did(printed).value();
  EXPECT_EQ(did_text(second), printed);
  EXPECT_TRUE(check_compatible(first, second));
  EXPECT_TRUE(check_compatible(second, first));
  EXPECT_TRUE(first.has_constructor);
  EXPECT_EQ(first.init.items.size(), 1u);
  ASSERT_NE(first.find("later"), nullptr);
  EXPECT_TRUE(first.find("later")->is_query());
  EXPECT_TRUE(first.find("get")->is_query());
  EXPECT_EQ(first.find("nothing"), nullptr);
}

TEST(did, names_may_come_before_their_definition) {
  const auto made = parse_did("service : S; type S = service { f : F }; type F = func () -> ();");
  EXPECT_FALSE(made); // the service ends a file
  EXPECT_TRUE(parse_did("type S = service { f : F }; type F = func () -> (); service : S"));
  EXPECT_TRUE(parse_did("type A = B; type B = C; type C = nat"));
}

TEST(did, tuples_number_their_fields) {
  const auto types = parse_types("(record { nat; 7 : nat; text; x : nat })").value();
  const auto fields = types.types->fields(types.items[0]);
  EXPECT_EQ(fields[0].id, 0u);
  EXPECT_EQ(fields[1].id, 7u);
  EXPECT_EQ(fields[2].id, 8u);
  EXPECT_EQ(fields[3].id, hash_name("x"));
}

TEST(did, errors_name_line_and_column) {
  EXPECT_EQ(reason("type a = nat;\ntype b = recrd {}"), "2:16: expected ';', got '{'");
  EXPECT_EQ(reason("type b = recrd;"), "1:10: type 'recrd' is not defined");
  EXPECT_EQ(reason("type a = nat; type a = int"), "1:20: type 'a' is defined twice");
  EXPECT_EQ(reason("type a = b; type b = a"), "1:22: type 'a' is defined as itself");
  EXPECT_EQ(reason("type a = record { x : nat; x : int }"), "1:17: field 'x' twice");
  EXPECT_EQ(reason("service : { f : () -> (nat) oneway }"),
            "1:29: a function with results cannot be oneway");
  EXPECT_EQ(reason("service : { f : () -> (); f : () -> () }"),
            "1:11: method 'f' is declared twice");
  EXPECT_EQ(reason("service : { f : g }; type g = nat"),
            "1:22: expected the end after the service, got 'type'");
  EXPECT_EQ(reason("type a = nat;; type b = nat;"),
            "1:14: expected 'type', 'import' or 'service', got ';'");
  EXPECT_EQ(reason("/* é … */ type a = b"), "1:20: type 'b' is not defined");
  EXPECT_EQ(reason("type a = b; type b = c; type c = a"), "1:34: type 'a' is defined as itself");
  for (const auto* circle : {"type x = a; type y = x; type a = b; type b = a",
                             "type a = b; type b = a; type x = b; type z = x; type c = z",
                             "type m = z; type z = z", "type z = m; type m = n; type n = m"}) {
    EXPECT_NE(reason(circle).find("is defined as itself"), std::string::npos) << circle;
  }
  EXPECT_EQ(reason("type g = nat; service : { f : g }"), "1:31: method 'f' is no function but nat");
  EXPECT_EQ(reason("type g = nat; service : g"), "1:25: the service is no service type but nat");
  EXPECT_EQ(reason("type nat = text"), "1:6: 'nat' is a keyword");
  EXPECT_EQ(reason("service : { f : (a : nat, a : nat) -> () }"), "1:27: 'a' names two of them");
  EXPECT_EQ(reason("type a = record { 4294967296 : nat }"),
            "1:19: a field id is a whole number below 2^32");
  EXPECT_EQ(reason("import \"x.did\""), "1:1: imports cannot be followed here");
  EXPECT_EQ(reason("type a = nat $"), "1:14: '$' begins nothing");
}

namespace {

/// Reads one of a few files.
result<interface> read_of(const std::map<std::string, std::string>& files,
                          const std::string& name) {
  const did_loader load = [&files](const std::string& path) -> result<std::string> {
    const auto at = files.find(path);
    if (at == files.end()) return fail(base_errc::io, "{}: no such file", path);
    return at->second;
  };
  return parse_did(files.at(name), load, name);
}

std::string reason_of(const std::map<std::string, std::string>& files) {
  const auto made = read_of(files, "main.did");
  return made ? "accepted" : made.error().message;
}

} // namespace

TEST(did, an_imported_file_stands_alone) {
  EXPECT_EQ(
    reason_of({{"main.did", "type mine = nat; import \"b.did\""}, {"b.did", "type b = mine"}}),
    "b.did:1:10: type 'mine' is defined neither here nor in an imported file");
  // Nor does it see what stands beside it; what it imports it sees however far away.
  EXPECT_EQ(reason_of({{"main.did", "import \"a.did\"; import \"b.did\""},
                       {"a.did", "type a = nat"},
                       {"b.did", "service : { f : () -> (a) }"}}),
            "b.did:1:24: type 'a' is defined neither here nor in an imported file");
  EXPECT_EQ(
    reason_of({{"main.did", "import \"c.did\"; type x = a; type y = record { a; b }"},
               {"a.did", "type a = nat"},
               {"b.did", "import \"a.did\"; type b = a"},
               {"c.did", "import \"b.did\"; import \"a.did\"; type c = vec record { a; b }"}}),
    "accepted");
}

TEST(did, imports_that_go_round_are_named) {
  EXPECT_EQ(reason_of({{"main.did", "import \"main.did\""}}),
            "1:1: the imports go round: main.did -> main.did");
  EXPECT_EQ(reason_of({{"main.did", "type t = nat;\nimport \"sub/b.did\""},
                       {"sub/b.did", "import \"c.did\""},
                       {"sub/c.did", "type c = nat; import service \"../main.did\""}}),
            "sub/c.did:1:15: the imports go round: main.did -> sub/b.did -> sub/c.did -> main.did");
  EXPECT_EQ(reason_of({{"main.did", "import \"a.did\""},
                       {"a.did", "import \"b.did\""},
                       {"b.did", "import \"./a.did\""}}),
            "b.did:1:1: the imports go round: a.did -> b.did -> a.did");
}

TEST(did, services_come_only_where_they_are_asked_for) {
  std::map<std::string, std::string> files{
    {"main.did", ""},
    {"b.did", "import service \"c.did\"; service : { b : () -> () }"},
    {"c.did", "service : { c : () -> () }"},
    {"d.did", "import service \"c.did\"; import \"b.did\""},
    {"e.did", "import \"b.did\"; import \"d.did\""},
    {"g.did", "import \"c.did\"; service : { c : (nat) -> () }"}};
  const auto methods = [&files](const std::string& text) {
    files["main.did"] = text;
    const auto made = read_of(files, "main.did");
    if (!made) return made.error().message;
    std::string names = made->service ? "" : "none";
    for (const auto& m : made->methods) names += m.name;
    return names;
  };
  EXPECT_EQ(methods("import \"b.did\""), "none"); // with what `b` imports
  EXPECT_EQ(methods("import \"b.did\"; service : { m : () -> () }"), "m");
  EXPECT_EQ(methods("import service \"b.did\"; service : { m : () -> () }"), "bcm");
  EXPECT_EQ(methods("import \"b.did\"; import service \"b.did\""), "bc");
  EXPECT_EQ(methods("import service \"b.did\"; import \"b.did\""), "bc");
  EXPECT_EQ(methods("import service \"b.did\"; import service \"b.did\""), "bc");
  EXPECT_EQ(methods("import service \"d.did\"; import service \"b.did\""), "bc"); // `c` once
  EXPECT_EQ(methods("import service \"e.did\""), "1:1: e.did has no service");
  EXPECT_EQ(methods("import service \"c.did\"; import service \"g.did\""),
            "1:25: method 'c' of the imported service is declared twice");
}

TEST(did, names_of_arguments_are_printed) {
  const std::string text =
    R"(type F = func (a : nat, "with blanks" : text, bool) -> (r : nat) query;
service : (owner : principal, nat) -> {
  f : F;
  g : (nat, x : nat) -> (ok : bool, text);
}
)";
  EXPECT_EQ(did_text(parse_did(text).value()), text);
}

TEST(did, imports_bring_types_and_when_asked_methods) {
  const std::map<std::string, std::string> files{
    {"types.did", "type T = record { a : nat }"},
    {"base.did", "import \"types.did\"; service : { ping : (T) -> () }"},
    {"bad.did", "type x = "}};
  const did_loader load = [&files](const std::string& path) -> result<std::string> {
    const auto at = files.find(path);
    if (at == files.end()) return fail(base_errc::io, "{}: no such file", path);
    return at->second;
  };
  const auto made = parse_did(
    "import \"types.did\"; import service \"base.did\"; service : { f : () -> (T) }", load);
  ASSERT_TRUE(made);
  EXPECT_NE(made->find("f"), nullptr);
  EXPECT_NE(made->find("ping"), nullptr);
  const auto types_only = parse_did("import \"base.did\"; service : { f : () -> (T) }", load);
  EXPECT_EQ(types_only->find("ping"), nullptr);
  EXPECT_EQ(parse_did("import \"bad.did\"", load).error().message,
            "bad.did:1:10: expected a type, got the end");
  EXPECT_EQ(parse_did("import \"gone.did\"", load).error().message, "1:1: gone.did: no such file");
}

TEST(did, imports_are_looked_for_beside_the_file_that_has_them) {
  const std::map<std::string, std::string> files{
    {"sub/a.did", "import \"deep/b.did\"; import \"../sub/./deep/b.did\"; type a = b"},
    {"sub/deep/b.did", "type b = nat"},
    {"bad.did", "type x = nat;\ntype z = y"},
    {"init.did", "service : (nat) -> { f : () -> () }"},
    {"clash.did", "service : { f : () -> (); y : () -> () }"}};
  std::vector<std::string> asked;
  const did_loader load = [&](const std::string& path) -> result<std::string> {
    asked.push_back(path);
    const auto at = files.find(path);
    if (at == files.end()) return fail(base_errc::io, "{}: no such file", path);
    return at->second;
  };
  const auto made = parse_did("import \"./sub/a.did\"; service : { f : () -> (a) }", load);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(type_text(*made->types, made->find("f")->results.items[0]), "nat");
  EXPECT_EQ(asked, (std::vector<std::string>{"sub/a.did", "sub/deep/b.did"}));
  EXPECT_EQ(parse_did("import \"bad.did\"", load).error().message,
            "bad.did:2:10: type 'y' is not defined");
  EXPECT_EQ(
    parse_did("type t = nat;\nimport service \"clash.did\"; service : { y : () -> () }", load)
      .error()
      .message,
    "2:1: method 'y' of the imported service is declared twice");
  EXPECT_EQ(parse_did("import service \"sub/deep/b.did\"", load).error().message,
            "1:1: sub/deep/b.did has no service");
  EXPECT_EQ(parse_did("import service \"init.did\"", load).error().message,
            "init.did:1:11: a service with arguments of its own cannot be imported");
  EXPECT_TRUE(parse_did("import \"init.did\"", load));
}

TEST(did, compatibility_says_where_and_why) {
  const auto* old = "service : { f : (record { a : nat }) -> (record { b : nat }) }";
  EXPECT_EQ(compatible(old, old), "compatible");
  // Arguments may gain optional fields, results any, services methods.
  EXPECT_EQ(
    compatible("service : { f : (record { a : nat; c : opt text }) -> (record { b : nat; d : "
               "text }); g : () -> () }",
               old),
    "compatible");
  EXPECT_EQ(
    compatible("service : { f : (record { a : nat; c : text }) -> (record { b : nat }) }", old),
    ".f: argument[0]: field 'c' is missing and not opt");
  EXPECT_EQ(compatible("service : { f : (record { a : nat }) -> (record { b : int }) }", old),
            ".f: result[0].b: int is no nat");
  EXPECT_EQ(compatible("service : { f : (record { a : nat }) -> (record { b : nat }) query }", old),
            ".f: the annotations differ: query instead of no annotation");
  EXPECT_EQ(compatible("service : {}", old), "method 'f' is missing");
  EXPECT_EQ(compatible("service : { v : (variant { a; b }) -> () }",
                       "service : { v : (variant { a; b; c }) -> () }"),
            ".v: argument[0]: tag 'c' is unknown");
}

TEST(did, what_reads_as_null_is_noted) {
  const auto now = parse_did("service : { f : () -> (opt nat) }").value();
  const auto old = parse_did("service : { f : () -> (opt text) }").value();
  EXPECT_TRUE(check_compatible(now, old));
  EXPECT_EQ(lossy_place(now, old).value().value(), ".f: result[0]?: nat is no text");
  EXPECT_FALSE(lossy_place(now, now).value());
}

TEST(did, recursive_types_are_compared_without_end) {
  const auto* tree =
    "type T = record { v : nat; l : opt T; r : opt T }; service : { f : () -> (T) }";
  const auto* wide =
    "type T = record { v : int; l : opt U; r : opt T }; type U = record { v : int; l "
    ": opt T; r : opt U }; service : { f : () -> (T) }";
  EXPECT_EQ(compatible(tree, wide), "compatible");
  EXPECT_NE(compatible(wide, tree), "compatible");
}

TEST(did, the_first_place_is_named_in_the_order_of_the_file_and_the_others_counted) {
  const auto* old = "type T = record { a : nat; b : nat };"
                    "service : { z : () -> (T); y : () -> (T, nat); a : () -> () }";
  EXPECT_EQ(compatible("type T = record { a : int; b : int };"
                       "service : { a : () -> () query; z : () -> (T); y : () -> (T, text) }",
                       old),
            ".z: result[0].a: int is no nat; and 3 more places");
  EXPECT_EQ(compatible("type T = record { a : nat; b : nat };"
                       "service : { y : () -> (T, int); z : () -> (T) }",
                       old),
            ".y: result[1]: int is no nat; and 1 more place");
  EXPECT_EQ(compatible("service : {}", old), "method 'z' is missing; and 2 more places");
}

TEST(did, all_that_reads_as_null_is_counted) {
  const auto now = parse_did("service : { z : () -> (opt nat, opt record { a : opt nat; b : nat });"
                             "a : () -> (opt text) }")
                     .value();
  const auto old =
    parse_did("service : { z : () -> (opt text, opt record { a : opt text; b : int });"
              "a : () -> (opt variant { x }) }")
      .value();
  EXPECT_TRUE(check_compatible(now, old));
  EXPECT_EQ(lossy_place(now, old).value().value(),
            ".z: result[0]?: nat is no text; and 2 more places");
}

TEST(did, nothing_is_read_at_an_opt_without_end) {
  const auto note = [](std::string_view now, std::string_view old) {
    const auto with = [](std::string_view type) {
      return parse_did(fmt::format("type O = opt O; type P = opt Q; type Q = opt P;"
                                   "service : {{ f : () -> ({}) }}",
                                   type))
        .value();
    };
    EXPECT_TRUE(check_compatible(with(now), with(old)));
    return lossy_place(with(now), with(old)).value().value_or("");
  };
  EXPECT_EQ(note("nat", "O"), ".f: result[0]: nat cannot be read at O, an opt without end");
  EXPECT_EQ(note("opt nat", "P"), ".f: result[0]?: nat cannot be read at Q, an opt without end");
  EXPECT_EQ(note("null", "O"), "");
  EXPECT_EQ(note("O", "P"), "");
  EXPECT_EQ(note("nat", "opt opt nat"), "");
}
