#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shapescript/syntax/token.hpp"

namespace shapescript {

bool is_letter(char c) noexcept;
bool is_digit(char c) noexcept;

/// Bytes of the well-formed UTF-8 character at the start of `text`; 0 if there is none.
size_t character_bytes(std::string_view text) noexcept;

/// `==`, `!=`, `<`, `<=`, `>`, `>=`.
bool is_comparison(token_kind kind) noexcept;

/// A keyword's kind, or `name`.
token_kind word_kind(std::string_view word) noexcept;

/// A token that is always written the same way.
struct spelling {
  std::string_view text;
  token_kind kind;
};

/// The longest operator at the start of `text`.
std::optional<spelling> operator_at(std::string_view text) noexcept;

/// Bytes of the escape at the start of `text`, 0 if it is none.
size_t escape_bytes(std::string_view text) noexcept;

/// Whether a line inside a bracket can only begin a new statement: the bracket was forgotten.
bool begins_new_statement(std::string_view rest, bool after_operand) noexcept;

/// Something that other languages write and that is none of ours.
struct foreign {
  std::string_view group; ///< reported once in a file
  size_t length = 1;      ///< how much of the text it is
  size_t marked = 1;      ///< how much of that is marked
  std::string help = {};
  bool mends = false; ///< `text` in place of `replaced` bytes, and of `before` in front
  size_t before = 0;
  size_t replaced = 1;
  std::string text = {};
  token_kind reads_as = token_kind::bad;
  bool silent = false; ///< what is around it can be read without it
};

/// The foreign piece at the start of `text`, with what stands before it in the file.
std::optional<foreign> foreign_at(std::string_view text, std::string_view before);

} // namespace shapescript
