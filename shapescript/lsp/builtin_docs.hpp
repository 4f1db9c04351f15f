#pragma once

#include <string>
#include <string_view>

#include "shapescript/builtins.hpp"

namespace shapescript::lsp {

/// One sentence on what a builtin function does; empty for an unknown name.
std::string_view documentation_of(std::string_view builtin) noexcept;

/// How a builtin is called: `rms_norm(x, over=, gain?, eps?)`. A `?` marks what may be left out, a
/// `=` what is given by name only.
std::string signature_of(const builtin& what);

/// One parameter as it stands in the signature.
std::string parameter_text(const parameter_slot& one);

} // namespace shapescript::lsp
