#include "shapescript/report/source.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "shapescript/report/diagnostic.hpp"

using namespace shapescript;

TEST(source, lines_end_before_their_line_end) {
  const source s{"a.ss", "one\r\ntwo\n\nlast"};
  EXPECT_EQ(s.line_count(), 4u);
  EXPECT_EQ(s.line(1), "one");
  EXPECT_EQ(s.line(2), "two");
  EXPECT_EQ(s.line(3), "");
  EXPECT_EQ(s.line(4), "last");
  EXPECT_EQ(s.line(5), "");
  EXPECT_EQ(s.line(0), "");
}

TEST(source, columns_count_code_points) {
  const source s{"a.ss", "é = \"😀\" # x\nab"}; // two bytes, then four
  EXPECT_EQ(s.position_of(0), (position{1, 1}));
  EXPECT_EQ(s.position_of(1), (position{1, 1})); // inside é
  EXPECT_EQ(s.position_of(2), (position{1, 2}));
  EXPECT_EQ(s.position_of(6), (position{1, 6}));  // the emoji
  EXPECT_EQ(s.position_of(10), (position{1, 7})); // its closing quote
  EXPECT_EQ(s.position_of(16), (position{2, 1}));
  EXPECT_EQ(s.position_of(999), (position{2, 3}));
}

TEST(source, text_of_a_span_is_cut_to_what_is_there) {
  const source s{"a.ss", "abc"};
  EXPECT_EQ(s.text({1, 3}), "bc");
  EXPECT_EQ(s.text({2, 9}), "c");
  EXPECT_EQ(s.text({9, 2}), "");
}

TEST(source, any_bytes_and_any_offset_have_a_place) {
  EXPECT_TRUE(rc::check([](const std::string& text, uint32_t offset) {
    const source s{"x.ss", text};
    const auto where = s.position_of(offset);
    RC_ASSERT(where.line >= 1u && where.line <= s.line_count());
  }));
}

TEST(diagnostic, its_primary_label_gives_the_place) {
  const diagnostic d{"E0201",
                     severity::error,
                     "unknown name `x`",
                     {{{4, 5}, "declared here", false}, {{0, 1}, "not found", true}},
                     {},
                     {},
                     {}};
  EXPECT_EQ(d.primary().where, (span{0, 1}));
}
