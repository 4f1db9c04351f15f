#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace moxzi {

/// The known name that `name` was probably meant to be: the smallest edit distance (insertions,
/// deletions, substitutions, transpositions; another case is half), if it is at most a third of the
/// longer name's length (at least 1) and not all of it. The first of equals wins.
std::optional<std::string_view> nearest(std::string_view name,
                                        std::span<const std::string_view> known);

/// `; did you mean 'x'?` or nothing: the end of a message about an unknown name.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

} // namespace moxzi
