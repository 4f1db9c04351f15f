#pragma once

#include <optional>
#include <string_view>

#include "shapescript/lsp/analysis.hpp"

namespace shapescript::lsp {

/// The place in the tokens of the last one that ends at or before an offset and is no line's or
/// block's end; nothing at the start.
std::optional<size_t> token_before(const view& of, uint32_t offset);

/// The token that a place is in or at the end of, if it is a word: a name or a keyword.
std::optional<size_t> word_token_at(const view& of, uint32_t offset);

/// The type of the postfix expression that ends with a token, also where the line around it can't
/// be read: names, fields, calls and indices. Poison if it is not known.
type type_until(const view& of, size_t last);

/// What stands behind a dot on a value of this type: fields, members, methods, names of a file.
struct inner_name {
  std::string_view name;
  name_kind kind = name_kind::member;
  type what;
  uint32_t function = no_index; ///< of a method or function
  uint32_t model = no_index;    ///< of a model of another file
  uint32_t declared = no_index; ///< its place in `typed_tree::names`
};
std::vector<inner_name> names_inside(const view& of, const type& what);

/// The bracket that the one at a token closes; nothing if there is none in its line.
std::optional<size_t> opening_of(const view& of, size_t last);

/// The first token of the postfix expression that ends with a token: of `m.a[0]` the `m`.
size_t begin_of(const view& of, size_t last);

} // namespace shapescript::lsp
