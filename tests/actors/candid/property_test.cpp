#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "actors/candid/decode.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/did_printer.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/json.hpp"
#include "actors/candid/subtype.hpp"
#include "actors/candid/text.hpp"
#include "tests/actors/candid/random_pair.hpp"

// Each property is tried on 100 drawn seeds with this many pairs of type and value each.

using namespace moxzi;
using namespace moxzi::candid;

namespace {

constexpr int pairs_per_seed = 1000;

template <class Property>
bool for_all_pairs(Property property) {
  return rc::check([&property] {
    const auto seed = *rc::gen::resize(rc::kNominalSize * 10, rc::gen::arbitrary<uint64_t>());
    pair_generator generator{seed};
    for (int i = 0; i < pairs_per_seed; ++i) {
      const auto pair = generator.draw();
      property(pair);
    }
  });
}

/// The value with null for its opts, no elements in its vectors, and another tag where one has no
/// payload.
value with_less(const type_table& types, type_ref type, const value& from) {
  switch (types.kind_of(type)) {
    case kind::opt:
      return {};
    case kind::vec:
      return types.is_blob(type) ? from : value::list({});
    case kind::record: {
      std::vector<value> items;
      const auto all = types.fields(type);
      for (size_t i = 0; i < all.size(); ++i) {
        items.push_back(with_less(types, all[i].type, from.as_list()[i]));
      }
      return value::list(std::move(items));
    }
    case kind::variant: {
      const auto tags = types.fields(type);
      for (uint32_t i = 0; i < tags.size(); ++i) {
        if (types.kind_of(tags[i].type) == kind::null) return value::variant(i);
      }
      return from;
    }
    default:
      return from;
  }
}

/// A tag with a payload of null reads as a tag alone.
std::string bare_tags(std::string text) {
  constexpr std::string_view payload = " = null }";
  for (auto at = text.find(payload); at != std::string::npos; at = text.find(payload, at)) {
    text.replace(at, payload.size(), " }");
  }
  return text;
}

value only(result<std::vector<value>> values) {
  RC_ASSERT(values.has_value());
  RC_ASSERT(values->size() == 1u);
  return std::move(values->front());
}

} // namespace

TEST(candid_property, bytes_give_back_the_value_to_the_bit) {
  EXPECT_TRUE(for_all_pairs([](const random_pair& pair) {
    const auto bytes = encode(pair.types, {&pair.held, 1}).value();
    RC_ASSERT(only(decode(bytes, pair.types)) == pair.held);
    RC_ASSERT(validate(bytes, pair.types).has_value());
    RC_ASSERT(validate_any(bytes).has_value());
    // What a message says of itself is enough to write it again.
    const auto any = decode_any(bytes).value();
    RC_ASSERT(encode(make_tuple_type(any.types, any.items), any.values).value() == bytes);
  }));
}

TEST(candid_property, text_gives_back_the_value) {
  EXPECT_TRUE(for_all_pairs([](const random_pair& pair) {
    const auto text = values_to_text(pair.types, {&pair.held, 1});
    RC_ASSERT(only(text_to_values(pair.types, text)) == pair.held);
    const auto annotated = values_to_text(pair.types, {&pair.held, 1}, {.annotate = true});
    RC_ASSERT(only(text_to_values(pair.types, annotated)) == pair.held);
  }));
}

TEST(candid_property, what_a_message_prints_is_read_without_its_types) {
  EXPECT_TRUE(for_all_pairs([](const random_pair& pair) {
    const auto sent = decode_any(encode(pair.types, {&pair.held, 1}).value()).value();
    const auto printed = message_to_text(sent, {.annotate = true});
    const auto read = text_to_message(printed);
    if (!read) RC_FAIL(printed + ": " + read.error().message);
    const auto types = make_tuple_type(read->types, read->items);
    const auto again = decode_any(encode(types, read->values).value()).value();
    const auto printed_again = message_to_text(again, {.annotate = true});
    if (bare_tags(printed_again) != bare_tags(printed))
      RC_FAIL(printed + " became " + printed_again);
  }));
}

TEST(candid_property, a_vector_of_what_one_type_holds_prints_as_what_is_read) {
  EXPECT_TRUE(for_all_pairs([](const random_pair& pair) {
    auto table = std::make_shared<type_table>(*pair.types.types);
    const auto type = pair.types.items.front();
    // Beside each value one of the same type with as little in it as there can be.
    const auto held = value::list({pair.held, with_less(*table, type, pair.held), pair.held});
    if (table->is_blob(table->vec(type))) return;
    const auto types = make_tuple_type(table, {table->vec(type)});
    const auto sent = decode_any(encode(types, {&held, 1}).value()).value();
    const auto printed = message_to_text(sent, {.annotate = true});
    const auto read = text_to_message(printed);
    if (!read) RC_FAIL(printed + ": " + read.error().message);
    const auto printed_again = message_to_text(*read, {.annotate = true});
    if (bare_tags(printed_again) != bare_tags(printed))
      RC_FAIL(printed + " became " + printed_again);
  }));
}

TEST(candid_property, json_gives_back_the_value) {
  EXPECT_TRUE(for_all_pairs([](const random_pair& pair) {
    for (const bool base64 : {false, true}) {
      const json_options options{.blob_base64 = base64};
      const auto json = values_to_json(pair.types, {&pair.held, 1}, options).value();
      RC_ASSERT(equal_but_nan(only(json_to_values(pair.types, json, options)), pair.held));
    }
  }));
}

TEST(candid_property, types_print_as_what_they_are) {
  EXPECT_TRUE(for_all_pairs([](const random_pair& pair) {
    // Name every entry, so that recursion can be said.
    auto named = std::make_shared<type_table>(*pair.types.types);
    for (uint32_t i = 0; i < named->size(); ++i) {
      RC_ASSERT(named->define("t" + std::to_string(i), type_ref::entry(i)).has_value());
    }
    const auto printed = did_text(make_interface(named, std::nullopt));
    const auto read = parse_did(printed).value();
    for (uint32_t i = 0; i < named->size(); ++i) {
      const auto again = *read.types->lookup("t" + std::to_string(i));
      RC_ASSERT((subtype_checker{*named, *read.types}.check(type_ref::entry(i), again)));
      RC_ASSERT((subtype_checker{*read.types, *named}.check(again, type_ref::entry(i))));
    }
  }));
}

TEST(candid_property, a_value_is_read_at_every_supertype) {
  EXPECT_TRUE(for_all_pairs([](const random_pair& pair) {
    auto wider = std::make_shared<type_table>(*pair.types.types);
    const auto type = pair.types.items.front();
    const auto as_opt = wider->opt(type);
    const auto types = make_tuple_type(wider, {as_opt});
    const auto bytes = encode(pair.types, {&pair.held, 1}).value();
    const auto read = only(decode(bytes, types));
    if (wider->is_nullable(type)) {
      // `opt t` at `opt opt t`, `null` and `reserved`: null stays null, the rest goes inside.
      if (pair.held.is_null()) RC_ASSERT(read.is_null());
    } else {
      RC_ASSERT(read == value::some(pair.held));
    }
    RC_ASSERT(only(decode(bytes, make_tuple_type(wider, {kind::reserved}))).is_null());
    RC_ASSERT(only(decode(bytes, make_tuple_type(wider, {wider->opt(kind::empty)}))).is_null());
    subtype_checker checker{*wider, *wider};
    RC_ASSERT(checker.check(type, type));
    RC_ASSERT(checker.check(type, as_opt));
    RC_ASSERT(checker.check(type, kind::reserved));
  }));
}

TEST(candid_property, damaged_bytes_are_read_or_refused) {
  EXPECT_TRUE(for_all_pairs([](const random_pair& pair) {
    auto bytes = encode(pair.types, {&pair.held, 1}).value();
    const auto at = std::hash<std::string>{}(bytes) % bytes.size();
    RC_ASSERT(!decode(byte_view{bytes}.substr(0, at), pair.types).has_value());
    RC_ASSERT(!decode(bytes + '\0', pair.types).has_value());
    bytes[at] = static_cast<char>(bytes[at] ^ 1 << at % 8);
    const auto read = decode(bytes, pair.types);
    RC_ASSERT(read.has_value() == validate(bytes, pair.types).has_value());
    if (read) RC_ASSERT(encode(pair.types, *read).has_value());
  }));
}
