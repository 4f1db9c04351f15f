#pragma once

#include <optional>
#include <string_view>

#include "shapescript/builtins.hpp"
#include "shapescript/lsp/analysis.hpp"

namespace shapescript::lsp {

/// The place in the tokens of the last one that ends at or before an offset and is no line's or
/// block's end; nothing at the start.
std::optional<size_t> token_before(const view& of, uint32_t offset);

/// The token that a place is in or at the end of, if it is a word.
std::optional<size_t> word_at(const view& of, uint32_t offset);

/// The type of the postfix expression that ends with a token, also where the line around it can't
/// be read: names, fields, calls and indices. Poison if it is not known.
type type_until(const view& of, size_t last);

/// What stands behind a dot on a value of this type: fields, members, methods, names of a file.
struct inner_name {
  std::string_view name;
  name_kind kind = name_kind::member;
  type what;
  uint32_t function = no_index; ///< of a method or function
};
std::vector<inner_name> names_inside(const view& of, const type& what);

/// The function that a word at a token calls.
struct callee {
  const builtin* known = nullptr;
  uint32_t function = no_index; ///< the program's own
  bool method = false;          ///< called with its model before the dot
};
callee callee_at(const view& of, size_t token);

/// The call whose parentheses are around a place.
struct call_around {
  size_t name = 0;        ///< the token before the parenthesis
  size_t argument = 0;    ///< counted from 0
  std::string_view named; ///< the name that the argument at hand is given by
  bool piped = false;     ///< its first argument comes by `|>`
};
std::optional<call_around> call_at(const view& of, uint32_t offset);

} // namespace shapescript::lsp
