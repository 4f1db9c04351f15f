#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shapescript/check/builtins.hpp"

namespace shapescript {

/// One sentence on what a builtin function does; empty for an unknown name.
std::string_view documentation_of(std::string_view builtin) noexcept;

/// A parameter as it stands in a form. Patterns, and names that the call chooses, are parameters
/// with a text and no slot.
struct form_parameter {
  std::string text; ///< `lr=?`
  parameter_slot slot;
};

/// One way to call a builtin: `repeat(x: P -> Q)` and `repeat(data, n)`, `uniform(lo?, hi?)` and
/// `uniform[axes](lo?, hi?)`.
struct builtin_form {
  std::string text;
  std::vector<form_parameter> parameters;
  bool brackets = false; ///< axes in brackets come first
};

/// All ways to call a builtin, the usual one first. A `?` marks what may be left out, a `=` what is
/// given by name only.
std::vector<builtin_form> forms_of(const builtin& what);

/// The first of them as text.
std::string signature_of(const builtin& what);

} // namespace shapescript
