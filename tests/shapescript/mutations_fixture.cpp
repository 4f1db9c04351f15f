#include "tests/shapescript/mutations_fixture.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace shapescript::testing {

namespace {

mutant replace(const subject& s, span where, std::string_view with) {
  auto text = s.text;
  text.replace(where.begin, where.end - where.begin, with);
  return {text, {where.begin, where.begin + uint32_t(std::max<size_t>(1, with.size()))}};
}

template <class Fits>
sites places(const subject& s, Fits&& fits) {
  sites all;
  for (size_t i = 1; i + 1 < s.tokens.size(); ++i)
    if (fits(i)) all.push_back(i);
  return all;
}

bool touches(const subject& s, size_t i) {
  return s.tokens[i].where.end == s.tokens[i + 1].where.begin;
}

bool capital(std::string_view word) {
  return !word.empty() && word.front() >= 'A' && word.front() <= 'Z';
}

/// The first token of the logical line of `i`.
size_t line_start(const subject& s, size_t i) {
  while (i > 0 && s.kind(i - 1) != token_kind::newline && s.kind(i - 1) != token_kind::indent
         && s.kind(i - 1) != token_kind::dedent)
    --i;
  return i;
}

/// A statement in a function's body: its line is indented and begins no declaration.
bool begins_statement(const subject& s, size_t i) {
  if (line_start(s, i) != i || i == 0) return false;
  if (s.kind(i) < token_kind::name) return false;
  if (s.kind(i) == token_kind::kw_elif || s.kind(i) == token_kind::kw_else) return false;
  const auto at = s.tokens[i].where.begin;
  if (at == 0 || s.text[at - 1] != ' ') return false;
  const auto before = s.text.rfind('\n', at);
  if (s.text.find_first_not_of(' ', before + 1) != at) return false; // joined to the line before
  for (size_t k = i; k > 0; --k) {
    if (s.kind(k) == token_kind::indent || s.kind(k) == token_kind::dedent) continue;
    const auto start = line_start(s, k);
    const auto where = s.tokens[start].where.begin;
    if (where == 0 || s.text[where - 1] == '\n') return s.kind(start) == token_kind::kw_fn;
    k = start;
  }
  return false;
}

std::string indentation(const subject& s, size_t i) {
  const auto at = s.tokens[i].where.begin;
  const auto begin = s.text.rfind('\n', at) + 1;
  return s.text.substr(begin, at - begin);
}

mutant insert_line(const subject& s, size_t i, std::string_view line, std::string_view marked) {
  const auto indent = indentation(s, i);
  const auto begin = s.tokens[i].where.begin - indent.size();
  auto text = s.text;
  std::string indented{line};
  for (auto at = indented.find('$'); at != indented.npos; at = indented.find('$'))
    indented.replace(at, 1, indent);
  text.insert(begin, indent + indented + "\n");
  const auto at = text.find(marked, begin);
  return {text, {uint32_t(at), uint32_t(at + marked.size())}};
}

bool is_call(const subject& s, size_t i) {
  return s.kind(i) == token_kind::name && s.kind(i + 1) == token_kind::open_paren && touches(s, i)
         && s.kind(i - 1) != token_kind::kw_fn && s.kind(i - 1) != token_kind::dot;
}

bool declares_dim(const subject& s, std::string_view name) {
  return s.text.find(fmt::format("dim {} ", name)) != s.text.npos;
}

size_t line_end(const subject& s, size_t i) {
  while (s.kind(i) != token_kind::newline) ++i;
  return i;
}

size_t closing(const subject& s, size_t i) {
  for (int open = 0; i < s.tokens.size(); ++i) {
    if (s.kind(i) == token_kind::open_paren) ++open;
    if (s.kind(i) == token_kind::close_paren && --open == 0) break;
  }
  return i;
}

int brackets_around(const subject& s, size_t i) {
  int open = 0;
  for (size_t k = line_start(s, i); k < i; ++k) {
    if (s.kind(k) == token_kind::open_paren || s.kind(k) == token_kind::open_bracket) ++open;
    if (s.kind(k) == token_kind::close_paren || s.kind(k) == token_kind::close_bracket) --open;
  }
  return open;
}

bool one_of(std::string_view word, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

sites statements(const subject& s) {
  return places(s, [&](size_t i) { return begins_statement(s, i); });
}

sites later_statements(const subject& s) {
  sites kept;
  for (const auto i : statements(s))
    if (s.kind(i - 1) == token_kind::newline) kept.push_back(i);
  return kept;
}

sites outside_loops(const subject& s) {
  const bool loops = s.text.find("for ") != s.text.npos || s.text.find("while ") != s.text.npos;
  return loops ? sites{} : statements(s);
}

std::function<sites(const subject&)> of_kind(token_kind kind) {
  return
    [kind](const subject& s) { return places(s, [&](size_t i) { return s.kind(i) == kind; }); };
}

} // namespace

std::vector<mutator> mistakes_in_words() {
  std::vector<mutator> all;
  all.push_back(
    {"unknown function", true,
     [](const subject& s) { return places(s, [&](size_t i) { return is_call(s, i); }); },
     [](const subject& s, size_t i) { return replace(s, s.tokens[i].where, "qzqz"); }});
  all.push_back({"unknown field", true,
                 [](const subject& s) {
                   return s.imports ? sites{} : places(s, [&](size_t i) {
                     return s.kind(i) == token_kind::name && s.kind(i - 1) == token_kind::dot;
                   });
                 },
                 [](const subject& s, size_t i) { return replace(s, s.tokens[i].where, "qzqz"); }});
  all.push_back({"unknown parameter", true,
                 [](const subject& s) {
                   static const std::vector<std::string_view> known{
                     "over", "lr", "std", "gain", "bias", "lo", "hi", "along", "weight_decay"};
                   return places(s, [&](size_t i) {
                     return s.kind(i) == token_kind::name && s.kind(i + 1) == token_kind::assign
                            && touches(s, i)
                            && std::find(known.begin(), known.end(), s.word(i)) != known.end();
                   });
                 },
                 [](const subject& s, size_t i) { return replace(s, s.tokens[i].where, "qzqz"); }});
  all.push_back({"unknown axis", true,
                 [](const subject& s) {
                   return places(s, [&](size_t i) {
                     return s.kind(i) == token_kind::name && s.kind(i - 1) == token_kind::assign
                            && i > 1 && s.word(i - 2) == "over" && touches(s, i - 1);
                   });
                 },
                 [](const subject& s, size_t i) { return replace(s, s.tokens[i].where, "qzqz"); }});
  all.push_back(
    {"unknown dim", true,
     [](const subject& s) {
       return places(s, [&](size_t i) {
         return s.kind(i) == token_kind::name && capital(s.word(i)) && declares_dim(s, s.word(i))
                && s.word(i - 1) != "dim" && s.word(line_start(s, i)) != "dim"
                && (s.kind(i - 1) == token_kind::open_bracket || s.kind(i - 1) == token_kind::name)
                && s.word(line_start(s, i)) != "split";
       });
     },
     [](const subject& s, size_t i) { return replace(s, s.tokens[i].where, "Qzqz"); }});
  all.push_back({"unknown type", true,
                 [](const subject& s) {
                   return places(s, [&](size_t i) {
                     return s.kind(i) == token_kind::name && capital(s.word(i))
                            && s.kind(i - 1) == token_kind::colon;
                   });
                 },
                 [](const subject& s, size_t i) { return replace(s, s.tokens[i].where, "Qzqz"); }});
  all.push_back({"unknown element", true,
                 [](const subject& s) {
                   return places(s, [&](size_t i) {
                     return s.kind(i) == token_kind::name && capital(s.word(i))
                            && s.kind(i - 1) == token_kind::close_bracket;
                   });
                 },
                 [](const subject& s, size_t i) { return replace(s, s.tokens[i].where, "Qzqz"); }});
  all.push_back({"unknown variable", true,
                 [](const subject& s) {
                   return places(s, [&](size_t i) {
                     return s.kind(i) == token_kind::name && s.kind(i - 1) == token_kind::kw_return
                            && s.kind(i + 1) != token_kind::open_paren
                            && s.kind(i + 1) != token_kind::open_bracket;
                   });
                 },
                 [](const subject& s, size_t i) { return replace(s, s.tokens[i].where, "qzqz"); }});
  return all;
}

std::vector<mutator> mistakes_in_tokens() {
  const auto any = [](const subject& s) {
    return places(s, [&](size_t i) {
      return s.kind(i) >= token_kind::name && s.kind(i - 1) >= token_kind::name;
    });
  };
  std::vector<mutator> all;
  all.push_back({"strange character", true, any, [](const subject& s, size_t i) {
                   const auto at = s.tokens[i].where.begin;
                   return replace(s, {at, at}, "$");
                 }});
  all.push_back(
    {"letters after a number", true, of_kind(token_kind::integer), [](const subject& s, size_t i) {
       auto out = replace(s, s.tokens[i].where, std::string{s.word(i)} + "px");
       return out;
     }});
  all.push_back({"open string", true, of_kind(token_kind::string), [](const subject& s, size_t i) {
                   const auto where = s.tokens[i].where;
                   auto out = replace(s, {where.end - 1, where.end}, "");
                   out.where = {where.begin, where.begin + 1};
                   return out;
                 }});
  return all;
}

std::vector<mutator> mistakes_in_brackets() {
  std::vector<mutator> all;
  for (const auto kind : {token_kind::close_paren, token_kind::close_bracket}) {
    all.push_back({"bracket not closed", true, of_kind(kind), [](const subject& s, size_t i) {
                     auto out = replace(s, s.tokens[i].where, "");
                     // At the opening bracket, or where the closing one is missed.
                     int open = 1;
                     size_t k = i;
                     while (k > 0 && open > 0) {
                       --k;
                       const auto kind = s.kind(k);
                       if (kind == s.kind(i)) ++open;
                       if (int(kind) == int(s.kind(i)) - 1) --open;
                     }
                     out.where = {s.tokens[k].where.begin, s.tokens[i + 1].where.end};
                     return out;
                   }});
  }
  all.push_back({"wrong closing bracket", true, of_kind(token_kind::close_paren),
                 [](const subject& s, size_t i) { return replace(s, s.tokens[i].where, "]"); }});
  all.push_back({"colon missing", true,
                 [](const subject& s) {
                   return places(s, [&](size_t i) {
                     return s.kind(i) == token_kind::colon && s.kind(i + 1) == token_kind::newline;
                   });
                 },
                 [](const subject& s, size_t i) {
                   auto out = replace(s, s.tokens[i].where, "");
                   out.where.end = out.where.begin + 1;
                   return out;
                 }});
  all.push_back({"token doubled", true,
                 [](const subject& s) {
                   return places(s, [&](size_t i) {
                     switch (s.kind(i)) {
                       case token_kind::comma:
                       case token_kind::dot:
                       case token_kind::assign:
                       case token_kind::arrow:
                       case token_kind::pipe:
                       case token_kind::plus:
                       case token_kind::kw_return:
                       case token_kind::kw_in:
                         return true;
                       default:
                         return false;
                     }
                   });
                 },
                 [](const subject& s, size_t i) {
                   const auto where = s.tokens[i].where;
                   auto out = replace(s, {where.end, where.end}, fmt::format(" {}", s.word(i)));
                   out.where = {where.begin, out.where.end + 1};
                   return out;
                 }});
  return all;
}

std::vector<mutator> mistakes_in_meaning() {
  std::vector<mutator> all;
  const auto inserted = [&all](const char* name, std::string line, std::string marked) {
    all.push_back({name, true, statements, [line, marked](const subject& s, size_t i) {
                     return insert_line(s, i, line, marked);
                   }});
  };
  inserted("undefined name", "_zz = qzqz", "qzqz");
  inserted("too many names", "_za, _zb, _zc = 1, 2", "_za, _zb, _zc");
  inserted("call of a number", "_zz = (1)(2)", "(1)");
  inserted("condition of an int", "if 12:\n$    pass", "12");
  inserted("loop over an int", "for _q in 12:\n$    pass", "12");
  inserted("impossible sum", "_zz = 1 + \"a\"", "\"a\"");
  inserted("chained comparison", "_zz = 1 < 2 < 3", "< 3");
  all.push_back({"break outside a loop", true, outside_loops,
                 [](const subject& s, size_t i) { return insert_line(s, i, "break", "break"); }});
  all.push_back({"indentation", true, later_statements, [](const subject& s, size_t i) {
                   const auto at = s.tokens[i].where.begin;
                   auto out = replace(s, {at, at}, "  ");
                   out.where = {at, at + 3};
                   return out;
                 }});
  all.push_back({"tab", true, statements, [](const subject& s, size_t i) {
                   const auto at = s.tokens[i].where.begin;
                   const auto begin = static_cast<uint32_t>(at - indentation(s, i).size());
                   return replace(s, {begin, at}, "\t");
                 }});
  return all;
}

std::vector<mutator> mistakes_in_calls() {
  std::vector<mutator> all;
  all.push_back({"mut missing at a call", true,
                 [](const subject& s) {
                   return places(s, [&](size_t i) {
                     return s.kind(i) == token_kind::kw_mut && s.kind(i + 2) != token_kind::colon
                            && s.word(i + 1) != "self";
                   });
                 },
                 [](const subject& s, size_t i) {
                   const auto begin = s.tokens[i].where.begin;
                   auto out = replace(s, {begin, s.tokens[i + 1].where.begin}, "");
                   out.where = {begin, begin + 1};
                   return out;
                 }});
  all.push_back({"argument too many", true,
                 [](const subject& s) {
                   return places(s, [&](size_t i) {
                     return is_call(s, i)
                            && one_of(s.word(i), {"relu", "square", "exp", "tanh", "sigmoid", "abs",
                                                  "sqrt", "floor"});
                   });
                 },
                 [](const subject& s, size_t i) {
                   const auto close = s.tokens[closing(s, i + 1)].where.begin;
                   auto out = replace(s, {close, close}, ", 77");
                   out.where.begin += 2;
                   return out;
                 }});
  all.push_back({"dim declared again", true,
                 [](const subject& s) {
                   return places(s, [&](size_t i) {
                     return s.kind(i) == token_kind::name && s.word(i - 1) == "dim";
                   });
                 },
                 [](const subject& s, size_t i) {
                   const auto at = static_cast<uint32_t>(s.text.size() + 5);
                   return mutant{fmt::format("{}\ndim {} = 3\n", s.text, s.word(i)), {at, at + 1}};
                 }});
  all.push_back({"initialiser missing", true,
                 [](const subject& s) {
                   return places(s, [&](size_t i) {
                     return s.kind(i) == token_kind::name && s.word(i - 1) == "param";
                   });
                 },
                 [](const subject& s, size_t i) {
                   size_t k = i;
                   while (s.kind(k) != token_kind::assign) ++k;
                   const auto end = s.tokens[line_end(s, k)].where.begin;
                   auto out = replace(s, {s.tokens[k].where.begin, end}, "");
                   out.where = s.tokens[i].where;
                   return out;
                 }});
  all.push_back({"axis too many in a pattern", true,
                 [](const subject& s) {
                   return places(s, [&](size_t i) {
                     return s.kind(i) == token_kind::open_paren && s.tokens[i].arrow_inside
                            && one_of(s.word(i - 1), {"rearrange", "split"})
                            && s.kind(i + 2) != token_kind::colon
                            && s.kind(i + 2) != token_kind::dot
                            && s.kind(i + 2) != token_kind::ellipsis;
                   });
                 },
                 [](const subject& s, size_t i) {
                   const auto at = s.tokens[i].where.end;
                   return replace(s, {at, at}, "qz ");
                 }});
  return all;
}

std::vector<mutator> sound_changes() {
  std::vector<mutator> all;
  all.push_back({"spaces", false,
                 [](const subject& s) {
                   return places(s, [&](size_t i) {
                     return s.kind(i) >= token_kind::name && line_start(s, i) != i
                            && s.tokens[i].where.begin == s.tokens[i - 1].where.end + 1
                            && s.text[s.tokens[i - 1].where.end] == ' ';
                   });
                 },
                 [](const subject& s, size_t i) {
                   const auto at = s.tokens[i].where.begin;
                   return replace(s, {at, at}, "   ");
                 }});
  all.push_back({"comment", false, of_kind(token_kind::newline), [](const subject& s, size_t i) {
                   const auto at = s.tokens[i].where.begin;
                   return replace(s, {at, at}, "  # a note (with [brackets");
                 }});
  all.push_back({"empty lines", false, statements, [](const subject& s, size_t i) {
                   const auto at =
                     static_cast<uint32_t>(s.tokens[i].where.begin - indentation(s, i).size());
                   return replace(s, {at, at}, "\n     \n# note\n");
                 }});
  all.push_back({"line break in brackets", false,
                 [](const subject& s) {
                   sites kept;
                   for (const auto i : of_kind(token_kind::comma)(s))
                     if (brackets_around(s, i) > 0) kept.push_back(i);
                   return kept;
                 },
                 [](const subject& s, size_t i) {
                   const auto at = s.tokens[i].where.end;
                   return replace(s, {at, at}, "\n ");
                 }});
  all.push_back({"brackets around a returned value", false,
                 [](const subject& s) {
                   sites kept;
                   for (const auto i : of_kind(token_kind::kw_return)(s))
                     if (s.kind(i + 1) != token_kind::newline) kept.push_back(i);
                   return kept;
                 },
                 [](const subject& s, size_t i) {
                   auto text = s.text;
                   text.insert(s.tokens[line_end(s, i)].where.begin, ")");
                   text.insert(s.tokens[i].where.end + 1, "(");
                   return mutant{text, {}};
                 }});
  const auto whole = [](const subject&) { return sites{0}; };
  all.push_back({"line ends", false, whole, [](const subject& s, size_t) {
                   std::string text;
                   for (const char c : s.text) text += c == '\n' ? "\r\n" : std::string(1, c);
                   return mutant{text, {}};
                 }});
  all.push_back({"another declaration", false, whole, [](const subject& s, size_t) {
                   return mutant{s.text
                                   + "\ndim Zz = 3\n\nfn zz_f(x: [n Zz]) -> [n]:\n"
                                     "    return sum(x, over=Zz)\n",
                                 {}};
                 }});
  return all;
}

} // namespace shapescript::testing
