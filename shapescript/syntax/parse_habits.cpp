#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/nearest.hpp"
#include "shapescript/syntax/parser.hpp"

// What people who know other languages write, and what it is called here.

namespace shapescript {

namespace {

struct habit {
  std::string_view word;
  std::string_view help;
  std::string_view instead; ///< what to write in its place, if that is certain
};

// At the start of a declaration, a member or a statement.
constexpr std::array first_words{
  habit{"def", "a function is declared with `fn`", "fn"},
  habit{"func", "a function is declared with `fn`", "fn"},
  habit{"function", "a function is declared with `fn`", "fn"},
  habit{"fun", "a function is declared with `fn`", "fn"},
  habit{"class", "a `model` has parameters and methods, a `data` the fields of a record", "model"},
  habit{"struct", "a `data` has the fields of a record", "data"},
  habit{"from", "a Python module is imported whole: `import python NAME`", ""},
  habit{"const", "a size is declared with `dim`", ""},
};

constexpr std::array assigning_words{"let", "var", "const", "val", "auto", "mut"};

} // namespace

void parser::mend(span where, std::string text) {
  out_.diagnostics.back().fixes.push_back({where, std::move(text)});
}

void parser::help(std::string text) {
  out_.diagnostics.back().help.push_back(std::move(text));
}

std::string_view parser::text_at(size_t at) const {
  return at < tokens_.size() ? text_.text(tokens_[at].where) : std::string_view{};
}

bool parser::is_kind(size_t at, token_kind kind) const {
  return at < tokens_.size() && tokens_[at].kind == kind;
}

bool parser::touch(size_t at) const {
  return at + 1 < tokens_.size() && tokens_[at].where.end == tokens_[at + 1].where.begin;
}

// Adds to the report just made about the token at hand.
void parser::give_help(std::string_view wanted) {
  const auto first = line_of(at_);
  switch (here().kind) {
    case token_kind::name:
    case token_kind::string:
      return help_at_word(first);
    case token_kind::comma:
      if (wanted.starts_with("an axis or `]`") || wanted.starts_with("a device number"))
        help_commas(wanted.starts_with("an axis") ? "axes" : "device numbers");
      return;
    case token_kind::colon:
      return help_at_colon(first, wanted);
    case token_kind::pipe:
      if (at_ != first) return;
      help("indent the line further to continue the line above");
      return mend({here().where.begin, here().where.begin}, "    ");
    case token_kind::kw_if:
      if (at_ > first && is_kind(at_ - 1, token_kind::kw_else)) {
        help("write `elif`");
        return mend({tokens_[at_ - 1].where.begin, here().where.end}, "elif");
      }
      if (at_ != first)
        help("a choice is an `if` statement, or `where(condition, a, b)` of tensors");
      return;
    default:
      return help_at_operator(first, wanted);
  }
}

void parser::help_at_word(size_t first) {
  const auto seen = text_at(at_);
  if (at_ == first) {
    for (const auto& one : first_words) {
      if (seen != one.word || !is_kind(at_ + 1, token_kind::name)) continue;
      help(std::string{one.help});
      if (!one.instead.empty()) mend(here().where, std::string{one.instead});
      return;
    }
    // `self.w: [D] = ...` in a model.
    if (seen == "self" && is_kind(at_ + 1, token_kind::dot)
        && is_kind(at_ + 3, token_kind::colon)) {
      help("the parameters of a model are declared in it: `param NAME: TYPE = ...`");
      mend({here().where.begin, tokens_[at_ + 1].where.end}, "param ");
    }
    return;
  }
  const auto before = text_at(at_ - 1);
  if (at_ - 1 == first
      && std::find(assigning_words.begin(), assigning_words.end(), before)
           != assigning_words.end()) {
    help(fmt::format("a variable is assigned without `{}`", before));
    return mend({tokens_[first].where.begin, here().where.begin}, "");
  }
  if (at_ - 1 == first && (before == "elseif" || before == "elsif")) {
    help("write `elif`");
    return mend(tokens_[first].where, "elif");
  }
  if (before == "lambda") return help("a function is declared with `fn`, and passed by its name");
  if (here().kind == token_kind::string && before == "f" && touch(at_ - 1)) {
    help("`print` takes several values, and `str(x)` makes a text of one");
    if (seen.find('{') == seen.npos) mend(tokens_[at_ - 1].where, "");
    return;
  }
  if (before == "is") return help("two values are compared with `==`");
  if (text_at(first) == "import" && at_ == first + 2) {
    static constexpr std::string_view known[] = {"python"};
    if (!moxzi::nearest(before, known)) return;
    help("did you mean `python`?");
    mend(tokens_[at_ - 1].where, "python");
  }
}

// Commas up to the end of the bracket, where only spaces belong.
void parser::help_commas(std::string_view what) {
  help(fmt::format("{} are separated by spaces", what));
  for (auto at = at_; at < tokens_.size(); ++at) {
    const auto kind = tokens_[at].kind;
    if (kind == token_kind::close_bracket || kind == token_kind::close_paren
        || kind == token_kind::newline || kind == token_kind::open_bracket)
      return;
    if (kind == token_kind::comma) mend(tokens_[at].where, touch(at) ? " " : "");
  }
}

void parser::help_at_colon(size_t first, std::string_view wanted) {
  if (text_at(first) == "devices" && is_kind(at_ + 1, token_kind::newline)) {
    help("the options follow without a colon");
    return mend(here().where, "");
  }
  // `rearrange(x: a b - > b a)`: without its arrow this is no pattern.
  for (auto at = at_; wanted.starts_with("`,`, an operator") && at < tokens_.size(); ++at) {
    if (is_kind(at, token_kind::newline)) break;
    if (!is_kind(at, token_kind::minus) || !is_kind(at + 1, token_kind::greater)) continue;
    help("the arrow of a pattern is `->`");
    return mend({tokens_[at].where.begin, tokens_[at + 1].where.end}, "->");
  }
  // `fn f(x: [n] y: [n])`: the name was taken for the element type.
  const bool after_type =
    at_ >= 2 && is_kind(at_ - 1, token_kind::name)
    && (is_kind(at_ - 2, token_kind::close_bracket) || is_kind(at_ - 2, token_kind::name));
  if (wanted != "`,` or `)`" || !after_type) return;
  const auto name = tokens_[at_ - 1].where;
  help(fmt::format("`{}` was read as a part of the type; a comma is missing before it",
                   text_.text(name)));
  const auto end = tokens_[at_ - 2].where.end;
  mend({end, end}, ",");
}

void parser::help_at_operator(size_t first, std::string_view wanted) {
  const auto kind = here().kind;
  const bool after_name = at_ > first && is_kind(at_ - 1, token_kind::close_paren);
  // `=>`, `- >`, `-->` and `=` for the arrow of a result.
  if ((kind == token_kind::assign || kind == token_kind::minus)
      && (is_kind(at_ + 1, token_kind::greater) || is_kind(at_ + 1, token_kind::arrow))) {
    help("the arrow is `->`");
    return mend({here().where.begin, tokens_[at_ + 1].where.end}, "->");
  }
  if (kind == token_kind::assign && after_name && is_kind(first, token_kind::kw_fn)) {
    help("the type of the result follows `->`");
    return mend(here().where, "->");
  }
  if (kind == token_kind::assign
      && (is_kind(first, token_kind::kw_if) || is_kind(first, token_kind::kw_elif)
          || is_kind(first, token_kind::kw_while))) {
    help("two values are compared with `==`");
    return mend(here().where, "==");
  }
  if (kind == token_kind::divide && at_ == first) {
    help("a comment begins with `#`");
    if (is_kind(at_ + 1, token_kind::divide) && touch(at_))
      mend({here().where.begin, tokens_[at_ + 1].where.end}, "#");
    return;
  }
  if (kind == token_kind::divide && at_ > first && is_kind(at_ - 1, token_kind::divide)
      && touch(at_ - 1))
    return help("`/` of two dims is exact; of ints, `int(a / b)` is the whole part");
  if (kind == token_kind::ellipsis && wanted.find("axis") == wanted.npos)
    return help("a range has two dots, as in `0..n`");
  if (kind == token_kind::plus && at_ > first && is_kind(at_ - 1, token_kind::plus)
      && is_kind(at_ + 1, token_kind::newline)) {
    help("write `+= 1`");
    return mend({tokens_[at_ - 1].where.begin, here().where.end}, " += 1");
  }
  if (kind == token_kind::newline && at_ >= first + 2 && is_kind(at_ - 1, token_kind::minus)
      && is_kind(at_ - 2, token_kind::minus)) {
    help("write `-= 1`");
    return mend({tokens_[at_ - 2].where.begin, tokens_[at_ - 1].where.end}, " -= 1");
  }
  if (kind == token_kind::newline && text_at(at_ - 1) == "python")
    return help("the module is missing: `import python NAME`");
  if (kind == token_kind::open_bracket && at_ > first && is_kind(at_ - 1, token_kind::colon)
      && is_kind(first, token_kind::kw_fn) && wanted == "a new line") {
    help("the type of the result follows `->`");
    return mend(tokens_[at_ - 1].where, " ->");
  }
  if ((kind == token_kind::close_paren || kind == token_kind::comma) && wanted == "`:`"
      && is_kind(first, token_kind::kw_fn))
    help("a parameter has a type, as in `x: [n]`");
}

// `rearrange(x: a, b -> b, a)`: only `einsum` has several patterns, and each has one result.
void parser::commas_in_patterns(size_t first, bool of_einsum) {
  size_t begin = at_, end = at_;
  int open = 0;
  for (auto at = first; at < tokens_.size() && open >= 0; ++at) {
    const auto kind = tokens_[at].kind;
    if (kind == token_kind::open_paren || kind == token_kind::open_bracket) ++open;
    if (kind == token_kind::close_paren || kind == token_kind::close_bracket) --open;
    const bool begins = kind == (of_einsum ? token_kind::arrow : token_kind::colon);
    if (open == 0 && begins && begin == at_) begin = at;
    const bool names_argument = kind == token_kind::comma && is_kind(at + 2, token_kind::assign);
    if (open < 0 || names_argument || kind == token_kind::newline) {
      end = at;
      break;
    }
  }
  if (begin == at_ && !of_einsum) begin = first;
  while (begin < end && tokens_[begin].kind != token_kind::comma) ++begin;
  if (begin == end) return;
  at_ = begin;
  const auto reports = out_.diagnostics.size();
  unexpected("an axis or `->`");
  if (out_.diagnostics.size() == reports) return;
  help("the axes of a pattern are separated by spaces");
  for (auto at = begin; at < end; ++at)
    if (tokens_[at].kind == token_kind::comma) mend(tokens_[at].where, touch(at) ? " " : "");
}

void parser::comma_missing(std::string_view why) {
  const auto reports = out_.diagnostics.size();
  unexpected("`,`");
  if (out_.diagnostics.size() == reports) return;
  help(std::string{why});
  const auto end = previous().end;
  mend({end, end}, ",");
}

} // namespace shapescript
