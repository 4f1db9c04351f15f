#pragma once

#include <optional>
#include <string>

#include "shapescript/syntax/tree.hpp"

namespace shapescript {

/// A program in the one form: blocks indented by four spaces, one space where one belongs, at most
/// one empty line, one around each block of declarations; the `=` of neighbouring dims, the types
/// of neighbouring fields and neighbouring comments at line ends stand below each other. Line
/// breaks inside brackets and before `|>` stay. Formatting twice changes nothing more.
///
/// Nothing if the program has syntax errors.
std::optional<std::string> format(const source& text, const parsed& program);

} // namespace shapescript
