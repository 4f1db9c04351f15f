#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shapescript/check/builtin_docs.hpp"
#include "shapescript/lsp/analysis.hpp"

namespace shapescript::lsp {

/// What the expression that ends with a token calls.
struct callee {
  const builtin* known = nullptr;
  uint32_t function = no_index; ///< the program's own
  uint32_t model = no_index;    ///< one that is made
  bool method = false;          ///< the function's first parameter is the model before the dot
  bool brackets = false;        ///< sizes in brackets come first: `zeros[n](`
};
callee callee_at(const view& of, size_t last);

/// The call whose parentheses are around a place.
struct call_around {
  size_t callee = 0;                   ///< the token before the parenthesis
  size_t argument = 0;                 ///< counted from 0
  bool piped = false;                  ///< its first argument comes by `|>`
  bool patterns = false;               ///< the place is behind the colon or arrow of patterns
  std::string_view named;              ///< the name that the argument at hand is given by
  std::vector<std::string_view> given; ///< the names of the arguments before
  std::optional<size_t> first;         ///< the last token of the first argument, if it is whole
};
std::optional<call_around> call_at(const view& of, uint32_t offset);

/// A parameter of what is called, as its signature writes it.
struct call_parameter {
  std::string text;
  std::string name; ///< empty if it has none
  bool required = true;
  bool by_name = false; ///< only so
  bool is_mut = false;
  bool axes = false; ///< it takes names of axes
  bool variadic = false;
  type what; ///< poison for a builtin's
};

struct call_signature {
  std::string label;
  std::vector<call_parameter> parameters;
  std::string documentation;
  size_t before = 0; ///< so many parameters are given before the parentheses
};

/// The ways to make a call, the likeliest first; none if what is called is not known.
std::vector<call_signature> signatures_of(const view& of, const call_around& call);

/// The type of a call's first argument, or of what a pipeline brings; poison if it is not known.
type first_type(const view& of, const call_around& call);

/// The parameter that a call's argument at hand is for; nothing if there is none.
std::optional<size_t> parameter_of(const call_signature& signature, const call_around& call);

} // namespace shapescript::lsp
