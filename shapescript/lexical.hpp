#pragma once

#include <optional>
#include <string_view>

#include "shapescript/token.hpp"

namespace shapescript {

bool is_letter(char c) noexcept;
bool is_digit(char c) noexcept;

/// Bytes of the well-formed UTF-8 character at the start of `text`; 0 if there is none.
size_t character_bytes(std::string_view text) noexcept;

/// A keyword's kind, or `name`.
token_kind word_kind(std::string_view word) noexcept;

/// A token that is always written the same way.
struct spelling {
  std::string_view text;
  token_kind kind;
};

/// The longest operator at the start of `text`.
std::optional<spelling> operator_at(std::string_view text) noexcept;

} // namespace shapescript
