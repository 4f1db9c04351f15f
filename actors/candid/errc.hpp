#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "base/result.hpp"

namespace moxzi::candid {

/// Why Candid in one of its forms (bytes, text, `.did`, JSON) was refused.
enum class candid_errc : int {
  malformed = 1,    ///< the bytes are no Candid message
  truncated = 2,    ///< the bytes end before the value does
  over_limit = 3,   ///< decoding would cost more than the message may
  trailing = 4,     ///< bytes are left over after the last argument
  mismatch = 5,     ///< a value that does not fit the type asked for
  syntax = 6,       ///< text that is not of the grammar
  unknown_name = 7, ///< a type or method that nothing defines
  incompatible = 8, ///< an interface that old callers could not use
};

/// The category of `candid_errc`.
const std::error_category& candid_category() noexcept;

inline std::error_code make_error_code(candid_errc code) noexcept {
  return {static_cast<int>(code), candid_category()};
}

/// The beginning of a text, for messages: cut between characters, what is no UTF-8 left out.
std::string excerpt(std::string_view text, size_t bytes_max = 40);

/// `1 argument`, `2 arguments`: for nouns that end in s when there are several.
std::string counted(size_t n, std::string_view noun);

/// The `n` segments of a path one after the other, for messages; a long one without its middle.
template <class Segment>
std::string path_text(size_t n, Segment segment) {
  constexpr size_t shown_max = 24; // at each end
  std::string path;
  for (size_t i = 0; i < n; ++i) {
    if (n > 2 * shown_max && i == shown_max) {
      path += "…";
      i = n - shown_max;
    }
    path += segment(i);
  }
  return path;
}

} // namespace moxzi::candid

template <>
struct std::is_error_code_enum<moxzi::candid::candid_errc> : std::true_type {};
