#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shapescript/lsp/lines.hpp"

namespace shapescript::lsp {

/// What may be written at a place, as the grammar has it.
enum class wanted : uint8_t {
  nothing,     ///< a new name, a number, text, or the end of the line
  declaration, ///< a line at the top
  member,      ///< a line of a model
  option,      ///< a line below `devices`
  statement,   ///< a line of a function
  device,      ///< a kind of device
  share,       ///< after `shard`
  split,       ///< the name of a dim, after `split`
  import,      ///< the name of a file, or `python`
  module,      ///< the name of a Python module
  imported,    ///< after the name of either
  fn,          ///< after `extern`
  parameter,   ///< `mut` or `self`, before a new name
  type,
  element,     ///< after the axes of a type
  refinement,  ///< after the axes and a dtype
  cast,        ///< after `as`
  record,      ///< in the brackets of `Dataset`
  model,       ///< in the brackets of `AdamW`
  layer,       ///< the type of a layer, or how many of them
  size,        ///< of a type, a dim, a model or a constructor
  pattern,     ///< an axis of a pattern
  initialiser, ///< of a param or buffer
  value,
  changed,   ///< after `mut` in a call
  stage,     ///< after `|>`
  operation, ///< after a value
  in,        ///< after the names of a loop
  argument,  ///< a value, or the name of one
  index,     ///< in the brackets of a value
};

/// A place as the line before it and the lines around it have it.
struct setting {
  wanted what = wanted::nothing;
  token_line line; ///< what is written of the line
  bool after_dot = false;
  bool in_type = false;          ///< with `after_dot`: the name before the dot is in a type
  std::vector<size_t> headers;   ///< as `headers_around` gives them
  std::optional<size_t> bracket; ///< the innermost bracket that is open
  std::vector<span> axes;        ///< the small names in the line's types and patterns
  bool in_patterns = false;      ///< of a call
};

setting setting_at(const view& of, uint32_t offset);

/// The word that a line begins with; empty if it begins with no name or keyword.
std::string_view first_word(const view& of, size_t first);

} // namespace shapescript::lsp
