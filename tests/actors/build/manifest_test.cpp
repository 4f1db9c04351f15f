#include "actors/manifest.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace moxzi;
using namespace moxzi::actors;
using testing::HasSubstr;

namespace {

std::string names(const manifest& m) {
  std::string out;
  for (const auto& actor : m.actors)
    out += actor.name + "=" + actor.wasm + (actor.did ? "+" + *actor.did : "") + " ";
  return out;
}

std::string reading(std::string_view text) {
  auto out = parse_manifest(text, "actors.json");
  return out ? names(*out) : out.error().message;
}

manifest_actor letters() {
  return {.name = "letters", .wasm = "letters.wasm", .did = "letters.did"};
}

std::string updating(std::string_view text, const manifest_actor& entry = letters()) {
  auto out = with_actor(text, "actors.json", entry);
  return out ? *out : out.error().message;
}

} // namespace

TEST(manifest, is_read_in_three_shapes) {
  EXPECT_EQ(reading(R"({"letters": "letters.wasm"})"), "letters=letters.wasm ");
  EXPECT_EQ(reading(R"(["letters.wasm", {"name": "other", "wasm": "b/other.wasm"}])"),
            "letters=letters.wasm other=b/other.wasm ");
  EXPECT_EQ(reading(R"({"version": 1, "actors": [{"name": "letters", "wasm": "letters.wasm",
                        "did": "letters.did"}, "b/second.wasm"]})"),
            "letters=letters.wasm+letters.did second=b/second.wasm ");
  EXPECT_EQ(reading("{}"), "");
  EXPECT_EQ(reading(" [ ] "), "");
}

TEST(manifest, an_actor_of_the_map_may_be_called_as_a_key_of_the_full_shape) {
  EXPECT_EQ(reading(R"({"actors": "a.wasm", "version": "v.wasm", "device": "d.wasm"})"),
            "actors=a.wasm version=v.wasm device=d.wasm ");
}

TEST(manifest, keeps_id_arguments_and_device) {
  auto m = parse_manifest(R"({"actors": [{"wasm": "a.wasm", "id": "rwlgt-iiaaa-aaaaa-aaaaa-cai",
                              "args_hex": "4449444C0000"}], "device": {"kind": "burn:cpu"}})",
                          "actors.json");
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(m->actors[0].id, *principal::from_text("rwlgt-iiaaa-aaaaa-aaaaa-cai"));
  EXPECT_EQ(m->actors[0].args, (byte_string{"DIDL\0\0", 6}));
  EXPECT_EQ(m->device, "burn:cpu");
}

TEST(manifest, reads_what_an_actor_starts_with) {
  auto m = parse_manifest(R"json({"actors": [
    {"wasm": "a.wasm.gz", "args": "(1 : nat, true)", "cycles": 5, "upgrade": "never",
     "controllers": ["2vxsx-fae"], "env": {"A": "1", "B": ""}, "start": false,
     "queries": {"anonymous": false}, "heartbeat": false, "timers": false},
    {"wasm": "b.wasm", "args_json": [ 123456789012345678901234567890, {"x":1.0} ],
     "cycles": "340282366920938463463374607431768211"},
    "c.wasm"]})json",
                          "actors.json");
  ASSERT_TRUE(m) << m.error().message;
  const auto& a = m->actors[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.args_text, "(1 : nat, true)");
  EXPECT_EQ(a.balance, cycles{5});
  EXPECT_EQ(a.upgrade, upgrade_policy::never);
  EXPECT_EQ(a.controllers, std::vector{principal::anonymous()});
  EXPECT_EQ(a.environment, (std::map<std::string, std::string>{{"A", "1"}, {"B", ""}}));
  EXPECT_FALSE(a.starts);
  EXPECT_FALSE(a.anonymous_queries);
  EXPECT_FALSE(a.heartbeat);
  EXPECT_FALSE(a.timers);
  // The digits as they stand: no double could hold them.
  EXPECT_EQ(m->actors[1].args_json, "[ 123456789012345678901234567890, {\"x\":1.0} ]");
  EXPECT_TRUE(m->actors[1].balance->value / 1'000'000'000'000'000'000u == 340'282'366'920'938'463u);
  EXPECT_EQ(m->actors[2], (manifest_actor{.name = "c", .wasm = "c.wasm"}));
}

TEST(manifest, refuses_values_that_cannot_be) {
  const auto one = [](std::string_view rest) {
    return reading(fmt::format(R"([{{"wasm": "a.wasm", {}}}])", rest));
  };
  EXPECT_THAT(one(R"("args": "", "args_hex": "")"), HasSubstr("only one of \"args\""));
  EXPECT_THAT(one(R"("args_json": {})"), HasSubstr("[0].args_json: an array belongs here"));
  for (auto amount : {"-1", "1.5", "1e3", R"("")", R"("-1")", "true", "1000000000000000000000000"})
    EXPECT_THAT(one(fmt::format(R"("cycles": {})", amount)), HasSubstr("cycles are a whole number"))
      << amount;
  EXPECT_THAT(one(R"("upgrade": "nevr")"), HasSubstr("did you mean 'never'?"));
  EXPECT_THAT(one(R"("controllers": ["x"])"), HasSubstr("[0].controllers[0]: "));
  EXPECT_THAT(one(R"("env": {"A": 1})"), HasSubstr("[0].env.A: a string belongs here"));
  EXPECT_THAT(one(R"("start": 1)"), HasSubstr("[0].start: true or false belongs here"));
  EXPECT_THAT(one(R"("queries": {"anon": true})"), HasSubstr("unknown key \"anon\""));
  EXPECT_THAT(one(R"("id": "2vxsx-fae")"), HasSubstr("[0].id: 2vxsx-fae is who calls without"));
  EXPECT_THAT(
    reading(R"({"a": "a.wasm", ")" + principal::of_actor("a").to_text() + R"(": "b.wasm"})"),
    HasSubstr("is another actor's principal"));
}

TEST(manifest, an_unknown_key_is_named_with_the_nearest_known_one) {
  EXPECT_EQ(reading(R"({"actors": [{"wsam": "a.wasm"}]})"),
            "actors.json: actors[0]: unknown key \"wsam\"; did you mean 'wasm'?");
  EXPECT_EQ(reading(R"({"actors": [], "devise": {"kind": "cpu"}})"),
            "actors.json: unknown key \"devise\"; did you mean 'device'?");
  EXPECT_EQ(reading(R"({"actors": [], "device": {"kin": "cpu"}})"),
            "actors.json: device: unknown key \"kin\"; did you mean 'kind'?");
  EXPECT_EQ(reading(R"({"actors": [{"wasm": "a.wasm", "xyzzy": 1}]})"),
            "actors.json: actors[0]: unknown key \"xyzzy\"");
}

TEST(manifest, says_where_a_value_of_the_wrong_kind_stands) {
  EXPECT_EQ(reading(R"([1])"),
            "actors.json: [0]: an actor is a module's file name or an object, not a number");
  EXPECT_EQ(reading(R"({"actors": [{"wasm": true}]})"),
            "actors.json: actors[0].wasm: a string belongs here, not a boolean");
  EXPECT_EQ(reading(R"({"actors": {}})"),
            "actors.json: actors: an array belongs here, not an object");
  EXPECT_THAT(reading(R"({"letters": {"wasm": "a.wasm"}})"),
              HasSubstr("actors.json: letters: the module's file belongs here, not an object"));
  EXPECT_EQ(reading("7"), "actors.json: an object or an array belongs here, not a number");
  EXPECT_EQ(reading(R"({"actors": [{"name": "a"}]})"),
            "actors.json: actors[0]: \"wasm\", the module's file, is missing");
  EXPECT_EQ(reading(R"({"version": 1})"), "actors.json: \"actors\", the list, is missing");
  EXPECT_EQ(reading(R"({"version": 2, "actors": []})"),
            "actors.json: version: version 2 is not one this program reads; it is 1");
}

TEST(manifest, text_that_is_no_json_is_refused_with_its_position) {
  EXPECT_THAT(reading("{\"letters\":\n  letters.wasm}"), HasSubstr("actors.json:2:3: not JSON"));
  EXPECT_THAT(reading(""), HasSubstr("actors.json:1:1: not JSON"));
  EXPECT_THAT(reading("[] []"), HasSubstr("not JSON"));
  EXPECT_THAT(reading(std::string(100'000, '[')), HasSubstr("not JSON"));
}

TEST(manifest, two_actors_of_one_name_or_id_are_refused) {
  EXPECT_EQ(reading(R"(["a.wasm", "b/a.wasm"])"), "actors.json: two actors are called \"a\"");
  EXPECT_EQ(reading(R"({"a": "a.wasm", "a": "b.wasm"})"), "actors.json: a: the key is here twice");
  EXPECT_THAT(reading(R"([{"name": "a", "wasm": "a", "id": "rwlgt-iiaaa-aaaaa-aaaaa-cai"},
                          {"name": "b", "wasm": "b", "id": "rwlgt-iiaaa-aaaaa-aaaaa-cai"}])"),
              HasSubstr("two actors have the id rwlgt-iiaaa-aaaaa-aaaaa-cai"));
}

TEST(manifest, an_id_is_a_principal_of_its_own) {
  EXPECT_THAT(reading(R"([{"wasm": "a.wasm", "id": "aaaaa-aa"}])"),
              HasSubstr("actors.json: [0].id: aaaaa-aa is the management canister's"));
  EXPECT_THAT(reading(R"([{"wasm": "a.wasm", "id": "aaaaa"}])"), HasSubstr("[0].id: "));
}

TEST(manifest, a_name_that_is_no_file_name_is_refused) {
  EXPECT_THAT(reading(R"({"a/b": "a.wasm"})"), HasSubstr("cannot be an actor's name"));
  EXPECT_THAT(reading(R"([{"name": "", "wasm": "a.wasm"}])"),
              HasSubstr("cannot be an actor's name"));
  EXPECT_TRUE(is_actor_name("größe-1.x"));
  EXPECT_FALSE(is_actor_name("a\nb"));
  EXPECT_FALSE(is_actor_name(".."));
  EXPECT_FALSE(is_actor_name("\xff"));
  EXPECT_TRUE(is_actor_name(std::string(128, 'a')));
  EXPECT_FALSE(is_actor_name(std::string(129, 'a')));
}

TEST(manifest, a_new_one_has_the_full_shape) {
  auto text = updating("");
  EXPECT_EQ(text, "{\n  \"version\": 1,\n  \"actors\": [\n    {\"name\": \"letters\", "
                  "\"wasm\": \"letters.wasm\", \"did\": \"letters.did\"}\n  ]\n}\n");
  EXPECT_EQ(updating(text), text);
}

TEST(manifest, an_update_keeps_every_other_byte) {
  EXPECT_EQ(updating(R"({"a" :"a.wasm" })"), R"({"a" :"a.wasm", "letters": "letters.wasm" })");
  EXPECT_EQ(updating(R"({"letters": "old.wasm", "b": "b.wasm"})"),
            R"({"letters": "letters.wasm", "b": "b.wasm"})");
  EXPECT_EQ(updating("[\n\t\"a.wasm\"\n]"),
            "[\n\t\"a.wasm\",\n\t{\"name\": \"letters\", \"wasm\": \"letters.wasm\", \"did\": "
            "\"letters.did\"}\n]");
  EXPECT_EQ(updating(R"(["letters.wasm"])"), R"(["letters.wasm"])");
  const std::string id = R"("id":"rwlgt-iiaaa-aaaaa-aaaaa-cai")";
  EXPECT_EQ(updating(R"({"actors":[{"wasm":"old/letters.wasm",)" + id + R"(}],"version":1})"),
            R"({"actors":[{"wasm":"letters.wasm",)" + id
              + R"(, "did": "letters.did"}],"version":1})");
  EXPECT_EQ(updating(R"({"actors": [ ]})"),
            R"({"actors": [{"name": "letters", "wasm": "letters.wasm", "did": "letters.did"}]})");
}

TEST(manifest, a_broken_one_is_refused_and_not_overwritten) {
  EXPECT_THAT(updating("{\"letters\": "), HasSubstr("not JSON"));
  EXPECT_THAT(updating(R"({"actors": [{"wsam": "a"}]})"), HasSubstr("unknown key"));
}
