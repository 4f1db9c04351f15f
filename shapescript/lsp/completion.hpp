#pragma once

#include "shapescript/lsp/completion_items.hpp"
#include "shapescript/lsp/setting.hpp"

namespace shapescript::lsp {

/// A place that completions are asked for.
struct completion_place {
  const view& of;
  uint32_t begin;  ///< of the word that is being written
  uint32_t offset; ///< where the cursor is
  uint32_t end;    ///< of the word, past the cursor
  setting where;
};

/// Lines: declarations, members, options, statements.
void complete_line(const completion_place& at, completion_items& out);
/// Files and modules after `import`.
void complete_import(const completion_place& at, completion_items& out);
/// Types, and what stands in their brackets.
void complete_type(const completion_place& at, completion_items& out);
/// Sizes and axes.
void complete_size(const completion_place& at, completion_items& out);
/// Values, stages of a pipeline, arguments.
void complete_value(const completion_place& at, completion_items& out);
/// What stands behind a dot.
void complete_inside(const completion_place& at, completion_items& out);

/// Whether the argument at a place names axes: `over=`.
bool names_axes(const view& of, uint32_t offset);

} // namespace shapescript::lsp
