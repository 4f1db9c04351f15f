#pragma once

#include <optional>
#include <string_view>

namespace shapescript {

/// The page `explain/CODE.md`: what the diagnostic means, why the rule exists, a program that
/// breaks it and one that does not. Nothing for an unknown code.
std::optional<std::string_view> explanation(std::string_view code) noexcept;

} // namespace shapescript
