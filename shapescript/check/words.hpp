#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "shapescript/check/typed_tree.hpp"

namespace shapescript {

/// What a word of the language is for.
enum class word_role : uint8_t {
  keyword,
  declaration, ///< begins a declaration
  member,      ///< begins a member of a model
  option,      ///< of the devices
  device,      ///< a kind of device
  scalar,      ///< a type of the host
  dtype,
  refinement,
  of_model,  ///< a type with a model in brackets
  of_record, ///< a type with a record in brackets
  layer,     ///< a model of the language's own
  generator, ///< of random numbers
  constant,
};

/// A word that the language itself gives a meaning, builtin functions aside.
struct language_word {
  std::string_view name;
  word_role role = word_role::keyword;
  std::string_view form; ///< how it is written: `dim NAME = SIZE`
  std::string_view text; ///< what it means, one sentence
};

/// All of them, by name.
std::span<const language_word> language_words() noexcept;

const language_word* find_word(std::string_view name) noexcept;

/// Whether the role is that of a type's name.
bool names_type(word_role role) noexcept;

/// The word of the language that a token is at its place, from the tokens around it alone: `data`
/// at the start of a declaration, not as a parameter's name. Null for the program's own names. A
/// name that the program declares goes before a type or constant of that name; whether there is
/// one is not looked at here.
const language_word* word_at(const module_info& in, size_t token) noexcept;

} // namespace shapescript
