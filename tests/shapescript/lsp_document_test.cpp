// The text of an open file against a model that holds UTF-16 itself.

#include <random>

#include <gtest/gtest.h>

#include "tests/shapescript/lsp_support.hpp"

using namespace shapescript;
using shapescript::lsp::document;
using shapescript::lsp::encoding;
using shapescript::lsp::place;
using shapescript::testing::client;
namespace json = boost::json;

namespace {

std::string utf8(std::u16string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    uint32_t c = text[i];
    if (c >= 0xD800 && c < 0xDC00) c = 0x10000 + ((c - 0xD800) << 10) + (text[++i] - 0xDC00);
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xC0 | (c >> 6));
      out += static_cast<char>(0x80 | (c & 0x3F));
    } else {
      if (c < 0x10000) {
        out += static_cast<char>(0xE0 | (c >> 12));
      } else {
        out += static_cast<char>(0xF0 | (c >> 18));
        out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
      }
      out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
      out += static_cast<char>(0x80 | (c & 0x3F));
    }
  }
  return out;
}

// A text as an editor holds it.
struct model {
  std::u16string text;

  // The begins of the lines, and where each ends.
  std::vector<std::pair<size_t, size_t>> lines() const {
    std::vector<std::pair<size_t, size_t>> out;
    size_t begin = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != u'\n' && text[i] != u'\r') continue;
      out.emplace_back(begin, i);
      if (text[i] == u'\r' && i + 1 < text.size() && text[i + 1] == u'\n') ++i;
      begin = i + 1;
    }
    out.emplace_back(begin, text.size());
    return out;
  }

  size_t offset_of(place where) const {
    const auto all = lines();
    if (where.line >= all.size()) return text.size();
    auto at = std::min(all[where.line].first + where.column, all[where.line].second);
    if (at > 0 && at < text.size() && text[at] >= 0xDC00 && text[at] < 0xE000) --at;
    return at;
  }

  place place_of(size_t offset) const {
    const auto all = lines();
    size_t line = all.size() - 1;
    while (all[line].first > offset) --line;
    return {static_cast<uint32_t>(line),
            static_cast<uint32_t>(std::min(offset, all[line].second) - all[line].first)};
  }
};

constexpr std::u16string_view pieces[] = {u"dim A = 3\n",
                                          u"dim Bb = A * 2  # 🙂 naïve\n",
                                          u"fn f(x: [n 3]) -> [n 3]:\n    return x\n",
                                          u"data R𝔘:\n    img: [A]\n",
                                          u"🙂",
                                          u"𝒳y",
                                          u"é",
                                          u"\r\n",
                                          u"\n",
                                          u"\r",
                                          u" ",
                                          u"# 漢字 🀄\n",
                                          u"model M:\n    param w: [A Bb] = zeros()\n",
                                          u"",
                                          u"(",
                                          u"\"🙂",
                                          u"x = 1",
                                          u"    ",
                                          u"\uFEFF"};

class editor {
public:
  explicit editor(uint32_t seed) : random_(seed) {
  }

  size_t below(size_t n) {
    return random_() % n;
  }

  std::u16string some() {
    std::u16string out;
    for (auto n = below(3) + 1; n > 0; --n) out += pieces[below(std::size(pieces))];
    return out;
  }

  // Mostly a place in the text; now and then one outside it or inside a character.
  place somewhere(const model& in) {
    if (below(8) == 0) return {static_cast<uint32_t>(below(60)), static_cast<uint32_t>(below(200))};
    return in.place_of(below(in.text.size() + 1));
  }

private:
  std::mt19937 random_;
};

// Every name that the outline gives stands in the model at the range that it gives.
void expect_names_at_their_ranges(const model& in, const json::array& outline) {
  for (const auto& one : outline) {
    const auto where = *lsp::read_range(one.at("selectionRange"));
    const auto begin = in.offset_of(where.start);
    const auto end = in.offset_of(where.end);
    ASSERT_LE(begin, end);
    ASSERT_EQ(utf8(std::u16string_view{in.text}.substr(begin, end - begin)),
              std::string_view{one.at("name").as_string()});
    ASSERT_EQ(in.place_of(begin), where.start);
    ASSERT_EQ(in.place_of(end), where.end);
    if (const auto* inner = one.as_object().if_contains("children"))
      expect_names_at_their_ranges(in, inner->as_array());
  }
}

} // namespace

TEST(lsp_document, three_hundred_edits_on_a_hundred_texts_are_a_models) {
  size_t names = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    editor random{seed};
    model expected;
    for (int i = 0; i < 6; ++i) expected.text += random.some();
    client c;
    c.open(utf8(expected.text));
    for (int edit = 0; edit < 300; ++edit) {
      auto start = random.somewhere(expected);
      auto end = random.below(3) == 0 ? random.somewhere(expected) : start;
      if (expected.offset_of(end) < expected.offset_of(start)) std::swap(start, end);
      const auto begin = expected.offset_of(start);
      auto count = expected.offset_of(end) - begin;
      if (expected.text.size() > 1500) {
        start = expected.place_of(0);
        end = expected.place_of(expected.text.size());
        count = expected.text.size();
      }
      const auto fresh = random.some();
      c.server.receive(json::serialize(json::object{
        {"jsonrpc", "2.0"},
        {"method", "textDocument/didChange"},
        {"params",
         {{"textDocument", {{"uri", client::uri()}, {"version", edit + 2}}},
          {"contentChanges",
           {{{"range", lsp::to_json(lsp::place_range{start, end})}, {"text", utf8(fresh)}}}}}}}));
      expected.text.replace(expected.offset_of(start), count, fresh);
      const auto outline =
        c.request("textDocument/documentSymbol", {{"textDocument", {{"uri", client::uri()}}}});
      ASSERT_EQ(*c.server.text_of(client::uri()), utf8(expected.text))
        << "seed " << seed << ", edit " << edit;
      expect_names_at_their_ranges(expected, outline.as_array());
      if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", edit " << edit;
      names += outline.as_array().size();
      c.received.clear();
    }
  }
  EXPECT_GT(names, 30'000u) << "the programs have names";
}

TEST(lsp_document, places_and_offsets_are_each_others_inverse) {
  const document text{"a🙂b\r\nκ𝔘\n\rend"};
  for (const auto unit : {encoding::utf8, encoding::utf16, encoding::utf32}) {
    for (uint32_t at = 0; at <= text.text().size(); ++at) {
      const auto where = text.place_of(at, unit);
      const auto back = text.offset_of(where, unit);
      EXPECT_LE(back, at);
      EXPECT_EQ(text.place_of(back, unit), where);
    }
  }
  EXPECT_EQ(text.offset_of({0, 3}, encoding::utf16), 5u) << "past the surrogate pair";
  EXPECT_EQ(text.offset_of({0, 2}, encoding::utf16), 1u) << "inside it";
  EXPECT_EQ(text.offset_of({0, 2}, encoding::utf32), 5u);
  EXPECT_EQ(text.offset_of({0, 5}, encoding::utf8), 5u);
  EXPECT_EQ(text.line_count(), 4u) << "a lone carriage return ends a line";
}

TEST(lsp_document, places_outside_are_the_nearest_inside) {
  document text{"ab\ncd"};
  EXPECT_EQ(text.offset_of({0, 99}, encoding::utf16), 2u);
  EXPECT_EQ(text.offset_of({99, 0}, encoding::utf16), 5u);
  EXPECT_EQ(text.place_of(99, encoding::utf16), (place{1, 2}));
  text.replace({{5, 5}, {0, 1}}, "x", encoding::utf16);
  EXPECT_EQ(text.text(), "ax");
}
