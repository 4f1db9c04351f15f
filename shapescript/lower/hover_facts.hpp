#pragma once

#include <string>
#include <vector>

#include "shapescript/check/typed_tree.hpp"

namespace shapescript {

/// What a person wants to know of a name besides its type, a sentence each: where a dim's value
/// comes from, what an axis is of, how many values a param has, which file declares it.
std::vector<std::string> facts_of(const typed_tree& program, const name_info& what);

/// What a `devices` line and its options come to, a sentence for the word at that place.
std::vector<std::string> device_facts(const typed_tree& program, span word);

/// The comment straight above a declaration, or at the end of its line; empty if there is none.
std::string comment_of(const typed_tree& program, const name_info& what);

/// `a`, `a and b`, `a, b and c`.
std::string listed(const std::vector<std::string>& all);

} // namespace shapescript
