#include "tests/shapescript/slips_fixture.hpp"

#include <fmt/format.h>

namespace shapescript::testing {

namespace {

mutant with(const subject& s, span where, std::string_view text) {
  auto changed = s.text;
  changed.replace(where.begin, where.end - where.begin, text);
  return {changed, where};
}

template <class Fits>
std::function<sites(const subject&)> tokens_that(Fits fits) {
  return [fits](const subject& s) {
    sites all;
    for (size_t i = 0; i < s.tokens.size(); ++i)
      if (s.kind(i) >= token_kind::name && fits(s, i)) all.push_back(i);
    return all;
  };
}

std::function<sites(const subject&)> every_token() {
  return tokens_that([](const subject&, size_t) { return true; });
}

bool is_bracket(token_kind kind) {
  return kind == token_kind::open_paren || kind == token_kind::close_paren
         || kind == token_kind::open_bracket || kind == token_kind::close_bracket;
}

mutant without_token(const subject& s, size_t i) {
  return with(s, s.tokens[i].where, "");
}

// Where the physical lines begin that hold more than a comment.
sites lines(const subject& s) {
  sites all;
  for (size_t at = 0; at < s.text.size(); at = s.text.find('\n', at) + 1) {
    const auto first = s.text.find_first_not_of(' ', at);
    if (s.text[first] != '#' && s.text[first] != '\n') all.push_back(at);
    if (s.text.find('\n', at) == s.text.npos) break;
  }
  return all;
}

span line_at(const subject& s, size_t begin) {
  const auto end = std::min(s.text.find('\n', begin), s.text.size() - 1);
  return {uint32_t(begin), uint32_t(end + 1)};
}

} // namespace

std::vector<mutator> slips() {
  std::vector<mutator> all;
  all.push_back({"token left out", true, every_token(), without_token});
  all.push_back({"token twice", true, every_token(), [](const subject& s, size_t i) {
                   const auto end = s.tokens[i].where.end;
                   return with(s, {end, end}, fmt::format(" {}", s.word(i)));
                 }});
  all.push_back({"bracket left out", true,
                 tokens_that([](const subject& s, size_t i) { return is_bracket(s.kind(i)); }),
                 without_token});
  all.push_back({"colon left out", true, tokens_that([](const subject& s, size_t i) {
                   return s.kind(i) == token_kind::colon;
                 }),
                 without_token});
  all.push_back({"name misspelt", true, tokens_that([](const subject& s, size_t i) {
                   return s.kind(i) == token_kind::name;
                 }),
                 [](const subject& s, size_t i) {
                   const auto end = s.tokens[i].where.end;
                   return with(s, {end, end}, "q");
                 }});
  all.push_back({"keyword misspelt", true, tokens_that([](const subject& s, size_t i) {
                   return s.kind(i) >= token_kind::kw_fn && s.kind(i) <= token_kind::kw_false;
                 }),
                 [](const subject& s, size_t i) {
                   const auto begin = s.tokens[i].where.begin;
                   return with(s, {begin, begin + 1}, "");
                 }});
  all.push_back({"line left out", true, lines,
                 [](const subject& s, size_t at) { return with(s, line_at(s, at), ""); }});
  all.push_back({"line twice", true, lines, [](const subject& s, size_t at) {
                   const auto line = line_at(s, at);
                   const auto text = s.text.substr(line.begin, line.end - line.begin);
                   return with(s, {line.begin, line.begin}, text);
                 }});
  for (const auto* spaces : {" ", "    "})
    all.push_back({"line too deep", true, lines, [spaces](const subject& s, size_t at) {
                     return with(s, {uint32_t(at), uint32_t(at)}, spaces);
                   }});
  for (const size_t spaces : {2, 4})
    all.push_back({"line not deep enough", true,
                   [spaces](const subject& s) {
                     sites deep;
                     for (const auto at : lines(s))
                       if (s.text.find_first_not_of(' ', at) >= at + spaces) deep.push_back(at);
                     return deep;
                   },
                   [spaces](const subject& s, size_t at) {
                     return with(s, {uint32_t(at), uint32_t(at + spaces)}, "");
                   }});
  return all;
}

} // namespace shapescript::testing
