#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shapescript/syntax/token.hpp"

namespace shapescript::testing {

/// A changed program.
struct mutant {
  std::string text;
  span where; ///< where a report may begin
};

/// A sound program and its tokens.
struct subject {
  std::string name;
  std::string text;
  std::vector<token> tokens;
  bool imports = false;

  std::string_view word(size_t i) const {
    const auto where = tokens[i].where;
    return std::string_view{text}.substr(where.begin, where.end - where.begin);
  }
  token_kind kind(size_t i) const {
    return i < tokens.size() ? tokens[i].kind : token_kind::end;
  }
};

using sites = std::vector<size_t>;

/// A kind of change: where it can be made, and what it makes.
struct mutator {
  const char* name;
  bool mistake;
  std::function<sites(const subject&)> where;
  std::function<mutant(const subject&, size_t)> make;
};

/// The kinds of change, those for the worse and those that mean nothing.
std::vector<mutator> mistakes_in_words();
std::vector<mutator> mistakes_in_tokens();
std::vector<mutator> mistakes_in_brackets();
std::vector<mutator> mistakes_in_meaning();
std::vector<mutator> mistakes_in_calls();
std::vector<mutator> sound_changes();

} // namespace shapescript::testing
