#pragma once

#include <vector>

#include "shapescript/syntax/token.hpp"

namespace shapescript::lsp {

/// A block with the line that opens it: from its first token to its last.
struct extent {
  span where;
  uint32_t header_end = 0; ///< where the line that opens it ends
};

/// The blocks of a program, in the order of their begin.
std::vector<extent> blocks_of(const std::vector<token>& tokens);

/// The line that begins at `begin` with the block below it, if it opens one.
span extent_from(const std::vector<extent>& blocks, span line);

} // namespace shapescript::lsp
