#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "shapescript/report/diagnostic.hpp"
#include "shapescript/report/source.hpp"

namespace shapescript {

/// What a token is. Declaration words (`dim`, `model`, `data`, ...) are names: only their place
/// gives them a meaning.
enum class token_kind : uint8_t {
#define TOKEN(name, text) name,
#include "shapescript/syntax/token.def"
#undef TOKEN
};

/// How a message calls the kind: `` `:` ``, `a name`, `the end of the line`.
std::string_view describe(token_kind kind) noexcept;

/// A piece of a program. `bad` stands where the lexer has already reported a mistake.
struct token {
  token_kind kind = token_kind::end;
  bool arrow_inside = false; ///< an opening bracket with a `->` straight inside
  span where;
  bool misplaced = false; ///< in a line whose indentation was reported
};

/// A comment, kept for the formatter.
struct comment {
  span where;         ///< from `#` to the end of the line
  bool alone = false; ///< nothing but spaces before it
};

/// The tokens of a text, ending in `end`, and what was wrong with it.
struct lexed {
  std::vector<token> tokens;
  std::vector<comment> comments;
  std::vector<diagnostic> diagnostics;
};

/// Cuts a text into tokens. Takes any bytes; blocks become `indent` and `dedent`, logical lines end
/// in `newline`, lines inside brackets and lines that begin with `|>` are joined.
lexed lex(const source& text);

} // namespace shapescript
