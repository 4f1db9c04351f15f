#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shapescript/check/typed_tree.hpp"
#include "shapescript/lower/cost.hpp"

namespace shapescript {

/// A value of a line, and how the devices hold it.
struct hover_value {
  std::string text;
  std::string type;
  std::string placement;
};

/// What is known of a place of a program.
struct hover_info {
  span where;                      ///< the name or expression that it is about
  std::string title;               ///< `param w1: [D Hd]`, `value_and_grad(...): ([], Grad[Mlp])`
  std::vector<std::string> sizes;  ///< `D = 784`, of the axes of its type
  std::vector<std::string> facts;  ///< what else there is to know, a sentence each
  std::string comment;             ///< what the program itself says of it, above or beside it
  std::string placement;           ///< how the devices hold it; empty if no device does
  span line;                       ///< the statement around it; empty outside of functions
  std::vector<line_traffic> sent;  ///< what that statement makes the devices send each other
  int64_t sent_bytes = 0;          ///< by it, a step
  std::string unknown;             ///< why what it sends is not known; empty if it is
  std::vector<hover_value> values; ///< of the line, where a whole line is asked for
};

/// What stands at an offset of the program's own file: a name, a word of the language, else the
/// smallest expression around it. Nothing in comments and between.
std::optional<hover_info> hover_at(const typed_tree& program, uint32_t offset,
                                   const cost_options& options = {});

/// The same without what it costs and how the devices hold it: for programs with mistakes too.
std::optional<hover_info> meaning_at(const typed_tree& program, uint32_t offset);

/// What the line around an offset does: its statement with each value in it, or what its first name
/// is. Nothing of lines without either.
std::optional<hover_info> hover_line(const typed_tree& program, uint32_t offset,
                                     const cost_options& options = {});

std::string render_text(const hover_info& what);
/// One line of JSON, without the line end; lines and columns count from 1.
std::string render_json(const hover_info& what, const source& text);

} // namespace shapescript
