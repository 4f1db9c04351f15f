#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Where the parts of a JSON text lie, so that one part can be changed and the rest keep its bytes:
/// numbers of any length, white space, order.
namespace moxzi::actors {

/// A member of an object, or an element of an array (then without key).
struct json_span {
  std::string key;  ///< unescaped
  size_t begin = 0; ///< of the whole member, its key included
  size_t value = 0; ///< of the value
  size_t end = 0;
};

/// The parts of the object or array that starts at `open`. `text` must be valid JSON.
std::vector<json_span> json_parts(std::string_view text, size_t open);

/// The position of the first character that is not white space, from `from` on.
size_t skip_json_space(std::string_view text, size_t from) noexcept;

} // namespace moxzi::actors
