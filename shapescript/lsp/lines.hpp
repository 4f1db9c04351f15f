#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "shapescript/lsp/analysis.hpp"

namespace shapescript::lsp {

/// Tokens of one logical line: from `first` up to `end`.
struct token_line {
  size_t first = 0;
  size_t end = 0;
  bool empty() const noexcept {
    return first == end;
  }
};

/// What is written before a place in its logical line, up to the last token that ends at or before
/// it. Empty where a new line begins, also in the middle of a program.
token_line line_before(const view& of, uint32_t offset);

/// How far a place's line is indented, in bytes.
uint32_t indentation_of(const view& of, uint32_t offset);

/// The lines whose blocks a place is in, by their first tokens, the innermost first: found by
/// indentation alone, so also where what they begin can't be read.
std::vector<size_t> headers_around(const view& of, uint32_t offset);

/// The first token of the line before at the same depth; nothing if the block begins here.
std::optional<size_t> line_above(const view& of, uint32_t offset);

} // namespace shapescript::lsp
